import type { Context } from '../ports/context.ts'
import type { Change, CommitResult, RecordKind, StoredRecord } from '../ports/storage.ts'
import { finaliseGrant } from '../protocol/grant.ts'
import type { IncomingPayment } from '../protocol/incoming-payment.ts'
import { isRailPayment } from '../protocol/outgoing-payment.ts'
import { writeOverGrant } from '../records/end-grant.ts'
import { recordsOfKind } from '../records/read-record.ts'
import { advancePayment } from './advance-payment.ts'
import { deliverEvents, incomingPaymentEvent, recordEvents } from './notify.ts'
import { recoverReceipts } from './rail/credit-receipt.ts'
import { replaceIncoming } from './replace-incoming.ts'

/** How many records one call looks at, so that it always ends soon. */
const BATCH = 100

/**
 * Moves on what was interrupted: payments whose lease has lapsed, money that a rail has taken and nobody credited, and
 * money events that nobody acknowledged. Safe to run in several processes at once: a payment is claimed by a commit that
 * only one of them wins, and so is a receipt. Deletes refusals of transfers where they would keep money waiting.
 * Resolves with how many were due; 100 or more means that there may be more.
 *
 * What has to wait for other servers is taken up here and goes on afterwards: a slow one holds up nothing else. `keep` is
 * given that work, of which at most 256 payments are with a rail at once.
 */
export async function recoverPayments(context: Context, keep: (work: Promise<unknown>) => void): Promise<number> {
  const now = context.clock.now()
  const payments = recordsOfKind(await context.storage.due('outgoing-payment', now, BATCH), 'outgoing-payment')
  const claimed = (await Promise.all(payments.map((record) => claim(context, record)))).filter(
    (record) => record !== undefined,
  )
  for (const record of claimed.filter(isForRail)) keep(resumeByRail(context, record))
  const local = claimed.filter((record) => !isForRail(record))
  const [receipts] = await Promise.all([
    recoverMoney(context, now),
    ...local.map((record) => advancePayment(context, record)),
  ])
  const events = recordsOfKind(await context.storage.due('event', now, BATCH), 'event')
  const told = new Set(events.map(({ value }) => value.event).map((event) => eventSubject(event)))
  await Promise.all([...told].map((paymentId) => deliverEvents(context, paymentId)))
  const isFull = [payments.length, receipts.due, events.length].includes(BATCH)
  if (claimed.length + receipts.claimed + events.length > 0) {
    const at = context.clock.now()
    const counts = { payments: claimed.length, receipts: receipts.claimed, events: events.length }
    context.emit({ type: 'recovered', at, ...counts, isFull })
  }
  return payments.length + receipts.due + events.length
}

/** Whether what comes next may take its time at another server. */
function isForRail({ value }: StoredRecord<'outgoing-payment'>): boolean {
  return isRailPayment(value) && value.state !== 'decided'
}

/**
 * Payments whose ids end in the same two of 16 digits go one after the other: so there are 256 at most at once. Where the
 * lease runs out meanwhile, it is taken again, which fails where another worker was faster.
 */
async function resumeByRail(context: Context, claimed: StoredRecord<'outgoing-payment'>): Promise<void> {
  await context.serialize(`recovery:${claimed.value.id.slice(-2)}`, async () => {
    const left = (claimed.dueAt ?? 0) - context.clock.now()
    const isFresh = left > context.limits.leaseSeconds * 500
    const record = isFresh ? claimed : await claim(context, claimed)
    if (record !== undefined) await advancePayment(context, record)
  })
}

/** Answers how many receipts were due, and how many this call has taken up. */
async function recoverMoney(context: Context, now: number): Promise<{ due: number; claimed: number }> {
  const due = recordsOfKind(await context.storage.due('receipt', now, BATCH), 'receipt')
  const money = due.filter((record) => !isRefusal(record))
  // Peers cause as many refusals as they like. They are left to sweep(), unless money may be waiting behind them.
  const isFull = due.length === BATCH
  if (isFull) await forgetRecords(context, due.filter(isRefusal))
  return { due: isFull ? BATCH : money.length, claimed: await recoverReceipts(context, money) }
}

/** Of what is due among the receipts: a transfer that was refused. Dropped money that was taken is never due. */
function isRefusal({ value }: StoredRecord<'receipt'>): boolean {
  return value.state === 'dropped'
}

function eventSubject(event: StoredRecord<'event'>['value']['event']): string {
  return 'outgoingPayment' in event ? event.outgoingPayment : event.incomingPayment
}

