import type { Context } from '../ports/context.ts'
import type { Change, RecordKind, StoredRecord } from '../ports/storage.ts'
import { finaliseGrant } from '../protocol/grant.ts'
import type { IncomingPayment } from '../protocol/incoming-payment.ts'
import { endGrantChange } from '../records/end-grant.ts'
import { isOfKind } from '../records/read-record.ts'
import { OVER_KEPT_MILLISECONDS } from '../records/retention.ts'
import { tryCommit } from '../records/try-commit.ts'
import { forgetRecords } from './forget-records.ts'
import { deliverEvents, eventChanges, incomingPaymentEvent } from './notify.ts'
import { isUntouched, replaceIncoming } from './replace-incoming.ts'

/** How many records of each kind one call handles, so that it always ends soon. */
export const BATCH = 100

const SWEPT: readonly RecordKind[] = [
  'replay-claim',
  'idempotency-key',
  'quote',
  'access-token',
  'interaction',
  'incoming-payment',
  'grant',
  'receipt',
]

/**
 * Ends what is over: incoming payments expire, grants that nobody continued are finalised, and what nobody can use
 * any more is deleted, incoming payments into which nothing came among it. Safe to run in several processes at once. Resolves with how many records it changed; a full
 * batch of 100 of one kind means that there may be more. The host hears of it afterwards.
 */
export async function sweepRecords(context: Context): Promise<number> {
  const now = context.clock.now()
  const records: Record<string, number> = {}
  const failures: unknown[] = []
  for (const kind of SWEPT) {
    try {
      const swept = await sweepKind(context, kind, now)
      if (swept > 0) records[kind] = swept
    } catch (failure) {
      failures.push(failure)
    }
  }
  const count = Object.values(records).reduce((sum, swept) => sum + swept, 0)
  if (count > 0) context.emit({ type: 'swept', at: context.clock.now(), records, isFull: count >= BATCH })
  if (failures.length > 0) throw failures[0]
  return count
}

async function sweepKind(context: Context, kind: RecordKind, now: number): Promise<number> {
  const due = await context.storage.due(kind, now, BATCH)
  let swept = await forgetRecords(
    context,
    due.filter((record) => !isEndedFirst(record) && !isKept(record)),
  )
  for (const record of due) {
    if (isEndedFirst(record) && (await endRecord(context, record))) swept++
  }
  return swept
}

/** Of what is due among the receipts: a transfer that was refused. Dropped money that was taken is never due. */
export function isRefusal({ value }: StoredRecord<'receipt'>): boolean {
  return value.state === 'dropped'
}

/** A receipt is deleted only if its transfer was refused, an incoming payment only if nothing ever came of it. */
function isKept(record: StoredRecord): boolean {
  if (isOfKind(record, 'incoming-payment')) return !isUntouched(record)
  return isOfKind(record, 'receipt') && !isRefusal(record)
}

/** What is not deleted but ended: an incoming payment expires, a grant that nobody continued is finalised. */
function isEndedFirst(record: StoredRecord): boolean {
  if (isOfKind(record, 'grant')) return record.value.state === 'pending' || record.value.state === 'approved'
  return isOfKind(record, 'incoming-payment') && record.value.state !== 'expired'
}

async function endRecord(context: Context, record: StoredRecord): Promise<boolean> {
  if (isOfKind(record, 'incoming-payment')) return expireIncomingPayment(context, record)
  if (!isOfKind(record, 'grant')) return false
  return sweepAway(context, [endGrantChange(context, record, finaliseGrant(record.value, 'expired'))])
}

/** Commits what is over, and answers whether that has happened; what cannot be committed keeps nothing else waiting. */
async function sweepAway(context: Context, changes: readonly Change[]): Promise<boolean> {
  return (await tryCommit(context, changes, 'a record could not be swept')) === 'taken'
}

async function expireIncomingPayment(context: Context, record: StoredRecord<'incoming-payment'>): Promise<boolean> {
  if (record.value.reserved.value > 0n) {
    // A receipt under way still counts: the payment expires once it has been credited or dropped.
    const dueAt = context.clock.now() + context.limits.leaseSeconds * 1000
    await sweepAway(context, [{ ...record, action: 'replace', dueAt }])
    return false
  }
  const value: IncomingPayment = { ...record.value, state: 'expired' }
  const events = eventChanges(context, [incomingPaymentEvent(context, value, 'expired')])
  // From now on, and not from its expiry: a clock that runs ahead must do so for as long before anything is forgotten.
  const forgetAt = isUntouched(record) && { dueAt: context.clock.now() + OVER_KEPT_MILLISECONDS }
  if (!(await sweepAway(context, [{ ...replaceIncoming(record, value), ...forgetAt }, ...events]))) return false
  context.ongoing.tellLater(() => deliverEvents(context, value.id))
  return true
}
