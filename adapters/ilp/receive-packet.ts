import type { OpenIncomingPayment, RailServer, RailTransfer, TransferOutcome, TransferTerms } from '../../src/index.ts'
import { type Amount, amountOf, isSameAsset } from '../../src/protocol/amount.ts'
import { fromBase64url, isEqualBytes, joinBytes, toHex, toUtf8 } from '../../src/protocol/bytes.ts'
import { encodeAmountTooLarge, type IlpPrepare, type IlpReject, type IlpReply } from './packet.ts'
import type { Peer } from './peers.ts'
import { readSettled } from './read-settled.ts'
import { conditionOf, deriveStreamKeys, type StreamKeys } from './stream-keys.ts'
import { decodeStreamPacket, encodeStreamPacket, type StreamFrame, type StreamPacket } from './stream-packet.ts'

/** The time that is left for the answer to reach the peer before the packet expires. */
const MARGIN_MILLISECONDS = 1000
/**
 * The longest lifetime that is accepted: refusals are kept until after a packet's expiry, so no packet may live much
 * longer than is usual. Refused with T00, which is not final: this refusal is not recorded, so another process, whose
 * clock is right, may take the packet even now.
 */
const LONGEST_LIFE_MILLISECONDS = 3_600_000
const NOTHING = new Uint8Array()

/** A packet for an incoming payment of this server, sealed by its sender with the secret of that payment. */
interface Offer {
  readonly server: RailServer
  readonly address: string
  readonly peer: Peer
  readonly prepare: IlpPrepare
  readonly keys: StreamKeys
  /** What the sender wrote. */
  readonly packet: StreamPacket
  readonly payment: OpenIncomingPayment
}

/** The packet's value in the asset of the payment; `undefined` if it cannot be exchanged. */
interface Arrival extends Offer {
  readonly arrived: Amount | undefined
}

/**
 * Takes a packet that a peer brings for an incoming payment of this server. It is fulfilled once its money is durable,
 * and again whenever it is repeated; a packet refused for good stays refused. Rejects if the storage or the wallet
 * fails: then it is unknown what became of the packet, and it may be sent again to find out.
 * @spec INC-5 @spec INC-7 @spec INC-8
 */
export async function receivePacket(
  server: RailServer,
  address: string,
  peer: Peer,
  prepare: IlpPrepare,
): Promise<IlpReply> {
  const { destination } = prepare
  const rest = destination.startsWith(`${address}.`) ? destination.slice(address.length + 1) : undefined
  const payment = rest === undefined ? undefined : await server.findPayable(rest)
  const secret = payment && fromBase64url(payment.sharedSecret)
  if (payment === undefined || secret === undefined) return rejectPlainly(address, 'F02', 'nothing is paid here')
  const keys = await deriveStreamKeys(server.cryptography, secret)
  const plain = await keys.decrypt(prepare.data)
  const packet = plain && decodeStreamPacket(plain)
  if (packet?.ilpPacketType !== 12) return rejectPlainly(address, 'F06', 'this is not of a sender of this payment')
  const offer: Offer = { server, address, peer, prepare, keys, packet, payment }
  const fulfillment = await keys.fulfillmentOf(prepare.data)
  const condition = await conditionOf(server.cryptography, fulfillment)
  const isTest = !isEqualBytes(condition, prepare.executionCondition)
  // The sender of a test insists on nothing. So this is the money of a packet that may have been taken, or still may be:
  // sealed, this refusal would tell its sender that it was not.
  if (isTest && packet.amount > 0n) return rejectPlainly(address, 'F05', 'this is the condition of another packet')
  const fulfill = async (arrival: Arrival): Promise<IlpReply> => ({
    type: 'fulfill',
    fulfillment,
    data: await sealReply(arrival, 13),
  })
  const isTooFarAhead = prepare.expiresAt > server.clock.now() + LONGEST_LIFE_MILLISECONDS
  const isExchanged = prepare.amount > 0n && !isSameAsset(peer.asset, payment.asset)
  // It may have been taken at another price, or before this clock was set: then neither price nor expiry matters any
  // more.
  const before = (isExchanged || isTooFarAhead) && !isTest ? await findReceived(offer) : undefined
  if (before !== undefined) return fulfill({ ...offer, arrived: before })
  if (isTooFarAhead) return rejectPlainly(address, 'T00', 'this expires too far ahead')
  const arrived = isExchanged
    ? await server.exchange(amountOf(peer.asset, prepare.amount), payment.asset, payment.walletAddress)
    : amountOf(payment.asset, prepare.amount)
  const arrival: Arrival = { ...offer, arrived }
  // A test packet, which nobody can fulfill, asks what would arrive.
  if (isTest) return (await refusalOf(arrival)) ?? rejectSealed(arrival, 'F99', 'nobody can fulfill this')
  const refusal =
    server.clock.now() > notAfter(prepare) ? await rejectSealed(arrival, 'R00', 'too late') : await refusalOf(arrival)
  const rejection = await takeMoney(arrival, refusal)
  if (rejection !== undefined) return rejection
  // A copy that came at the same time may have been the one taken, at another price.
  return fulfill(isExchanged ? { ...offer, arrived: await findReceived(offer) } : arrival)
}

