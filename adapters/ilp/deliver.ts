import type {
  Delivery,
  DeliveryProgress,
  DeliveryResult,
  PaymentMethod,
  RailServer,
  RecordProgress,
} from '../../src/index.ts'
import { isSameAsset } from '../../src/protocol/amount.ts'
import { formatProgress, readProgress } from './deliver-notes.ts'
import { ascii } from './oer.ts'
import type { IlpSettings } from './options.ts'
import type { Peer, Peers } from './peers.ts'
import { type PathRate, probePath } from './probe-path.ts'
import { quotePath } from './quote-path.ts'
import { EXPIRY_MARGIN_MILLISECONDS, type SendResult, sendMoney } from './send-money.ts'
import { higherRate, smaller } from './send-money-amounts.ts'
import type { SendStop } from './send-money-pace.ts'
import { askOverHttp, sendOverFetch } from './send-packet.ts'
import { openConnection, type StreamConnection } from './stream-connection.ts'

type SenderSettings = Pick<IlpSettings, 'slippageBasisPoints' | 'send'>

/** The sending half of the payment method. */
export function createSender(
  settings: SenderSettings,
  peers: Peers,
  server: () => RailServer,
): Pick<PaymentMethod, 'quote' | 'deliver'> {
  return {
    quote: (request) => quotePath(settings, peers, server(), request),
    deliver: (delivery, progress, record) => deliver(settings, peers, server(), delivery, progress, record),
  }
}

const PROBE_MILLISECONDS = 5_000
/** So long after its expiry a packet is asked about, where that is possible at all. */
const LONGEST_ASKING_MILLISECONDS = 24 * 3600 * 1000

async function deliver(
  { slippageBasisPoints, send = sendOverFetch }: SenderSettings,
  peers: Peers,
  server: RailServer,
  delivery: Delivery,
  progress: DeliveryProgress,
  record: RecordProgress,
): Promise<DeliveryResult> {
  const { clock, cryptography } = server
  const { id, details, account, sendAmount, receiveAmount, isFixedReceive, isOver } = delivery
  const state = readProgress(id, progress)
  const endNow = (reason: string): Promise<DeliveryResult> =>
    conclude(server, account, false, { state, stop: { outcome: 'ended', reason }, isRecorded: true }, record)
  const peer = peers.peerByAccount(account)
  if (peer === undefined) return endNow('peer_not_configured')
  const end = { ask: askOverHttp(send, peer, clock), peerAddress: peer.address, clock, cryptography }
  const connection = await openConnection(details, { ...end, salt: ascii(id) })
  if (connection === undefined) return endNow('invalid_details')
  const terms = {
    order: { sendAmount: sendAmount.value, receiveAmount: receiveAmount.value, isFixedReceive },
    maxPacketAmount: peer.maxPacketAmount ?? sendAmount.value,
    isIdempotent: peer.isIdempotent,
    isOver,
    quotedRate: quotedRate(slippageBasisPoints, delivery),
    findRate: (known: PathRate) => findRate(connection, peer, delivery, known),
    findMost: () => findMost(server, peer),
  }
  const result = await sendMoney(connection, terms, state, record)
  return conclude(server, account, peer.isIdempotent, result, record)
}

/** What the price was made from, but for rounding: it is what was promised, and what was kept back of it. */
function quotedRate(slippageBasisPoints: number, delivery: Delivery): PathRate {
  const { sendAmount, receiveAmount } = delivery
  const kept = isOneToOne(delivery) ? 0n : BigInt(slippageBasisPoints)
  return { sent: sendAmount.value * (10_000n - kept), received: receiveAmount.value * 10_000n }
}

function isOneToOne({ sendAmount, receiveAmount }: Delivery): boolean {
  return sendAmount.value === receiveAmount.value && isSameAsset(sendAmount, receiveAmount)
}

/** To send as much as will arrive and no more, what arrives has to be known; to send all there is, not. */
async function findRate(
  connection: StreamConnection,
  { maxPacketAmount }: Peer,
  delivery: Delivery,
  known: PathRate,
): Promise<PathRate | SendStop> {
  const least = { sent: delivery.sendAmount.value, received: delivery.receiveAmount.value }
  if (!delivery.isFixedReceive || isOneToOne(delivery)) return known
  const most = smaller(maxPacketAmount ?? least.sent, least.sent)
  const path = await probePath(connection, { first: most, most, milliseconds: PROBE_MILLISECONDS })
  // What a small part of it tells is coarse, and at less than the least nothing comes through: then what is known counts.
  if (path.ok) return path.sent < most || higherRate(path, least) === least ? higherRate(path, known) : path
  return path.reason === 'refused'
    ? { outcome: 'ended', reason: path.detail }
    : { outcome: 'later', reason: path.reason === 'busy' ? path.detail : path.reason }
}

async function findMost(server: RailServer, { limits, settled }: Peer): Promise<bigint | undefined | SendStop> {
  if (limits.sending === undefined) return undefined
  try {
    return limits.sending - ((await settled?.()) ?? 0n)
  } catch (cause) {
    const at = server.clock.now()
    server.emit({
      type: 'fault',
      at,
      operation: undefined,
      message: 'what was settled with a peer is not known',
      cause,
    })
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
    server.emit({ type: 'rail_unavailable', at, account, reason })
  return { outcome: 'later', reason }
}
