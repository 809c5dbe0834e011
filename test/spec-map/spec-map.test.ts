import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { parseSource, readSources } from '../architecture/source-tree.ts'
import { cachedSources, findSymbol, readSpecMap, testTitles } from './spec-map.ts'

/** How many rules each family has. An id is for good: a family grows at its end, and nothing is numbered anew. */
const FAMILIES = {
  SIG: 37,
  DIG: 8,
  KEY: 15,
  GRT: 18,
  INT: 15,
  CON: 9,
  TOK: 10,
  RS: 13,
  INC: 14,
  QUO: 9,
  OUT: 12,
  LIM: 11,
  IVL: 11,
  AMT: 6,
  WAS: 10,
  EMB: 7,
  T: 52,
}

const rows = readSpecMap()
const sourceOf = cachedSources()

describe('the spec map', () => {
  it('has one row for every rule, in the order of the ids', () => {
    const ids = Object.entries(FAMILIES).flatMap(([family, count]) =>
      Array.from({ length: count }, (_, index) => `${family}-${index + 1}`),
    )
    expect(rows.map(({ id }) => id)).toEqual(ids)
  })

  it('says of every rule that it holds, or why an option of the specification is not taken', () => {
    expect(rows.filter(({ status }) => !/^(?:holds|not taken: .{20,})$/.test(status))).toEqual([])
    const unplaced = rows.filter(({ symbols, tests }) => symbols.length === 0 || tests.length === 0)
    expect(unplaced.filter(({ status }) => status === 'holds')).toEqual([])
  })

  it('names symbols that exist', () => {
    const places = rows.flatMap(({ id, symbols }) => symbols.map((symbol) => ({ id, ...symbol })))
    expect(places.filter(({ path, name }) => findSymbol(sourceOf(path), name).length === 0)).toEqual([])
  })

  it('names tests that exist', () => {
    const places = rows.flatMap(({ id, tests }) => tests.map((test) => ({ id, ...test })))
    expect(places.filter(({ path, name }) => !testTitles(sourceOf(path)).includes(name))).toEqual([])
  })

  it('names for every rule a file of tests that says its id', () => {
    const proved = rows.filter(({ tests }) => tests.length > 0)
    const says = (path: string, id: string): boolean => new RegExp(`\\b${id}\\b`).test(sourceOf(path).text)
    expect(proved.filter(({ id, tests }) => !tests.some(({ path }) => says(path, id))).map(({ id }) => id)).toEqual([])
  })

  it('has a row for every rule that a comment of the code names', () => {
    const known = new Set(rows.map(({ id }) => id))
    const named = readSources('src', 'adapters').flatMap(({ path, text }) =>
      [...text.matchAll(/@spec ([A-Z]+-\d+)/g)].map(([, id = '']) => ({ path, id })),
    )
    expect(named.length).toBeGreaterThan(100)
    expect(named.filter(({ id }) => !known.has(id))).toEqual([])
  })
})

describe('reading the spec map', () => {
  const file = parseSource({
    path: 'src/a.ts',
    text: [
      'export const table = { one: 1, inner: { two: 2 } }',
      "it('SIG-1 is plain', f)",
      "it.each(rows)('SIG-2 is $kind', f)",
      'test(`SIG-3 is $' + '{kind} too`, f)',
      "other('SIG-4 is no test', f)",
    ].join('\n'),
  })

  it('finds a symbol at the top of a file, and its members', () => {
    expect(findSymbol(file, 'table').map((node) => node.kind)).toEqual([ts.SyntaxKind.VariableDeclaration])
    expect(findSymbol(file, 'table.two').map((node) => node.getText())).toEqual(['two: 2'])
    expect(findSymbol(file, 'one')).toEqual([])
  })

  it('reads titles as the source has them', () => {
    expect(testTitles(file)).toEqual(['SIG-1 is plain', 'SIG-2 is $kind', 'SIG-3 is %s too'])
  })

  it('refuses a line that only looks like a row', () => {
    expect(() => readSpecMap('| SIG-1 | a rule | `src/a.ts` `a` | holds |')).toThrow('not a row')
    expect(() => readSpecMap('| SIG-1 | a rule | src/a.ts | `t` `x` | holds |')).toThrow('not a place')
  })
})
