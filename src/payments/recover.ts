import type { Context } from '../ports/context.ts'
import type { RecordKind, StoredRecord } from '../ports/storage.ts'
import { recordsOfKind } from '../records/read-record.ts'
import { advancePayment } from './advance-payment.ts'
import { deliverEvents, incomingPaymentEvent, recordEvents } from './notify.ts'

/** How many records one call looks at, so that it always ends soon. */
const BATCH = 100

/**
 * Moves on what was interrupted: payments whose lease has lapsed, and money events that nobody acknowledged. Safe to
 * run in several processes at once: a payment is claimed by a commit that only one of them wins.
 * Resolves with how many it took on; a full batch of 100 means that there may be more.
 */
export async function recoverPayments(context: Context): Promise<number> {
  const now = context.clock.now()
  const payments = recordsOfKind(await context.storage.due('outgoing-payment', now, BATCH), 'outgoing-payment')
  const claimed = (await Promise.all(payments.map((record) => claim(context, record)))).filter(
    (record) => record !== undefined,
  )
  await Promise.all(claimed.map((record) => advancePayment(context, record)))
  const events = recordsOfKind(await context.storage.due('event', now, BATCH), 'event')
  const told = new Set(events.map(({ value }) => value.event).map((event) => eventSubject(event)))
  await Promise.all([...told].map((paymentId) => deliverEvents(context, paymentId)))
  return claimed.length + events.length
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
    const outcome = await context.storage.commit([{ ...record, action: 'replace', dueAt }])
    return outcome === 'committed' ? { ...record, version: record.version + 1, dueAt } : undefined
  } catch (cause) {
    // One that was not claimed keeps none of the others waiting; where it was, it is due again after its lease.
    const at = context.clock.now()
    context.emit({ type: 'fault', at, operation: undefined, message: 'a payment could not be claimed', cause })
    return undefined
  }
}

const DELETED_WHEN_DUE: readonly RecordKind[] = ['replay-claim', 'quote', 'access-token', 'interaction']

/**
 * Ends what is over: incoming payments expire, grants that nobody continued are finalised, and what nobody can use
 * any more is deleted. Safe to run in several processes at once. Resolves with how many records it changed; a full
 * batch of 100 of one kind means that there may be more.
 */
export async function sweepRecords(context: Context): Promise<number> {
  const now = context.clock.now()
  let swept = 0
  for (const kind of DELETED_WHEN_DUE) {
    for (const record of await context.storage.due(kind, now, BATCH)) {
      const id = record.value.id
      if ((await context.storage.commit([{ action: 'delete', kind, id, version: record.version }])) === 'committed')
        swept++
    }
  }
  for (const record of recordsOfKind(await context.storage.due('incoming-payment', now, BATCH), 'incoming-payment')) {
    if (await expireIncomingPayment(context, record)) swept++
  }
  for (const record of recordsOfKind(await context.storage.due('grant', now, BATCH), 'grant')) {
    const { dueAt: _, ...unmarked } = record
    const value = { ...record.value, state: 'finalised', finalisation: 'expired' } as const
    if ((await context.storage.commit([{ ...unmarked, action: 'replace', value }])) === 'committed') swept++
  }
  return swept
}

async function expireIncomingPayment(context: Context, record: StoredRecord<'incoming-payment'>): Promise<boolean> {
  const { dueAt: _, ...unmarked } = record
  // A receipt under way still counts: the payment expires once it has been credited or dropped.
  if (record.value.reserved.value > 0n) return false
  const value = { ...record.value, state: 'expired' } as const
  const events = recordEvents(context, [incomingPaymentEvent(context, value, 'expired')])
  const outcome = await context.storage.commit([{ ...unmarked, action: 'replace', value }, ...events])
  if (outcome !== 'committed') return false
  await deliverEvents(context, value.id)
  return true
}
