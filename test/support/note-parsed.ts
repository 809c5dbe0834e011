import { vi } from 'vitest'

/** Notes every text that one of these parsers is given, until the globals are no longer stubbed. */
export function noteParsed(parser: 'URL' | 'URLSearchParams'): readonly string[] {
  const given: string[] = []
  const noting = new Proxy(globalThis[parser], {
    construct(target, texts, newTarget) {
      given.push(String(texts[0]))
      return Reflect.construct(target, texts, newTarget)
    },
  })
  vi.stubGlobal(parser, noting)
  return given
}
