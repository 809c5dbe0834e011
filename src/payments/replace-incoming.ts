import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import type { IncomingPayment } from '../protocol/incoming-payment.ts'
import { eventChanges, incomingPaymentEvent } from './notify.ts'

/** The change that writes an incoming payment; one that is over has no deadline any more. */
export function replaceIncoming(record: StoredRecord<'incoming-payment'>, value: IncomingPayment): Change {
  const { dueAt, ...unmarked } = record
  const isOver = value.state === 'completed' || value.state === 'expired'
  return { ...unmarked, action: 'replace', value, ...(dueAt !== undefined && !isOver && { dueAt }) }
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
