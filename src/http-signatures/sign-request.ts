import type { BareItem, Item } from 'structured-headers'
import type { Cryptography } from '../ports/cryptography.ts'
import { toBase64, toUtf8 } from '../protocol/bytes.ts'
import { contentDigest } from './content-digest.ts'
import { readComponents, signatureBase, signatureParams } from './signature-base.ts'

/** A request to sign. */
export interface RequestToSign {
  /** The method in upper case. */
  readonly method: string
  /** The absolute URL, exactly as it will be requested. */
  readonly url: string
  /** Names in any case. A `content-digest`, `content-length` or `content-type` given here is kept as it is. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** How to sign. */
export interface SignOptions {
  readonly cryptography: Cryptography
  /** Seconds since 1970. */
  readonly created: number
  /** Default: `@method`, `@target-uri`, `authorization` if there is one, and with a body the three content fields. */
  readonly components?: readonly string[]
  /** Seconds since 1970. */
  readonly expires?: number
  readonly alg?: string
  readonly nonce?: string
  readonly tag?: string
  /** Default `sig1`. */
  readonly label?: string
}

/**
 * Signs a request (RFC 9421, Ed25519) and returns all headers to send, their names in lower case: the given ones,
 * `signature-input`, `signature`, and with a body `content-digest` (sha-512), `content-length` and `content-type`
 * (`application/json` unless given). Rejects if a component has no value.
 */
export async function signRequest(
  request: RequestToSign,
  key: { readonly keyId: string; readonly privateKeySeed: Uint8Array },
  options: SignOptions,
): Promise<Record<string, string>> {
  const body = bytesOf(request.body)
  const headers = new Map<string, string>()
  if (body.length > 0) {
    headers.set('content-digest', await contentDigest(body, options.cryptography))
    headers.set('content-length', String(body.length))
    headers.set('content-type', 'application/json')
  }
  for (const [name, value] of Object.entries(request.headers)) headers.set(name.toLowerCase(), value)

  const names = options.components ?? defaultComponents(headers, body)
  const items = names.map((name): Item => [name, new Map<string, BareItem>()])
  const read = readComponents(items)
  if (!read.ok) throw new Error(`this request cannot be signed: ${read.reason}`)
  const params = signatureParams(read.components, signatureParameters(key.keyId, options))
  const message = {
    method: request.method,
    targetUris: [request.url],
    body,
    headerLines(name: string) {
      const line = headers.get(name)
      return line === undefined ? [] : [line]
    },
  }
  const result = signatureBase(read.components, params, message, request.url)
  if (!result.ok) throw new Error(`this request cannot be signed: ${result.reason}`)

  const data = toUtf8(result.base)
  const signature = await options.cryptography.signEd25519(key.privateKeySeed, data)
  const label = options.label ?? 'sig1'
  headers.set('signature-input', `${label}=${params}`)
  headers.set('signature', `${label}=:${toBase64(signature)}:`)
  return Object.fromEntries(headers)
}

function bytesOf(body: string | Uint8Array | undefined): Uint8Array {
  return body instanceof Uint8Array ? body : toUtf8(body ?? '')
}

function defaultComponents(headers: ReadonlyMap<string, string>, body: Uint8Array): string[] {
  const names = ['@method', '@target-uri']
  if (headers.has('authorization')) names.push('authorization')
  if (body.length > 0) names.push('content-digest', 'content-length', 'content-type')
  return names
}

function signatureParameters(keyId: string, options: SignOptions): Map<string, BareItem> {
  const parameters = new Map<string, BareItem>([
    ['keyid', keyId],
    ['created', options.created],
  ])
  for (const name of ['expires', 'alg', 'nonce', 'tag'] as const) {
    const value = options[name]
    if (value !== undefined) parameters.set(name, value)
  }
  return parameters
}
