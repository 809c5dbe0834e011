import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { parseSource, placeOf, readSources, type Source } from './source-tree.ts'

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.getText())
  return ts.isDeclarationStatement(statement) && statement.name !== undefined ? [statement.name.getText()] : []
}

/** The names that a file exports in a list, as in `export { a, b as c }`, by what they are called inside. */
function listedNames(file: ts.SourceFile): ReadonlySet<string> {
  return new Set(
    file.statements.flatMap((statement) => {
      if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier !== undefined) return []
      const list = statement.exportClause
      return list !== undefined && ts.isNamedExports(list)
        ? list.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
        : []
    }),
  )
}

function hasDocComment(statement: ts.Statement): boolean {
  return ts
    .getJSDocCommentsAndTags(statement)
    .some((comment) => ts.isJSDoc(comment) && ts.getTextOfJSDocComment(comment.comment)?.trim())
}

/** Every exported declaration without a doc comment. Of an overloaded function one signature needs it. */
function findUndocumented(sources: readonly Source[]): readonly string[] {
  return sources.flatMap((source) => {
    const file = parseSource(source)
    const listed = listedNames(file)
    const functions = file.statements.filter((statement) => ts.isFunctionDeclaration(statement))
    const documented = new Set(functions.filter(hasDocComment).flatMap(namesOf))
    return file.statements.flatMap((statement) => {
      const names = namesOf(statement)
      const isExported =
        ts.canHaveModifiers(statement) &&
        ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      if (!isExported && !names.some((name) => listed.has(name))) return []
      if (
        hasDocComment(statement) ||
        (ts.isFunctionDeclaration(statement) && names.some((name) => documented.has(name)))
      )
        return []
      return [`${placeOf(statement)} ${names.join(', ')}`]
    })
  })
}

const RULE_ID = /^(?:(?:SIG|DIG|KEY|GRT|INT|CON|TOK|RS|INC|QUO|OUT|LIM|IVL|AMT|WAS|EMB|T)-[1-9][0-9]?|D[1-9][0-9]?)\b/

/** Every `@spec` tag that names no rule. */
function findUnknownRules(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) =>
      line
        .split('@spec ')
        .slice(1)
        .filter((rest) => !RULE_ID.test(rest))
        .map((rest) => `${path}:${index + 1} ${rest}`),
    ),
  )
}

const sources = readSources('src', 'adapters')
const undocumented = (text: string): readonly string[] => findUndocumented([{ path: 'src/protocol/quote.ts', text }])

describe('doc comments', () => {
  it('stand on every exported name of src and adapters', () => {
    expect(findUndocumented(sources)).toEqual([])
  })

  it.each([
    'export const a = 1',
    'export function f(): void {}',
    'export interface A { b: string }',
    `export type A = 'b'`,
    'export class E extends Error {}',
    'const a = 1\nexport { a }',
    'const a = 1\nexport { a as b }',
    '// A line comment is none.\nexport const a = 1',
    '/** */\nexport const a = 1',
    '/** @internal */\nexport const a = 1',
    '/** A type. */\nexport type A = string\nexport const A = 1',
    'export function f(a: string): void\nexport function f(a: number): void\nexport function f(): void {}',
  ])('are missed on %j', (text) => {
    expect(undocumented(text)).not.toEqual([])
  })

  it.each([
    '/** One. */\nexport const a = 1',
    'const a = 1',
    '/** One. */\nconst a = 1\nexport { a }',
    `export { a } from './a.ts'`,
    '/** One. */\nexport function f(a: string): void\nexport function f(a: number): void\nexport function f(): void {}',
  ])('are not missed on %j', (text) => {
    expect(undocumented(text)).toEqual([])
  })

  it('name rules by their ids', () => {
    expect(findUnknownRules(sources)).toEqual([])
    expect(findUnknownRules([{ path: 'src/a.ts', text: '/** One. @spec SIG-2 @spec D4 @spec T-20 */' }])).toEqual([])
    expect(findUnknownRules([{ path: 'src/a.ts', text: '/** One. @spec SIG-2 @spec section 3 */' }])).toHaveLength(1)
  })
})
