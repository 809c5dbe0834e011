import type { Clock } from '../ports/clock.ts'
import { isPublicAddress } from './public-address.ts'

/** A connection to make: to one of `addresses` and to nothing else, whatever the name in `url` resolves to by then. */
export interface PinnedConnection {
  readonly url: URL
  readonly addresses: readonly string[]
  readonly accept: string
  /** Closes the connection when aborted. */
  readonly signal: AbortSignal
}

/** The answer of a connection. Its `body` is read at most once. */
export interface DialedReply {
  readonly status: number
  readonly contentType: string
  readonly contentEncoding: string
  readonly body: AsyncIterable<Uint8Array>
}

/** Finds all IP addresses of a host name. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>

/** Sends a GET over a pinned connection; follows no redirect. */
export type Dial = (connection: PinnedConnection) => Promise<DialedReply>

/** How documents are fetched from servers that this one has no reason to trust. */
export interface GuardedRequests {
  readonly clock: Clock
  readonly resolveHost: ResolveHost
  readonly dial: Dial
  /** Admits http and any port on loopback names, and there connects to loopback alone. */
  readonly loopbackHttp: boolean
  /** Whether one more request to this host (with its port) may go out now. @spec T-5 */
  readonly admits: (host: string) => boolean
}

/** A fetched JSON document; `unreachable` where there was no answer to read, `invalid` where it was not JSON within the limits. */
export type FetchedDocument =
  | { readonly ok: true; readonly document: unknown }
  | { readonly ok: false; readonly reason: 'unreachable' | 'invalid' }

const UNREACHABLE: FetchedDocument = { ok: false, reason: 'unreachable' }
const INVALID: FetchedDocument = { ok: false, reason: 'invalid' }

/** The largest document, decoded. @spec T-4 */
const MAXIMUM_BYTES = 65_536

/** For the whole of resolving, connecting and reading. @spec T-4 */
const DEADLINE_SECONDS = 3

/** The names on which `loopbackHttp` admits http, and what they mean: a resolver could send them elsewhere. */
const LOOPBACK: ReadonlyMap<string, readonly string[]> = new Map([
  ['localhost', ['127.0.0.1', '::1']],
  ['127.0.0.1', ['127.0.0.1']],
  ['[::1]', ['::1']],
])

/** At least two labels, and the last begins with a letter: neither an IP literal nor a name of the local network. */
const DOMAIN_NAME = /^(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]+$/

/**
 * A URL that this server may connect to on a stranger's word: https on port 443 at a domain name, without userinfo,
 * query or fragment; `undefined` for every other.
 * @spec T-1
 */
export function parseOutboundUrl(text: string, loopbackHttp: boolean): URL | undefined {
  if (text.length > 2048 || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  if (loopbackHttp && LOOPBACK.has(url.hostname)) return isWeb ? url : undefined
  const isName = url.hostname.length <= 253 && DOMAIN_NAME.test(url.hostname)
  return url.protocol === 'https:' && url.port === '' && isName ? url : undefined
}

/**
 * Fetches a JSON document: one resolution, every address checked, a connection to the checked addresses only, no
 * redirect, 64 KiB, 3 seconds. Never rejects.
 * @spec T-1 @spec T-2 @spec T-3 @spec T-4 @spec T-5
 */
export async function fetchGuardedDocument(
  requests: GuardedRequests,
  address: string,
  accept: string,
): Promise<FetchedDocument> {
  const url = parseOutboundUrl(address, requests.loopbackHttp)
  if (url === undefined) return INVALID
  if (!requests.admits(url.host)) return UNREACHABLE
  const stop = new AbortController()
  const deadline = requests.clock.sleep(DEADLINE_SECONDS * 1000, stop.signal).then(() => UNREACHABLE)
  try {
    return await Promise.race([fetchDocument(requests, url, accept, stop.signal), deadline])
  } catch {
    return UNREACHABLE
  } finally {
    stop.abort()
  }
}

async function fetchDocument(
  requests: GuardedRequests,
  url: URL,
  accept: string,
  signal: AbortSignal,
): Promise<FetchedDocument> {
  const addresses = LOOPBACK.get(url.hostname) ?? (await publicAddresses(requests, url.hostname))
  if (addresses.length === 0 || signal.aborted) return UNREACHABLE
  const reply = await requests.dial({ url, addresses, accept, signal })
  if (reply.status !== 200) return UNREACHABLE
  const isJson = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(reply.contentType)
  if (!isJson || !/^(?:identity)?$/i.test(reply.contentEncoding)) return INVALID
  const bytes = await readCapped(reply.body)
  return bytes === undefined ? INVALID : parseDocument(bytes)
}

/** The addresses of a name; none where one of them is not public, since the connection may go to any of them. */
async function publicAddresses(requests: GuardedRequests, hostname: string): Promise<readonly string[]> {
  const addresses = await requests.resolveHost(hostname)
  return addresses.every(isPublicAddress) ? addresses : []
}

async function readCapped(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(MAXIMUM_BYTES)
  let length = 0
  for await (const chunk of body) {
    if (length + chunk.length > MAXIMUM_BYTES) return undefined
    bytes.set(chunk, length)
    length += chunk.length
  }
  return bytes.subarray(0, length)
}

function parseDocument(bytes: Uint8Array): FetchedDocument {
  try {
    return { ok: true, document: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch {
    return INVALID
  }
}
