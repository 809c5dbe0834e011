/** 128 random bits, which follow the time at which they were drawn unless a ledger has to know them. @spec GRT-15 */
const IDENTIFIER = /^(?:[0-9a-f]{12})?[0-9a-f]{32}$/
const LEDGER_ID = /^[0-9a-f]{32}$/

/** Whether a path segment can be one of this server's identifiers at all: 32 or 44 lower-case hexadecimal digits. */
export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text)
}

/** Whether a text can be the id of a hold or a credit, for which ledgers have 128 bits: 32 lower-case hexadecimal digits. */
export function isLedgerId(text: string): boolean {
  return LEDGER_ID.test(text)
}

const TIME_DIGITS = 12
/** The first time that has more digits: in the year 10889. */
const END_OF_TIME = 16 ** TIME_DIGITS

/** Whether a time in milliseconds can stand at the beginning of an id: an integer from 1970 on that has 12 digits. */
export function isTimeOfIds(milliseconds: number): boolean {
  return Number.isInteger(milliseconds) && milliseconds >= 0 && milliseconds < END_OF_TIME
}

/**
 * A time in milliseconds as 12 hexadecimal digits, with which the ids of new records begin; throws if it cannot stand
 * there, since nobody could find a record under such an id again. Databases index ids in order: ids of one moment then
 * share a page of the index, whereas each random one needs a page of its own to be read and written.
 */
export function inOrderOfTime(milliseconds: number): string {
  if (!isTimeOfIds(milliseconds)) throw new RangeError(`no id can begin with the time ${milliseconds}`)
  return milliseconds.toString(16).padStart(TIME_DIGITS, '0')
}

/** The digits of the time with which an id begins. */
export function timeDigitsOf(id: string): string {
  return id.slice(0, TIME_DIGITS)
}
