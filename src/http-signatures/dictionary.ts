import { type Dictionary, parseDictionary } from 'structured-headers'

const STRING = /"(?:\\.|[^"\\])*"/g
/** A date or a display string, in a text whose strings have been emptied. */
const YOUNGER_ITEM = /@|%"/
/** A decimal, in such a text. */
const DECIMAL = /[=( ]-?\d+\./

/**
 * A dictionary, and the keys of its members that hold a decimal: serialising those may not give back the original text.
 */
export interface ReadDictionary {
  readonly dictionary: Dictionary
  readonly decimals: ReadonlySet<string>
}

/**
 * Reads an RFC 8941 dictionary. `undefined` if the text is none, and also if
 * - a key occurs twice: a structured field parser keeps the last one silently, and the last one need not be the one
 *   that another reader of the message looks at;
 * - it holds an item of RFC 9651, which RFC 9421 does not know.
 *
 * The written form of a decimal is lost in parsing (`1.0` becomes `1`), so each member that holds one is named.
 * @spec SIG-1 @spec SIG-2 @spec SIG-17
 */
export function readDictionary(text: string): ReadDictionary | undefined {
  const dictionary = parse(text)
  if (dictionary === undefined) return undefined
  // Once its strings are emptied, every comma in a well-formed dictionary separates two members.
  const outline = text.replace(STRING, '""')
  const members = outline.split(',')
  if (YOUNGER_ITEM.test(outline) || members.length !== dictionary.size) return undefined
  // No key occurs twice, so the members are in the same order as in the text.
  const keys = DECIMAL.test(outline) ? [...dictionary.keys()] : []
  return { dictionary, decimals: new Set(keys.filter((_, index) => DECIMAL.test(members[index] ?? ''))) }
}

/** The same for a text all of whose members are needed: `undefined` also if any of them holds a decimal. */
export function parseStrictDictionary(text: string): Dictionary | undefined {
  const read = readDictionary(text)
  return read?.decimals.size === 0 ? read.dictionary : undefined
}

function parse(text: string): Dictionary | undefined {
  try {
    return parseDictionary(text)
  } catch {
    return undefined
  }
}
