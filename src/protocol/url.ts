/** Reads an absolute URL; `undefined` if the text is not one. */
export function parseUrl(text: string): URL | undefined {
  // Calling `URL.canParse` first would parse twice, and the oldest supported host lacks `URL.parse`.
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
