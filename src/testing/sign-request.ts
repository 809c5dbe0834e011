import { type SignOptions, signRequest } from '../http-signatures/sign-request.ts'
import type { Cryptography } from '../ports/cryptography.ts'
import type { HttpRequest } from '../ports/http-exchange.ts'
import { toBase64url } from '../protocol/identifiers.ts'
import type { JsonWebKey } from '../protocol/json-web-key.ts'

/** A key to sign with. */
export interface SigningKey {
  readonly keyId: string
  /** The public key, as it stands in a client's key set. */
  readonly jwk: JsonWebKey
  /** 32 bytes. */
  readonly privateKeySeed: Uint8Array
}

/** A request held in memory. Its parts can be read, so that a test can say what it changes. */
export interface InMemoryRequest extends HttpRequest {
  /** Lines by field name in lower case. */
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: Uint8Array
}

/** What to request, and how to sign it. */
export interface SignedRequest extends SignOptions {
  readonly method: string
  /** Absolute; its path and query become the request target unchanged. */
  readonly url: string
  readonly key: SigningKey
  /** Covered by the signature only where `components` names them; a `content-digest`, `content-length` or `content-type` given here stands as it is. */
  readonly headers?: Readonly<Record<string, string>>
  /** Becomes `Authorization: GNAP <token>`. */
  readonly token?: string
  /** The body, as JSON. */
  readonly json?: unknown
  /** The body, as it is. */
  readonly body?: string | Uint8Array
}

/** Draws a new Ed25519 key. */
export async function createSigningKey(cryptography: Cryptography, keyId = 'test-key'): Promise<SigningKey> {
  const privateKeySeed = cryptography.randomBytes(32)
  const x = toBase64url(publicKeyOf(await cryptography.sha512(privateKeySeed)))
  return { keyId, jwk: { kid: keyId, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x }, privateKeySeed }
}

/** Makes a signed request for `handle`. */
export async function signedRequest(request: SignedRequest): Promise<InMemoryRequest> {
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
    body: body instanceof Uint8Array ? body : new TextEncoder().encode(body ?? ''),
  })
}

/** Changes a request after it was signed. Lines that are given replace those of the header; an empty list removes it. */
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
    body: body instanceof Uint8Array ? body : new TextEncoder().encode(body),
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

// The Cryptography port signs, which needs no public key; the public half of a key that is drawn here is worked out
// as RFC 8032, section 5.1.5, says. Not in constant time: for keys of tests only.
type Point = readonly [x: bigint, y: bigint, z: bigint]

const PRIME = 2n ** 255n - 19n
const CURVE_D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const BASE_POINT: Point = [
  15112221349535400772501151409588531511454012693041857206046113283949847762202n,
  46316835694926478169428394003475163141307993866256225615783033603165251855960n,
  1n,
]

function publicKeyOf(hashedSeed: Uint8Array): Uint8Array {
  const scalar = (littleEndian(hashedSeed.subarray(0, 32)) & (2n ** 254n - 8n)) | (2n ** 254n)
  const [x, y, z] = multiplyBase(scalar)
  const inverse = power(z, PRIME - 2n)
  let encoded = modulo(y * inverse) | ((modulo(x * inverse) & 1n) << 255n)
  return Uint8Array.from({ length: 32 }, () => {
    const byte = Number(encoded & 255n)
    encoded >>= 8n
    return byte
  })
}

function multiplyBase(scalar: bigint): Point {
  let sum: Point = [0n, 1n, 1n]
  for (let bit = 254n; bit >= 0n; bit--) {
    sum = add(sum, sum)
    if ((scalar >> bit) & 1n) sum = add(sum, BASE_POINT)
  }
  return sum
}

/** The addition law of a twisted Edwards curve in projective coordinates; complete, so it doubles too. */
function add([x1, y1, z1]: Point, [x2, y2, z2]: Point): Point {
  const a = modulo(z1 * z2)
  const b = modulo(a * a)
  const c = modulo(x1 * x2)
  const d = modulo(y1 * y2)
  const e = modulo(CURVE_D * modulo(c * d))
  const x = modulo(a * modulo((b - e) * ((x1 + y1) * (x2 + y2) - c - d)))
  return [x, modulo(a * modulo((b + e) * (d + c))), modulo((b - e) * (b + e))]
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = base
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = modulo(result * square)
    square = modulo(square * square)
  }
  return result
}

function modulo(value: bigint): bigint {
  const rest = value % PRIME
  return rest < 0n ? rest + PRIME : rest
}

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
}
