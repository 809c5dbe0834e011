import { answerOrStop } from '../deadline/answer-within.ts'
import type { ServiceEvent } from '../ports/events.ts'
import type { ChargeLookup, OutboundOptions, OutboundStanding } from '../ports/outbound-requests.ts'
import type { FoundReceiver, ReceiverAsker, RemoteReceivers } from '../ports/remote-receivers.ts'
import { parseReceiver, type ReceiverUrl } from '../protocol/receiver.ts'
import { accessTokens, type HeldToken } from './access-tokens.ts'
import { parseIncomingPayment, parsePublicView, readAnswer } from './answers.ts'
import { type KnownCollection, knownCollections } from './known-collections.ts'
import { type RequestSenderOptions, requestSender } from './request-sender.ts'

/** What it takes to read receivers on other servers. */
export interface RemoteReceiversOptions extends RequestSenderOptions {
  /** Limits how much one stranger can make this server read. */
  readonly charge: ChargeLookup
  /** The wallet address that this server names as a client where its key alone is not accepted. */
  readonly clientWalletAddress?: string
  /** Whether http on loopback hosts makes a wallet address. */
  readonly loopbackHttp: boolean
  /** Receives faults of this server; failures of other servers are not faults. */
  emit(event: ServiceEvent): void
}

/** For all requests together that reading one receiver takes. */
const DEADLINE_SECONDS = 3

/** The result of a read, and the token that it used, if it got one. */
interface TokenRead {
  readonly found: FoundReceiver
  readonly token?: HeldToken
  readonly isNew?: boolean
}

/** One read of a receiver: on whose behalf, and what is known of its collection. */
interface Reading extends OutboundOptions {
  readonly asker: ReceiverAsker
  readonly known: KnownCollection | undefined
}

const LATE: FoundReceiver = { ok: false, reason: 'unreachable', detail: `no answer within ${DEADLINE_SECONDS} seconds` }

/**
 * Reads incoming payments on other servers, as a client like any other: reads the public view, which names the
 * authorization server, gets a grant there, and reads the payment itself. Concurrent reads of one payment are shared.
 * @spec QUO-9 @spec T-1 @spec T-4 @spec T-5
 */
export function createRemoteReceivers(options: RemoteReceiversOptions): RemoteReceivers {
  const { clock, send, charge, emit } = options
  const sendSigned = requestSender(options)
  const tokens = accessTokens({ ...options, sendSigned })
  const collections = knownCollections()
  const running = new Map<string, Promise<FoundReceiver>>()

  /**
   * Charges one lookup to the asker; returns the refusal if its quota is used up. Lookups for an ordered payment are
   * free.
   */
  function limit({ isOrdered, ...asker }: ReceiverAsker, isKnown: boolean): FoundReceiver | undefined {
    const retryAfterSeconds = isOrdered === true ? 0 : charge(asker, isKnown)
    return retryAfterSeconds > 0 ? { ok: false, reason: 'rate_limited', retryAfterSeconds } : undefined
  }

  /**
   * Reads with a token of the authorization server that worked before; if that is refused, asks which one is named now.
   */
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
    // A token that was already held may have been revoked meanwhile: request another one, once.
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
    // If it is not the one used before, only the receiver's server vouches for it.
    const isOther = reading.known?.authServer !== authServer && reading.standing !== 'ordered'
    const standing = isOther ? 'stranger' : reading.standing
    const result = await tokens.tokenFor(collection, authServer, standing, refused)
    if (!result.ok) return { found: result }
    const { token, isNew } = result
    const answer = await sendSigned({ method: 'GET', url, token: token.value }, reading)
    const payment = readAnswer('incoming payment', answer, (document) => parseIncomingPayment(document, url, options))
    if (payment.ok) collections.trust(collection, authServer, reading.standing === 'ordered')
    return { found: payment.ok ? { ok: true, payment: payment.value } : payment, token, isNew }
  }

  async function readInTime(receiver: ReceiverUrl, reading: Omit<Reading, 'signal'>): Promise<FoundReceiver> {
    try {
      const found = await answerOrStop(clock, DEADLINE_SECONDS * 1000, (signal) =>
        read(receiver, { ...reading, signal }),
      )
      return found === 'late' ? LATE : found
    } catch (cause) {
      emit({
        type: 'fault',
        at: clock.now(),
        operation: undefined,
        message: 'a receiver on another server could not be asked for',
        cause,
      })
      return { ok: false, reason: 'unreachable', detail: 'a fault of this server' }
    }
  }

  return {
    async find(text, asker = {}) {
      const receiver = parseReceiver(text)
      if (receiver === undefined) return { ok: false, reason: 'invalid', detail: 'not the URL of an incoming payment' }
      const known = collections.get(receiver.collection)
      const standing = standingOf(asker, known)
      // Separate for each standing: a refusal for want of a stranger's budget must hit nobody else.
      const run = `${standing} ${receiver.url}`
      // The limit of another asker is not the limit of this one; by then, somebody may be reading again.
      for (let reading = running.get(run); reading !== undefined; reading = running.get(run)) {
        const joined = await reading
        if (joined.ok || joined.reason !== 'rate_limited') return joined
      }
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
