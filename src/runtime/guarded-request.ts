import { answerWithin } from '../deadline/answer-within.ts'
import type { Clock } from '../ports/clock.ts'
import type { DialedReply, OutboundNetwork } from '../ports/outbound-network.ts'
import type { OutboundAnswer, OutboundRequest } from '../ports/outbound-requests.ts'
import { reasonText } from '../protocol/reason-text.ts'
import { MAX_URL_LENGTH, parseUrl } from '../protocol/url.ts'
import { isPublicAddress } from './public-address.ts'
import type { RequestBudget } from './request-budget.ts'

/** How requests reach servers that this one has no reason to trust. */
export interface GuardedRequests {
  readonly clock: Clock
  readonly network: OutboundNetwork
  /** Admits http and any port on loopback names; these connect to loopback addresses only. */
  readonly loopbackHttp: boolean
  /** @spec T-5 */
  readonly budget: RequestBudget
}

/** What a network says of its failure, which may be anything: for several addresses Node gives a code and no message. */
function messageOf(error: unknown): string {
  const { message, code }: { readonly message?: unknown; readonly code?: unknown } = Object(error)
  const texts = [message, code].filter((one) => typeof one === 'string')
  return texts.find((text) => text !== '') ?? 'no connection'
}

/** Why there is no answer. What another server had a part in may be of any length. */
export function unreachable(detail: string): OutboundAnswer {
  return { ok: false, reason: 'unreachable', detail: reasonText(detail) }
}

/** The largest document, decoded. @spec T-4 */
const MAXIMUM_BYTES = 65_536

/**
 * The most addresses that a name may have, of both kinds: its owner could give it thousands, each to be checked and
 * counted.
 * @spec T-5
 */
const MAXIMUM_ADDRESSES = 16

/** For the whole of resolving, connecting and reading. @spec T-4 */
export const DEADLINE_SECONDS = 3

/** The deadline has passed, or whoever asked has given up. */
export const LATE = 'no answer in time'

/** What `parseOutboundUrl` refuses, in the operator's words. */
export const UNFETCHABLE =
  'this server connects only to https at a domain name without port, userinfo, query and fragment, and with loopbackHttp to loopback'

/** The names on which `loopbackHttp` admits http, with their fixed addresses: a resolver could send them elsewhere. */
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
  const url = text.length > MAX_URL_LENGTH ? undefined : parseUrl(text)
  if (url?.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  if (loopbackHttp && LOOPBACK.has(url.hostname)) return isWeb ? url : undefined
  const isName = url.hostname.length <= 253 && DOMAIN_NAME.test(url.hostname)
  return url.protocol === 'https:' && url.port === '' && isName ? url : undefined
}

/**
 * Sends a request once: one resolution, every address checked, a connection to a checked address only, no redirects, at
 * most 64 KiB of JSON, at most 3 seconds or until `signal` is aborted. Never rejects.
 * @spec T-1 @spec T-2 @spec T-3 @spec T-4 @spec T-5
 */
export async function sendGuarded(
  requests: GuardedRequests,
  request: OutboundRequest,
  signal?: AbortSignal,
): Promise<OutboundAnswer> {
  const url = parseOutboundUrl(request.url, requests.loopbackHttp)
  if (url === undefined) return { ok: false, reason: 'invalid', detail: UNFETCHABLE }
  if (signal?.aborted) return unreachable(LATE)
  if (!requests.budget.admitsHost(url.host)) return unreachable('the budget for its host is spent for now')
  const stop = new AbortController()
  const end = (): void => stop.abort()
  signal?.addEventListener('abort', end)
  const stopped = new Promise<'late'>((resolve) => stop.signal.addEventListener('abort', () => resolve('late')))
  try {
    const answer = await answerWithin(requests.clock, DEADLINE_SECONDS * 1000, () =>
      Promise.race([exchange(requests, url, request, stop.signal), stopped]),
    )
    return answer === 'late' ? unreachable(LATE) : answer
  } catch (error) {
    return unreachable(messageOf(error))
  } finally {
    signal?.removeEventListener('abort', end)
    stop.abort()
  }
}

async function exchange(
  requests: GuardedRequests,
  url: URL,
  { method, headers, body }: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const addresses = LOOPBACK.get(url.hostname) ?? (await requests.network.resolveHost(url.hostname))
  const refusal = LOOPBACK.has(url.hostname) ? undefined : refusedAddresses(requests, addresses)
  if (refusal !== undefined) return unreachable(refusal)
  if (signal.aborted) return unreachable(LATE)
  const reply = await requests.network.dial({ url, addresses, method, headers, ...(body && { body }), signal })
  return { ok: true, status: reply.status, document: reply.status === 200 ? await readDocument(reply) : undefined }
}

/**
 * Why this server connects to none of the addresses of a name, if it does not: one that is not public or has used up its
 * budget refuses all of them, since the connection may go to any.
 */
function refusedAddresses(requests: GuardedRequests, addresses: readonly string[]): string | undefined {
  if (addresses.length === 0) return 'no address of its host was found'
  if (addresses.length > MAXIMUM_ADDRESSES) return `its host has more than ${MAXIMUM_ADDRESSES} addresses`
  const hidden = addresses.find((address) => !isPublicAddress(address))
  if (hidden !== undefined) return `its host has the address ${hidden}, which is not public`
  return requests.budget.admitsAddresses(addresses) ? undefined : 'the budget for its address is spent for now'
}

async function readDocument(reply: DialedReply): Promise<unknown> {
  const isJson = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(reply.contentType)
  if (!isJson || !/^(?:identity)?$/i.test(reply.contentEncoding)) return undefined
  const bytes = await readCapped(reply.body)
  return bytes === undefined ? undefined : parseDocument(bytes)
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

function parseDocument(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
