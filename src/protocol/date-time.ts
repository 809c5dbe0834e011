import * as v from 'valibot'

// Hours end at 23: Date.parse would take 24:00:00 for the next day.
const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt]((?:[01]\d|2[0-3]):\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-]\d{2}:\d{2}))$/
const DAY_MILLISECONDS = 86_400_000

/**
 * Reads an RFC 3339 date-time as milliseconds since 1970. Digits beyond milliseconds are cut off; a leap second is read
 * as the first second of the next day. `undefined` if the text is not a valid date-time.
 */
export function parseDateTime(text: string): number | undefined {
  const match = RFC_3339.exec(text)
  if (match === null) return undefined
  const [, year, month, day, minute, written, fraction = '', offset = 'Z'] = match
  const isLeap = written === '60'
  // Engines differ in what else they accept, so Date.parse is given the one form that all of them must support.
  const before = Date.parse(`${year}-${month}-${day}T${minute}:${isLeap ? '59' : written}${offset}`)
  if (Number.isNaN(before)) return undefined
  const second = isLeap ? before + 1000 : before
  // Leap seconds occur only at the end of a UTC day.
  if (isLeap && second % DAY_MILLISECONDS !== 0) return undefined
  // Date.parse carries 31 February over into March; a day that does not exist is refused instead.
  const daysOfMonth = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  return Number(day) <= daysOfMonth ? second + Number(fraction.padEnd(3, '0').slice(0, 3)) : undefined
}

/** A date-time member of a body, as milliseconds since 1970. */
export const DateTime: v.GenericSchema<unknown, number> = v.pipe(
  v.string(),
  v.transform(parseDateTime),
  v.number('invalid date-time'),
)
