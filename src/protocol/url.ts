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
