import type { Cryptography } from '../ports/cryptography.ts'
import type { Secrets } from '../ports/secrets.ts'
import { toBase64url, toHex, toUtf8 } from '../protocol/bytes.ts'

/**
 * Two labels keep the derivation key apart from the id that records carry, so that an id reveals nothing about its key.
 */
const KEY_LABEL = 'open-payments-server derivation key'
const ID_LABEL = 'open-payments-server key id'
/** 64 bits, enough to tell the few keys of one server apart. */
const ID_DIGITS = 16

/**
 * Secrets derived with HMAC-SHA-256 from the configured ones: new values use the first secret; values of all of them
 * can be derived again.
 * @spec TOK-10
 */
export function derivedSecrets(secrets: readonly string[], cryptography: Cryptography): Secrets {
  let loaded: ReadonlyMap<string, Uint8Array> | undefined

  const keysById = async (): Promise<ReadonlyMap<string, Uint8Array>> => {
    if (loaded !== undefined) return loaded
    const keys = new Map<string, Uint8Array>()
    for (const secret of secrets) {
      const bytes = toUtf8(secret)
      const id = toHex(await cryptography.hmacSha256(bytes, toUtf8(ID_LABEL))).slice(0, ID_DIGITS)
      keys.set(id, await cryptography.hmacSha256(bytes, toUtf8(KEY_LABEL)))
    }
    loaded = keys
    return keys
  }

  const deriveBytes: Secrets['deriveBytes'] = async (secretId, purpose, id) => {
    const key = (loaded ?? (await keysById())).get(secretId)
    if (key === undefined) throw new Error(`the secret with the id ${secretId} is not configured any more`)
    return cryptography.hmacSha256(key, toUtf8(`${purpose}\0${id}`))
  }

  return {
    async currentId() {
      const [id] = (await keysById()).keys()
      if (id === undefined) throw new Error('no secret is configured')
      return id
    },
    ids: async () => [...(await keysById()).keys()],
    derive: async (secretId, purpose, id) => toBase64url(await deriveBytes(secretId, purpose, id)),
    deriveBytes,
    async digest(text) {
      return toHex(await cryptography.sha256(toUtf8(text)))
    },
    randomId() {
      const bytes = cryptography.randomBytes(16)
      const id = toHex(bytes)
      // Text, or larger integers, become other digits: then many ids are alike, and references can be guessed.
      if (id.length !== 32 || bytes.byteLength !== 16)
        throw new TypeError('cryptography.randomBytes(16) must give 16 bytes')
      return id
    },
  }
}
