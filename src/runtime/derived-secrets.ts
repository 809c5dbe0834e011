import type { Cryptography } from '../ports/cryptography.ts'
import type { Secrets } from '../ports/secrets.ts'
import { toBase64url, toHex } from '../protocol/identifiers.ts'

/** Separate the key that derives from the id that records carry, so that an id tells nothing of its key. */
const KEY_LABEL = 'open-payments-server derivation key'
const ID_LABEL = 'open-payments-server key id'
/** 64 bits tell the few keys of one server apart. */
const ID_DIGITS = 16

/**
 * Secrets derived with HMAC-SHA-256 from the configured ones: the first signs, all of them can be asked for again.
 * @spec TOK-10
 */
export function derivedSecrets(secrets: readonly string[], cryptography: Cryptography): Secrets {
  const encoder = new TextEncoder()
  let loaded: ReadonlyMap<string, Uint8Array> | undefined

  const loadKeys = async (): Promise<ReadonlyMap<string, Uint8Array>> => {
    const keys = new Map<string, Uint8Array>()
    for (const secret of secrets) {
      const bytes = encoder.encode(secret)
      const id = toHex(await cryptography.hmacSha256(bytes, encoder.encode(ID_LABEL))).slice(0, ID_DIGITS)
      keys.set(id, await cryptography.hmacSha256(bytes, encoder.encode(KEY_LABEL)))
    }
    return keys
  }
  const keysById = async (): Promise<ReadonlyMap<string, Uint8Array>> => {
    loaded ??= await loadKeys()
    return loaded
  }

  return {
    async currentId() {
      const [id] = (await keysById()).keys()
      if (id === undefined) throw new Error('no secret is configured')
      return id
    },
    ids: async () => [...(await keysById()).keys()],
    async derive(secretId, purpose, id) {
      const key = (await keysById()).get(secretId)
      if (key === undefined) throw new Error(`the secret with the id ${secretId} is not configured any more`)
      return toBase64url(await cryptography.hmacSha256(key, encoder.encode(`${purpose}\0${id}`)))
    },
    async digest(text) {
      return toHex(await cryptography.sha256(encoder.encode(text)))
    },
    randomId: () => toHex(cryptography.randomBytes(16)),
  }
}
