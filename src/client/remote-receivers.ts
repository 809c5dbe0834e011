import type { Clock } from '../ports/clock.ts'
import type { Cryptography } from '../ports/cryptography.ts'
import type { ServiceEvent } from '../ports/events.ts'
import type { ChargeLookup, OutboundOptions, OutboundStanding, SendOutbound } from '../ports/outbound-requests.ts'
import type { FoundReceiver, ReceiverAsker, RemoteReceivers } from '../ports/remote-receivers.ts'
import type { Secrets } from '../ports/secrets.ts'
import { parseReceiver, type ReceiverUrl } from '../protocol/receiver.ts'
import { accessTokens, type HeldToken } from './access-tokens.ts'
import { parseIncomingPayment, parsePublicView, readAnswer } from './answers.ts'
import { type KnownCollection, knownCollections } from './known-collections.ts'
import { signedRequests } from './signed-requests.ts'

/** What it takes to read receivers on other servers. */
export interface RemoteReceiversOptions {
  readonly clock: Clock
  readonly cryptography: Cryptography
  readonly secrets: Secrets
  /** How requests leave this server: guarded, since receivers are named by strangers. */
  readonly send: SendOutbound
  /** Bounds what one of those strangers may have it read. */
  readonly charge: ChargeLookup
  /** A wallet address of this server, by which it is a client where those are not known by their key alone. */
  readonly clientWalletAddress?: string
  /** Whether http on loopback hosts makes a wallet address. */
  readonly loopbackHttp: boolean
  /** Hears of what is a fault of this server, not of another one. */
  emit(event: ServiceEvent): void
}

/** For all requests that it takes to read one receiver. */
const DEADLINE_SECONDS = 3

/** What a read came to, and the token that it was made with; without one if none could be had. */
interface TokenRead {
  readonly found: FoundReceiver
  readonly token?: HeldToken
  readonly isNew?: boolean
}

/** One read of a receiver: on whose word, and what is known of its collection. */
interface Reading extends OutboundOptions {
  readonly asker: ReceiverAsker
  readonly known: KnownCollection | undefined
}

const LATE: FoundReceiver = { ok: false, reason: 'unreachable', detail: `no answer within ${DEADLINE_SECONDS} seconds` }

/**
 * Reads incoming payments on other servers: the public view, which names the authorization server, a grant of that one
 * to this server, which is a client like any other, and the payment itself. Concurrent reads of one payment are one.
 * @spec QUO-9 @spec T-1 @spec T-4 @spec T-5
 */
export function createRemoteReceivers(options: RemoteReceiversOptions): RemoteReceivers {
  const { clock, send, charge, emit } = options
  const requests = signedRequests(options)
  const tokens = accessTokens({ ...options, requests })
  const collections = knownCollections()
  const running = new Map<string, Promise<FoundReceiver>>()

  /** What keeps who asks from one more lookup; nothing does for a payment that is ordered. */
  function limit({ isOrdered, ...asker }: ReceiverAsker, isKnown: boolean): FoundReceiver | undefined {
    const retryAfterSeconds = isOrdered === true ? 0 : charge(asker, isKnown)
    return retryAfterSeconds > 0 ? { ok: false, reason: 'rate_limited', retryAfterSeconds } : undefined
  }

  /** As the authorization server that worked before says; if that is refused, as the one that is named now. */
  async function read(receiver: ReceiverUrl, reading: Reading): Promise<FoundReceiver> {
    const { known, asker } = reading
    if (known === undefined || known.isDoubted) return readAfresh(receiver, reading)
    const { found, token } = await readBy(known.authServer, receiver, reading)
    if (found.ok || found.reason === 'unknown') return found
    collections.doubt(receiver.collection)
    if (!isRefused(found)) return found
    return limit(asker, false) ?? readAfresh(receiver, reading, token)
  }

  async function readAfresh(receiver: ReceiverUrl, reading: Reading, refused?: HeldToken): Promise<FoundReceiver> {
    const { url } = receiver
    const view = await send({ method: 'GET', url, headers: { accept: 'application/json' } }, reading)
    const named = readAnswer('public view', view, parsePublicView)
    if (!named.ok) return named
    const authServer = named.value
    const first = await readBy(authServer, receiver, reading, refused)
    // A token that was held may have been revoked: asked for once more.
    const isStale = isRefused(first.found) && first.token !== undefined && !first.isNew
    if (!isStale) return first.found
    return limit(reading.asker, false) ?? (await readBy(authServer, receiver, reading, first.token)).found
  }

  async function readBy(
    authServer: string,
    { url, collection }: ReceiverUrl,
    reading: Reading,
    refused?: HeldToken,
  ): Promise<TokenRead> {
    // Another one than before is known by the word of the receiver's server alone.
    const isOther = reading.known?.authServer !== authServer && reading.standing !== 'ordered'
    const standing = isOther ? 'stranger' : reading.standing
    const result = await tokens.tokenFor(collection, authServer, standing, refused)
    if (!result.ok) return { found: result }
    const { token, isNew } = result
    const answer = await requests.send({ method: 'GET', url, token: token.value }, reading)
    const payment = readAnswer('incoming payment', answer, (document) => parseIncomingPayment(document, url, options))
    if (payment.ok) collections.trust(collection, authServer, reading.standing === 'ordered')
    return { found: payment.ok ? { ok: true, payment: payment.value } : payment, token, isNew }
  }

  async function readInTime(receiver: ReceiverUrl, reading: Omit<Reading, 'signal'>): Promise<FoundReceiver> {
    const stop = new AbortController()
    const late = clock.sleep(DEADLINE_SECONDS * 1000, stop.signal).then(() => LATE)
    try {
      return await Promise.race([read(receiver, { ...reading, signal: stop.signal }), late])
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
    async find(text, asker = {}) {
      const receiver = parseReceiver(text)
      if (receiver === undefined) return { ok: false, reason: 'invalid', detail: 'not the URL of an incoming payment' }
      const known = collections.get(receiver.collection)
      const standing = standingOf(asker, known)
      // Apart, so that what strangers may not ask for is refused to nobody else.
      const run = `${standing} ${receiver.url}`
      const reading = running.get(run)
      const joined = reading && (await reading)
      // The limit that another one has met is not this one's.
      if (joined !== undefined && (joined.ok || joined.reason !== 'rate_limited')) return joined
      const limited = limit(asker, known !== undefined)
      if (limited !== undefined) return limited
      const started = readInTime(receiver, { asker, known, standing }).finally(() => running.delete(run))
      running.set(run, started)
      return started
    },
  }
}

function standingOf({ isOrdered }: ReceiverAsker, known: KnownCollection | undefined): OutboundStanding {
  if (isOrdered === true) return 'ordered'
  return known === undefined ? 'stranger' : 'known'
}

function isRefused(found: FoundReceiver): boolean {
  return !found.ok && found.reason === 'refused'
}
