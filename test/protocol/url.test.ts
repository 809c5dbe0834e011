import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { parseQuery } from '../../src/protocol/url.ts'
import { noteParsed } from '../support/note-parsed.ts'

/** What queries are made of, and what confuses a parser. */
const PARTS = [
  ...['a', 'cursor', '=', '&', '+', '?', '#', 'é', '\u{1f600}', ';', '/'],
  ...['%', '%%', '%2', '%zz', '%25', '%26', '%3D', '%2B', '%00', '%61'],
  ...['%C3%A9', '%c3%a9', '%C3', '%A9', '%FF', '%ff', '%EF%BB%BF', '%ED%A0%80', '%F0%9F%98%80', '%F0%9F%98', '%E4%B8'],
]

/** Decodes the parameters as the URL standard says: bytes, and then UTF-8. */
function byTheStandard(query: string): readonly (readonly [string, string])[] {
  const decode = (text: string): string => {
    const bytes: number[] = []
    const encoded = new TextEncoder().encode(text.replaceAll('+', ' '))
    for (let at = 0; at < encoded.length; at++) {
      const digits = String.fromCharCode(...encoded.subarray(at + 1, at + 3))
      const isEscape = encoded[at] === 0x25 && /^[\da-f]{2}$/i.test(digits)
      bytes.push(isEscape ? Number.parseInt(digits, 16) : (encoded[at] ?? 0))
      if (isEscape) at += 2
    }
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array(bytes))
  }
  return query
    .replace(/^\?/, '')
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const end = pair.includes('=') ? pair.indexOf('=') : pair.length
      return [decode(pair.slice(0, end)), decode(pair.slice(end + 1))]
    })
}

describe('a query', () => {
  it('T-36 is read as the URL standard says, whatever is in it', () => {
    const queries = fc.array(fc.constantFrom(...PARTS), { maxLength: 12 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(queries, (query) => {
        expect([...parseQuery(query)]).toEqual(byTheStandard(query))
      }),
      { numRuns: 3000 },
    )
  })

  it('T-36 is given to a parser without escapes that are not UTF-8: Node throws an error for each of them', () => {
    const given = noteParsed('URLSearchParams')
    try {
      for (const part of ['=%FF&', '%%41=%C3&', 'a=%ED%A0%80&', 'a=%E4%B8&']) {
        const query = part.repeat(800)
        expect([...parseQuery(query)]).toEqual(byTheStandard(query))
      }
      expect(given).toHaveLength(4)
      for (const query of given) expect(() => decodeURIComponent(query)).not.toThrow()
      const sound = 'wallet-address=https%3A%2F%2Fwallet.example%2Falice&first=10'
      expect([...parseQuery(sound).keys()]).toEqual(['wallet-address', 'first'])
      expect(given[4]).toBe(sound)
    } finally {
      vi.unstubAllGlobals()
    }
  })
})
