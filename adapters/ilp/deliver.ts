import type {
  Delivery,
  DeliveryProgress,
  DeliveryResult,
  PaymentMethod,
  RailServer,
  RecordProgress,
} from '../../src/index.ts'
import { isSameAsset } from '../../src/protocol/amount.ts'
import { toUtf8 } from '../../src/protocol/identifiers.ts'
import type { RailRate } from '../../src/protocol/price.ts'
import { tellFault } from '../../src/records/tell-fault.ts'
import { formatProgress, readProgress } from './deliver-notes.ts'
import { countRequests } from './open-requests.ts'
import type { IlpSettings } from './options.ts'
import type { Peer, Peers } from './peers.ts'
import { probePath } from './probe-path.ts'
import { quotePath } from './quote-path.ts'
import { readSettled } from './read-settled.ts'
import { type SendResult, sendMoney } from './send-money.ts'
import { isHigher, smaller } from './send-money-amounts.ts'
import { EXPIRY_MARGIN_MILLISECONDS } from './send-money-flights.ts'
import type { SendStop } from './send-money-pace.ts'
import { sendOverFetch } from './send-packet.ts'
import { openConnection, type Sender, type StreamConnection } from './stream-connection.ts'

/** The sending half of the payment method. */
export function createSender(
  { slippageBasisPoints, send = sendOverFetch }: Pick<IlpSettings, 'slippageBasisPoints' | 'send'>,
  peers: Peers,
  server: () => RailServer,
): Pick<PaymentMethod, 'quote' | 'deliver'> {
  const requests = countRequests()
  const sender = (): Sender => ({ slippageBasisPoints, send, peers, requests, server: server() })
  return {
    quote: (request) => quotePath(sender(), request),
    deliver: (delivery, progress, record) => deliver(sender(), delivery, progress, record),
  }
}

const PROBE_MILLISECONDS = 5_000
/** For how long after its expiry a packet is asked about, if the peer is idempotent. */
const LONGEST_ASKING_MILLISECONDS = 24 * 3600 * 1000

async function deliver(
  sender: Sender,
  delivery: Delivery,
  progress: DeliveryProgress,
  record: RecordProgress,
): Promise<DeliveryResult> {
  const { slippageBasisPoints, peers, server } = sender
  const { id, details, account, sendAmount, receiveAmount, isFixedReceive, isOver, sendUntil } = delivery
  const state = readProgress(id, progress)
  const endNow = (reason: string): Promise<DeliveryResult> =>
    conclude(server, account, false, { state, stop: { outcome: 'ended', reason }, isRecorded: true }, record)
  const peer = peers.peerByAccount(account)
  if (peer === undefined) return endNow('peer_not_configured')
  if (peers.isOwn(details.ilpAddress)) return endNow('own_address')
  const connection = await openConnection(sender, peer, details, toUtf8(id))
  if (connection === undefined) return endNow('invalid_details')
  const quoted = quotedRate(slippageBasisPoints, delivery, sendAmount.value)
  // The quote rounded what leaves up to a whole unit: at the rate that it found, one unit less would have brought too little.
  const highest = isFixedReceive ? quotedRate(slippageBasisPoints, delivery, sendAmount.value - 1n) : quoted
  const hasLeft = state.sent > 0n || state.packets.length > 0
  const terms = {
    order: { sendAmount: sendAmount.value, receiveAmount: receiveAmount.value, isFixedReceive },
    maxPacketAmount: peer.maxPacketAmount ?? sendAmount.value,
    isIdempotent: peer.isIdempotent,
    isOver,
    sendUntil,
    quotedRate: quoted,
    closingRate: isOneToOne(delivery) ? quoted : closingRate(quoted, highest),
    findRate: (known: RailRate) => findRate(connection, peer, delivery, { quoted, highest }, known, hasLeft),
    findMost: () => findMost(server, peer),
  }
  const result = await sendMoney(connection, terms, state, record)
  return conclude(server, account, peer.isIdempotent, result, record)
}

/** The rate on which the price was based, if so much was to leave and `slippageBasisPoints` has not changed since. */
function quotedRate(slippageBasisPoints: number, delivery: Delivery, leaving: bigint): RailRate {
  const kept = isOneToOne(delivery) ? 0n : BigInt(slippageBasisPoints)
  return { sent: leaving * (10_000n - kept), received: delivery.receiveAmount.value * 10_000n }
}

/** What the quote says of the rate: it found at least `quoted`, and less than `highest`. */
interface QuotedRates {
  readonly quoted: RailRate
  readonly highest: RailRate
}

