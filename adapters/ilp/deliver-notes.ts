import type { DeliveryProgress } from '../../src/index.ts'
import { storedAmount } from '../../src/protocol/amount.ts'
import { isObject } from '../../src/protocol/is-object.ts'
import type { RailRate } from '../../src/protocol/price.ts'
import type { MoneyPacket } from './stream-connection.ts'

/** A packet that may have left. `isTaken`: the receiver has taken it; only how much arrived is not known. */
export interface OpenPacket extends MoneyPacket {
  readonly isTaken: boolean
}

/** How far a delivery has come, packet by packet. */
export interface SendState {
  readonly sent: bigint
  readonly received: bigint
  /** What arrived according to the receiver, which may be more than is counted. */
  readonly said: bigint
  /** The sequence number of the next packet. */
  readonly nextSequence: bigint
  /** The packets that have or may have left, and whose outcome is not known. */
  readonly packets: readonly OpenPacket[]
  /**
   * The rate between what leaves and what arrives: as last measured, or a better one at which one of `packets` was planned.
   */
  readonly rate?: RailRate
}

/** The progress that is recorded. A packet takes some 80 of the at most 16384 characters of the notes. */
export function formatProgress({ sent, received, said, nextSequence, packets, rate }: SendState): DeliveryProgress {
  const inFlight = { sent: 0n, received: 0n }
  for (const { amount, least } of packets) {
    inFlight.sent += amount
    inFlight.received += least
  }
  const listed = packets.map(({ sequence, amount, least, expiresAt, isTaken }) => [
    ...[sequence, amount, least, expiresAt].map((value) => value.toString()),
    ...(isTaken ? ['taken'] : []),
  ])
  const known = rate && { rate: [rate.sent.toString(), rate.received.toString()] }
  const word = said > received && { said: said.toString() }
  const notes = JSON.stringify({ next: nextSequence.toString(), packets: listed, ...known, ...word })
  return { sent, received, inFlight, notes }
}

/**
 * Reads what was recorded of a payment. Throws if `formatProgress` did not write it. Two payments to one receiver use
 * different sequence numbers, so that no answer to a packet of one can pass for an answer to a packet of the other.
 */
export function readProgress(id: string, { sent, received, notes }: DeliveryProgress): SendState {
  const nextSequence = BigInt(`0x${id.slice(0, 10)}1`) << 16n
  if (notes === '') return { sent, received, said: received, nextSequence, packets: [] }
  const read: unknown = JSON.parse(notes)
  const packets: unknown = memberOf(read, 'packets')
  if (!Array.isArray(packets)) throw new TypeError('the notes of a delivery list no packets')
  const rate = memberOf(read, 'rate')
  const said = memberOf(read, 'said')
  return {
    sent,
    received,
    said: said === undefined ? received : integerOf(said),
    nextSequence: integerOf(memberOf(read, 'next')),
    ...(rate !== undefined && {
      rate: { sent: integerOf(memberOf(rate, '0')), received: integerOf(memberOf(rate, '1')) },
    }),
    packets: packets.map((packet: unknown) => ({
      sequence: integerOf(memberOf(packet, '0')),
      amount: integerOf(memberOf(packet, '1')),
      least: integerOf(memberOf(packet, '2')),
      expiresAt: Number(integerOf(memberOf(packet, '3'))),
      isTaken: memberOf(packet, '4') === 'taken',
    })),
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}

function integerOf(value: unknown): bigint {
  if (typeof value !== 'string') throw new TypeError('the notes of a delivery are not as they were written')
  return storedAmount(value)
}
