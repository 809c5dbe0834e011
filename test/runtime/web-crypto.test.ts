import * as nodeCrypto from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Cryptography } from '../../src/ports/cryptography.ts'
import { fromBase64url, toHex } from '../../src/protocol/bytes.ts'
import {
  type BuiltinCrypto,
  builtinCryptography,
  loadPeculiarCrypto,
  subtleCryptography,
  webCryptography,
} from '../../src/runtime/web-crypto.ts'
import digests from '../vectors/content-digest.json' with { type: 'json' }
import hazards from '../vectors/ed25519-hazards.json' with { type: 'json' }
import rfc8037 from '../vectors/rfc8037.json' with { type: 'json' }
import rfc9421 from '../vectors/rfc9421.json' with { type: 'json' }

const webCrypto: Crypto = globalThis.crypto
// The types of Node ask for a Buffer where any Uint8Array will do.
const builtin = nodeCrypto as unknown as BuiltinCrypto
const never = (): Promise<Crypto> => Promise.reject(new Error('the fallback was loaded'))

/** A host whose WebCrypto knows no Ed25519. */
function withoutEd25519(): Crypto {
  const { subtle } = webCrypto
  const host = {
    getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => webCrypto.getRandomValues(bytes),
    subtle: {
      digest: subtle.digest.bind(subtle),
      sign: subtle.sign.bind(subtle),
      exportKey: subtle.exportKey.bind(subtle),
      importKey: (...parameters: Parameters<SubtleCrypto['importKey']>) =>
        parameters[2] === 'Ed25519'
          ? Promise.reject(new DOMException('Unrecognized name.', 'NotSupportedError'))
          : subtle.importKey(...parameters),
    },
  }
  return host as unknown as Crypto
}

const bytesOf = (text: string): Uint8Array => {
  const bytes = fromBase64url(text)
  if (bytes === undefined) throw new Error(`not base64url: ${text}`)
  return bytes
}
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

const hosts: readonly [string, () => Cryptography][] = [
  ['the default', webCryptography],
  ['node:crypto', () => builtinCryptography(builtin)],
  ['WebCrypto', () => subtleCryptography(webCrypto, never)],
  ['@peculiar/webcrypto', () => subtleCryptography(withoutEd25519(), loadPeculiarCrypto)],
]

