import { createHash } from 'node:crypto'
import type { RecordTypes } from 'open-payments-server'
import { INTERVALS } from '../properties/model/state.ts'

export type OutgoingPayment = RecordTypes['outgoing-payment']

/** Whether nothing more happens to a payment. */
export const isOver = ({ state }: OutgoingPayment): boolean => ['refused', 'completed', 'failed'].includes(state)

/** Whether a payment counts in what its grant has spent. */
export const isCounted = ({ state }: OutgoingPayment): boolean => state !== 'refused' && state !== 'failed'

/** Division of integers that are not negative, rounded up. */
export const ceilDivide = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

/** What a payment counts in what its grant has spent: all of it but what failed, and of that what left all the same. */
export function spentOf(payment: OutgoingPayment): { readonly debit: bigint; readonly receive: bigint } {
  const { debitAmount, receiveAmount, receiveCharge: charged = receiveAmount.value, fee, decision, delivery } = payment
  if (isCounted(payment)) return { debit: debitAmount.value, receive: charged }
  if (decision?.action !== 'settle') return { debit: 0n, receive: 0n }
  const paid = ceilDivide(charged * (decision.amount - decision.fee), debitAmount.value - fee.value)
  const counts = [BigInt(delivery?.received ?? 0), paid]
  const receive = counts.reduce((one, other) => (one > other ? one : other))
  return { debit: decision.amount, receive: receive < charged ? receive : charged }
}

/** Whether all of a payment over a rail is there that was to be, by what has really left for it. */
export function isWhole({ receiveAmount, rail, delivery }: OutgoingPayment, sent: bigint): boolean {
  const hasAll = rail?.isFixedReceive === true && BigInt(delivery?.received ?? 0) >= receiveAmount.value
  return hasAll || sent === BigInt(rail?.sendAmount.value ?? 0)
}

/** What must be decided of a payment over a rail, by what has really left for it. */
export function decisionFor(payment: OutgoingPayment, sent: bigint): { readonly amount: bigint; readonly fee: bigint } {
  const { debitAmount, fee, rail } = payment
  const most = BigInt(rail?.sendAmount.value ?? 0)
  if (isWhole(payment, sent)) return { amount: debitAmount.value, fee: fee.value }
  if (sent === 0n) return { amount: 0n, fee: 0n }
  const fixed = BigInt(rail?.fixedFee ?? 0)
  const ownFee = fixed + ceilDivide((fee.value - fixed) * sent, most)
  return { amount: ceilDivide((debitAmount.value - fee.value) * sent, most) + ownFee, fee: ownFee }
}

/** Whether the host is to say how a payment ended: nothing else moves it on. */
export const isLeftToHost = ({ state, delivery }: OutgoingPayment): boolean =>
  state === 'sending' && delivery?.isLeftToHost !== undefined

/** The entry of its grant that a payment was charged to. */
export const entryOf = ({ spendingIds: [id = ''] }: OutgoingPayment): number => Number(id.split(':')[1])

/** Which window of an interval a moment lies in; 0 without an interval, `undefined` outside of all. */
export function windowOf(interval: string | undefined, at: number): number | undefined {
  const windows = interval === undefined ? undefined : INTERVALS[interval]
  if (windows === undefined) return interval === undefined ? 0 : undefined
  const index = Math.floor((at - windows.startsAt) / windows.length)
  return index >= 0 && index < windows.count ? index : undefined
}

/** The id under which a payment's receiver is credited. */
export const creditIdOf = (paymentId: string): string =>
  createHash('sha256').update(`credit:${paymentId}`).digest('hex').slice(0, 32)
