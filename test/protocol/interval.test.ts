import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  firstWindowStart,
  type IntervalCounting,
  lastWindowEnd,
  parseInterval,
  type RepeatingInterval,
  windowAt,
  windowCount,
} from '../../src/protocol/interval.ts'
import vectors from '../vectors/intervals.json' with { type: 'json' }

const modes = ['additional', 'total'] as const

function read(text: string): RepeatingInterval {
  const parsed = parseInterval(text)
  if (parsed === undefined) throw new Error(`${text} is not read`)
  return parsed
}

function at(text: string): number {
  return Date.parse(text)
}

describe('windows', () => {
  describe.each(modes)('counted as %s', (mode) => {
    it.each(vectors.cases)('IVL-1..IVL-8 $interval at $at', (vector) => {
      const expected = vector[mode]
      const window = windowAt(read(vector.interval), at(vector.at), mode)
      expect(window).toEqual(
        expected === null ? undefined : { index: expected.k, startsAt: at(expected.start), endsAt: at(expected.end) },
      )
    })
  })

  it('IVL-6 counts n + 1 or n, or does not end', () => {
    const count = (text: string, mode: IntervalCounting) => windowCount(read(text), mode)
    expect(count('R3/2025-01-01/P1M', 'additional')).toBe(4)
    expect(count('R3/2025-01-01/P1M', 'total')).toBe(3)
    expect(count('R0/2025-01-01/P1M', 'additional')).toBe(1)
    expect(count('R0/2025-01-01/P1M', 'total')).toBe(0)
    expect(count('R/2025-01-01/P1M', 'additional')).toBeUndefined()
    expect(count('R-1/2025-01-01/P1M', 'total')).toBeUndefined()
  })

  it('IVL-6 R0 in total has no window at all', () => {
    const interval = read('R0/2025-01-01/P1M')
    expect(windowAt(interval, at('2025-01-15T00:00:00Z'), 'total')).toBeUndefined()
    expect(firstWindowStart(interval, 'total')).toBeUndefined()
    expect(lastWindowEnd(interval, 'total')).toBeUndefined()
  })

  it('INT-11 knows the first start and the last end', () => {
    const forwards = read('R2/2022-07-01T13:00:00Z/P1M')
    expect(firstWindowStart(forwards, 'total')).toBe(at('2022-07-01T13:00:00Z'))
    expect(lastWindowEnd(forwards, 'additional')).toBe(at('2022-10-01T13:00:00Z'))
    expect(lastWindowEnd(forwards, 'total')).toBe(at('2022-09-01T13:00:00Z'))
    const backwards = read('R2/P1M/2022-10-01T13:00:00Z')
    expect(firstWindowStart(backwards, 'additional')).toBe(at('2022-07-01T13:00:00Z'))
    expect(lastWindowEnd(backwards, 'total')).toBe(at('2022-10-01T13:00:00Z'))
    expect(lastWindowEnd(read('R/2022-10-01/P1M'), 'total')).toBeUndefined()
    expect(firstWindowStart(read('R/P1M/2022-10-01'), 'total')).toBeUndefined()
    expect(lastWindowEnd(read('R/P1M/2022-10-01'), 'total')).toBe(at('2022-10-01T00:00:00Z'))
  })

  it('IVL-1 counts back past the first century', () => {
    const window = windowAt(read('R/P1930Y/2000-01-01'), at('1990-01-01T00:00:00Z'), 'total')
    expect(new Date(window?.startsAt ?? 0).toISOString()).toBe('0070-01-01T00:00:00.000Z')
  })

  it.each(['R/2025-01-01/P273790Y', 'R/2025-01-01/P100000000D', 'R/2025-01-01/PT8640000000000S'])(
    'IVL-10 keeps %s within the range of Date',
    (text) => {
      const window = windowAt(read(text), at('2026-01-01T00:00:00Z'), 'total')
      expect(window?.index).toBe(0)
      expect(() => new Date(window?.endsAt ?? Number.NaN).toISOString()).not.toThrow()
    },
  )

  it('IVL-10 gives the last moment of Date for an end beyond it', () => {
    expect(lastWindowEnd(read('R999999999/2025-01-01/P1Y'), 'total')).toBe(8.64e15)
    expect(firstWindowStart(read('R999999999/P1Y/2025-01-01'), 'total')).toBe(-8.64e15)
  })

  it('IVL-9 T-25 finds a window among 29 million', () => {
    const interval = read('R/1970-01-01T00:00:00Z/PT60S')
    const now = at('2025-06-01T00:00:30Z')
    expect(windowAt(interval, now, 'total')).toEqual({
      index: now / 60_000 - 0.5,
      startsAt: now - 30_000,
      endsAt: now + 30_000,
    })
  })

  it('IVL-9 has no window for a moment that is no number', () => {
    expect(windowAt(read('R/2025-01-01/P1M'), Number.NaN, 'total')).toBeUndefined()
    expect(windowAt(read('R/2025-01-01/P1M'), Number.POSITIVE_INFINITY, 'total')).toBeUndefined()
  })
})

