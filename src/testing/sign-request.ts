import { type SignOptions, signRequest } from '../http-signatures/sign-request.ts'
import type { Cryptography } from '../ports/cryptography.ts'
import type { HttpRequest } from '../ports/http-exchange.ts'
import { toBase64url, toUtf8 } from '../protocol/bytes.ts'
import type { JsonWebKey } from '../protocol/json-web-key.ts'

/** A key to sign with. */
export interface SigningKey {
  readonly keyId: string
  /** The public key, as it stands in a client's key set. */
  readonly jwk: JsonWebKey
  /** 32 bytes. */
  readonly privateKeySeed: Uint8Array
}

/** A request held in memory. Its parts are readable, so that a test can say what it changes. */
export interface InMemoryRequest extends HttpRequest {
  /** Lines by field name in lower case. */
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: Uint8Array
}

/** What to request, and how to sign it. */
export interface SignedRequestOptions extends SignOptions {
  readonly method: string
  /** Absolute; its path and query become the request target unchanged. */
  readonly url: string
  readonly key: SigningKey
  /**
   * Covered by the signature only if `components` names them. That list takes the place of the default one: name what that
   * has, too. An `idempotency-key` that is not covered is refused. A `content-digest`, `content-length` or `content-type` given
   * here is kept as it is.
   */
  readonly headers?: Readonly<Record<string, string>>
  /** Becomes `Authorization: GNAP <token>`. */
  readonly token?: string
  /** The body, as JSON. */
  readonly json?: unknown
  /** The body, as it is. */
  readonly body?: string | Uint8Array
}

/** Generates a new Ed25519 key. */
export async function createSigningKey(cryptography: Cryptography, keyId = 'test-key'): Promise<SigningKey> {
  const privateKeySeed = cryptography.randomBytes(32)
  const x = toBase64url(await cryptography.ed25519PublicKey(privateKeySeed))
  return { keyId, jwk: { kid: keyId, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x }, privateKeySeed }
}

/**
 * Makes a signed request for `handle`. To send it to a server instead, give `fetch` the URL, the method, the body unless
 * it is empty, and the first line of each header; without `host`, which `fetch` writes itself.
 */
export async function signedRequest(request: SignedRequestOptions): Promise<InMemoryRequest> {
  const body = request.json === undefined ? request.body : JSON.stringify(request.json)
  const authorization = request.token === undefined ? {} : { authorization: `GNAP ${request.token}` }
  const headers = await signRequest(
    {
      method: request.method,
      url: request.url,
      headers: { host: new URL(request.url).host, ...authorization, ...request.headers },
      ...(body !== undefined && { body }),
    },
    request.key,
    request,
  )
  return inMemoryRequest({
    method: request.method,
    target: request.url.replace(/^https?:\/\/[^/?#]*/, '') || '/',
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    body: body instanceof Uint8Array ? body : toUtf8(body ?? ''),
  })
}

/**
 * Changes a request after it was signed. Lines that are given replace those of the header; an empty list removes the
 * header.
 */
export function alterRequest(
  request: InMemoryRequest,
  change: {
    readonly method?: string
    readonly target?: string
    readonly headers?: Readonly<Record<string, readonly string[]>>
    readonly body?: string | Uint8Array
  },
): InMemoryRequest {
  const { method, target } = { ...request, ...change }
  const body = change.body ?? request.body
  return inMemoryRequest({
    method,
    target,
    headers: { ...request.headers, ...change.headers },
    body: body instanceof Uint8Array ? body : toUtf8(body),
  })
}

function inMemoryRequest(request: Pick<InMemoryRequest, 'method' | 'target' | 'headers' | 'body'>): InMemoryRequest {
  const { headers, body } = request
  return {
    ...request,
    headerLines: (name) => (Object.hasOwn(headers, name) ? (headers[name] ?? []) : []),
    bytes: async (limit) => (body.length > limit ? undefined : body),
  }
}
