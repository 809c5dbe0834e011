import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { nodesOf, parseSource, placeOf, readSources, type Source } from './source-tree.ts'

const SECRET = /(?:Hash|csrf|session|secret|nonce|token|digest|interactRef|reference)$/i
/** Digests of what the one who asks knows anyway, or never sees. */
const NO_SECRET: ReadonlySet<string> = new Set(['bodyHash', 'consentHash'])
const COMPARISONS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
])

function nameOf(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text
  if (ts.isPropertyAccessExpression(node)) return node.name.text
  if (ts.isAwaitExpression(node) || ts.isParenthesizedExpression(node)) return nameOf(node.expression)
  return ts.isCallExpression(node) ? nameOf(node.expression) : ''
}

function isSecret(node: ts.Expression): boolean {
  return SECRET.test(nameOf(node)) && !NO_SECRET.has(nameOf(node))
}

/** Whether a node is a value that stands in the source: a comparison with it tells nothing. */
function isKnown(node: ts.Expression): boolean {
  return nameOf(node) === 'undefined' || ts.isLiteralExpression(node) || node.kind === ts.SyntaxKind.NullKeyword
}

/** Where a secret is compared by an operator, whose time tells how much of it was right. */
function comparedSecrets(sources: readonly Source[]): readonly string[] {
  return sources
    .flatMap((source) => nodesOf(parseSource(source)))
    .filter((node) => ts.isBinaryExpression(node))
    .filter(({ operatorToken, left, right }) => {
      if (!COMPARISONS.has(operatorToken.kind) || isKnown(left) || isKnown(right)) return false
      return isSecret(left) || isSecret(right)
    })
    .map((node) => `${placeOf(node)} ${node.getText()}`)
}

describe('secrets', () => {
  it('T-15 are compared by no operator', () => {
    const sources = readSources('src', 'adapters')
    expect(sources.length).toBeGreaterThan(100)
    expect(comparedSecrets(sources)).toEqual([])
  })

  it.each([
    'grant.continuationHash === hash',
    'await secrets.digest(token) !== grant.interactRefHash',
    'form.csrf == expected',
    'expected != (csrf)',
    'interaction.value.sessionHash === (await digest(session))',
  ])('T-15 would be found in %s', (text) => {
    expect(comparedSecrets([{ path: 'src/a.ts', text }])).toEqual([`src/a.ts:1 ${text}`])
  })

  it.each([
    'token === undefined',
    "form.csrf !== ''",
    'a.consentHash === consentHash',
    'isEqualDigest(csrf, expected)',
  ])('T-15 would not be found in %s', (text) => expect(comparedSecrets([{ path: 'src/a.ts', text }])).toEqual([]))
})