describe.each(hosts)('cryptography by %s', (_, create) => {
  const cryptography = create()

  it.each([
    [
      'RFC 9421 B.2.6',
      rfc9421.key.jwk,
      rfc9421.b_2_6.signature_base,
      rfc9421.b_2_6.signature.slice('sig-b26=:'.length, -1),
    ],
    ['RFC 8037 A.4', rfc8037.jwk, rfc8037.jws_signing_input, rfc8037.signature_base64url],
  ])('SIG-28 verifies and signs %s', async (_name, jwk, data, encoded) => {
    const signature = Uint8Array.from(Buffer.from(encoded, 'base64'))
    expect(await cryptography.verifyEd25519(bytesOf(jwk.x), signature, text(data))).toBe(true)
    expect(await cryptography.verifyEd25519(bytesOf(jwk.x), signature, text(`${data} `))).toBe(false)
    expect(await cryptography.signEd25519(bytesOf(jwk.d), text(data))).toEqual(signature)
  })

  it.each([
    ['RFC 9421 B.1.4', rfc9421.key.jwk],
    ['RFC 8037 A.1', rfc8037.jwk],
  ])('KEY-1 knows the public key of %s', async (_name, jwk) => {
    expect(await cryptography.ed25519PublicKey(bytesOf(jwk.d))).toEqual(bytesOf(jwk.x))
  })

  it('SIG-28 refuses S >= L', async () => {
    const signature = Buffer.from(hazards.malleated_b26_signature.signature_base64, 'base64')
    const key = bytesOf(rfc9421.key.jwk.x)
    expect(await cryptography.verifyEd25519(key, signature, text(rfc9421.b_2_6.signature_base))).toBe(
      hazards.malleated_b26_signature.expect,
    )
  })

  it('SIG-28 refuses a signature that is valid only with the cofactor', async () => {
    const { jwk_x, message, signature_base64, expect: verdict } = hazards.cofactored_signature
    const signature = Buffer.from(signature_base64, 'base64')
    expect(await cryptography.verifyEd25519(bytesOf(jwk_x), signature, text(message))).toBe(verdict)
  })

  it('SIG-28 refuses a signature of another length', async () => {
    const signature = Buffer.from(rfc9421.b_2_6.signature.slice('sig-b26=:'.length, -1), 'base64')
    const key = bytesOf(rfc9421.key.jwk.x)
    const data = text(rfc9421.b_2_6.signature_base)
    expect(await cryptography.verifyEd25519(key, signature.subarray(0, 63), data)).toBe(false)
    expect(await cryptography.verifyEd25519(key, Buffer.concat([signature, Buffer.of(0)]), data)).toBe(false)
  })

  it('answers false, and does not throw, for 32 bytes that are no key', async () => {
    const noPoint = Uint8Array.from(Buffer.from('02'.padEnd(64, '0'), 'hex'))
    expect(await cryptography.verifyEd25519(noPoint, new Uint8Array(64), text('a'))).toBe(false)
    expect(await cryptography.verifyEd25519(new Uint8Array(31), new Uint8Array(64), text('a'))).toBe(false)
  })

  it.each(digests.cases)('digests $body', async ({ body, sha256, sha512 }) => {
    const encode = (digest: Uint8Array): string => Buffer.from(digest).toString('base64')
    expect(`sha-256=:${encode(await cryptography.sha256(text(body)))}:`).toBe(sha256)
    expect(`sha-512=:${encode(await cryptography.sha512(text(body)))}:`).toBe(sha512)
  })

  it('authenticates as RFC 4231, test case 2, says', async () => {
    const mac = await cryptography.hmacSha256(text('Jefe'), text('what do ya want for nothing?'))
    expect(toHex(mac)).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843')
  })

  it('answers plain bytes', async () => {
    const answers = [
      cryptography.randomBytes(4),
      await cryptography.sha256(text('')),
      await cryptography.sha512(text('')),
      await cryptography.hmacSha256(text('k'), text('')),
      await cryptography.signEd25519(new Uint8Array(32), text('')),
      await cryptography.ed25519PublicKey(new Uint8Array(32)),
    ]
    expect(answers.map((bytes) => [bytes.constructor.name, bytes.length])).toEqual(
      [4, 32, 64, 32, 64, 32].map((length) => ['Uint8Array', length]),
    )
  })

  it('GRT-15 draws other random bytes each time', () => {
    const drawn = Array.from({ length: 100 }, () => toHex(cryptography.randomBytes(16)))
    expect(new Set(drawn).size).toBe(100)
  })

  it('tells keys apart, however often they are used', async () => {
    const data = text('data')
    const pairs = [rfc9421.key.jwk, rfc8037.jwk]
    for (let round = 0; round < 2; round++) {
      for (const signer of pairs) {
        const signature = await cryptography.signEd25519(bytesOf(signer.d), data)
        for (const verifier of pairs) {
          expect(await cryptography.verifyEd25519(bytesOf(verifier.x), signature, data)).toBe(signer === verifier)
        }
      }
    }
  })
})

describe('random bytes', () => {
  it('GRT-15 are drawn many at once, given once, and not kept', () => {
    const fills: Uint8Array[] = []
    let next = 0
    const randomFillSync = (bytes: Uint8Array): void => {
      fills.push(bytes)
      for (let index = 0; index < bytes.length; index++) bytes[index] = (next++ % 255) + 1
    }
    const { randomBytes } = builtinCryptography({ ...builtin, randomFillSync })
    const first = randomBytes(16)
    expect(first).toEqual(Uint8Array.from({ length: 16 }, (_, index) => index + 1))
    expect(fills[0]?.subarray(0, 16)).toEqual(new Uint8Array(16))
    expect(randomBytes(1)).toEqual(Uint8Array.of(17))
    for (let count = 0; count < 62; count++) randomBytes(16)
    expect(fills).toHaveLength(1)
    // Of the fifteen that are left none is given: they would be too few.
    expect(randomBytes(16)).toEqual(Uint8Array.from({ length: 16 }, (_, index) => ((1024 + index) % 255) + 1))
    expect(fills).toHaveLength(2)
    first.fill(9)
    expect(fills[1]?.subarray(0, 16)).toEqual(new Uint8Array(16))
    expect(randomBytes(2000).every((byte) => byte > 0)).toBe(true)
    expect(randomBytes(0)).toEqual(new Uint8Array(0))
  })
})

describe('keys of an HMAC', () => {
  it('are prepared once', () => {
    let prepared = 0
    const createSecretKey: BuiltinCrypto['createSecretKey'] = (key) => {
      prepared++
      return builtin.createSecretKey(key)
    }
    const { hmacSha256 } = builtinCryptography({ ...builtin, createSecretKey })
    const [one, other] = [text('one key'), text('another')]
    const macs = [hmacSha256(one, text('a')), hmacSha256(one, text('a')), hmacSha256(text('one key'), text('a'))]
    expect(new Set(macs.map((mac) => JSON.stringify(mac))).size).toBe(1)
    const mac = hmacSha256(other, text('a'))
    expect(mac).not.toEqual(macs[0])
    expect(prepared).toBe(3)
    // Another key in the same place.
    other.set(text('a third'))
    expect(hmacSha256(other, text('a'))).toEqual(hmacSha256(text('a third'), text('a')))
    expect(hmacSha256(other, text('a'))).not.toEqual(mac)
    const buffer = Buffer.from('Jefe')
    hmacSha256(buffer, text('a'))
    buffer.write('Jeff')
    expect(hmacSha256(buffer, text('a'))).toEqual(hmacSha256(text('Jeff'), text('a')))
  })
})

