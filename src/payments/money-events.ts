import type { Context } from '../ports/context.ts'
import type { MoneyEvent } from '../ports/events.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { amountToWire } from '../protocol/amount.ts'
import type { IncomingPayment } from '../protocol/incoming-payment.ts'
import { failureReasonOf, type OutgoingPayment } from '../protocol/outgoing-payment.ts'
import type { Receipt } from '../protocol/receipt.ts'
import { asCommitted } from '../records/as-committed.ts'
import { deleteChange } from '../records/change.ts'
import { readRecords } from '../records/read-record.ts'
import { tellFault } from '../records/tell-fault.ts'
import { type TakenUp, tryCommit } from '../records/try-commit.ts'
import { leaseEnd } from './lease.ts'
import { turnAtEvents } from './turn-keys.ts'

/** The event of an incoming payment's new state: `created` is its first, its end the second and last. */
export function incomingPaymentEvent(
  context: Context,
  payment: IncomingPayment,
  what: 'created' | 'completed' | 'expired',
): MoneyEvent {
  return {
    type: `incoming_payment.${what}`,
    id: `${payment.id}:${what === 'created' ? 1 : 2}`,
    at: context.clock.now(),
    incomingPayment: payment.id,
    walletAddress: payment.walletAddress,
    receivedAmount: amountToWire(payment.received),
  }
}

/** The event of an outgoing payment's new state. */
export function outgoingPaymentEvent(
  context: Context,
  payment: OutgoingPayment,
  what: 'created' | 'completed' | 'failed',
): MoneyEvent {
  const event = {
    id: `${payment.id}:${what === 'created' ? 1 : 2}`,
    at: context.clock.now(),
    outgoingPayment: payment.id,
    walletAddress: payment.walletAddress,
    debitAmount: amountToWire(payment.debitAmount),
    sentAmount: amountToWire(payment.sentAmount),
  }
  if (what !== 'failed') return { type: `outgoing_payment.${what}`, ...event }
  const reason = failureReasonOf(payment)
  return { type: 'outgoing_payment.failed', ...event, ...(reason !== undefined && { reason }) }
}

/** The subject of `credit_refused`. Because of its prefix it is that of no payment, whatever id a rail gives its transfer. */
export function refusalSubject(receiptId: string): string {
  return `receipt-${receiptId}`
}

/** The subject of an event, taken from its id, `<subject>:<sequence>`. */
export function subjectOf(eventId: string): string {
  return eventId.slice(0, eventId.lastIndexOf(':'))
}

/** The event of a credit that the ledger has refused: the only one of its receipt, so no other event waits for it. */
export function creditRefusedEvent(context: Context, receipt: Receipt, reason: string): MoneyEvent {
  return {
    type: 'credit_refused',
    id: `${refusalSubject(receipt.id)}:1`,
    at: context.clock.now(),
    incomingPayment: receipt.incomingPaymentId,
    receipt: receipt.id,
    amount: amountToWire(receipt.amount),
    reason,
  }
}

/** The change that records an event. */
export type RecordedEvent = Extract<Change, { readonly action: 'insert'; readonly kind: 'event' }>

/**
 * The changes that record events in the same commit as what they report, so that no crash loses one. None if the host
 * does not listen. Events that are not acknowledged within a lease are delivered again by `recover()`.
 */
export function eventChanges(context: Context, events: readonly MoneyEvent[]): readonly RecordedEvent[] {
  if (context.deliverEvent === undefined) return []
  const dueAt = leaseEnd(context)
  return events.map((event) => ({ action: 'insert', kind: 'event', value: { id: event.id, event }, dueAt }))
}

/**
 * Delivers the events of one subject (a payment or a refused credit), oldest first, and deletes each once the host has
 * acknowledged it. An event that the host rejected is left alone until it is due again. `first` is the payment's first
 * event, passed by the worker that has just committed it: nothing comes before it, so nothing need be read. `due` are those
 * that were found due: deliver only if one still is; otherwise another worker is delivering them. Never rejects: `taken`
 * means that the host has taken one at least, `failed` that all are still due, whether the host got them or not, and `lost`
 * also that they were put off.
 */
export async function deliverEvents(
  context: Context,
  subject: string,
  { first, due }: { readonly first?: RecordedEvent | undefined; readonly due?: readonly StoredRecord<'event'>[] } = {},
): Promise<TakenUp> {
  const { deliverEvent } = context
  if (deliverEvent === undefined) return 'lost'
  return context.inTurn<TakenUp>(turnAtEvents(subject), async () => {
    // If one of the subject's events cannot be read, those that can are postponed: due for ever, they would hide others.
    let waiting = due ?? []
    let isHeard = false
    try {
      waiting = first && isOurs(context, first) ? [asCommitted(first)] : await readEvents(context, subject)
      // Only a postponement replaces an event, so a version above 1 means that delivering it failed before.
      const isPostponed = (waiting[0]?.version ?? 1) > 1
      const isDue = waiting.some(({ dueAt = 0 }) => dueAt <= context.clock.now())
      if (waiting.length === 0 || ((due !== undefined || isPostponed) && !isDue)) return 'lost'
      for (const record of waiting) {
        await deliverEvent(record.value.event)
        const outcome = await tryCommit(context, [deleteChange(record)], 'a delivered money event was not deleted')
        if (outcome === 'failed') return postponeEvents(context, waiting)
        waiting = waiting.slice(1)
        isHeard = true
      }
      return 'taken'
    } catch (cause) {
      tellFault(context, 'a money event was not delivered', cause)
      const postponed = await postponeEvents(context, waiting)
      return isHeard ? 'taken' : postponed
    }
  })
}

/**
 * Within its lease an event belongs to the worker that committed it; after that `recover()` may have delivered it, and
 * the next one.
 */
function isOurs({ clock }: Context, { dueAt = 0 }: RecordedEvent): boolean {
  return clock.now() < dueAt
}

async function readEvents(context: Context, subject: string): Promise<readonly StoredRecord<'event'>[]> {
  return readRecords(context.storage, 'event', [`${subject}:1`, `${subject}:2`])
}

const LONGEST_PAUSE_MILLISECONDS = 300_000

/**
 * Postpones all events of a subject, since the later one waits for the first: for a lease, then for as long again as
 * the first has waited, up to five minutes. Otherwise `recover()` would call a failing host without end. Events that
 * cannot be postponed stay due. Never `taken`: a host that takes nothing must not be told more at once (see `keepGoing`).
 */
async function postponeEvents(context: Context, waiting: readonly StoredRecord<'event'>[]): Promise<TakenUp> {
  const [first] = waiting
  if (first === undefined) return 'failed'
  const now = context.clock.now()
  const waited = Math.min(now - first.value.event.at, LONGEST_PAUSE_MILLISECONDS)
  const dueAt = now + Math.max(waited, context.limits.leaseSeconds * 1000)
  const changes = waiting.map((record): Change => ({ ...record, action: 'replace', dueAt }))
  return (await tryCommit(context, changes)) === 'failed' ? 'failed' : 'lost'
}
