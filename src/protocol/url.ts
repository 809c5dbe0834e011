import { fromHex } from './bytes.ts'

/** The longest URL that this server reads, in characters; of a receiver's, also as a URL parser writes it. */
export const MAX_URL_LENGTH = 2048

/** Reads an absolute URL; `undefined` if the text is not one. */
export function parseUrl(text: string): URL | undefined {
  // Calling `URL.canParse` first would parse twice, and the oldest supported host lacks `URL.parse`.
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Reads a query as `URLSearchParams` does. What is not UTF-8 is replaced before that: Node throws and catches an error for
 * each parameter with such escapes, which takes longer than all else that a request could make it do.
 * @spec T-36
 */
export function parseQuery(query: string): URLSearchParams {
  return new URLSearchParams(isDecodable(query) ? query : query.replace(/(?:%[\da-f]{2})+|%/gi, repairEscapes))
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function repairEscapes(escapes: string): string {
  if (escapes === '%') return '%25'
  return encodeURIComponent(UTF8.decode(fromHex(escapes.replaceAll('%', '').toLowerCase())))
}