/** How much better than quoted a measured rate may be: by a twentieth. */
const BETTER: RailRate = { sent: 20n, received: 21n }
/**
 * And by a quarter if the receiver says that it has everything and takes no more: otherwise a payment that has arrived
 * would count as failed. But not by any amount, since the payer is debited in full.
 */
const MUCH_BETTER: RailRate = { sent: 4n, received: 5n }

function times(rate: RailRate, other: RailRate): RailRate {
  return { sent: rate.sent * other.sent, received: rate.received * other.received }
}

/** `highest` is no rate if a single unit is to leave, with which everything has left. */
function closingRate(quoted: RailRate, highest: RailRate): RailRate {
  const better = times(quoted, MUCH_BETTER)
  return highest.sent > 0n && isHigher(highest, better) ? highest : better
}

/**
 * The best rate that is believed. A rate measured with test packets rests only on what the receiver and the hops say:
 * with one too good to be true, a payment would end too early or be cut into crumbs. So no rate is believed that is above
 * all of these: the quote's rate improved by `BETTER`; the quote's rate with one unit more for the largest packet, which
 * rounding may have hidden; and the highest that the quote can have found. (If it may have found any, as a single unit is
 * to leave, any is believed: no more than that unit is sent, and no less.)
 */
function withinReason({ quoted, highest }: QuotedRates, most: bigint): RailRate {
  const moved = times(quoted, BETTER)
  const unrounded = { sent: most * quoted.sent, received: most * quoted.received + quoted.sent }
  return [unrounded, highest].reduce((best, rate) => (isHigher(rate, best) ? rate : best), moved)
}

function isOneToOne({ sendAmount, receiveAmount }: Delivery): boolean {
  return sendAmount.value === receiveAmount.value && isSameAsset(sendAmount, receiveAmount)
}

/**
 * The rate by which to plan. For a fixed receive, what arrives has to be measured; to send a fixed amount, it does not.
 */
async function findRate(
  connection: StreamConnection,
  { maxPacketAmount }: Peer,
  delivery: Delivery,
  rates: QuotedRates,
  known: RailRate,
  hasLeft: boolean,
): Promise<RailRate | SendStop> {
  const least = { sent: delivery.sendAmount.value, received: delivery.receiveAmount.value }
  if (!delivery.isFixedReceive || isOneToOne(delivery)) return known
  const most = smaller(maxPacketAmount ?? least.sent, least.sent)
  const path = await probePath(connection, { first: most, most, milliseconds: PROBE_MILLISECONDS, isOrdered: true })
  if (path.ok) {
    // Rounding may hide more of a smaller packet than of the largest, even if many units arrive: a hop may count in
    // larger units. And a rate no higher than the least says little. In both cases the known rate counts instead, if it
    // is higher.
    const isCoarse = path.sent < most || !isHigher(path, least)
    const found = isCoarse && isHigher(known, path) ? known : path
    const best = withinReason(rates, most)
    if (!isHigher(found, best)) return found
    // While nothing has left, the client can get a new quote.
    return hasLeft ? best : { outcome: 'ended', reason: 'rate_moved' }
  }
  return path.reason === 'refused'
    ? { outcome: 'ended', reason: path.detail }
    : { outcome: 'later', reason: path.reason === 'busy' ? path.detail : path.reason }
}

async function findMost(server: RailServer, peer: Peer): Promise<bigint | undefined | SendStop> {
  const { sending } = peer.limits
  if (sending === undefined) return undefined
  try {
    return sending - (await readSettled(server.clock, peer))
  } catch (cause) {
    tellFault(server, 'what was settled with a peer is not known', cause)
    return { outcome: 'later', reason: 'settled_unknown' }
  }
}

async function conclude(
  server: RailServer,
  account: string,
  isIdempotent: boolean,
  { state, stop, isRecorded }: SendResult,
  record: RecordProgress,
): Promise<DeliveryResult> {
  const progress = formatProgress(state)
  if (stop === undefined) return { outcome: 'delivered', progress }
  const { outcome, reason } = stop
  if (state.packets.length === 0 && outcome === 'ended') return { outcome, progress, reason }
  const at = server.clock.now()
  const expiresAt = Math.max(...state.packets.map((packet) => packet.expiresAt))
  const patience = EXPIRY_MARGIN_MILLISECONDS + (isIdempotent ? LONGEST_ASKING_MILLISECONDS : 0)
  if (state.packets.length > 0 && at >= expiresAt + patience) return { outcome: 'unknown', progress }
  if (!isRecorded) await record(progress)
  if (reason === 'sending_limit' || reason === 'unreachable' || reason === 'unauthorized')
    server.emit({ type: 'rail_unavailable', at, railAccount: account, reason })
  return { outcome: 'later', reason }
}
