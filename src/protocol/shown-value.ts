/**
 * How a message names a value that is not what it must be. A text stands in quotation marks, because a database that answers
 * `"2"` for 2, or a code with a space at its end, would look right without them.
 */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value === null || value === undefined || ['number', 'boolean'].includes(typeof value)) return String(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
