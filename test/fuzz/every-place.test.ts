import { describe, expect, it } from 'vitest'
import { judged } from './campaign.ts'
import { fuzzWorld, type Plan } from './fuzz-world.ts'
import { objectOf } from './odd-values.ts'
import { FUZZ_TIMEOUT } from './random.ts'
import { SUBJECTS } from './subjects.ts'

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  ' ',
  '\ud800',
  '\u0000',
  '__proto__',
  'https://[::1',
  'https://wallet.example/alice/%2e%2e/bob',
  'a'.repeat(3_000),
  [],
  [['https://wallet.example/alice']],
  {},
  JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1}'),
]

/** Texts of the same kind, at which the server has another reason to refuse. */
function others(text: string): readonly string[] {
  if (/^[0-9]+$/.test(text))
    return ['0', '1', '01', '-1', '1.0', '100001', '18446744073709551615', '18446744073709551616']
  if (text === 'USD' || text === 'EUR') return ['USD', 'EUR', 'usd']
  if (/^2026-/.test(text)) return ['2026-03-01T11:59:59Z', '2026-03-01T12:00:00Z', '2027-01-01T00:00:00Z', '2026-03-20']
  if (!text.startsWith('https://wallet.example/')) return []
  const isResource = /\/(?:[0-9a-f]{12})?[0-9a-f]{32}$/.test(text)
  const names = isResource
    ? ['0'.repeat(32), '0'.repeat(44), 'x', '..', '%00']
    : ['alice', 'bob', 'carol', 'closed', 'inactive', 'nobody', 'client', 'Alice', 'alice/', 'alice?x', 'quotes']
  return [text.replace('wallet.example', 'evil.example'), ...names.map((name) => text.replace(/[^/]+$/, name))]
}

/** Every value that one odd value at one place of `whole`, one place less, or one in a list, makes. */
function* spoilt(whole: unknown): Generator<unknown> {
  yield* ODD
  yield [whole]
  if (typeof whole === 'string') yield* others(whole)
  if (typeof whole !== 'object' || whole === null) return
  for (const [name, part] of Object.entries(whole)) {
    const others = Object.entries(whole).filter(([other]) => other !== name)
    const rebuilt = (entries: readonly (readonly [string, unknown])[]): unknown =>
      Array.isArray(whole) ? entries.map(([, member]) => member) : objectOf(entries)
    for (const value of spoilt(part)) yield rebuilt([...others, [name, value]])
    yield rebuilt(others)
  }
}

const WITH_BODY = SUBJECTS.filter(({ hasJson }) => hasJson === true).map((subject, index) => ({ ...subject, index }))

describe('one odd value, at every place of a body in turn', () => {
  it.each(WITH_BODY)(
    'T-23 T-26 EMB-4 $operation $index does what it says or is refused, never a fault',
    async (subject) => {
      const world = await fuzzWorld(0, subject.index)
      let plan: Plan | undefined
      let refused = 0
      let run = 0
      for (const json of spoilt((await subject.plan(world)).json)) {
        plan ??= await subject.plan(world)
        const outcome = await judged(world, await world.sign({ ...plan, json }), 0, run++)
        if (outcome.response.status >= 400) refused++
        if (subject.isSingleUse && outcome.changes.length > 0) plan = undefined
      }
      expect(refused).toBeGreaterThan(run / 3)
    },
    FUZZ_TIMEOUT,
  )
})
