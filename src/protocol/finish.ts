import { toBase64, toBase64url } from './identifiers.ts'
import { parseUrl } from './url.ts'
import { isLoopbackHost } from './wallet-address.ts'

/**
 * What the finish hash is the SHA-256 of. `grantEndpoint` is the published URL of the authorization server, byte for byte.
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

const MAX_LENGTH = 2048

/** Visible ASCII but for `#` and the backslash: no line break reaches a header, and every parser finds the same host. */
const FINISH_URI = /^[!"$-[\]-~]+$/
const WITH_HOST = /^https?:\/\/[^/]/i

/** Schemes that run or read something in place of going somewhere. @spec INT-6 */
const FORBIDDEN_SCHEMES: readonly string[] = ['javascript', 'data', 'file', 'blob', 'vbscript']

/**
 * Whether a wallet may list a scheme as that of an app: in lower case, and none that is forbidden or needs no listing.
 * @spec INT-6
 */
export function isAppScheme(scheme: unknown): boolean {
  if (typeof scheme !== 'string' || !/^[a-z][a-z0-9+.-]*$/.test(scheme)) return false
  return ![...FORBIDDEN_SCHEMES, 'http', 'https'].includes(scheme)
}

/**
 * Reads the URL to which a client wants the browser sent back. `undefined` if it is not absolute and of at most 2048
 * characters; has a fragment or userinfo; or is neither https, nor http on a loopback host with `loopbackHttp`, nor of
 * one of the embedder's app `schemes` (`com.example.app`, in lower case). No option admits `javascript:` and its like,
 * nor http elsewhere.
 * @spec INT-5 @spec INT-6
 */
export function parseFinishUri(
  uri: string,
  options: { readonly loopbackHttp: boolean; readonly schemes: readonly string[] },
): URL | undefined {
  const url = uri.length > MAX_LENGTH || !FINISH_URI.test(uri) ? undefined : parseUrl(uri)
  if (url?.username !== '' || url.password !== '') return undefined
  if (url.protocol === 'https:') return WITH_HOST.test(uri) ? url : undefined
  if (url.protocol === 'http:')
    return WITH_HOST.test(uri) && options.loopbackHttp && isLoopbackHost(url.hostname) ? url : undefined
  const scheme = url.protocol.slice(0, -1)
  return options.schemes.includes(scheme) && !FORBIDDEN_SCHEMES.includes(scheme) ? url : undefined
}

function isNamed(pair: string, names: readonly string[]): boolean {
  // The ampersand keeps a question mark that begins a name from being taken for the one before a query.
  const [name = ''] = new URLSearchParams(`&${pair}`).keys()
  return names.includes(name)
}

/**
 * The finish URL with parameters added. The client's own query stays byte for byte as it was, but for parameters of
 * these names, which are replaced. Every reserved character of a value is escaped: a `+` would arrive as a space.
 * @spec INT-7
 */
export function finishRedirect(uri: string, parameters: Readonly<Record<string, string>>): string {
  const [base = '', ...queries] = uri.split('?')
  const names = Object.keys(parameters)
  const own = queries
    .join('?')
    .split('&')
    .filter((pair) => !isNamed(pair, names))
  const added = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const isBare = own.length === 1 && own[0] === ''
  return `${base}?${[...(isBare ? [] : own), ...added].join('&')}`
}
