import { answerOrStop } from '../../src/deadline/answer-within.ts'
import type { Clock } from '../../src/index.ts'
import { growBytes } from '../../src/protocol/growing-bytes.ts'
import { decodeIlpPacket, type IlpReply } from './packet.ts'

/**
 * Sends one packet to a peer, never twice: `POST` of `bytes` to `url` with `Authorization: Bearer` and the token.
 * Resolves with the answer, or its first 64 KiB; rejects if less of it came. An error whose `code`, `syscall`, message or `cause` says, as
 * those of the runtimes do, that no connection was made is taken as proof that nothing has left, so no other error may look
 * like one. `signal` ends the wait.
 */
export type SendToPeer = (request: {
  readonly url: string
  readonly token: string
  readonly bytes: Uint8Array
  readonly signal: AbortSignal
}) => Promise<{ readonly status: number; readonly bytes: Uint8Array }>

/** The outcome of sending a packet to a peer. */
export type PeerAnswer =
  | { readonly outcome: 'replied'; readonly reply: IlpReply }
  /** The peer has certainly not taken the packet. */
  | { readonly outcome: 'not_taken'; readonly reason: 'unreachable' | 'unauthorized'; readonly detail: string }
  /** The packet may have left, and there is no answer that can be trusted. */
  | { readonly outcome: 'unknown'; readonly detail: string }

/** Sends a packet to a peer, and waits at most `milliseconds` for the answer. Never rejects. */
export type AskPeer = (bytes: Uint8Array, milliseconds: number) => Promise<PeerAnswer>

/** What is read of an answer; no packet is longer. */
const MOST_REPLY_OCTETS = 65_536

/** Sends over the host's `fetch`, which keeps connections open, to exactly the URL that was configured, and only once. */
export const sendOverFetch: SendToPeer = async ({ url, token, bytes, signal }) => {
  const request: RequestInit & { readonly duplex: 'half' } = {
    method: 'POST',
    headers: {
      accept: 'application/octet-stream',
      authorization: `Bearer ${token}`,
      // Without it, a stream would be sent in chunks everywhere; on Deno and Workers it is all the same.
      'content-length': `${bytes.length}`,
      'content-type': 'application/octet-stream',
    },
    // A stream can be read only once. Any other body Deno sends again by itself if an open connection breaks before the
    // answer, and Node after a 421: then the last answer, or that nobody listens any more, would pass for the outcome of
    // a packet that was taken the first time.
    body: streamOf(bytes),
    duplex: 'half',
    // Redirects are not followed: the token is for this URL only.
    redirect: 'manual',
    signal,
  }
  const response = await fetch(url, request)
  return { status: response.status, bytes: await readCapped(response) }
}

// Not the stream of a `Response`: Deno 2.9 looks for the octets that it was made of.
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}

async function readCapped({ body }: Response): Promise<Uint8Array> {
  let bytes: Uint8Array = new Uint8Array()
  let length = 0
  for await (const part of body ?? []) {
    bytes = growBytes(bytes, length, part)
    length += part.length
    if (length > MOST_REPLY_OCTETS) break
  }
  return bytes.subarray(0, length)
}

/** Makes the function that sends packets to one peer. */
export function askOverHttp(
  send: SendToPeer,
  peer: { readonly url: string; readonly outgoingToken: string },
  clock: Clock,
): AskPeer {
  const { url, outgoingToken: token } = peer
  return async (bytes, milliseconds) => {
    const asking = async (signal: AbortSignal): Promise<PeerAnswer> =>
      readAnswer(await send({ url, token, bytes, signal }))
    const answer = await answerOrStop(clock, milliseconds, (signal) => asking(signal).catch(readError))
    return answer === 'late' ? { outcome: 'unknown', detail: 'no answer in time' } : answer
  }
}

/**
 * Statuses that a server gives before it does anything with a request. Not other 4xx and no redirects: a proxy may
 * answer 408 or 499, or redirect, after it has passed the packet on.
 */
const NOT_TAKEN: ReadonlySet<number> = new Set([400, 404, 405, 413, 415, 429])

function readAnswer({ status, bytes }: { readonly status: number; readonly bytes: Uint8Array }): PeerAnswer {
  const detail = `HTTP ${status}`
  const packet = decodeIlpPacket(bytes)
  // A refusal counts only with the right status. A fulfillment proves itself, by its condition: see `sendPacket`.
  if (packet?.type === 'fulfill' || (packet?.type === 'reject' && status === 200))
    return { outcome: 'replied', reply: packet }
  if (status === 401 || status === 403) return { outcome: 'not_taken', reason: 'unauthorized', detail }
  if (NOT_TAKEN.has(status)) return { outcome: 'not_taken', reason: 'unreachable', detail }
  return { outcome: 'unknown', detail: status === 200 ? 'the answer is not an ILP reply' : detail }
}

/**
 * What Node was doing when a call of the system failed, if no connection was made: no way there, nobody listens, or no file
 * or port left. An open connection fails in `read` or `write`, perhaps with the same code.
 */
const CONNECTING: ReadonlySet<unknown> = new Set(['getaddrinfo', 'connect'])

/**
 * Error codes of runtimes for a connection that was never made, or whose other end had no valid certificate: nothing
 * has left by then.
 */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Words for the same: Deno has no code, and Bun has codes that an open connection might have, too. */
const NO_CONNECTION = /client error \(Connect\)|(?:Unable to connect\. .*|Was there a typo in the url or port)\?$/

function readError(error: unknown): PeerAnswer {
  return isNotConnected(error)
    ? { outcome: 'not_taken', reason: 'unreachable', detail: 'no connection' }
    : { outcome: 'unknown', detail: 'the connection broke' }
}

function isNotConnected(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (CONNECTING.has(Reflect.get(error, 'syscall')) || NOT_CONNECTED.has(Reflect.get(error, 'code'))) return true
  // One for each address of the host.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isNotConnected)
  return NO_CONNECTION.test(error.message) || isNotConnected(error.cause)
}
