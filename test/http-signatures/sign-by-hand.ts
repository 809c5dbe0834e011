import { createHash, createPrivateKey, sign } from 'node:crypto'
import type { SignatureCandidate, SignatureRules } from '../../src/http-signatures/signature-candidate.ts'
import type { SignedMessage } from '../../src/http-signatures/signed-message.ts'
import { readSignatures, verifySignatures } from '../../src/http-signatures/verify-signature.ts'
import type { Cryptography } from '../../src/ports/cryptography.ts'
import { webCryptography } from '../../src/runtime/web-crypto.ts'
import rfc9421 from '../vectors/rfc9421.json' with { type: 'json' }

const { kty, crv, d, x } = rfc9421.key.jwk
const privateKey = createPrivateKey({ key: { kty, crv, d, x }, format: 'jwk' })

export const KEY = { kid: 'key-1', x }
export const CREATED = 1_700_000_000
export const URL_OF_REQUEST = 'https://wallet.example/outgoing-payments?a=1'
export const TOKEN = 'GNAP 123454321'
export const BODY = '{"hello": "world"}'
export const BODY_DIGEST = sha512Digest(BODY)

/** One line of a signature base: the component identifier as it is written, and the value that is signed. */
export type Line = readonly [identifier: string, value: string]

export const METHOD_LINE: Line = ['"@method"', 'POST']
export const TARGET_LINE: Line = ['"@target-uri"', URL_OF_REQUEST]
export const AUTHORIZATION_LINE: Line = ['"authorization"', TOKEN]
export const DIGEST_LINE: Line = ['"content-digest"', BODY_DIGEST]
export const LENGTH_LINE: Line = ['"content-length"', String(BODY.length)]
export const TYPE_LINE: Line = ['"content-type"', 'application/json']
export const LINES: readonly Line[] = [
  METHOD_LINE,
  TARGET_LINE,
  AUTHORIZATION_LINE,
  DIGEST_LINE,
  LENGTH_LINE,
  TYPE_LINE,
]
export const PARAMETERS = `;created=${CREATED};keyid="${KEY.kid}"`

/** A message and what its signer covers. Everything but what a test names is right. */
export interface Draft {
  readonly method: string
  readonly targetUris: readonly string[]
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: string
  readonly lines: readonly Line[]
  readonly parameters: string
  /** The signature of the base, in base64. */
  readonly sign: (base: string) => string
  /** How the inner list and the byte sequence are put into headers. */
  readonly wire: (input: string, signature: string) => Readonly<Record<string, readonly string[]>>
}

export const HEADERS: Draft['headers'] = {
  host: ['wallet.example'],
  authorization: [TOKEN],
  'content-type': ['application/json'],
  'content-length': [String(BODY.length)],
  'content-digest': [BODY_DIGEST],
}

const RIGHT: Draft = {
  method: 'POST',
  targetUris: [URL_OF_REQUEST],
  headers: HEADERS,
  body: BODY,
  lines: LINES,
  parameters: PARAMETERS,
  sign: signText,
  wire: (input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`sig1=${signature}`] }),
}

export function sha512Digest(body: string): string {
  return `sha-512=:${createHash('sha512').update(body).digest('base64')}:`
}

/** The Ed25519 signature of the RFC 9421 test key, in base64. */
export function signText(base: string): string {
  return sign(null, Buffer.from(base), privateKey).toString('base64')
}

/** The number that bytes are, the least first. */
const numberOf = (bytes: Buffer): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
const sha512 = (...parts: readonly Uint8Array[]): Buffer => createHash('sha512').update(Buffer.concat(parts)).digest()

/** How many points the main subgroup has, by which S is reduced. */
export const ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n

/**
 * A signature of the same key whose secret number is 0, so that its first half is the identity: S is only the hash times
 * the private scalar (RFC 8032, 5.1.6).
 */
export function signTextWithIdentity(base: string): string {
  const scalar = sha512(Buffer.from(d, 'base64url')).subarray(0, 32)
  scalar[0] = (scalar[0] ?? 0) & 248
  scalar[31] = ((scalar[31] ?? 0) & 127) | 64
  const identity = Buffer.alloc(32, 0)
  identity[0] = 1
  const hash = numberOf(sha512(identity, Buffer.from(x, 'base64url'), Buffer.from(base)))
  const s = ((hash * numberOf(scalar)) % ORDER).toString(16).padStart(64, '0')
  return Buffer.concat([identity, Buffer.from(s, 'hex').reverse()]).toString('base64')
}

/** Writes the signature base of a draft line by line, without any of the code under test, and signs it. */
export function signByHand(change: Partial<Draft> = {}): SignedMessage {
  const draft = { ...RIGHT, ...change }
  const input = `(${draft.lines.map(([identifier]) => identifier).join(' ')})${draft.parameters}`
  const base = [...draft.lines, ['"@signature-params"', input]].map((line) => line.join(': ')).join('\n')
  const headers: Draft['headers'] = { ...draft.headers, ...draft.wire(input, `:${draft.sign(base)}:`) }
  return messageOf({ ...draft, headers })
}

export function messageOf(parts: Pick<Draft, 'method' | 'targetUris' | 'headers' | 'body'>): SignedMessage {
  return {
    method: parts.method,
    targetUris: parts.targetUris,
    headerLines: (name) => parts.headers[name] ?? [],
    body: new TextEncoder().encode(parts.body),
  }
}

export const RULES: SignatureRules = {
  profile: 'open-payments',
  legacySyntax: ['php', 'rust'],
  ageSeconds: 300,
  skewSeconds: 60,
  now: CREATED * 1000,
}

/** `accepted`, or why not. */
export async function judge(
  message: SignedMessage,
  rules: Partial<SignatureRules> = {},
  key: { readonly kid: string; readonly x: string } = KEY,
  cryptography: Cryptography = webCryptography(),
): Promise<string> {
  const read = await readSignatures(message, { ...RULES, ...rules }, cryptography)
  if (!read.ok) return read.reason
  const verified = await verifySignatures(read.candidates, async () => ({ key }), cryptography)
  return verified.ok ? 'accepted' : verified.reason
}

/** The candidates of a message that has to have some. */
export async function candidatesOf(
  message: SignedMessage,
  rules: Partial<SignatureRules> = {},
): Promise<readonly SignatureCandidate[]> {
  const read = await readSignatures(message, { ...RULES, ...rules }, webCryptography())
  if (!read.ok) throw new Error(read.reason)
  return read.candidates
}
