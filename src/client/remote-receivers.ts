import type { Clock } from '../ports/clock.ts'
import type { Cryptography } from '../ports/cryptography.ts'
import type { ServiceEvent } from '../ports/events.ts'
import type { OutboundOptions, SendOutbound } from '../ports/outbound-requests.ts'
import type { FoundReceiver, RemoteReceivers } from '../ports/remote-receivers.ts'
import type { Secrets } from '../ports/secrets.ts'
import { parseReceiver, type Receiver } from '../protocol/receiver.ts'
import { accessTokens, type HeldToken } from './access-tokens.ts'
import { parseIncomingPayment, parsePublicView, readAnswer } from './answers.ts'
import { recentlyUsed } from './recently-used.ts'
import { signedRequests } from './signed-requests.ts'

/** What it takes to read receivers on other servers. */
export interface RemoteReceiversOptions {
  readonly clock: Clock
  readonly cryptography: Cryptography
  readonly secrets: Secrets
  /** How requests leave this server: guarded, since receivers are named by strangers. */
  readonly send: SendOutbound
  /** A wallet address of this server, by which it is a client where those are not known by their key alone. */
  readonly clientWalletAddress?: string
  /** Hears of what is a fault of this server, not of another one. */
  emit(event: ServiceEvent): void
}

/** For all requests that it takes to read one receiver. */
const DEADLINE_SECONDS = 3

/** How many collections it is remembered of which authorization server they were read by. */
const REMEMBERED = 1000

/** A read with a token. None where it failed before. */
interface Attempt {
  readonly found: FoundReceiver
  readonly token?: HeldToken
  readonly isNew?: boolean
}

/** For whom a receiver is read: `before` is the authorization server by which its collection was read the last time. */
interface Asker {
  readonly before: string | undefined
  readonly signal: AbortSignal
}

/** What the receiver's server may be asked: it is known where it was read before. */
function wordOf({ before, signal }: Asker): OutboundOptions {
  return { isKnown: before !== undefined, signal }
}

const LATE: FoundReceiver = { ok: false, reason: 'unreachable', detail: `no answer within ${DEADLINE_SECONDS} seconds` }

/**
 * Reads incoming payments on other servers: the public view, which names the authorization server, a grant of that one
 * to this server, which is a client like any other, and the payment itself. Concurrent reads of one payment are one.
 * @spec QUO-9 @spec T-1 @spec T-4 @spec T-5
 */
export function createRemoteReceivers(options: RemoteReceiversOptions): RemoteReceivers {
  const { clock, send, emit } = options
  const requests = signedRequests(options)
  const tokens = accessTokens({ ...options, requests })
  const authServers = recentlyUsed<string>(REMEMBERED)
  const running = new Map<string, Promise<FoundReceiver>>()

  /** As the authorization server that worked before says; where that is refused, as the one that is named now. */
  async function read(receiver: Receiver, signal: AbortSignal): Promise<FoundReceiver> {
    const { collection } = receiver
    const before = authServers.get(collection)
    const asker: Asker = { before, signal }
    const first = before === undefined ? undefined : await readBy(before, receiver, asker)
    if (first !== undefined && !isRefused(first.found)) {
      if (!first.found.ok && first.found.reason !== 'unknown') authServers.delete(collection)
      return first.found
    }
    authServers.delete(collection)
    return readAfresh(receiver, asker, first?.token)
  }

  async function readAfresh(receiver: Receiver, asker: Asker, refused: HeldToken | undefined): Promise<FoundReceiver> {
    const { url, collection } = receiver
    const view = await send({ method: 'GET', url, headers: { accept: 'application/json' } }, wordOf(asker))
    const named = readAnswer('public view', view, parsePublicView)
    if (!named.ok) return named
    const authServer = named.value
    const attempt = await readBy(authServer, receiver, asker, refused)
    // A token that was held may have been revoked: asked for once more.
    const isStale = isRefused(attempt.found) && attempt.token !== undefined && !attempt.isNew
    const { found } = isStale ? await readBy(authServer, receiver, asker, attempt.token) : attempt
    if (found.ok) authServers.set(collection, authServer)
    return found
  }

  async function readBy(
    authServer: string,
    { url, collection }: Receiver,
    asker: Asker,
    refused?: HeldToken,
  ): Promise<Attempt> {
    // Another one than before is known by the word of the receiver's server alone.
    const result = await tokens.tokenFor(collection, authServer, asker.before === authServer, refused)
    if (!result.ok) return { found: result }
    const { token, isNew } = result
    const answer = await requests.send({ method: 'GET', url, token: token.value }, wordOf(asker))
    const payment = readAnswer('incoming payment', answer, (document) => parseIncomingPayment(document, url))
    return { found: payment.ok ? { ok: true, payment: payment.value } : payment, token, isNew }
  }

  async function readInTime(receiver: Receiver): Promise<FoundReceiver> {
    const stop = new AbortController()
    const late = clock.sleep(DEADLINE_SECONDS * 1000, stop.signal).then(() => LATE)
    try {
      return await Promise.race([read(receiver, stop.signal), late])
    } catch (cause) {
      emit({
        type: 'fault',
        at: clock.now(),
        operation: undefined,
        message: 'a receiver on another server could not be asked for',
        cause,
      })
      return { ok: false, reason: 'unreachable', detail: 'a fault of this server' }
    } finally {
      stop.abort()
    }
  }

  return {
    async find(text) {
      const receiver = parseReceiver(text)
      if (receiver === undefined) return { ok: false, reason: 'invalid', detail: 'not the URL of an incoming payment' }
      const { url } = receiver
      const reading = running.get(url) ?? readInTime(receiver).finally(() => running.delete(url))
      running.set(url, reading)
      return reading
    },
  }
}

function isRefused(found: FoundReceiver): boolean {
  return !found.ok && found.reason === 'refused'
}
