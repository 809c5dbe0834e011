import type { Cryptography } from '../ports/cryptography.ts'
import type { Secrets } from '../ports/secrets.ts'
import { toBase64url } from '../protocol/bytes.ts'
import type { JsonWebKey } from '../protocol/json-web-key.ts'

/** A key with which this server signs requests to others. `keyId` is the `kid` of its public part. */
export interface ServerKey {
  readonly keyId: string
  readonly privateKeySeed: Uint8Array
  readonly jwk: JsonWebKey
}

/**
 * The key that is derived from one secret: the same in every process that has the secret, and never stored.
 * @spec TOK-10
 */
export async function serverKey(secrets: Secrets, cryptography: Cryptography, secretId: string): Promise<ServerKey> {
  const privateKeySeed = await secrets.deriveBytes(secretId, 'client-key', '')
  const keyId = `server-${secretId}`
  const x = toBase64url(await cryptography.ed25519PublicKey(privateKeySeed))
  return { keyId, privateKeySeed, jwk: { kid: keyId, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x } }
}

/**
 * The public keys of all configured secrets: during a rotation, processes that already have the new one sign with it.
 */
export async function serverPublicKeys(secrets: Secrets, cryptography: Cryptography): Promise<readonly JsonWebKey[]> {
  const keys = (await secrets.ids()).map((id) => serverKey(secrets, cryptography, id))
  return (await Promise.all(keys)).map(({ jwk }) => jwk)
}
