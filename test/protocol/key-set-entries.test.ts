import { describe, expect, it } from 'vitest'
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

  it('WAS-10 a published key has no member that it was not given', () => {
    expect(publishedKey(key)).toStrictEqual(key)
    expect(publishedKey({ ...key, use: 'sig' })).toStrictEqual({ ...key, use: 'sig' })
  })
})
