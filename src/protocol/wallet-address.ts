import type { Asset } from './amount.ts'
import { MAX_URL_LENGTH, parseUrl } from './url.ts'

const DEFAULT_PATH = '/.well-known/pay'

/** Path segments of the three servers, which no wallet address may contain. @spec WAS-3 */
export const RESERVED_SEGMENTS: ReadonlySet<string> = new Set([
  'incoming-payments',
  'outgoing-payments',
  'quotes',
  'jwks.json',
  'outgoing-payment-grant',
  'wallet-address',
  'continue',
  'token',
  'interact',
])

// Scheme, authority and path. Only bytes beyond ASCII may be percent-encoded, in upper-case hex, so that no character
// can be written in two ways.
const WALLET_ADDRESS = /^(https?:\/\/[^/?#]+)((?:\/(?:[\w.~!$&'()*+,;=:@/-]|%[89A-F][0-9A-F])*)?)$/
// Addresses that every URL parser leaves unchanged: a host in plain lower case that is not a number, and no segment
// that begins with a dot.
const PLAIN_ADDRESS = /^(https:\/\/(?:[a-z\d]+(?:-[a-z\d]+)*\.)+[a-z]+)((?:\/[\w~-][\w.~-]*)+)$/

/**
 * Whether a host name of a parsed URL means this machine: `localhost` and names below it, `127.0.0.1`, `[::1]`. No
 * other address of 127.0.0.0/8, to keep the list of hosts that are admitted for development short.
 */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '127.0.0.1' || hostname === '[::1]'
}

/**
 * The canonical URL of a wallet address: host in lower case, no trailing slash, `/.well-known/pay` if there is no path.
 * `undefined` if the text is not one: other than https; with userinfo, port, query or fragment; with a reserved or
 * empty segment; longer than 2048 characters; or not as a URL parser writes it (dot segments, a host in Unicode, an
 * escaped ASCII character), so that one account never has two names. In a host, the Kelvin sign (U+212A) counts as an
 * upper-case K, here as in every URL parser.
 *
 * `loopbackHttp` also admits http and ports, but only on the hosts of `isLoopbackHost`.
 * @spec WAS-2 @spec WAS-3 @spec T-40
 */
export function canonicalWalletAddress(text: string, options: { readonly loopbackHttp: boolean }): string | undefined {
  if (text.length > MAX_URL_LENGTH) return undefined
  const plain = PLAIN_ADDRESS.exec(text)
  const match = plain ?? WALLET_ADDRESS.exec(text)
  if (match === null) return undefined
  const [, authority = '', path = ''] = match
  const origin = authority.toLowerCase()
  if (plain === null && !isWrittenByParser(text, origin + (path === '' ? '/' : path), options)) return undefined

  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
  if (trimmed === '') return origin + DEFAULT_PATH
  const segments = trimmed.split('/').slice(1)
  if (segments.some((segment) => segment === '' || RESERVED_SEGMENTS.has(segment))) return undefined
  return origin + trimmed
}

/** The origin of a wallet address that needs no path in its canonical form: it is known by that, too. */
export function bareOrigin(walletAddress: string): string | undefined {
  const url = parseUrl(walletAddress)
  return url?.pathname === DEFAULT_PATH ? url.origin : undefined
}

/**
 * Whether a text is an address exactly as a URL parser writes it, without userinfo and, except on loopback, without a
 * port.
 */
function isWrittenByParser(text: string, href: string, options: { readonly loopbackHttp: boolean }): boolean {
  // A parser writes ASCII only; finding out how it would write other characters takes time quadratic in their number.
  const url = /^[!-~]+$/.test(href) ? parseUrl(text) : undefined
  if (url?.href !== href || url.username !== '' || url.password !== '' || url.hostname.endsWith('.')) return false
  const allowsAny = options.loopbackHttp && isLoopbackHost(url.hostname)
  return allowsAny || (url.protocol === 'https:' && url.port === '')
}

/**
 * The path of the wallet address that a requested path belongs to: the same path, without a final `/jwks.json` (which
 * names the wallet address's keys). As everywhere, trailing slashes are ignored.
 */
export function walletAddressPath(path: string): string {
  return path.replace(/\/jwks\.json\/*$/, '')
}

/** A wallet address document as it travels in JSON, which leaves out what is undefined. */
export interface WireWalletAddress extends Asset {
  readonly id: string
  readonly publicName: string | undefined
  readonly authServer: string
  readonly resourceServer: string
}
