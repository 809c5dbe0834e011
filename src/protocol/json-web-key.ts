import { fromBase64url } from './bytes.ts'
import { isUsablePoint } from './ed25519-point.ts'
import { isObject } from './is-object.ts'

/** An Ed25519 public key as the library keeps it: plain data. `x` is canonical base64url of 32 bytes, checked against KEY-3. */
export interface PublicKey {
  readonly kid: string
  readonly x: string
}

/** A public key as it is published in a key set. */
export interface JsonWebKey {
  readonly kid: string
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly alg?: 'EdDSA'
  readonly use?: 'sig'
}

/** The result of reading a key. `reason` never repeats any part of the key. */
export type ParsedPublicKey =
  | { readonly ok: true; readonly key: PublicKey }
  | { readonly ok: false; readonly reason: string }

/** The most keys that one key set may hold. @spec T-4 */
export const MAX_KEYS = 20
/** In characters. */
const MAX_KID_LENGTH = 256

function isPublicPoint(x: string): boolean {
  const bytes = x.length === 43 ? fromBase64url(x) : undefined
  return bytes !== undefined && isUsablePoint(bytes)
}

/**
 * Reads an Ed25519 public key from a JSON Web Key. `requireAlg`: a directed identity and a key of this server must
 * name its `alg` as EdDSA; a key from a key set or a directory need not, and may name it Ed25519.
 * @spec KEY-1 @spec KEY-2 @spec KEY-4
 */
export function parsePublicKey(jwk: unknown, { requireAlg }: { readonly requireAlg: boolean }): ParsedPublicKey {
  const needed = `a key needs kid, ${requireAlg ? 'alg, ' : ''}kty, crv and x`
  if (!isObject(jwk)) return { ok: false, reason: needed }
  const wrong = (member: string, reason: string) => ({ ok: false, reason: member in jwk ? reason : needed }) as const

  const { kid, kty, crv, x, use, key_ops: operations, alg } = jwk
  if (typeof kid !== 'string') return wrong('kid', 'kid is missing')
  if (kid === '') return wrong('kid', 'kid is empty')
  if (kid.length > MAX_KID_LENGTH) return wrong('kid', `kid is longer than ${MAX_KID_LENGTH} characters`)
  if (kty !== 'OKP') return wrong('kty', 'kty must be OKP')
  if (crv !== 'Ed25519') return wrong('crv', 'crv must be Ed25519')
  if (typeof x !== 'string') return wrong('x', 'x is missing')
  if (!isPublicPoint(x)) return wrong('x', 'x is not a usable Ed25519 public key')
  if ('use' in jwk && use !== 'sig') return wrong('use', 'use must be sig')
  if ('key_ops' in jwk) {
    if (!isListOfTexts(operations)) return wrong('key_ops', 'key_ops must be an array')
    if (!operations.includes('verify')) return wrong('key_ops', 'key_ops must include verify')
  }
  if ('d' in jwk) return wrong('d', 'a public key must not carry its private part')
  // RFC 9864 has a new name for the same algorithm, which WebCrypto writes into the keys that it exports.
  const isNamed = alg === 'EdDSA' || (alg === 'Ed25519' && !requireAlg)
  if (!isNamed && (requireAlg || 'alg' in jwk)) return wrong('alg', 'alg must be EdDSA')
  return { ok: true, key: { kid, x } }
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/**
 * Reads the keys of one set, each for itself. All of them count: an unusable key with the same kid makes it just as unclear
 * which one is meant.
 * @spec KEY-7
 */
export function parseKeys(jwks: readonly unknown[]): readonly ParsedPublicKey[] {
  const kids = new Set<unknown>()
  const twins = new Set<unknown>()
  for (const jwk of jwks) {
    const kid = kidOf(jwk)
    if (kids.has(kid)) twins.add(kid)
    kids.add(kid)
  }
  return jwks.map((jwk) => {
    const result = parsePublicKey(jwk, { requireAlg: false })
    return result.ok && twins.has(result.key.kid) ? { ok: false, reason: 'another key has the same kid' } : result
  })
}

/**
 * Reads a key set. Entries that are not usable Ed25519 keys, and those that share their kid, are left out; `undefined`
 * if the document is no key set or holds more than 20 keys.
 * @spec KEY-7
 */
export function parseKeySet(document: unknown): readonly PublicKey[] | undefined {
  const keys = isObject(document) ? document['keys'] : undefined
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) return undefined
  return parseKeys(keys).flatMap((parsed) => (parsed.ok ? [parsed.key] : []))
}

function kidOf(jwk: unknown): unknown {
  return isObject(jwk) ? jwk['kid'] : undefined
}

/** The key with this `kid`; none if two keys have it, since either could be meant. @spec KEY-7 */
export function findKey(keys: readonly PublicKey[], kid: string): PublicKey | undefined {
  const [found, ...others] = keys.filter((key) => key.kid === kid)
  return others.length === 0 ? found : undefined
}

/** The 32 bytes of a key. Throws for a key that `parsePublicKey` did not make. */
export function publicKeyBytes(key: PublicKey): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64url(key.x)
  if (bytes?.length !== 32) throw new TypeError('not an Ed25519 public key')
  return bytes
}

/** The text whose SHA-256 is the RFC 7638 thumbprint of a key. @spec KEY-8 */
export function thumbprintInput(key: PublicKey): string {
  return `{"crv":"Ed25519","kty":"OKP","x":"${key.x}"}`
}

/** A key as this server publishes it: the members of the published key schema, and no other that the key may carry. @spec WAS-10 @spec KEY-1 */
export function publishedKey(jwk: PublicKey & Pick<JsonWebKey, 'use'>): JsonWebKey {
  const published = { kid: jwk.kid, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x: jwk.x } as const
  return jwk.use === undefined ? published : { ...published, use: jwk.use }
}
