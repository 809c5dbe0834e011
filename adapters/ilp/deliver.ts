import type {
  Delivery,
  DeliveryProgress,
  DeliveryResult,
  PaymentMethod,
  RailServer,
  RecordProgress,
} from '../../src/index.ts'
import { isSameAsset } from '../../src/protocol/amount.ts'
import { toUtf8 } from '../../src/protocol/bytes.ts'
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
    conclude(
      server,
      { account, isIdempotent: false },
      { state, stop: { outcome: 'ended', reason }, isRecorded: true },
      record,
    )
  const peer = peers.peerByAccount(account)
  if (peer === undefined) return endNow('peer_not_configured')
  if (peers.isOwn(details.ilpAddress)) return endNow('own_address')
  const connection = await openConnection(sender, peer, details, toUtf8(id))
  if (connection === undefined) return endNow('invalid_details')
  const quoted = quotedRate(slippageBasisPoints, delivery)
  const hasLeft = state.sent > 0n || state.packets.length > 0
  const terms = {
    order: { sendAmount: sendAmount.value, receiveAmount: receiveAmount.value, isFixedReceive },
    maxPacketAmount: peer.maxPacketAmount ?? sendAmount.value,
    isIdempotent: peer.isIdempotent,
    isOver,
    sendUntil,
    quotedRate: quoted,
    closingRate: isOneToOne(delivery) ? quoted : times(quoted, MUCH_BETTER),
    findRate: (known: RailRate) => findRate(connection, known, { peer, delivery, quoted, hasLeft }),
    findMost: () => findMost(server, peer),
  }
  const result = await sendMoney(connection, terms, state, record)
  return conclude(server, peer, result, record)
}

/** The rate that was measured for the quote, if `slippageBasisPoints` has not changed since. */
function quotedRate(slippageBasisPoints: number, delivery: Delivery): RailRate {
  const { sent, received } = delivery.rate
  const kept = isOneToOne(delivery) ? 0n : BigInt(slippageBasisPoints)
  return { sent: sent * (10_000n - kept), received: received * 10_000n }
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

/**
 * The best rate that is believed. A rate measured with test packets rests only on what the receiver and the hops say:
 * with one too good to be true, a payment would end too early or be cut into crumbs. So no rate is believed that is above
 * both of these: the quote's rate improved by `BETTER`, and the quote's rate with one unit more for the largest packet,
 * which rounding may have hidden.
 */
function withinReason(quoted: RailRate, most: bigint): RailRate {
  const moved = times(quoted, BETTER)
  const unrounded = { sent: most * quoted.sent, received: most * quoted.received + quoted.sent }
  return isHigher(unrounded, moved) ? unrounded : moved
}

function isOneToOne({ rate, sendAmount, receiveAmount }: Delivery): boolean {
  return rate.sent === rate.received && isSameAsset(sendAmount, receiveAmount)
}

/**
 * The rate by which to plan. For a fixed receive, what arrives has to be measured; to send a fixed amount, it does not.
 */
async function findRate(
  connection: StreamConnection,
  known: RailRate,
  {
    peer: { maxPacketAmount },
    delivery,
    quoted,
    hasLeft,
  }: {
    readonly peer: Peer
    readonly delivery: Delivery
    readonly quoted: RailRate
    /** Whether any of the payment may have left. */
    readonly hasLeft: boolean
  },
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
    const best = withinReason(quoted, most)
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

/** What the core is told: a delivery that only waits is recorded first, if it has come further than was recorded. */
async function conclude(
  server: RailServer,
  { account, isIdempotent }: Pick<Peer, 'account' | 'isIdempotent'>,
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
