import { MAX_URL_LENGTH, parseUrl } from './url.ts'

/** The URL of an incoming payment, on this server or another, and its parts. */
export interface ReceiverUrl {
  /** As a URL parser writes it: two receivers are the same if these are equal. @spec LIM-5 */
  readonly url: string
  /** Its last segment. */
  readonly id: string
  /** The URL up to and including `/incoming-payments`. */
  readonly collection: string
}

/**
 * What the published pattern requires of the text before its path, and no query or fragment; of a host beyond ASCII no
 * more than a name can have, because a URL parser takes time quadratic in it. Nothing backtracks.
 */
const HTTP_URL = /^https?:\/\/(?!\/*(?=[^/]{261})[^/]*[^!-~])[^\s\\?#]+$/

function parseHttpUrl(text: string): URL | undefined {
  const url = text.length > MAX_URL_LENGTH || !HTTP_URL.test(text) ? undefined : parseUrl(text)
  return url?.username === '' && url.password === '' && url.href.length <= MAX_URL_LENGTH ? url : undefined
}

/**
 * Reads the URL of an incoming payment: http or https, without userinfo, query and fragment, its path ending in
 * `incoming-payments` and one more segment. `undefined` if the text is not one. Its running time is bounded by 2048 characters.
 * @spec T-24
 */
export function parseReceiver(text: string): ReceiverUrl | undefined {
  const url = parseHttpUrl(text)
  if (url === undefined) return undefined
  const [id = '', name] = url.pathname.split('/').reverse()
  if (id === '' || name !== 'incoming-payments') return undefined
  return { url: url.href, id, collection: url.href.slice(0, -id.length - 1) }
}

/**
 * The identifier in the URL of a quote of this server; `undefined` for every other URL, even if its last segment is an
 * identifier of this server. `resourceServer` is the published base URL, as a URL parser writes it.
 * @spec RS-10 @spec T-41
 */
export function localQuoteId(url: string, resourceServer: string): string | undefined {
  const href = parseHttpUrl(url)?.href
  const base = `${resourceServer}/quotes/`
  const id = href?.startsWith(base) ? href.slice(base.length) : ''
  return id === '' || id.includes('/') ? undefined : id
}

/** Whether a receiver is an incoming payment of this server, by the same published base URL. @spec RS-10 @spec T-41 */
export function isLocalReceiver({ collection }: ReceiverUrl, resourceServer: string): boolean {
  return collection === `${resourceServer}/incoming-payments`
}
