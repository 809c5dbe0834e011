import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { type Decision, enterState, type OutgoingPayment } from '../protocol/outgoing-payment.ts'
import type { Moved } from './step.ts'

/** What is committed to decide a payment, with what else changes by that. */
export function changesOfDecision(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  decision: Decision,
  others: readonly Change[],
): { readonly changes: readonly Change[]; readonly answer: Moved } {
  const now = context.clock.now()
  const value: OutgoingPayment = { ...enterState(record.value, 'decided', now), decision, attempts: 0 }
  const dueAt = now + context.limits.leaseSeconds * 1000
  return {
    changes: [{ ...record, action: 'replace', value, dueAt }, ...others],
    answer: { outcome: 'moved', record: { ...record, version: record.version + 1, value, dueAt } },
  }
}
