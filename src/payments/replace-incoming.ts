import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { creditReceipt, dropReceipt, type IncomingPayment } from '../protocol/incoming-payment.ts'
import type { Receipt } from '../protocol/receipt.ts'
import { unmarked } from '../records/unmarked.ts'
import { eventChanges, incomingPaymentEvent } from './notify.ts'

/** The change that writes an incoming payment; one that is over has no deadline any more. */
export function replaceIncoming(record: StoredRecord<'incoming-payment'>, value: IncomingPayment): Change {
  const { dueAt, ...rest } = record
  const isOver = value.state === 'completed' || value.state === 'expired'
  return { ...rest, action: 'replace', value, ...(dueAt !== undefined && !isOver && { dueAt }) }
}

/**
 * Whether nothing was ever written to an incoming payment but its creation and, maybe, its expiry: so there was never room
 * for anything in it, and no record that is kept speaks of it. @spec INC-14
 */
export function isUntouched({ value, version }: StoredRecord<'incoming-payment'>): boolean {
  // A record that was copied to another storage may have begun anew: what holds money is never one.
  return value.received.value === 0n && version === (value.state === 'expired' ? 2 : 1)
}

/**
 * What is committed with a record that is kept and speaks of an incoming payment without changing it: it is written as it
 * is, unless it has been, so that it is not untouched, and is kept, too. @spec INC-14
 */
export function keepIncoming(record: StoredRecord<'incoming-payment'>): readonly Change[] {
  return isUntouched(record) ? [replaceIncoming(record, record.value)] : []
}

/** What records the event of a completion that this brings about; nothing for one that was completed before. */
export function completionChanges(
  context: Context,
  before: IncomingPayment,
  after: IncomingPayment,
): readonly Change[] {
  if (before.state === 'completed' || after.state !== 'completed') return []
  return eventChanges(context, [incomingPaymentEvent(context, after, 'completed')])
}

/**
 * What is committed once the ledger has answered a credit: its receipt ends, and the incoming payment counts it or not. If
 * that completes it and there is an event of that, `completes` is its id.
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
