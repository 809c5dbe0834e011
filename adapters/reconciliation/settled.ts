import type { AuditedPayment } from '../../src/index.ts'
import { priceOfPart } from '../../src/protocol/price.ts'

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
  const price = { debit: BigInt(debitAmount.value), fee: BigInt(fee.value) }
  if (failureReason === undefined) return price
  if (rail === undefined) return { debit: 0n, fee: 0n }
  const [fixedFee, sendAmount] = [BigInt(rail.fixedFee?.value ?? 0), BigInt(rail.sendAmount.value)]
  return priceOfPart({ ...price, fixedFee, sendAmount }, BigInt(rail.sent.value))
}
