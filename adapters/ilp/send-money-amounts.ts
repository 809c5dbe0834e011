import { ceilDivide, type RailRate } from '../../src/protocol/price.ts'

/** What is to be sent. */
export interface SendOrder {
  /** No more than this leaves. */
  readonly sendAmount: bigint
  /** At least this arrives if all of that leaves. */
  readonly receiveAmount: bigint
  /** Whether it is enough that `receiveAmount` arrives. */
  readonly isFixedReceive: boolean
}

/** Sums over all packets that have left or may leave. */
export interface Assigned {
  readonly sent: bigint
  /** What has arrived, and the least that still will. */
  readonly received: bigint
  /** What will arrive at the rate that is known. */
  readonly expected: bigint
}

/** The smaller of two integers. */
export function smaller(one: bigint, other: bigint): bigint {
  if (one < other) return one
  return other
}

/** The greater of two integers. */
export function greater(one: bigint, other: bigint): bigint {
  if (one > other) return one
  return other
}

/** Whether more arrives at one rate than at another. */
export function isHigher(one: RailRate, other: RailRate): boolean {
  return one.received * other.sent > other.received * one.sent
}

/** What is known of the path. */
export interface KnownPath extends RailRate {
  /** The largest packet that comes through. */
  readonly cap: bigint
  /** Of a packet of this amount or less, nothing arrives. */
  readonly dust: bigint
}

/**
 * The smallest packet from which rounding on the way takes no more than the part that the quote set aside for it; the
 * whole amount if it set nothing aside. If both amounts are the same number of units, rounding loses nothing.
 */
export function smallestPart({ sendAmount, receiveAmount }: SendOrder, { sent, received }: RailRate): bigint {
  if (sendAmount === receiveAmount) return 1n
  const aside = received * sendAmount - receiveAmount * sent
  return aside > 0n ? ceilDivide(sent * sendAmount, aside) : sendAmount
}

/** By default a quote keeps one of this many units back, so rounding may take one of them. */
const MUCH = 100n

/**
 * The next packet of an order; `undefined` if nothing is left to send. Its `least` is what has to arrive so that
 * `receiveAmount` will have arrived in the end if the rest arrives at the order's rate; and never less than this
 * packet's own share, so that no hop can keep what came at a better rate before. Only the last packet need bring just
 * what is then missing, because rounding takes more than its share from a small packet.
 */
export function nextPacket(
  { sendAmount, receiveAmount, isFixedReceive }: SendOrder,
  assigned: Assigned,
  { sent, received, cap, dust }: KnownPath,
): { readonly amount: bigint; readonly least: bigint } | undefined {
  const leastOf = (amount: bigint): bigint => (amount * receiveAmount) / sendAmount
  const left = sendAmount - assigned.sent
  const missing = receiveAmount - assigned.received
  const unexpected = receiveAmount - assigned.expected
  const isEnough = isFixedReceive ? unexpected <= 0n : missing <= 0n && leastOf(left) === 0n
  if (left === 0n || isEnough) return undefined
  const wanted = isFixedReceive ? greater(ceilDivide(unexpected * sent, received), dust * 2n) : left
  // Rounding may leave nothing of a last packet that is worth hardly anything. So the rest is split into two halves
  // instead, unless these are so small that rounding takes even more from them.
  const [half, worth] = [ceilDivide(left, 2n), leastOf(left - cap)]
  const isCrumbLeft = left > cap && half <= cap && worth <= 1n && leastOf(half) > worth * MUCH
  const amount = smaller(isCrumbLeft ? half : smaller(left, cap), wanted)
  const isLast = amount === smaller(left, wanted)
  const share = isLast ? 1n : greater(leastOf(amount), 1n)
  return { amount, least: greater(missing - leastOf(left - amount), share) }
}
