/**
 * The longest Signature-Input, Signature and Content-Digest that is parsed, and the longest field that `sf`, `key` or
 * `bs` converts. Once they have converted more than this for one message, they convert no more: that is looked at before
 * each conversion, so the last one may pass it. In characters.
 * @spec SIG-35
 */
export const MAXIMUM_FIELD_LENGTH = 8192

const OBSOLETE_FOLD = /\r\n[ \t]/
const PRINTABLE_ASCII = /^[\t\x20-\x7e]*$/

/**
 * Whether a text may occur in a signature base: only printable ASCII and tabs, so that no value can forge another line.
 */
export function isPrintableAscii(text: string): boolean {
  return PRINTABLE_ASCII.test(text)
}

/**
 * The value of one field line: folds replaced by a space, outer whitespace removed. `undefined` if it holds
 * anything but printable ASCII.
 * @spec SIG-16
 */
export function fieldLineValue(line: string): string | undefined {
  if (isPrintableAscii(line)) return line.trim()
  const pieces = line.split(OBSOLETE_FOLD)
  if (!pieces.every(isPrintableAscii)) return undefined
  return pieces
    .map((piece) => piece.trim())
    .join(' ')
    .trim()
}

/** The value of a field: its lines joined with `, `. `undefined` if a line holds anything but printable ASCII. @spec SIG-16 */
export function combineFieldLines(lines: readonly string[]): string | undefined {
  const values: string[] = []
  for (const line of lines) {
    const value = fieldLineValue(line)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values.join(', ')
}