describe('where Rafiki differs', () => {
  const inRange = (text: string): readonly [number, number] | undefined => {
    const [start, end] = text.split('/').map(Date.parse)
    return start === undefined || end === undefined ? undefined : [start, end]
  }

  it.each(vectors.rafiki_divergence)('IVL-11 $interval: $rafiki', ({ interval, at: moment, rafiki, anchored }) => {
    const parsed = parseInterval(interval)
    if (moment === undefined) {
      expect(anchored).toMatch(/^rejected/)
      expect(parsed).toBeUndefined()
      return
    }
    const window = windowAt(read(interval), at(moment), 'additional')
    expect(window && [window.startsAt, window.endsAt]).toEqual(inRange(anchored))
    expect(inRange(rafiki.split(' ')[0] ?? '')).not.toEqual(inRange(anchored))
  })

  it('IVL-11 lists nothing but the drift of month ends and texts that are no interval', () => {
    const kinds = vectors.rafiki_divergence.map(({ interval, at: moment }) => {
      const parsed = parseInterval(interval)
      if (parsed === undefined) return 'malformed'
      // Drift needs a month or year that starts on a day which another month lacks.
      const isMonthEnd = new Date(parsed.anchoredAt).getUTCDate() > 28 && parsed.months > 0
      return moment !== undefined && isMonthEnd ? 'drift' : 'other'
    })
    expect(kinds).toEqual(['drift', 'drift', 'malformed', 'malformed', 'malformed', 'malformed'])
  })
})

