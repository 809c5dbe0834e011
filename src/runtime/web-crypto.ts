import type { Cryptography } from '../ports/cryptography.ts'
import { fromBase64url, fromHex, isEqualBytes, joinBytes, toHex } from '../protocol/bytes.ts'
import { latestValues } from '../protocol/latest-values.ts'

/** A key of the host's own crypto module. */
type KeyHandle = object
type Encoded = { readonly key: Uint8Array; readonly format: 'der' }

/** The part of the built-in module `node:crypto` (in Node, Bun and Deno) that is used. */
export interface BuiltinCrypto {
  randomFillSync(bytes: Uint8Array): unknown
  hash(algorithm: string, data: Uint8Array, encoding: 'latin1'): string
  createSecretKey(key: Uint8Array): KeyHandle
  createHmac(algorithm: string, key: KeyHandle): { update(data: Uint8Array): { digest(encoding: 'latin1'): string } }
  createPublicKey(key: Encoded & { readonly type: 'spki' }): KeyHandle
  createPublicKey(privateKey: KeyHandle): {
    export(encoding: { readonly format: 'der'; readonly type: 'spki' }): Uint8Array
  }
  createPrivateKey(key: Encoded & { readonly type: 'pkcs8' }): KeyHandle
  sign(algorithm: null, data: Uint8Array, key: KeyHandle): Uint8Array
  verify(algorithm: null, data: Uint8Array, key: KeyHandle, signature: Uint8Array): boolean
}

declare const process: { getBuiltinModule?(id: 'node:crypto'): BuiltinCrypto | undefined } | undefined

/** What precedes the 32 bytes of an Ed25519 key in its DER forms (RFC 8410). */
const SPKI_PREFIX = fromHex('302a300506032b6570032100')
const PKCS8_PREFIX = fromHex('302e020100300506032b657004220420')
/** Importing a key costs up to 40 microseconds; this many of the public keys that were used last are kept. */
const KEPT_KEYS = 1000
/** Drawing this many random bytes from the host costs as much as drawing one. */
const DRAWN_BYTES = 1024

/**
 * The host's cryptography: its built-in synchronous module if it has one, which saves a thread hop per digest; otherwise
 * WebCrypto, with `@peculiar/webcrypto` for Ed25519 if WebCrypto lacks it.
 */
export function webCryptography(): Cryptography {
  const module = typeof process === 'undefined' ? undefined : process.getBuiltinModule?.('node:crypto')
  if (module) return builtinCryptography(module)
  return subtleCryptography(crypto, loadPeculiarCrypto)
}