async function findReceived(offer: Offer): Promise<Amount | undefined> {
  return offer.server.findReceived(await termsOf(offer))
}

/** The terms of a packet as a transfer. The id comes from its condition, so a repeated packet is the same transfer. */
async function termsOf({ server, peer, prepare, payment }: Offer): Promise<TransferTerms> {
  const digest = await server.cryptography.sha256(joinBytes([toUtf8(payment.id), prepare.executionCondition]))
  return {
    id: toHex(digest.subarray(0, 16)),
    incomingPayment: payment.id,
    account: peer.account,
    accountAmount: amountOf(peer.asset, prepare.amount),
  }
}

function notAfter({ expiresAt }: IlpPrepare): number {
  return expiresAt - MARGIN_MILLISECONDS
}

/** Why a packet is refused, however much the payment still takes; `undefined` if it is not. */
async function refusalOf(arrival: Arrival): Promise<IlpReject | undefined> {
  const { server, address, peer, prepare, packet, payment, arrived } = arrival
  const tooMuch = (maximumAmount: bigint): IlpReject => {
    const data = encodeAmountTooLarge({ receivedAmount: prepare.amount, maximumAmount })
    return rejectPlainly(address, 'F08', 'too much at once', data)
  }
  if (peer.maxPacketAmount !== undefined && prepare.amount > peer.maxPacketAmount) return tooMuch(peer.maxPacketAmount)
  if (arrived === undefined) {
    // Either this asset is not exchanged, or the result does not fit into an amount.
    const one = await server.exchange(amountOf(peer.asset, 1n), payment.asset, payment.walletAddress)
    return one === undefined
      ? rejectSealed(arrival, 'F02', 'this asset is not exchanged here')
      : tooMuch(prepare.amount / 2n)
  }
  // A packet whose value rounds to nothing here would be lost to its sender.
  const isLost = arrived.value === 0n && prepare.amount > 0n
  return arrived.value < packet.amount || isLost ? rejectSealed(arrival, 'F99', 'less arrived than was to') : undefined
}

/** Makes the money durable. Returns the refusal; `undefined` if the packet was taken, now or before. */
async function takeMoney(arrival: Arrival, refusal: IlpReject | undefined): Promise<IlpReject | undefined> {
  const { server, prepare } = arrival
  if (prepare.amount === 0n && refusal === undefined) return undefined
  // Asked even if there is a refusal: the packet may have been taken before the price, a limit or the time changed. If
  // it was not, this answer is final however often the same packet returns, because its sender replaces it with another
  // packet. Only T05 (see below) is not final.
  const outcome = await server.receive(await transferOf(arrival, refusal !== undefined))
  if (outcome === 'received') return undefined
  // Neither answer is sealed: its sender would take a sealed one as final, but this packet was taken, or still may be.
  if (outcome === 'taken_otherwise') return rejectPlainly(arrival.address, 'T00', 'this came otherwise before')
  if (outcome === 'rate_limited') return rejectPlainly(arrival.address, 'T05', 'too many wait, or were refused')
  return refusal ?? rejectTransfer(arrival, outcome)
}

