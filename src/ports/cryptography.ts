import type { MaybePromise } from './maybe-promise.ts'

/** Randomness, digests and Ed25519. The default uses the host's own; a host may bring its HSM. */
export interface Cryptography {
  /** Bytes from a cryptographically secure source. @spec GRT-15 */
  randomBytes(length: number): Uint8Array
  /** The SHA-256 digest of `data`, 32 bytes. */
  sha256(data: Uint8Array): MaybePromise<Uint8Array>
  /** The SHA-512 digest of `data`, 64 bytes. */
  sha512(data: Uint8Array): MaybePromise<Uint8Array>
  /** The HMAC-SHA-256 of `data` under `key`, 32 bytes. */
  hmacSha256(key: Uint8Array, data: Uint8Array): MaybePromise<Uint8Array>
  /**
   * Whether a 64-byte Ed25519 signature over `data` is valid for a 32-byte public key. Must refuse S >= L, and what is
   * valid only with the cofactor (RFC 8032, 5.1.7, allows either): a client could order with such a signature, and an
   * audit with OpenSSL would call it invalid. The caller refuses keys, and first halves of signatures, that are points of
   * small order or not canonical.
   * @spec SIG-28
   */
  verifyEd25519(publicKey: Uint8Array, signature: Uint8Array, data: Uint8Array): MaybePromise<boolean>
  /** The 32-byte Ed25519 public key of the private key whose 32-byte seed is given. */
  ed25519PublicKey(privateKeySeed: Uint8Array): MaybePromise<Uint8Array>
  /** The Ed25519 signature over `data` with the private key whose 32-byte seed is given. */
  signEd25519(privateKeySeed: Uint8Array, data: Uint8Array): MaybePromise<Uint8Array>
}
