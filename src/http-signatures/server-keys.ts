import type { Cryptography } from '../ports/cryptography.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { ServerKey, ServerKeys } from '../ports/server-keys.ts'
import { toBase64url } from '../protocol/bytes.ts'
import { publishedKey } from '../protocol/json-web-key.ts'

/** Derives each key once: deriving one takes ten times as long as answering with the key set that shows it. */
export function derivedServerKeys(secrets: Secrets, cryptography: Cryptography): ServerKeys {
  const derived = new Map<string, ServerKey>()

  const keyOf = async (secretId: string): Promise<ServerKey> => {
    const key = derived.get(secretId) ?? (await deriveKey(secrets, cryptography, secretId))
    derived.set(secretId, key)
    return key
  }

  return {
    current: async () => keyOf(await secrets.currentId()),
    publicKeys: async () => (await Promise.all((await secrets.ids()).map(keyOf))).map(({ jwk }) => jwk),
  }
}

async function deriveKey(secrets: Secrets, cryptography: Cryptography, secretId: string): Promise<ServerKey> {
  const privateKeySeed = await secrets.deriveBytes(secretId, 'client-key', '')
  const keyId = `server-${secretId}`
  const x = toBase64url(await cryptography.ed25519PublicKey(privateKeySeed))
  return { keyId, privateKeySeed, jwk: publishedKey({ kid: keyId, x }) }
}
