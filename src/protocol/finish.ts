import { toBase64, toBase64url } from './bytes.ts'
import { MAX_URL_LENGTH, parseUrl } from './url.ts'
import { isLoopbackHost } from './wallet-address.ts'

/**
 * The text whose SHA-256 is the finish hash. `grantEndpoint` is the published URL of the authorization server, byte for
 * byte.
 * @spec INT-13 @spec WAS-4
 */
export function finishHashInput(
  clientNonce: string,
  serverNonce: string,
  interactRef: string,
  grantEndpoint: string,
): string {
  return `${clientNonce}\n${serverNonce}\n${interactRef}\n${grantEndpoint}`
}

/** The finish hash as it stands in the redirect: padded base64 as deployed clients compare it, or base64url as RFC 9635 writes it. @spec D3 */
export function encodeFinishHash(digest: Uint8Array, encoding: 'base64' | 'base64url'): string {
  return encoding === 'base64' ? toBase64(digest) : toBase64url(digest)
}

const FINISH_NONCE = /^[ -~]{1,256}$/

/** Whether a text can be the nonce of a `finish`: 1 to 256 ASCII characters without control characters, so that it is one line of the hash. @spec INT-15 */
export function isFinishNonce(text: string): boolean {
  return FINISH_NONCE.test(text)
}

/**
 * Visible ASCII except `#` and backslash: no line break can reach a header, and every parser finds the same host. No
 * userinfo, not even an empty one, which a URL parser drops.
 */
const FINISH_URI = /^(?![^:]+:\/\/[^/?]*@)[!"$-[\]-~]+$/
const WITH_HOST = /^https?:\/\/[^/]/i

/** Schemes that run or read something instead of navigating somewhere. @spec INT-6 */
const FORBIDDEN_SCHEMES: readonly string[] = ['javascript', 'data', 'file', 'blob', 'vbscript']

/**
 * Whether a wallet may list a scheme as that of an app: it must be in lower case, and neither forbidden nor http or
 * https.
 * @spec INT-6
 */
export function isAppScheme(scheme: unknown): boolean {
  if (typeof scheme !== 'string' || !/^[a-z][a-z0-9+.-]*$/.test(scheme)) return false
  return ![...FORBIDDEN_SCHEMES, 'http', 'https'].includes(scheme)
}

/**
 * Reads the URL to which a client wants the browser sent back. It must be absolute, at most 2048 characters long,
 * without fragment and userinfo, and be https, or http on a loopback host if `loopbackHttp` is set, or have one of the
 * embedder's app schemes (`com.example.app`, in lower case); otherwise `undefined`. No policy admits `javascript:` or
 * the like, or http on any other host.
 * @spec INT-5 @spec INT-6
 */
export function parseFinishUri(
  uri: string,
  policies: { readonly loopbackHttp: boolean; readonly finishSchemes: readonly string[] },
): URL | undefined {
  const url = uri.length > MAX_URL_LENGTH || !FINISH_URI.test(uri) ? undefined : parseUrl(uri)
  if (url === undefined) return undefined
  if (url.protocol === 'https:') return WITH_HOST.test(uri) ? url : undefined
  if (url.protocol === 'http:')
    return WITH_HOST.test(uri) && policies.loopbackHttp && isLoopbackHost(url.hostname) ? url : undefined
  const scheme = url.protocol.slice(0, -1)
  return policies.finishSchemes.includes(scheme) && !FORBIDDEN_SCHEMES.includes(scheme) ? url : undefined
}

function isNamed(pair: string, names: readonly string[]): boolean {
  // URLSearchParams drops a leading question mark; after the ampersand, one that belongs to the name is kept.
  const [name = ''] = new URLSearchParams(`&${pair}`).keys()
  return names.includes(name)
}

/** What proves to a client that its owner has approved: none but our own may stand in its URL. @spec INT-7 */
const PROOFS_OF_APPROVAL: readonly string[] = ['hash', 'interact_ref']

/**
 * The finish URL with parameters added. The client's own query stays byte for byte as it was, except that parameters of
 * these names are replaced, and that a `hash` and an `interact_ref` go even if none are added, as on a denial. Every
 * reserved character of a value is escaped: a `+` would arrive as a space.
 * @spec INT-7
 */
export function finishRedirect(uri: string, parameters: Readonly<Record<string, string>>): string {
  const [base = '', ...queries] = uri.split('?')
  const names = [...PROOFS_OF_APPROVAL, ...Object.keys(parameters)]
  const own = queries
    .join('?')
    .split('&')
    .filter((pair) => !isNamed(pair, names))
  const added = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const isBare = own.length === 1 && own[0] === ''
  return `${base}?${[...(isBare ? [] : own), ...added].join('&')}`
}
