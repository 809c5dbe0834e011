import { type Dictionary, parseDictionary } from 'structured-headers'

const STRING = /"(?:\\.|[^"\\])*"/g
/** A decimal, a date or a display string, in a text whose strings are empty. */
const UNFIT_ITEM = /[=( ]-?\d+\.|@|%"/

/**
 * Reads an RFC 8941 dictionary. `undefined` if the text is none, and also if
 * - a key occurs twice: a structured field parser keeps the last one silently, and the last one need not be the one
 *   that another reader of the message looks at;
 * - it holds a decimal, whose written form is lost in parsing (`1.0` becomes `1`), or an item of RFC 9651, which
 *   RFC 9421 does not know: serialising what was read would not give what was signed.
 * @spec SIG-1 @spec SIG-2 @spec SIG-17
 */
export function parseStrictDictionary(text: string): Dictionary | undefined {
  const dictionary = parse(text)
  if (dictionary === undefined) return undefined
  // Emptied of strings, every comma of a well-formed dictionary stands between two members.
  const outline = text.replace(STRING, '""')
  if (UNFIT_ITEM.test(outline)) return undefined
  return outline.split(',').length === dictionary.size ? dictionary : undefined
}

function parse(text: string): Dictionary | undefined {
  try {
    return parseDictionary(text)
  } catch {
    return undefined
  }
}