/** Synchronous cryptography with the host's built-in module. */
export function builtinCryptography(module: BuiltinCrypto): Cryptography {
  const publicKeys = latestValues<KeyHandle>(KEPT_KEYS)
  const importPublicKey = (publicKey: Uint8Array): KeyHandle =>
    module.createPublicKey({ key: joinBytes([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' })
  // Importing one takes longer than signing with it: twice as long on Node 24, ten times on Node 20.
  const privateKeyOf = keepBesideBytes((seed) =>
    module.createPrivateKey({ key: joinBytes([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' }),
  )
  // Passing the key as bytes takes Node 24 five times as long, because it finds out by an exception that they are not a
  // key object.
  const secretKeyOf = keepBesideBytes((key) => module.createSecretKey(key))
  return {
    randomBytes: drawAhead((bytes) => module.randomFillSync(bytes)),
    sha256: (data) => bytesOf(module.hash('sha256', data, 'latin1')),
    sha512: (data) => bytesOf(module.hash('sha512', data, 'latin1')),
    hmacSha256: (key, data) => bytesOf(module.createHmac('sha256', secretKeyOf(key)).update(data).digest('latin1')),
    verifyEd25519(publicKey, signature, data) {
      // Deno throws for bytes that are not a point of the curve; to the caller that is simply an invalid signature.
      try {
        const name = toHex(publicKey)
        const key = publicKeys.get(name) ?? importPublicKey(publicKey)
        publicKeys.set(name, key)
        return module.verify(null, data, key, signature)
      } catch {
        return false
      }
    },
    ed25519PublicKey(privateKeySeed) {
      const encoded = module.createPublicKey(privateKeyOf(privateKeySeed)).export({ format: 'der', type: 'spki' })
      return new Uint8Array(encoded).slice(SPKI_PREFIX.length)
    },
    signEd25519: (privateKeySeed, data) => new Uint8Array(module.sign(null, data, privateKeyOf(privateKeySeed))),
  }
}

/** Cryptography with WebCrypto. `loadFallback` is called once, when Ed25519 is first needed and `host` lacks it. */
export function subtleCryptography(host: Crypto, loadFallback: () => Promise<Crypto>): Cryptography {
  const publicKeys = latestValues<CryptoKey>(KEPT_KEYS)
  let ed25519: Promise<SubtleCrypto> | undefined
  const subtleEd25519 = (): Promise<SubtleCrypto> => {
    ed25519 ??= hasEd25519(host).then(async (has) => (has ? host : await loadFallback()).subtle)
    return ed25519
  }
  return {
    randomBytes: (length) => host.getRandomValues(new Uint8Array(length)),
    sha256: async (data) => new Uint8Array(await host.subtle.digest('SHA-256', owned(data))),
    sha512: async (data) => new Uint8Array(await host.subtle.digest('SHA-512', owned(data))),
    async hmacSha256(key, data) {
      const algorithm = { name: 'HMAC', hash: 'SHA-256' }
      const imported = await host.subtle.importKey('raw', owned(key), algorithm, false, ['sign'])
      return new Uint8Array(await host.subtle.sign('HMAC', imported, owned(data)))
    },
    async verifyEd25519(publicKey, signature, data) {
      const subtle = await subtleEd25519()
      // Some hosts throw for bytes that are not a point of the curve; to the caller that is simply an invalid
      // signature.
      try {
        const name = toHex(publicKey)
        const key = publicKeys.get(name) ?? (await importPublicKey(subtle, publicKey))
        publicKeys.set(name, key)
        return await subtle.verify('Ed25519', key, owned(signature), owned(data))
      } catch {
        return false
      }
    },
    async ed25519PublicKey(privateKeySeed) {
      const subtle = await subtleEd25519()
      const encoded = joinBytes([PKCS8_PREFIX, privateKeySeed])
      const key = await subtle.importKey('pkcs8', encoded, 'Ed25519', true, ['sign'])
      const { x = '' } = await subtle.exportKey('jwk', key)
      const publicKey = fromBase64url(x)
      if (publicKey?.length !== 32) throw new Error('this host does not export the public key of an Ed25519 key')
      return publicKey
    },
    async signEd25519(privateKeySeed, data) {
      const subtle = await subtleEd25519()
      const encoded = joinBytes([PKCS8_PREFIX, privateKeySeed])
      const key = await subtle.importKey('pkcs8', encoded, 'Ed25519', false, ['sign'])
      return new Uint8Array(await subtle.sign('Ed25519', key, owned(data)))
    },
  }
}

/** Loads the fallback, only when it is needed: that takes about 100 milliseconds. */
export async function loadPeculiarCrypto(): Promise<Crypto> {
  const { Crypto: PeculiarCrypto } = await import('@peculiar/webcrypto')
  return new PeculiarCrypto()
}

function importPublicKey(subtle: SubtleCrypto, publicKey: Uint8Array): Promise<CryptoKey> {
  return subtle.importKey('raw', owned(publicKey), 'Ed25519', false, ['verify'])
}

async function hasEd25519(host: Crypto): Promise<boolean> {
  const seed = joinBytes([PKCS8_PREFIX, new Uint8Array(32)])
  try {
    await host.subtle.importKey('pkcs8', seed, 'Ed25519', false, ['sign'])
    return true
  } catch {
    return false
  }
}

/**
 * The bytes of a digest from its text. As text it needs no buffer of the host, which would take longer than the digest.
 */
function bytesOf(latin1: string): Uint8Array {
  const bytes = new Uint8Array(latin1.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = latin1.charCodeAt(index)
  return bytes
}

/**
 * Draws many random bytes at once and hands them out. None is handed out twice, and what was handed out is erased here.
 */
function drawAhead(fill: (bytes: Uint8Array) => unknown): Cryptography['randomBytes'] {
  const drawn = new Uint8Array(DRAWN_BYTES)
  let given = drawn.length
  return (length) => {
    if (length > drawn.length) {
      const bytes = new Uint8Array(length)
      fill(bytes)
      return bytes
    }
    if (given + length > drawn.length) {
      fill(drawn)
      given = 0
    }
    const bytes = drawn.slice(given, given + length)
    drawn.fill(0, given, given + length)
    given += length
    return bytes
  }
}

/** A copy, because WebCrypto does not accept shared memory. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}

/**
 * Keeps what was made of a key for as long as the array that the key is in. The key is compared, since the caller may have
 * overwritten the array with another one.
 */
function keepBesideBytes(make: (key: Uint8Array) => KeyHandle): (key: Uint8Array) => KeyHandle {
  const kept = new WeakMap<Uint8Array, { readonly key: Uint8Array; readonly handle: KeyHandle }>()
  return (bytes) => {
    const known = kept.get(bytes)
    if (known !== undefined && isEqualBytes(known.key, bytes)) return known.handle
    const handle = make(bytes)
    // Not `slice()`: that of a Buffer is no copy.
    kept.set(bytes, { key: owned(bytes), handle })
    return handle
  }
}
