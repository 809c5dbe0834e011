import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fromBase64url,
  fromHex,
  isEqualBytes,
  isEqualDigest,
  toBase64,
  toBase64url,
  toHex,
  toUtf8,
} from '../../src/protocol/bytes.ts'

const runs = { seed: 4, numRuns: 300 }
const bytes = fc.uint8Array({ maxLength: 80 })

describe('encodings', () => {
  it('writes what the host writes, and reads it back', () => {
    fc.assert(
      fc.property(bytes, (data) => {
        const host = Buffer.from(data)
        expect(toHex(data)).toBe(host.toString('hex'))
        expect(toBase64url(data)).toBe(host.toString('base64url'))
        expect(toBase64(data)).toBe(host.toString('base64'))
        expect(fromHex(toHex(data))).toEqual(data)
        expect(fromBase64url(toBase64url(data))).toEqual(data)
      }),
      runs,
    )
  })

  it('writes a text in UTF-8 as the host does, however long it is', () => {
    const long = fc.integer({ min: 60, max: 68 }).map((length) => 'a'.repeat(length))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary-ascii' }), long), (text) => {
        expect(toUtf8(text)).toEqual(new TextEncoder().encode(text))
      }),
      runs,
    )
    for (const text of ['\x7f', '\x80', '\ud800', `${'a'.repeat(63)}é`])
      expect(toUtf8(text)).toEqual(new TextEncoder().encode(text))
  })

  it('KEY-2 reads one text only for each byte string', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('A', 'B', 'Q', 'g', 'w', '_', '-'), maxLength: 12 }), (text) => {
        const data = fromBase64url(text)
        if (data !== undefined) expect(toBase64url(data)).toBe(text)
      }),
      runs,
    )
  })

  it.each(['A', 'AB', 'AAB', 'AA==', 'A+A', 'A/AA', 'AAA\n', 'AA A', 'AAé'])('KEY-2 refuses %j', (text) =>
    expect(fromBase64url(text)).toBeUndefined(),
  )
})

describe('comparison of secrets', () => {
  it('T-15 tells equal from different at every position', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 40 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (data, position, flip) => {
          const other = Uint8Array.from(data)
          const index = position % data.length
          other[index] = (other[index] ?? 0) ^ flip
          expect(isEqualBytes(data, Uint8Array.from(data))).toBe(true)
          expect(isEqualBytes(data, other)).toBe(false)
          expect(isEqualDigest(toHex(data), toHex(Uint8Array.from(data)))).toBe(true)
          expect(isEqualDigest(toHex(data), toHex(other))).toBe(false)
        },
      ),
      runs,
    )
  })

  it('T-15 answers no for different lengths, a prefix included', () => {
    expect(isEqualBytes(new Uint8Array(2), new Uint8Array(3))).toBe(false)
    expect(isEqualDigest('ab', 'abc')).toBe(false)
    expect(isEqualDigest('abc', 'ab')).toBe(false)
  })
})
