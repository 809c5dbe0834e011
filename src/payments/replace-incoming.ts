import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { creditReceipt, dropReceipt, type IncomingPayment } from '../protocol/incoming-payment.ts'
import type { Receipt } from '../protocol/receipt.ts'
import { unmarked } from '../records/unmarked.ts'
import { eventChanges, incomingPaymentEvent } from './notify.ts'

/** The change that writes an incoming payment; one that is completed or expired is no longer due. */
export function replaceIncoming(record: StoredRecord<'incoming-payment'>, value: IncomingPayment): Change {
  const { dueAt, ...rest } = record
  const isOver = value.state === 'completed' || value.state === 'expired'
  return { ...rest, action: 'replace', value, ...(dueAt !== undefined && !isOver && { dueAt }) }
}

/** The changes that record the event of a completion; none if the payment was already completed before. */
export function completionChanges(
  context: Context,
  before: IncomingPayment,
  after: IncomingPayment,
): readonly Change[] {
  if (before.state === 'completed' || after.state !== 'completed') return []
  return eventChanges(context, [incomingPaymentEvent(context, after, 'completed')])
}

/**
 * What is committed once the ledger has answered a credit: the receipt ends, and the incoming payment counts it or not.
 * `completes` is the id of the incoming payment if that completes it and an event of it is recorded.
 */
export function changesOfCredit(
  context: Context,
  incoming: StoredRecord<'incoming-payment'>,
  receipt: StoredRecord<'receipt'>,
  isCredited: boolean,
): { readonly changes: readonly Change[]; readonly completes?: string } {
  const amount = receipt.value.amount.value
  const value = isCredited ? creditReceipt(incoming.value, amount) : dropReceipt(incoming.value, amount)
  const ended: Receipt = { ...receipt.value, state: isCredited ? 'credited' : 'dropped' }
  const end: Change = { ...unmarked(receipt), action: 'replace', value: ended }
  const completion = completionChanges(context, incoming.value, value)
  return {
    changes: [replaceIncoming(incoming, value), end, ...completion],
    ...(completion.length > 0 && { completes: value.id }),
  }
}
