import type { Context } from '../ports/context.ts'
import type { Change, RecordKind, StoredRecord } from '../ports/storage.ts'
import { finaliseGrant, wasGiven } from '../protocol/grant.ts'
import { hasEnded } from '../protocol/incoming-payment.ts'
import { deleteChange, MOST_CHANGES } from '../records/change.ts'
import { commitUncontested } from '../records/commit-uncontested.ts'
import { endGrantChange } from '../records/end-grant.ts'
import { isOfKind } from '../records/read-record.ts'
import { tellFault } from '../records/tell-fault.ts'
import { nameRecords, type TakenUp, tryCommit } from '../records/try-commit.ts'
import { endIncoming, isUntouched } from './incoming-changes.ts'
import { leaseEnd } from './lease.ts'
import { deliverEvents, eventChanges, incomingPaymentEvent } from './money-events.ts'

/** The most records of each kind that one call handles, so that it always ends soon, and may delete them in one commit. */
export const BATCH = MOST_CHANGES

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
 * Ends what is over: incoming payments expire, grants that nobody continued are finalised, and records that nobody can
 * use any more are deleted, including incoming payments that never received anything. Safe to run in several processes
 * at once. Resolves with how many records it changed; 100 or more means that there may be more. The host receives the
 * events of expired payments afterwards.
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
  const thatAre = (fate: Fate): readonly StoredRecord[] => due.filter((record) => fateOf(record) === fate)
  const forgotten = await forgetRecords(context, thatAre('deleted'))
  return forgotten + (await sweepEach(context, thatAre('ended'), (record) => endRecord(context, record)))
}

/** What becomes of a record that is due. */
type Fate = 'ended' | 'deleted' | 'kept'

/**
 * A grant that nobody continued is finalised before it is deleted, and an incoming payment expires. A grant that its owner
 * gave is only due if somebody has set that by hand: it is `ended`, too, by which it only becomes due no more. An incoming
 * payment that has ended is deleted if it is untouched, a receipt if its transfer was refused, and every other kind of record
 * is.
 */
function fateOf(record: StoredRecord): Fate {
  if (isOfKind(record, 'grant')) {
    const { state } = record.value
    return state === 'pending' || state === 'approved' || wasGiven(record.value) ? 'ended' : 'deleted'
  }
  if (isOfKind(record, 'incoming-payment')) {
    if (!hasEnded(record.value)) return 'ended'
    return isUntouched(record) ? 'deleted' : 'kept'
  }
  return isOfKind(record, 'receipt') && !isRefusal(record) ? 'kept' : 'deleted'
}

/**
 * Whether a receipt that is due only records that a transfer was refused. (A transfer that was taken and then dropped
 * is never due.)
 */
export function isRefusal({ value }: StoredRecord<'receipt'>): boolean {
  return value.state === 'dropped'
}

async function endRecord(context: Context, record: StoredRecord): Promise<TakenUp> {
  if (isOfKind(record, 'incoming-payment')) return expireIncomingPayment(context, record)
  if (!isOfKind(record, 'grant')) return 'lost'
  if (wasGiven(record.value)) {
    const { dueAt: _, ...kept } = record
    return trySweep(context, [{ ...kept, action: 'replace' }])
  }
  return trySweep(context, [endGrantChange(context, record, finaliseGrant(record.value, 'expired'))])
}

async function expireIncomingPayment(context: Context, record: StoredRecord<'incoming-payment'>): Promise<TakenUp> {
  if (record.value.reserved.value > 0n) {
    // Reserved receipts still count: the payment expires once each of them has been credited or dropped.
    const dueAt = leaseEnd(context)
    const put = await trySweep(context, [{ ...record, action: 'replace', dueAt }])
    return put === 'taken' ? 'lost' : put
  }
  const { change, value } = endIncoming(context, record, 'expired')
  const events = eventChanges(context, [incomingPaymentEvent(context, value, 'expired')])
  const outcome = await trySweep(context, [change, ...events])
  if (outcome === 'taken') context.ongoing.tellLater(() => deliverEvents(context, value.id))
  return outcome
}

/** A storage that has failed so often in a row is not asked for the rest too: the next call asks again. */
const MOST_FAILURES = 8

/**
 * Deletes records in one commit, except those that another process has changed meanwhile. If that fails, each is tried
 * alone, since one that cannot be deleted must not keep the others: otherwise than in `decide`, a commit that failed may be
 * repeated, because if it has happened there is no record, or one at another version, and that is a conflict. Returns how many
 * it deleted, or fewer if a commit that failed has happened after all.
 */
export async function forgetRecords(context: Context, records: readonly StoredRecord[]): Promise<number> {
  const changes = records.map(deleteChange)
  try {
    return await commitUncontested(context, changes)
  } catch (cause) {
    tellFault(context, 'a record could not be swept', nameRecords(changes, cause))
  }
  return sweepEach(context, changes.length > 1 ? changes : [], (change) => trySweep(context, [change]))
}

/** Commits what deletes or ends a record; never rejects, but reports what fails. */
async function trySweep(context: Context, changes: readonly Change[]): Promise<TakenUp> {
  return tryCommit(context, changes, 'a record could not be swept')
}

/**
 * Sweeps one after the other, until so many in a row have failed. Returns how many it has swept. It does not always begin
 * with the first: some that can never be swept must not keep the others for good.
 */
async function sweepEach<T>(
  { clock }: Context,
  all: readonly T[],
  sweep: (one: T) => Promise<TakenUp>,
): Promise<number> {
  // Divided by a prime number, since a timer may call at the same part of a second each time.
  const from = Math.floor(clock.now() / 997) % Math.max(all.length, 1)
  let count = 0
  let failures = 0
  for (const one of [...all.slice(from), ...all.slice(0, from)]) {
    if (failures === MOST_FAILURES) break
    const outcome = await sweep(one)
    failures = outcome === 'failed' ? failures + 1 : 0
    if (outcome === 'taken') count++
  }
  return count
}
