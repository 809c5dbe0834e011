import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { nodesOf, parseSource, readSources, readText } from '../architecture/source-tree.ts'

const page = readText('docs/events.md')

/** The events of a union by their types, each with its members. */
function eventsOf(union: string): ReadonlyMap<string, readonly string[]> {
  const path = 'src/ports/events.ts'
  const [alias] = parseSource({ path, text: readText(path) }).statements.filter(
    (statement) => ts.isTypeAliasDeclaration(statement) && statement.name.text === union,
  )
  const literals = alias === undefined ? [] : nodesOf(alias).filter((node) => ts.isTypeLiteralNode(node))
  return new Map(
    literals.flatMap(({ members }) => {
      const names = members.map((member) => member.getText().replace(/^readonly (\w+\??):[\s\S]*/, '$1'))
      const [type] = members.filter((member) => member.name?.getText() === 'type')
      return [...(type?.getText() ?? '').matchAll(/'([^']+)'/g)].map(([, name = '']) => [name, names] as const)
    }),
  )
}

const RECORDED = ['type', 'id', 'at']

describe('the page about events', () => {
  it.each([
    ['Money', 'MoneyEvent'],
    ['Service', 'ServiceEvent'],
  ])('has a row with its members for every event of %s, and no other', (heading, union) => {
    const [, section = ''] = page.split(`## ${heading}\n`)
    const [text = ''] = section.split('\n## ')
    let last: readonly string[] = []
    const rows = [...text.matchAll(/^\| `(?!type)([\w.]+)` \|.*\|([^|]*)\|$/gm)].map(([, type = '', cell = '']) => {
      const named = [...cell.matchAll(/`(\w+\??)`/g)].map(([, name = '']) => name)
      // "the same" as the row above, with a word on one of them perhaps.
      last = cell.includes('the same') ? last : named
      return [type, [...last].sort()] as const
    })
    const events = [...eventsOf(union)].map(
      ([type, names]) => [type, names.filter((name) => !RECORDED.includes(name)).sort()] as const,
    )
    expect(new Map(rows)).toEqual(new Map(events))
  })

  it('has every fault that the library words itself, and no other', () => {
    const [, faults = ''] = page.split('## Faults\n')
    const named = [...faults.matchAll(/^\| (`(?!message)[^|]+) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message),
    )
    const text = readSources('src')
      .map(({ text }) => text.replace(/\s+/g, ' '))
      .join('\n')
    const written = [
      ...text.matchAll(/type: 'fault',[^}]*?message: '([^']+)'/g),
      ...text.matchAll(/(?:unknownOutcome|tellFailure|tellFault)\( ?context, '([^']+)'/g),
      ...text.matchAll(/\btell\('([^']+)'/g),
    ].map(([, message = '']) => message)
    // Not told by an event of its own, but to be known by its words: where something is amiss that a person can mend.
    const thrown = [...text.matchAll(/throw new Error\(`(the secret with [^`]+)`\)/g)].map(([, message = '']) =>
      message.replace(/\$\{\w+\}/, '…'),
    )
    expect(thrown).toHaveLength(1)
    const late = [...text.matchAll(/answerInTime\(context, '([^']+)'/g)].map(([, what = '']) => `${what} failed`)
    expect(named.sort()).toEqual([...new Set([...written, ...late, ...thrown])].sort())
  })
})
