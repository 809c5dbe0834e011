import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  firstWindowStart,
  type IntervalCounting,
  type IntervalWindow,
  lastWindowEnd,
  parseInterval,
  type RepeatingInterval,
  windowAt,
  windowCount,
} from '../../src/protocol/interval.ts'

const runs = { seed: 7, numRuns: 300 }
const modes = ['additional', 'total'] as const
const MINUTE = 60_000
const DAY = 1440 * MINUTE

/** An interval before it is written: what the tests know of it does not go through the reader. */
interface Plan {
  readonly form: 'start/duration' | 'duration/end' | 'start/end'
  readonly count: number
  readonly anchor: number
  /** The offset in which the anchor is written, in minutes. */
  readonly offset: number
  readonly years: number
  readonly months: number
  readonly weeks: number
  readonly days: number
  readonly minutes: number
}

function writeMoment(at: number, offset: number): string {
  const local = new Date(at + offset * MINUTE).toISOString().slice(0, -1)
  const size = Math.abs(offset)
  const two = (part: number): string => String(part).padStart(2, '0')
  const zone = offset === 0 ? 'Z' : `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
  return `${local}${zone}`
}

function writePlan(plan: Plan, count: string = String(plan.count)): string {
  const { form, anchor, offset, years, months, weeks, days, minutes } = plan
  const moment = writeMoment(anchor, offset)
  const duration = `P${years}Y${months}M${weeks}W${days}DT${minutes}M`
  if (form === 'start/duration') return `R${count}/${moment}/${duration}`
  if (form === 'duration/end') return `R${count}/${duration}/${moment}`
  return `R${count}/${moment}/${writeMoment(anchor + fixedPart(plan), -offset)}`
}

function fixedPart({ weeks, days, minutes }: Plan): number {
  return (weeks * 7 + days) * DAY + minutes * MINUTE
}

/** A moment moved by whole months one at a time; the day of the anchor, or the last one of a month without it. */
function stepMonths(anchor: number, months: number): number {
  const date = new Date(anchor)
  let year = date.getUTCFullYear()
  let month = date.getUTCMonth()
  for (let step = 0; step < Math.abs(months); step++) {
    month += Math.sign(months)
    if (month === 12) [year, month] = [year + 1, 0]
    if (month === -1) [year, month] = [year - 1, 11]
  }
  let day = date.getUTCDate()
  while (new Date(Date.UTC(year, month, day)).getUTCMonth() !== month) day--
  return Date.UTC(year, month, day) + (anchor - Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()))
}

/** Every window of a plan, earliest first. */
function enumerate(plan: Plan, mode: IntervalCounting): readonly IntervalWindow[] {
  const isBackwards = plan.form === 'duration/end'
  const months = plan.form === 'start/end' ? 0 : plan.years * 12 + plan.months
  const edge = (periods: number): number => stepMonths(plan.anchor, periods * months) + periods * fixedPart(plan)
  const windows: IntervalWindow[] = []
  for (let index = 0; index < plan.count + (mode === 'additional' ? 1 : 0); index++) {
    if (isBackwards) windows.unshift({ index, startsAt: edge(-index - 1), endsAt: edge(-index) })
    else windows.push({ index, startsAt: edge(index), endsAt: edge(index + 1) })
  }
  return windows
}

function read(text: string): RepeatingInterval {
  const parsed = parseInterval(text)
  if (parsed === undefined) throw new Error(`${text} is not read`)
  return parsed
}

const anchor = fc.oneof(
  fc.integer({ min: Date.UTC(1971, 0), max: Date.UTC(2199, 11) }),
  // The last days of a month, and the moments around midnight.
  fc
    .tuple(fc.integer({ min: 1972, max: 2199 }), fc.nat(11), fc.nat(3), fc.constantFrom(0, 1, 43_200_000, DAY - 1))
    .map(([year, month, back, time]) => Date.UTC(year, month + 1, -back) + time),
  fc.constantFrom(Date.UTC(2000, 1, 29), Date.UTC(2024, 1, 29), Date.UTC(2096, 1, 29), Date.UTC(2023, 11, 31)),
)
const plan: fc.Arbitrary<Plan> = fc.record({
  form: fc.constantFrom('start/duration', 'duration/end', 'start/end'),
  count: fc.nat(12),
  anchor,
  offset: fc.oneof(fc.constant(0), fc.integer({ min: -1439, max: 1439 })),
  years: fc.constantFrom(0, 0, 1, 3),
  months: fc.constantFrom(0, 1, 1, 2, 5, 11, 14),
  weeks: fc.constantFrom(0, 0, 1, 2),
  days: fc.constantFrom(0, 0, 1, 30, 40),
  minutes: fc.integer({ min: 1, max: 3000 }),
})
/** Without weeks, days and times: the moments where nothing but the calendar counts. */
const calendarPlan = plan.map((given): Plan => ({ ...given, months: given.months + 1, weeks: 0, days: 0, minutes: 0 }))
const anyPlan = fc.oneof(
  plan,
  calendarPlan.filter(({ form }) => form !== 'start/end'),
)

describe.each(modes)('the windows of an interval, counted as %s', (mode) => {
  it('IVL-1 IVL-2 IVL-3 IVL-4 IVL-5 IVL-7 IVL-8 are those of a slow enumeration', () => {
    fc.assert(
      fc.property(anyPlan, fc.integer({ min: -200, max: 1200 }), (given, thousandths) => {
        const interval = read(writePlan(given))
        const windows = enumerate(given, mode)
        const first = windows.at(0)?.startsAt
        const last = windows.at(-1)?.endsAt
        expect(windowCount(interval, mode)).toBe(windows.length)
        expect(firstWindowStart(interval, mode)).toBe(first)
        expect(lastWindowEnd(interval, mode)).toBe(last)
        const from = first ?? given.anchor
        const random = Math.round(from + (((last ?? from) - from) * thousandths) / 1000)
        const edges = windows.flatMap(({ startsAt, endsAt }) => [startsAt - 1, startsAt, endsAt - 1, endsAt])
        const moments = [...edges, random]
        expect(moments.map((now) => windowAt(interval, now, mode))).toEqual(
          moments.map((now) => windows.find(({ startsAt, endsAt }) => startsAt <= now && now < endsAt)),
        )
      }),
      runs,
    )
  })

  it('IVL-5 IVL-6 lie end to end, hold each moment at most once, and are as many as their count says', () => {
    fc.assert(
      fc.property(anyPlan, (given) => {
        const interval = read(writePlan(given))
        const [first, last] = [firstWindowStart(interval, mode), lastWindowEnd(interval, mode)]
        const expected = given.count + (mode === 'additional' ? 1 : 0)
        const found: IntervalWindow[] = []
        let at = first ?? given.anchor
        for (let window = windowAt(interval, at, mode); window !== undefined; window = windowAt(interval, at, mode)) {
          found.push(window)
          at = window.endsAt
          if (found.length > expected) break
        }
        expect(found.every(({ startsAt, endsAt }) => startsAt < endsAt)).toBe(true)
        expect(found.slice(1).map(({ startsAt }) => startsAt)).toEqual(found.slice(0, -1).map(({ endsAt }) => endsAt))
        expect(found.map(({ endsAt }) => windowAt(interval, endsAt - 1, mode))).toEqual(found)
        const upwards = Array.from({ length: expected }, (_, index) => index)
        expect(found.map(({ index }) => index)).toEqual(given.form === 'duration/end' ? upwards.reverse() : upwards)
        expect(found[0]?.startsAt).toBe(first)
        if (expected > 0) expect(at).toBe(last)
        expect(windowAt(interval, (first ?? at) - 1, mode)).toBeUndefined()
      }),
      runs,
    )
  })
})

describe('an interval without an end', () => {
  it('IVL-5 IVL-6 goes on as the counted one does, however it is written', () => {
    fc.assert(
      fc.property(anyPlan, fc.constantFrom('', '-1'), fc.constantFrom(...modes), (given, count, mode) => {
        const endless = read(writePlan(given, count))
        const windows = enumerate({ ...given, count: given.count + 1 }, mode)
        expect(windows.map(({ startsAt }) => windowAt(endless, startsAt, mode))).toEqual(windows)
        const far = given.anchor + (given.form === 'duration/end' ? -1 : 1) * 40_000 * DAY
        const window = windowAt(endless, far, mode)
        if (window === undefined) throw new Error('no window far from the anchor')
        const step = given.form === 'duration/end' ? -1 : 1
        expect(windowAt(endless, window.endsAt, mode)).toMatchObject({
          index: window.index + step,
          startsAt: window.endsAt,
        })
      }),
      runs,
    )
  })
})

describe('the cost of finding a window', () => {
  afterEach(() => vi.restoreAllMocks())

  it('IVL-9 T-25 is six steps of calendar arithmetic at most, however many windows lie between', () => {
    const steps = vi.spyOn(Date.prototype, 'setUTCMonth')
    const minutes = read('R/1970-01-01T00:00:00Z/PT60S')
    expect(windowAt(minutes, Date.UTC(2026, 10, 21), 'total')?.index).toBe(Date.UTC(2026, 10, 21) / MINUTE)
    expect(steps.mock.calls.length).toBeGreaterThan(0)
    expect(steps.mock.calls.length).toBeLessThanOrEqual(6)
    fc.assert(
      fc.property(
        anyPlan,
        fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(9999, 11) }),
        fc.constantFrom('', '999999999'),
        (given, now, count) => {
          const interval = read(writePlan(given, count))
          steps.mockClear()
          windowAt(interval, now, 'total')
          expect(steps.mock.calls.length).toBeLessThanOrEqual(6)
        },
      ),
      runs,
    )
  })
})
