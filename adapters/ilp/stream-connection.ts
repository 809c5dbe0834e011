import type { Clock, Cryptography, IlpPaymentMethod } from '../../src/index.ts'
import { fromBase64url, isEqualBytes } from '../../src/protocol/identifiers.ts'
import { isIlpAddress } from '../../src/protocol/payment-method.ts'
import type { OpenRequests } from './open-requests.ts'
import { encodeIlpPacket, type IlpPrepare, type IlpReject, type IlpReply } from './packet.ts'
import type { AskPeer, PeerAnswer } from './send-packet.ts'
import { conditionOf, deriveStreamKeys, type StreamKeys } from './stream-keys.ts'
import { decodeStreamPacket, encodeStreamPacket, type StreamFrame, type StreamPacket } from './stream-packet.ts'

/** The sending end of a connection to a receiver. */
export interface StreamConnection {
  readonly destination: string
  /** The ILP address of the peer that is asked. */
  readonly peerAddress: string
  readonly keys: StreamKeys
  readonly ask: AskPeer
  readonly requests: OpenRequests
  readonly clock: Clock
  readonly cryptography: Cryptography
  /** What sets the packets of this connection apart from those of everybody else who pays the same receiver. */
  readonly salt: Uint8Array
}

/** All that a packet of money is made from: the same again is the same packet, octet for octet. */
export interface MoneyPacket {
  /** Never the same twice in one payment. */
  readonly sequence: bigint
  readonly amount: bigint
  /** The least that must arrive: the receiver refuses less. */
  readonly least: bigint
  readonly expiresAt: number
}

/** What sending a packet came to. */
export type PacketOutcome =
  /** The money is with the receiver; `received` is its own word for how much, absent if it said nothing. */
  | { readonly outcome: 'fulfilled'; readonly received?: bigint }
  /** Refused. `received`: what would have arrived, if the receiver itself answered; nobody on the way can write that. */
  | {
      readonly outcome: 'rejected'
      readonly reply: IlpReject
      readonly received?: bigint
      /** Whether it is the last word on this packet, even if it had left before: the receiver's own, or that of a peer who remembers. */
      readonly isFinal: boolean
      /** Whether the receiver takes nothing more, in its own word. */
      readonly isClosed: boolean
    }
  | Exclude<PeerAnswer, { readonly outcome: 'replied' }>

const MONEY: readonly StreamFrame[] = [{ type: 'stream-money', streamId: 1n, shares: 1n }]
const TEST_LIFETIME_MILLISECONDS = 10_000

/** Opens a connection, without sending anything; `undefined` if nobody can be paid by such details. */
export async function openConnection(
  { ilpAddress, sharedSecret }: IlpPaymentMethod,
  end: Pick<StreamConnection, 'ask' | 'requests' | 'peerAddress' | 'clock' | 'cryptography' | 'salt'>,
): Promise<StreamConnection | undefined> {
  const secret = fromBase64url(sharedSecret)
  if (secret?.length !== 32 || !isIlpAddress(ilpAddress)) return undefined
  return { ...end, destination: ilpAddress, keys: await deriveStreamKeys(end.cryptography, secret) }
}

/** Sends a packet of money, for the first time or again, and waits `milliseconds` for what becomes of it. */
export async function sendMoneyPacket(
  connection: StreamConnection,
  { sequence, amount, least, expiresAt }: MoneyPacket,
  milliseconds: number,
): Promise<PacketOutcome> {
  const { keys, cryptography } = connection
  const data = await sealOffer(connection, sequence, least, MONEY)
  const executionCondition = await conditionOf(cryptography, await keys.fulfillmentOf(data))
  return sendPacket(connection, sequence, { amount, expiresAt, executionCondition, data }, milliseconds)
}

/** Sends a packet that nobody can take the money of: its refusal tells what would arrive. */
export async function sendTestPacket(
  connection: StreamConnection,
  amount: bigint,
  milliseconds: number,
): Promise<PacketOutcome> {
  const { cryptography, clock } = connection
  // Below those of packets of money.
  const [high = 0, low = 0] = cryptography.randomBytes(2)
  const sequence = BigInt(high * 256 + low)
  const data = await sealOffer(connection, sequence, 0n, [])
  const executionCondition = cryptography.randomBytes(32)
  const expiresAt = clock.now() + TEST_LIFETIME_MILLISECONDS
  return sendPacket(connection, sequence, { amount, expiresAt, executionCondition, data }, milliseconds)
}

function sealOffer(
  { keys, salt }: StreamConnection,
  sequence: bigint,
  least: bigint,
  frames: readonly StreamFrame[],
): Promise<Uint8Array> {
  return keys.encrypt(encodeStreamPacket({ ilpPacketType: 12, sequence, amount: least, frames }), salt)
}

async function sendPacket(
  { ask, destination, peerAddress, keys, cryptography }: StreamConnection,
  sequence: bigint,
  prepare: Omit<IlpPrepare, 'type' | 'destination'>,
  milliseconds: number,
): Promise<PacketOutcome> {
  const answer = await ask(encodeIlpPacket({ type: 'prepare', destination, ...prepare }), milliseconds)
  if (answer.outcome !== 'replied') return answer
  const { reply } = answer
  const said = await readSealed(keys, reply, sequence)
  const received = said && { received: said.amount }
  if (reply.type === 'reject') {
    const isClosed = said?.frames.some(({ type }) => type === 'connection-close' || type === 'stream-close') === true
    const isFinal = said !== undefined || (reply.triggeredBy === peerAddress && isSettling(reply))
    return { outcome: 'rejected', reply, isFinal, isClosed, ...received }
  }
  // Without the right fulfillment nothing is owed, whatever the peer believes; and somebody may have garbled the right one.
  const condition = await conditionOf(cryptography, reply.fulfillment)
  return isEqualBytes(condition, prepare.executionCondition)
    ? { outcome: 'fulfilled', ...received }
    : { outcome: 'unknown', detail: 'the fulfillment is wrong' }
}

/** Who refuses for now, or does not know the payment any more (`F02`), says nothing of what became of the packet before. */
function isSettling({ code }: IlpReject): boolean {
  return !code.startsWith('T') && code !== 'F02'
}

/** The receiver's own words. Only it can write them, and only for this packet and this kind of answer. */
async function readSealed(keys: StreamKeys, reply: IlpReply, sequence: bigint): Promise<StreamPacket | undefined> {
  const plain = reply.data.length === 0 ? undefined : await keys.decrypt(reply.data)
  const packet = plain && decodeStreamPacket(plain)
  return packet?.sequence === sequence && packet.ilpPacketType === (reply.type === 'fulfill' ? 13 : 14)
    ? packet
    : undefined
}
