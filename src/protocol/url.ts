/** Reads an absolute URL; `undefined` if the text is not one. */
export function parseUrl(text: string): URL | undefined {
  // `URL.canParse` before it would parse twice, and `URL.parse` is younger than the oldest host.
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