describe('private keys', () => {
  it('are prepared once', () => {
    let prepared = 0
    const createPrivateKey: BuiltinCrypto['createPrivateKey'] = (key) => {
      prepared++
      return builtin.createPrivateKey(key)
    }
    const { ed25519PublicKey, signEd25519 } = builtinCryptography({ ...builtin, createPrivateKey })
    const seed = bytesOf(rfc8037.jwk.d)
    const data = text(rfc8037.jws_signing_input)
    const signature = Uint8Array.from(Buffer.from(rfc8037.signature_base64url, 'base64url'))
    expect(ed25519PublicKey(seed)).toEqual(bytesOf(rfc8037.jwk.x))
    expect([signEd25519(seed, data), signEd25519(seed, data)]).toEqual([signature, signature])
    expect(prepared).toBe(1)
    // Another key in the same place, of an array and of a Buffer.
    const buffer = Buffer.from(seed)
    expect(ed25519PublicKey(buffer)).toEqual(bytesOf(rfc8037.jwk.x))
    buffer.set(bytesOf(rfc9421.key.jwk.d))
    expect(ed25519PublicKey(buffer)).toEqual(bytesOf(rfc9421.key.jwk.x))
    seed.set(bytesOf(rfc9421.key.jwk.d))
    expect(signEd25519(seed, data)).toEqual(signEd25519(bytesOf(rfc9421.key.jwk.d), data))
    expect(ed25519PublicKey(seed)).toEqual(bytesOf(rfc9421.key.jwk.x))
  })
})

describe('imported keys', () => {
  /** Counts the imports of the host's module. */
  function counting(): { readonly module: BuiltinCrypto; imports: number } {
    const counted = {
      imports: 0,
      module: {
        ...builtin,
        createPublicKey: (key: Parameters<BuiltinCrypto['createPublicKey']>[0]) => {
          counted.imports++
          return builtin.createPublicKey(key)
        },
      },
    }
    return counted
  }

  it('are kept: the 1000 that were used last, and fewer than 2000', () => {
    const counted = counting()
    const cryptography = builtinCryptography(counted.module)
    const verify = (number: number): void => {
      const key = bytesOf(rfc9421.key.jwk.x)
      key[0] = number & 255
      key[1] = number >> 8
      cryptography.verifyEd25519(key, new Uint8Array(64), text(''))
    }
    for (let number = 0; number < 1000; number++) verify(number)
    for (let number = 0; number < 1000; number++) verify(number)
    expect(counted.imports).toBe(1000)
    for (let number = 1000; number < 2000; number++) {
      verify(number)
      verify(1)
    }
    expect(counted.imports).toBe(2000)
    verify(0)
    expect(counted.imports).toBe(2001)
  })
})

describe('the fallback', () => {
  it('is loaded once, and only for Ed25519', async () => {
    let loaded = 0
    const load = async (): Promise<Crypto> => {
      loaded++
      return webCrypto
    }
    const cryptography = subtleCryptography(withoutEd25519(), load)
    await cryptography.sha256(text('a'))
    await cryptography.hmacSha256(text('k'), text('a'))
    expect(loaded).toBe(0)
    const sign = (): Promise<Uint8Array> => Promise.resolve(cryptography.signEd25519(new Uint8Array(32), text('a')))
    const [first, second] = await Promise.all([sign(), sign()])
    expect(first).toEqual(second)
    expect(loaded).toBe(1)
  })

  it('is not loaded where the host has Ed25519', async () => {
    const cryptography = subtleCryptography(webCrypto, never)
    expect(await cryptography.signEd25519(new Uint8Array(32), text('a'))).toHaveLength(64)
  })

  it('rejects where it cannot be loaded: that is a fault, not a wrong signature', async () => {
    const cryptography = subtleCryptography(withoutEd25519(), never)
    const verified = cryptography.verifyEd25519(bytesOf(rfc9421.key.jwk.x), new Uint8Array(64), text('a'))
    await expect(verified).rejects.toThrow('the fallback was loaded')
  })

  it('is @peculiar/webcrypto', async () => {
    expect(await loadPeculiarCrypto()).not.toBe(webCrypto)
  })
})
