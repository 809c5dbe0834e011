import { parseDateTime } from './date-time.ts'

/**
 * A repeating interval in parsed form. Its windows lie end to end, each `months` plus `milliseconds` long, forwards
 * from `anchoredAt` (`start`) or backwards from it (`end`).
 */
export interface RepeatingInterval {
  readonly anchor: 'start' | 'end'
  /** In milliseconds since 1970. */
  readonly anchoredAt: number
  /** Calendar months of the period: years count twelve. */
  readonly months: number
  /** The rest of the period: weeks, days and times, a day being 86 400 s. @spec IVL-7 */
  readonly milliseconds: number
  /** The n of `Rn`; absent if the interval never ends. */
  readonly repetitions?: number
}

/** Whether `Rn` means n windows after the first, or n windows in all. @spec D4 @spec IVL-6 */
export type IntervalCounting = 'additional' | 'total'

/** One window: it begins at `startsAt` and ends before `endsAt`, in milliseconds. @spec IVL-5 */
export interface IntervalWindow {
  /** 0 for the first window after a start, and for the last window before an end. */
  readonly index: number
  readonly startsAt: number
  readonly endsAt: number
}

const MAX_LENGTH = 128
const MIN_PERIOD = 60_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** The mean length of a Gregorian month. */
const MEAN_MONTH = (146_097 / 4800) * DAY
/** The furthest moment from 1970 that a `Date` can hold, and the longest period: 100 million days. */
const LAST_MOMENT = 8.64e15

// Each group can begin at only one place, so none of these patterns backtracks; and no text is longer than MAX_LENGTH.
const COUNT = /^R(-1|\d{1,9})?$/
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/
const DURATION = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/

function parseMoment(text: string): number | undefined {
  const match = DATE_TIME.exec(text)
  if (match === null || text < '1970') return undefined
  const [, date, time = '00:00', seconds = ':00', zone = 'Z'] = match
  return parseDateTime(`${date}T${time}${seconds}${zone}`)
}

type Duration = Pick<RepeatingInterval, 'months' | 'milliseconds'>

function parseDuration(text: string): Duration | undefined {
  const match = DURATION.exec(text)
  if (match === null || text.endsWith('T')) return undefined
  const part = (group: number): number => Number(match[group] ?? 0)
  return {
    months: part(1) * 12 + part(2),
    milliseconds: (part(3) * 7 + part(4)) * DAY + part(5) * HOUR + part(6) * MINUTE + part(7) * 1000,
  }
}

/** In milliseconds. */
function meanPeriod({ months, milliseconds }: Duration): number {
  return months * MEAN_MONTH + milliseconds
}

/**
 * Reads a repeating interval: `R[n]/` and a start with a duration, a duration with an end, or a start with an end.
 * Bounded and never throws. `undefined` for any other text, one of more than 128 characters, a period under 60 seconds or
 * over 100 million days, and a date that does not exist or lies before 1970.
 * @spec IVL-10 @spec IVL-4
 */
export function parseInterval(text: string): RepeatingInterval | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const [repeat = '', first = '', second = '', ...rest] = text.split('/')
  const count = COUNT.exec(repeat)
  if (count === null || rest.length > 0) return undefined
  const repetitions = count[1] === undefined || count[1] === '-1' ? undefined : Number(count[1])
  const repeated = repetitions === undefined ? {} : { repetitions }

  const start = parseMoment(first)
  const end = parseMoment(second)
  if (start !== undefined && end !== undefined) {
    if (end - start < MIN_PERIOD) return undefined
    return { anchor: 'start', anchoredAt: start, months: 0, milliseconds: end - start, ...repeated }
  }
  const anchoredAt = start ?? end
  const duration = parseDuration(start === undefined ? first : second)
  if (anchoredAt === undefined || duration === undefined) return undefined
  if (duration.months === 0 && duration.milliseconds < MIN_PERIOD) return undefined
  if (meanPeriod(duration) > LAST_MOMENT) return undefined
  return { anchor: start === undefined ? 'end' : 'start', anchoredAt, ...duration, ...repeated }
}

/**
 * The anchor moved by `periods` periods: first the months, always counted from the anchor itself (a day that the month
 * does not have becomes its last day), so that nothing drifts; then the milliseconds. Infinite beyond the range of
 * `Date`.
 * @spec IVL-1 @spec IVL-8
 */
function momentAfter(interval: RepeatingInterval, periods: number): number {
  const date = new Date(interval.anchoredAt)
  const day = date.getUTCDate()
  // Day 0 of the following month is the last day of the wanted one. Not Date.UTC, which reads year 70 as 1970.
  date.setUTCMonth(date.getUTCMonth() + periods * interval.months + 1, 0)
  const month = date.setUTCDate(Math.min(day, date.getUTCDate()))
  const moment = month + periods * interval.milliseconds
  return Math.abs(moment) <= LAST_MOMENT ? moment : periods * Number.POSITIVE_INFINITY
}

/** The window that begins `step` periods after the anchor; before it if `step` is negative. */
function windowFrom(interval: RepeatingInterval, step: number): IntervalWindow {
  return {
    index: interval.anchor === 'start' ? step : -step - 1,
    startsAt: Math.max(momentAfter(interval, step), -LAST_MOMENT),
    endsAt: Math.min(momentAfter(interval, step + 1), LAST_MOMENT),
  }
}

/** How many windows there are; `undefined` if they never end. `R0` counted in total has none. @spec IVL-6 */
export function windowCount(interval: RepeatingInterval, counting: IntervalCounting): number | undefined {
  if (interval.repetitions === undefined) return undefined
  return counting === 'additional' ? interval.repetitions + 1 : interval.repetitions
}

/**
 * The window that holds a moment; `undefined` if none does. Its cost does not depend on how many windows lie
 * between: calendar months stray from their mean by less than nine days, so the estimate is off by one at most.
 * @spec IVL-2 @spec IVL-3 @spec IVL-9
 */
export function windowAt(
  interval: RepeatingInterval,
  at: number,
  counting: IntervalCounting,
): IntervalWindow | undefined {
  const count = windowCount(interval, counting) ?? Number.POSITIVE_INFINITY
  const estimate = Math.floor((at - interval.anchoredAt) / meanPeriod(interval))
  for (const correction of [0, -1, 1]) {
    const window = windowFrom(interval, estimate + correction)
    if (window.startsAt <= at && at < window.endsAt)
      return window.index >= 0 && window.index < count ? window : undefined
  }
  return undefined
}

/** The start of the first window, in milliseconds; `undefined` if there is none: no window, or endless ones before an end. */
export function firstWindowStart(interval: RepeatingInterval, counting: IntervalCounting): number | undefined {
  const count = windowCount(interval, counting)
  if (count === 0) return undefined
  if (interval.anchor === 'start') return interval.anchoredAt
  return count === undefined ? undefined : Math.max(momentAfter(interval, -count), -LAST_MOMENT)
}

/**
 * The end of the last window, in milliseconds; `undefined` if there is none. An end beyond the range of `Date`
 * is given as the last moment in it.
 */
export function lastWindowEnd(interval: RepeatingInterval, counting: IntervalCounting): number | undefined {
  const count = windowCount(interval, counting)
  if (count === 0) return undefined
  if (interval.anchor === 'end') return interval.anchoredAt
  return count === undefined ? undefined : Math.min(momentAfter(interval, count), LAST_MOMENT)
}
