import { describe, expect, it } from 'vitest'
import { toBase64url } from '../../src/protocol/identifiers.ts'
import { parseKeySet, publicKeyBytes, publishedKey } from '../../src/protocol/json-web-key.ts'

const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'
const key = { kid: 'k', alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x } as const

describe('the entries of a key set', () => {
  it.each([7, 'k', true, null, []])('KEY-7 %j is no key, and leaves the others as they are', (entry) =>
    expect(parseKeySet({ keys: [entry, key, entry] })).toEqual([{ kid: 'k', x }]),
  )

  it('KEY-1 a key has 32 bytes, or is a fault of the program', () => {
    expect(publicKeyBytes({ kid: 'k', x })).toHaveLength(32)
    for (const other of ['', 'AAAA', '!'])
      expect(() => publicKeyBytes({ kid: 'k', x: other })).toThrow(new TypeError('not an Ed25519 public key'))
  })

  it('KEY-3 no bytes are given of a point that may not be used', () => {
    const identity = toBase64url(Uint8Array.of(1, ...new Uint8Array(31)))
    expect(() => publicKeyBytes({ kid: 'k', x: identity })).toThrow(new TypeError('not an Ed25519 public key'))
  })

  it('KEY-1 the bytes of a key are the same object while it is among the last 1000', () => {
    const nth = (number: number) => {
      const bytes = new Uint8Array(32).fill(7)
      new DataView(bytes.buffer).setUint16(0, number)
      return { kid: 'k', x: toBase64url(bytes) }
    }
    const all = Array.from({ length: 1000 }, (_, number) => publicKeyBytes(nth(number)))
    expect(all.every((bytes, number) => publicKeyBytes(nth(number)) === bytes)).toBe(true)
    expect(new Set(all.map((bytes) => toBase64url(bytes))).size).toBe(1000)
    publicKeyBytes(nth(1000))
    expect(publicKeyBytes(nth(999))).toBe(all[999])
    expect(publicKeyBytes(nth(0))).not.toBe(all[0])
    expect(publicKeyBytes(nth(0))).toEqual(all[0])
  })

  it('WAS-10 a published key has no member that it was not given', () => {
    expect(publishedKey(key)).toStrictEqual(key)
    expect(publishedKey({ ...key, use: 'sig' })).toStrictEqual({ ...key, use: 'sig' })
  })
})
