import type { Context } from '../ports/context.ts'
import type { Change } from '../ports/storage.ts'
import { storedAmount } from '../protocol/amount.ts'
import { type OutgoingPayment, takenBy } from '../protocol/outgoing-payment.ts'
import { ceilDivide, mostBelieved } from '../protocol/price.ts'
import { chargeSpending, type LastCharge } from '../protocol/spent-amounts.ts'
import { readRecord, readRecords } from '../records/read-record.ts'

/**
 * The changes that give the unused part of a payment's charge back to the windows that it was charged to.
 * @spec OUT-9 @spec LIM-2
 */
export async function releaseSpendingChanges(context: Context, payment: OutgoingPayment): Promise<readonly Change[]> {
  const stored = await readRecords(context.storage, 'spending', payment.spendingIds)
  const { debitAmount, receiveAmount, decision } = payment
  const untaken = debitAmount.value - takenBy(decision)
  const unreceived = chargedFor(payment) - receivedOf(payment)
  const changes = stored.map(async (record): Promise<Change> => {
    const value = chargeSpending(record.value, -untaken, receiveAmount, -unreceived)
    if (payment.state !== 'refused' || value.lastCharge?.payment !== payment.id)
      return { ...record, action: 'replace', value }
    // A refused payment counts as never charged. The record itself stays: if it were deleted and inserted anew, a
    // writer that had read the old one could mistake the new one for it. @spec D13 @spec D15
    const { lastCharge: _, ...rest } = value
    const lastCharge = await unrefused(context, payment.chargedAfter)
    return { ...record, action: 'replace', value: { ...rest, ...(lastCharge && { lastCharge }) } }
  })
  return Promise.all(changes)
}

/**
 * This charge, or the last one before it that was not refused. Any other refusal writes the same spending record, so
 * the result still holds when it is committed, or the commit conflicts.
 * @spec LIM-10
 */
async function unrefused(context: Context, charge: LastCharge | undefined): Promise<LastCharge | undefined> {
  const record = await readRecord(context.storage, 'outgoing-payment', charge?.payment)
  return record?.value.state === 'refused' ? unrefused(context, record.value.chargedAfter) : charge
}

/** What a payment was charged in the receiver's asset. @spec LIM-1 */
function chargedFor({ receiveAmount, receiveCharge = receiveAmount.value }: OutgoingPayment): bigint {
  return receiveCharge
}

/**
 * What the receiver of a failed payment has received nevertheless: what the receiver's side reports, but at least what was
 * paid for, and no more than is believed of that, nor than was charged. Otherwise a receiver could free budget by reporting
 * too little, and be paid from it again, or use it up by reporting too much.
 * @spec T-47
 */
function receivedOf(payment: OutgoingPayment): bigint {
  const { debitAmount, fee, decision, delivery } = payment
  if (decision?.action !== 'settle' || delivery === undefined) return 0n
  const said: bigint = storedAmount(delivery.received)
  const charged = chargedFor(payment)
  const paidFor = ceilDivide((decision.amount - decision.fee) * charged, debitAmount.value - fee.value)
  const most = mostBelieved(paidFor)
  if (said <= paidFor) return paidFor
  return [said, most, charged].reduce((least, each) => (each < least ? each : least))
}
