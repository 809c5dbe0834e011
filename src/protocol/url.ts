/** Reads an absolute URL; `undefined` where the text is none. */
export function parseUrl(text: string): URL | undefined {
  // `URL.canParse` before it would parse twice, and `URL.parse` is younger than the oldest host.
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
