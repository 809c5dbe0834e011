import type { Context } from '../ports/context.ts'
import { amountOf, MAX_AMOUNT_VALUE } from '../protocol/amount.ts'
import { type IncomingPayment, isActive, roomOf, stateAfterReceipt } from '../protocol/incoming-payment.ts'
import type { Receipt } from '../protocol/receipt.ts'
import { decide } from '../records/decide.ts'
import { readRecord } from '../records/read-record.ts'
import { deliverEvents } from './notify.ts'
import { completionEvents, replaceIncoming } from './replace-incoming.ts'

/** What became of money that a rail of the wallet's own reported. Amounts are in the smallest unit of the payment's asset. */
export type ReceivedPayment =
  | { readonly ok: true; readonly accepted: bigint; readonly excess: bigint }
  | { readonly ok: false; readonly reason: 'unknown' | 'completed' | 'expired' | 'over_remainder' | 'conflict' }

// Databases refuse a NUL, and store each half of a surrogate pair as the same replacement: two transfers would be one.
const TRANSFER_ID = /^[^\0\p{Surrogate}]{1,256}$/u

/**
 * Counts money that reached the wallet on a rail of its own. The wallet already holds it: the ledger is not called.
 * `transferId` is unique on this server and is counted once: an accepted transfer gets the same answer again, and
 * `conflict` with other arguments. A refusal is not kept: the same transfer may be accepted later. What exceeds the remainder is treated by the policy `excessReceipt`.
 * @spec INC-5 @spec INC-7 @spec INC-8
 */
export async function receivePayment(
  context: Context,
  id: string,
  amount: bigint,
  transferId: string,
  keep: (work: Promise<unknown>) => void,
): Promise<ReceivedPayment> {
  if (amount <= 0n || amount > MAX_AMOUNT_VALUE)
    throw new RangeError('a received amount is a positive unsigned 64-bit integer')
  if (!TRANSFER_ID.test(transferId)) throw new RangeError('a transfer id has 1 to 256 characters, all of them text')
  const result = await context.serialize(`incoming:${id}`, () =>
    decide<ReceivedPayment>(context, async () => {
      // Read before the receipt: where this very transfer has just completed the payment, that is found, and no refusal.
      const record = await readRecord(context.storage, 'incoming-payment', id)
      const known = await readRecord(context.storage, 'receipt', `rail:${transferId}`)
      if (known !== undefined) return { answer: answerAgain(known.value, id, amount) }
      if (record === undefined) return { answer: { ok: false, reason: 'unknown' } }
      const accepted = acceptedOf(context, record.value, amount)
      if (typeof accepted !== 'bigint') return { answer: { ok: false, reason: accepted } }
      const received = record.value.received.value + accepted
      const value: IncomingPayment = {
        ...record.value,
        received: amountOf(record.value.received, received),
        state: stateAfterReceipt(record.value, received),
      }
      const receipt: Receipt = {
        id: `rail:${transferId}`,
        incomingPaymentId: id,
        state: 'credited',
        amount: amountOf(record.value.received, accepted),
        createdAt: context.clock.now(),
        excess: amount - accepted,
      }
      return {
        changes: [
          replaceIncoming(record, value),
          { action: 'insert', kind: 'receipt', value: receipt },
          ...completionEvents(context, record.value, value),
        ],
        answer: { ok: true, accepted, excess: amount - accepted },
      }
    }),
  )
  // Not awaited: the host may call this from its own event handler.
  if (result.ok) keep(deliverEvents(context, id))
  return result
}

function answerAgain(receipt: Receipt, id: string, amount: bigint): ReceivedPayment {
  const excess = receipt.excess ?? 0n
  const isSame = receipt.incomingPaymentId === id && receipt.amount.value + excess === amount
  return isSame ? { ok: true, accepted: receipt.amount.value, excess } : { ok: false, reason: 'conflict' }
}

function acceptedOf(
  context: Context,
  payment: IncomingPayment,
  amount: bigint,
): bigint | 'completed' | 'expired' | 'over_remainder' {
  if (payment.state === 'completed') return 'completed'
  if (!isActive(payment, context.clock.now())) return 'expired'
  const room = roomOf(payment)
  if (amount <= room) return amount
  const isUnbounded = payment.incomingAmount === undefined || payment.received.value + amount > MAX_AMOUNT_VALUE
  if (isUnbounded || context.policies.excessReceipt === 'refuse') return 'over_remainder'
  return context.policies.excessReceipt === 'cap' ? room : amount
}
