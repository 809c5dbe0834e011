import type { Clock, Cryptography, IlpPaymentMethod, RailServer } from '../../src/index.ts'
import { fromBase64url, isEqualBytes } from '../../src/protocol/bytes.ts'
import { isIlpAddress } from '../../src/protocol/payment-method.ts'
import type { OpenRequests } from './open-requests.ts'
import { encodeIlpPacket, type IlpPrepare, type IlpReject, type IlpReply } from './packet.ts'
import type { Peer, Peers } from './peers.ts'
import { type AskPeer, askOverHttp, type PeerAnswer, type SendToPeer } from './send-packet.ts'
import { conditionOf, deriveStreamKeys, type StreamKeys } from './stream-keys.ts'
import { decodeStreamPacket, encodeStreamPacket, type StreamFrame, type StreamPacket } from './stream-packet.ts'

/** What quotes and payments are sent with. */
export interface Sender {
  readonly slippageBasisPoints: number
  readonly send: SendToPeer
  readonly peers: Peers
  readonly requests: OpenRequests
  readonly server: RailServer
}

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
  /** Makes the packets of this connection differ from those of everybody else who pays the same receiver. */
  readonly salt: Uint8Array
}

/** Everything that a money packet is made from: the same values give the same packet, octet for octet. */
export interface MoneyPacket {
  /** Unique within a payment. */
  readonly sequence: bigint
  readonly amount: bigint
  /** The least that must arrive: the receiver refuses less. */
  readonly least: bigint
  readonly expiresAt: number
}

/** The outcome of sending a packet. */
export type PacketOutcome =
  /** The receiver has the money; `received` is how much it says has arrived, absent if it said nothing. */
  | { readonly outcome: 'fulfilled'; readonly received?: bigint }
  /**
   * Refused. `received`: what would have arrived; only if the receiver itself answered, since no hop can write that.
   */
  | {
      readonly outcome: 'rejected'
      readonly reply: IlpReject
      readonly received?: bigint
      /**
       * Whether this is final even if the packet had left before: it is from the receiver, or from a peer that
       * remembers packets.
       */
      readonly isFinal: boolean
      /** Whether the receiver says that it takes nothing more. */
      readonly isClosed: boolean
    }
  | Exclude<PeerAnswer, { readonly outcome: 'replied' }>

const MONEY: readonly StreamFrame[] = [{ type: 'stream-money', streamId: 1n, shares: 1n }]
const TEST_LIFETIME_MILLISECONDS = 10_000

/** Opens a connection through a peer, without sending anything; `undefined` if the details are not valid. */
export async function openConnection(
  { send, requests, server: { clock, cryptography } }: Sender,
  peer: Peer,
  { ilpAddress, sharedSecret }: IlpPaymentMethod,
  salt: Uint8Array,
): Promise<StreamConnection | undefined> {
  const secret = fromBase64url(sharedSecret)
  // By addresses that begin with `peer.`, peers configure each other: no stranger may say what is sent there.
  if (secret?.length !== 32 || !isIlpAddress(ilpAddress) || ilpAddress.startsWith('peer.')) return undefined
  const keys = await deriveStreamKeys(cryptography, secret)
  const ask = askOverHttp(send, peer, clock)
  return { destination: ilpAddress, peerAddress: peer.address, keys, ask, requests, clock, cryptography, salt }
}

/** Sends a money packet, for the first time or again, and waits at most `milliseconds` for its outcome. */
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

/** Sends a test packet, whose money nobody can take: its refusal tells what would arrive. */
export async function sendTestPacket(
  connection: StreamConnection,
  amount: bigint,
  milliseconds: number,
): Promise<PacketOutcome> {
  const { cryptography, clock } = connection
  // Below the sequence numbers of money packets.
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
  // Without the right fulfillment nothing is owed, whatever the peer believes. But somebody may have garbled the right
  // one, so this is unknown and not a refusal.
  const condition = await conditionOf(cryptography, reply.fulfillment)
  return isEqualBytes(condition, prepare.executionCondition)
    ? { outcome: 'fulfilled', ...received }
    : { outcome: 'unknown', detail: 'the fulfillment is wrong' }
}

/**
 * Whether a reject by a peer that remembers is final. A temporary one, or `F02` (the payment is no longer known), says
 * nothing about what became of the packet before.
 */
function isSettling({ code }: IlpReject): boolean {
  return !code.startsWith('T') && code !== 'F02'
}

/**
 * The data from the receiver itself: nobody else can write it, and it is valid only for this packet and this type of
 * reply.
 */
async function readSealed(keys: StreamKeys, reply: IlpReply, sequence: bigint): Promise<StreamPacket | undefined> {
  const plain = reply.data.length === 0 ? undefined : await keys.decrypt(reply.data)
  const packet = plain && decodeStreamPacket(plain)
  return packet?.sequence === sequence && packet.ilpPacketType === (reply.type === 'fulfill' ? 13 : 14)
    ? packet
    : undefined
}
