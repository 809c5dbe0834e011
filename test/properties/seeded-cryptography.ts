import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign as signWith,
  verify as verifyWith,
} from 'node:crypto'
import type { Cryptography } from 'open-payments-server'
import { createSigningKey, type SigningKey } from 'open-payments-server/testing'

/** What PKCS #8 and SPKI put before the bytes of an Ed25519 key (RFC 8410). */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

const bytesOf = (buffer: Buffer): Uint8Array => new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)

/**
 * Real cryptography without threads, whose randomness repeats: two runs over the same commands have the same ids, so
 * that lists come in the same order and a failure can be made smaller.
 */
export function seededCryptography(seed: string): Cryptography {
  const keys = new Map<string, KeyObject>()
  let drawn = 0
  const keyOf = (prefix: Buffer, raw: Uint8Array): KeyObject => {
    const der = Buffer.concat([prefix, raw])
    const id = der.toString('latin1')
    const isPrivate = prefix === PRIVATE_PREFIX
    const key =
      keys.get(id) ??
      (isPrivate
        ? createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
        : createPublicKey({ key: der, format: 'der', type: 'spki' }))
    keys.set(id, key)
    return key
  }
  const digest = (name: string, data: Uint8Array): Uint8Array => bytesOf(createHash(name).update(data).digest())
  return {
    randomBytes: (length) => {
      const blocks = Array.from({ length: Math.ceil(length / 64) }, () =>
        createHash('sha512').update(`${seed} ${drawn++}`).digest(),
      )
      return bytesOf(Buffer.concat(blocks)).slice(0, length)
    },
    sha256: (data) => digest('sha256', data),
    sha512: (data) => digest('sha512', data),
    hmacSha256: (key, data) => bytesOf(createHmac('sha256', key).update(data).digest()),
    verifyEd25519: (publicKey, signature, data) => verifyWith(null, data, keyOf(PUBLIC_PREFIX, publicKey), signature),
    ed25519PublicKey: (privateKeySeed) =>
      bytesOf(
        createPublicKey(keyOf(PRIVATE_PREFIX, privateKeySeed))
          .export({ format: 'der', type: 'spki' })
          .subarray(PUBLIC_PREFIX.length),
      ),
    signEd25519: (privateKeySeed, data) => bytesOf(signWith(null, data, keyOf(PRIVATE_PREFIX, privateKeySeed))),
  }
}

/** The keys of three clients, the first two of one name: drawn once, since that takes longer than a run. */
export async function clientKeys(): Promise<readonly SigningKey[]> {
  const cryptography = seededCryptography('keys')
  return Promise.all(['key', 'key', 'directed'].map((name) => createSigningKey(cryptography, name)))
}