describe('reading', () => {
  it('IVL-11 has all of its cases', () => {
    const { cases, reject, rafiki_divergence } = vectors
    expect([cases.length, reject.length, rafiki_divergence.length]).toEqual([44, 16, 6])
  })

  it.each(vectors.reject)('IVL-10 refuses $interval ($error)', ({ interval }) =>
    expect(parseInterval(interval)).toBeUndefined(),
  )

  it.each([
    ['R/2025-01-01/P1M', '2025-01-01T00:00:00Z'],
    ['R/2025-01-01T12:30/P1M', '2025-01-01T12:30:00Z'],
    ['R/2025-01-01T12:30Z/P1M', '2025-01-01T12:30:00Z'],
    ['R/2025-01-01T12:30:15/P1M', '2025-01-01T12:30:15Z'],
    ['R/2025-01-01T12:30:15.123456789-03:30/P1M', '2025-01-01T16:00:15.123Z'],
    ['R/1970-01-01T00:00:00+05:00/P1M', '1969-12-31T19:00:00Z'],
    ['R007/9999-12-31/P1M', '9999-12-31T00:00:00Z'],
  ])('IVL-7 reads the start of %s as UTC', (text, start) => expect(read(text).anchoredAt).toBe(at(start)))

  it('reads a duration', () => {
    const anchoredAt = at('2025-01-01T00:00:00Z')
    expect(read('R5/2025-01-01/P1Y2M3W4DT5H6M7S')).toStrictEqual({
      anchor: 'start',
      anchoredAt,
      months: 14,
      milliseconds: (25 * 86_400 + 5 * 3600 + 6 * 60 + 7) * 1000,
      repetitions: 5,
    })
    expect(read('R/P0Y0M1D/2025-01-01')).toStrictEqual({
      anchor: 'end',
      anchoredAt,
      months: 0,
      milliseconds: 86_400_000,
    })
    expect(read('R/2025-01-01/P11Y12M13W14DT15H16M17S')).toMatchObject({
      months: 144,
      milliseconds: ((13 * 7 + 14) * 86_400 + 15 * 3600 + 16 * 60 + 17) * 1000,
    })
  })

  it('IVL-4 repeats the exact length between two moments', () => {
    expect(read('R/2025-01-01/2025-02-01')).toMatchObject({ anchor: 'start', months: 0, milliseconds: 31 * 86_400_000 })
  })

  it('IVL-10 accepts 60 seconds and refuses less', () => {
    expect(parseInterval('R/2025-01-01/PT60S')).toBeDefined()
    expect(parseInterval('R/2025-01-01/PT59S')).toBeUndefined()
    expect(parseInterval('R/PT59S/2025-01-01')).toBeUndefined()
    expect(parseInterval('R/2025-01-01T00:00:00Z/2025-01-01T00:01:00Z')).toBeDefined()
    expect(parseInterval('R/2025-01-01T00:00:00Z/2025-01-01T00:00:59.999Z')).toBeUndefined()
  })

  it.each(['P273790Y/P273791Y', 'P3285488M/P3285489M', 'P100000000D/P100000001D', 'PT8640000000000S/PT8640000000001S'])(
    'IVL-10 INT-11 accepts the longest period that Date can measure and refuses a longer one: %s',
    (periods) => {
      const [longest = '', longer = ''] = periods.split('/')
      for (const around of [
        (period: string) => `R/2025-01-01/${period}`,
        (period: string) => `R/${period}/2025-01-01`,
      ]) {
        expect(parseInterval(around(longest))).toBeDefined()
        expect(parseInterval(around(longer))).toBeUndefined()
      }
    },
  )

  it('IVL-10 accepts 128 characters and refuses more', () => {
    const text = (length: number): string => `R/2025-01-01/P1M${'0'.repeat(length - 18)}1D`
    expect(parseInterval(text(128))).toBeDefined()
    expect(parseInterval(text(129))).toBeUndefined()
    expect(parseInterval('R/2025-01-01/P'.padEnd(1 << 20, '1'))).toBeUndefined()
  })

  it.each([
    '',
    'R',
    'R//',
    '/2025-01-01/P1M',
    'r/2025-01-01/P1M',
    'R1000000000/2025-01-01/P1M',
    'R+1/2025-01-01/P1M',
    'R 1/2025-01-01/P1M',
    'R/2025-01-01/P1M/',
    'R/2025-01-01/P1M\n',
    'R/2025-01-01/P',
    'R/2025-01-01/PT',
    'R/2025-01-01/P1DT',
    'R/2025-01-01/1D',
    'R/2025-01-01/P-1D',
    'R/2025-01-01/P1.5D',
    'R/2025-01-01/P1D1M',
    'R/2025-01-01/p1d',
    'R/2025-01-01/P1H',
    'R/1969-12-31/P1M',
    'R/10000-01-01/P1M',
    'R/2025-01-01Z/P1M',
    'R/2025-01-01T/P1M',
    'R/2025-01-01T24:00:00Z/P1M',
    'R/2025-01-01T00:60Z/P1M',
    'R/2025-01-01T00:00:60Z/P1M',
    'R/2025-01-01T00:00+24:00/P1M',
    'R/2025-04-31/P1M',
    'R/2025-01-01t00:00:00z/P1M',
    'R/2025-01-01T00:00:00.Z/P1M',
    'R/2025-01-01/2025-01-01',
    'XR2/2025-01-01/P1M',
    '1R/2025-01-01/P1M',
    'R/+2025-01-01/P1M',
    'R/x2025-01-01/P1M',
    'R/12025-01-01/P1M',
    'R/2025-01-01/1P1M',
    'R/2025-01-01/xP1M',
    'R/P1M1/2025-01-01',
    'R/2025-01-01/P1Mx',
    'R/2025-01-01T00:00:00Zx/P1M',
    'R/2025-01-01/P1M/2025-03-01',
    `R/2025-01-01/P${'0'.repeat(128)}1M`,
    'R2',
    'X/2025-01-01/P1M',
    'R/2025-01-02/2025-01-01',
    'R/2025-01-01/PT1S',
    `R/2025-01-01/P${'9'.repeat(100)}Y`,
    `R/P1Y${'9'.repeat(100)}D/2025-01-01`,
    'R/2025-02-30/P1M',
  ])('IVL-10 refuses %j', (text) => expect(parseInterval(text)).toBeUndefined())

  it('never throws, and what it accepts has windows', () => {
    const unit = fc.constantFrom('R', '/', 'P', 'T', '1', '2025-01-01', 'M', 'D', 'Z', '-', ':', '0', '9')
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit, maxLength: 30 }), fc.string({ unit: 'binary-ascii' })), (text) => {
        const parsed = parseInterval(text)
        if (parsed === undefined) return
        const { anchor, anchoredAt } = parsed
        const now = anchor === 'start' ? anchoredAt : anchoredAt - 1
        expect(windowAt(parsed, now, 'additional')?.index).toBe(0)
      }),
      { seed: 12, numRuns: 300 },
    )
  })
})
