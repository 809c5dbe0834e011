import type { JsonWebKey } from '../protocol/json-web-key.ts'

/** A key with which this server signs requests to others. `keyId` is the `kid` of its public part. */
export interface ServerKey {
  readonly keyId: string
  readonly privateKeySeed: Uint8Array
  readonly jwk: JsonWebKey
}

/**
 * The keys of this server: one for each configured secret, the same in every process that has the secret, and never stored.
 * @spec TOK-10
 */
export interface ServerKeys {
  /** The key of the current secret: the one to sign with. */
  current(): Promise<ServerKey>
  /** The public keys of all secrets: during a rotation, processes that already have the new one sign with it. */
  publicKeys(): Promise<readonly JsonWebKey[]>
}
