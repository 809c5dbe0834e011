import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { creditReceipt, dropReceipt, hasEnded, type IncomingPayment } from '../protocol/incoming-payment.ts'
import type { Receipt } from '../protocol/receipt.ts'
import { unmarked } from '../records/change.ts'
import { OVER_KEPT_MILLISECONDS } from '../records/retention.ts'
import { eventChanges, incomingPaymentEvent } from './money-events.ts'

/** The change that writes an incoming payment; one that is completed or expired is no longer due. */
export function replaceIncoming(
  record: StoredRecord<'incoming-payment'>,
  value: IncomingPayment,
): StoredRecord<'incoming-payment'> & { readonly action: 'replace' } {
  const { dueAt, ...rest } = record
  return { ...rest, action: 'replace', value, ...(dueAt !== undefined && !hasEnded(value) && { dueAt }) }
}

/**
 * Whether no room in an incoming payment was ever reserved, and no record that is kept refers to it. While it takes money,
 * its version tells: nothing but its creation was written. Once it has ended, that it is due does (see `endIncoming`): its
 * version grows if what its client wrote is erased by hand.
 * @spec INC-14
 */
export function isUntouched({ value, version, dueAt }: StoredRecord<'incoming-payment'>): boolean {
  // In another storage, a copied record may begin at version 1 again; one that has received money never counts as
  // untouched.
  return value.received.value === 0n && (hasEnded(value) ? dueAt !== undefined : version === 1)
}

/**
 * The change that ends an incoming payment. If it is untouched it is deleted later, counted from now and not from its expiry:
 * a clock must run ahead for that whole time before anything is deleted too early.
 * @spec INC-14
 */
export function endIncoming(
  context: Pick<Context, 'clock'>,
  record: StoredRecord<'incoming-payment'>,
  state: 'expired' | 'completed',
): { readonly change: Change; readonly value: IncomingPayment } {
  const value: IncomingPayment = { ...record.value, state }
  const dueAt = context.clock.now() + OVER_KEPT_MILLISECONDS
  return { change: { ...replaceIncoming(record, value), ...(isUntouched(record) && { dueAt }) }, value }
}

/**
 * For the commit of a kept record that refers to an incoming payment without changing it. An untouched payment is
 * written once, unchanged, so that it no longer counts as untouched and is kept too.
 * @spec INC-14
 */
export function keepIncoming(record: StoredRecord<'incoming-payment'>): readonly Change[] {
  return isUntouched(record) ? [replaceIncoming(record, record.value)] : []
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
