import { describe, expect, it } from 'vitest'
import { readSources, readText } from '../architecture/source-tree.ts'

describe('the page of the decisions', () => {
  const page = readText('docs/spec-gaps.md')
  // This file's own titles name what they look for.
  const tests = readSources('test').filter(({ path }) => path !== 'test/docs/spec-gaps.test.ts')
  const decisions = Array.from({ length: 17 }, (_, index) => `D${index + 1}`)

  it('D1 to D17 each have a row with a question, a default and a reason', () => {
    for (const decision of decisions) {
      const row = page.split('\n').find((line) => line.startsWith(`| ${decision} | `)) ?? ''
      const [, , question = '', answer = '', , why = ''] = row.split('|').map((cell) => cell.trim())
      expect([decision, [question, answer, why].map((cell) => cell.length > 2)]).toEqual([decision, [true, true, true]])
    }
  })

  it('D1 to D17 each have a test', () => {
    const titles = tests.flatMap(({ text }) =>
      [...text.matchAll(/(?:'|`|")(?:[A-Za-z0-9 :-]*\b)?(D\d+)\b[^\n]*/g)].map(([, id]) => id),
    )
    expect(decisions.filter((decision) => !titles.includes(decision))).toEqual([])
  })

  it('D17 the twenty behaviours that break a deployed client each have a test, by number', () => {
    const titles = tests.flatMap(({ text }) =>
      [...text.matchAll(/['"`]client behaviour (\d+): /g)].map(([, number]) => number),
    )
    const numbers = Array.from({ length: 20 }, (_, index) => `${index + 1}`)
    expect(numbers.filter((number) => !titles.includes(number))).toEqual([])
  })

  it('names every policy that a wallet can choose', () => {
    const [, policies = ''] =
      readSources('src/ports')
        .find(({ path }) => path.endsWith('settings.ts'))
        ?.text.split('interface Policies {') ?? []
    const names = [...policies.matchAll(/^ {2}readonly (\w+):/gm)].map(([, name = '']) => name)
    expect(names).toContain('signatureProfile')
    expect(names.filter((name) => !page.includes(`\`${name}`))).toEqual([])
  })
})