async function transferOf(arrival: Arrival, isRefused: boolean): Promise<RailTransfer> {
  const { server, peer, prepare, packet, payment, arrived } = arrival
  const limit = peer.limits.receiving
  return {
    ...(await termsOf(arrival)),
    amount: arrived ?? amountOf(payment.asset, 0n),
    least: packet.amount,
    notAfter: notAfter(prepare),
    isRefused,
    // Of what is refused nothing counts against the limit: anyone who knows the payment can cause that for nothing.
    ...(limit !== undefined && !isRefused && { most: limit + (await readSettled(server.clock, peer)) }),
  }
}

/** The outcomes of a transfer for which its packet is refused for good. */
type NotTaken = Exclude<TransferOutcome, 'received' | 'taken_otherwise' | 'rate_limited'>

function rejectTransfer(arrival: Arrival, outcome: NotTaken): Promise<IlpReject> {
  const { server, peer, packet, payment } = arrival
  switch (outcome) {
    case 'over_limit':
      server.emit({
        type: 'rail_unavailable',
        at: server.clock.now(),
        railAccount: peer.account,
        reason: 'receiving_limit',
      })
      return rejectSealed(arrival, 'T04', 'settle first')
    case 'over_remainder': {
      // `totalReceived` is 0, because a sender is not remembered: the remainder is all that it may still send.
      const streamId = packet.frames.find((frame) => frame.type === 'stream-money')?.streamId ?? 1n
      const receiveMax = payment.remainder ?? 0n
      const room: StreamFrame = { type: 'stream-max-money', streamId, receiveMax, totalReceived: 0n }
      return rejectSealed(arrival, 'F99', 'more than is still to be paid', room)
    }
    case 'not_now':
      return rejectSealed(arrival, 'T00', 'not now')
    case 'not_payable':
      return rejectSealed(arrival, 'F99', 'this takes no money any more', CLOSE)
    case 'refused':
      return rejectSealed(arrival, 'R00', 'too late, or refused before')
  }
}

/** Makes every sender stop, and tell its user that the receiver has closed the connection. */
const CLOSE: StreamFrame = { type: 'connection-close', errorCode: 0x01, errorMessage: '' }

function rejectPlainly(address: string, code: string, message: string, data: Uint8Array = NOTHING): IlpReject {
  return { type: 'reject', code, triggeredBy: address, message, data }
}

/**
 * A refusal with data from the receiver itself: what arrived, and what the sender should know. Only the sender can read
 * it, and only a sealed refusal proves to it that the refusal comes from the one who could have taken the packet
 * before.
 */
async function rejectSealed(
  arrival: Arrival,
  code: string,
  message: string,
  ...frames: readonly StreamFrame[]
): Promise<IlpReject> {
  return rejectPlainly(arrival.address, code, message, await sealReply(arrival, 14, frames))
}

function sealReply(
  { server, keys, packet, payment, arrived }: Arrival,
  ilpPacketType: 13 | 14,
  frames: readonly StreamFrame[] = [],
): Promise<Uint8Array> {
  const { assetCode, assetScale } = payment.asset
  // A sender that names its address asks for the asset of the receiver.
  const isAsked = packet.frames.some((frame) => frame.type === 'connection-new-address')
  const plain = encodeStreamPacket({
    ilpPacketType,
    sequence: packet.sequence,
    amount: arrived?.value ?? 0n,
    frames: isAsked ? [{ type: 'connection-asset-details', assetCode, assetScale }, ...frames] : frames,
  })
  // This answer need not be reproducible, so its salt is random.
  return keys.encrypt(plain, server.cryptography.randomBytes(16))
}
