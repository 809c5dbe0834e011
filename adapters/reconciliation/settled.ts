import type { AuditedPayment } from '../../src/index.ts'

/**
 * What of a payment is settled once it is over, in the payer's smallest unit: all of it, nothing, or the part that has left
 * for another wallet. `fee` is the part of `debit` that the wallet keeps. For a payment that is not decided yet it is what
 * will be settled if nothing goes wrong.
 */
export function settledOf(payment: Pick<AuditedPayment, 'debitAmount' | 'fee' | 'failureReason' | 'rail'>): {
  readonly debit: bigint
  readonly fee: bigint
} {
  const { debitAmount, fee, failureReason, rail } = payment
  const [debit, kept] = [BigInt(debitAmount.value), BigInt(fee.value)]
  if (failureReason === undefined) return { debit, fee: kept }
  if (rail === undefined) return { debit: 0n, fee: 0n }
  const [sent, most] = [BigInt(rail.sent.value), BigInt(rail.sendAmount.value)]
  const fixed = sent === 0n ? 0n : BigInt(rail.fixedFee?.value ?? 0)
  const partOf = (amount: bigint): bigint => (amount * sent + most - 1n) / most
  const part = fixed + partOf(kept - fixed)
  return { debit: partOf(debit - kept) + part, fee: part }
}