async function claim(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
): Promise<StoredRecord<'outgoing-payment'> | undefined> {
  const dueAt = context.clock.now() + context.limits.leaseSeconds * 1000
  try {
    if ((await context.storage.commit([{ ...record, action: 'replace', dueAt }])) !== 'committed') return undefined
    const { id, state, attempts } = record.value
    const at = context.clock.now()
    context.emit({ type: 'payment_resumed', at, outgoingPayment: id, step: state, attempts })
    return { ...record, version: record.version + 1, dueAt }
  } catch (cause) {
    // One that was not claimed keeps none of the others waiting; where it was, it is due again after its lease.
    const at = context.clock.now()
    context.emit({ type: 'fault', at, operation: undefined, message: 'a payment could not be claimed', cause })
    return undefined
  }
}

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
 * any more is deleted. Safe to run in several processes at once. Resolves with how many records it changed; a full
 * batch of 100 of one kind means that there may be more.
 */
export async function sweepRecords(context: Context): Promise<number> {
  const now = context.clock.now()
  const records: Record<string, number> = {}
  let isFull = false
  for (const kind of SWEPT) {
    const due = await context.storage.due(kind, now, BATCH)
    isFull ||= due.length === BATCH
    const forgotten = due.filter((record) => !isEndedFirst(record) && !isMoney(record))
    let swept = await forgetRecords(context, forgotten)
    for (const record of due) {
      if (isEndedFirst(record) && (await endRecord(context, record))) swept++
    }
    if (swept > 0) records[kind] = swept
  }
  const count = Object.values(records).reduce((sum, swept) => sum + swept, 0)
  if (count > 0) context.emit({ type: 'swept', at: context.clock.now(), records, isFull })
  return count
}

/** A receipt is deleted only where its transfer was refused. */
function isMoney(record: StoredRecord): boolean {
  const [receipt] = recordsOfKind([record], 'receipt')
  return receipt !== undefined && !isRefusal(receipt)
}

/** What is not deleted but ended: an incoming payment expires, a grant that nobody continued is finalised. */
function isEndedFirst(record: StoredRecord): boolean {
  const [grant] = recordsOfKind([record], 'grant')
  const isPending = grant?.value.state === 'pending' || grant?.value.state === 'approved'
  return isPending || record.kind === 'incoming-payment'
}

async function endRecord(context: Context, record: StoredRecord): Promise<boolean> {
  const [incoming] = recordsOfKind([record], 'incoming-payment')
  if (incoming !== undefined) return expireIncomingPayment(context, incoming)
  const [grant] = recordsOfKind([record], 'grant')
  if (grant === undefined) return false
  const end = writeOverGrant(context, grant, finaliseGrant(grant.value, 'expired'))
  return (await commitSwept(context, [end])) === 'committed'
}

/** Deletes records in one commit; without those that another process was faster with. Answers how many. */
async function forgetRecords(context: Context, records: readonly StoredRecord[]): Promise<number> {
  let left = records
  while (left.length > 0) {
    const outcome = await commitSwept(context, left.map(deleteRecord))
    if (outcome === 'committed') return left.length
    if (outcome === undefined) return forgetOneByOne(context, left)
    left = left.filter((_record, index) => !outcome.conflicts.includes(index))
  }
  return 0
}

/** Where the whole commit fails: one record that cannot be deleted keeps no other. */
async function forgetOneByOne(context: Context, records: readonly StoredRecord[]): Promise<number> {
  let count = 0
  for (const record of records.length > 1 ? records : []) count += await forgetRecords(context, [record])
  return count
}

function deleteRecord({ kind, version, value }: StoredRecord): Change {
  return { action: 'delete', kind, id: value.id, version }
}

/** Commits what is over; what cannot be committed keeps nothing else waiting. */
async function commitSwept(context: Context, changes: readonly Change[]): Promise<CommitResult | undefined> {
  try {
    return await context.storage.commit(changes)
  } catch (cause) {
    const at = context.clock.now()
    context.emit({ type: 'fault', at, operation: undefined, message: 'a record could not be swept', cause })
    return undefined
  }
}

async function expireIncomingPayment(context: Context, record: StoredRecord<'incoming-payment'>): Promise<boolean> {
  if (record.value.reserved.value > 0n) {
    // A receipt under way still counts: the payment expires once it has been credited or dropped.
    const dueAt = context.clock.now() + context.limits.leaseSeconds * 1000
    await commitSwept(context, [{ ...record, action: 'replace', dueAt }])
    return false
  }
  const value: IncomingPayment = { ...record.value, state: 'expired' }
  const events = recordEvents(context, [incomingPaymentEvent(context, value, 'expired')])
  if ((await commitSwept(context, [replaceIncoming(record, value), ...events])) !== 'committed') return false
  await deliverEvents(context, value.id)
  return true
}
