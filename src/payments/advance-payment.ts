import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { reasonText } from '../protocol/reason-text.ts'
import { tellFault } from '../records/tell-fault.ts'
import { tryCommit } from '../records/try-commit.ts'
import { confirmHold, type WrittenWithHold } from './confirm-hold.ts'
import { deliverLocally } from './deliver-locally.ts'
import { finishPayment } from './finish-payment.ts'
import { deliverEvents } from './money-events.ts'
import { isLocalRecord, isRailRecord, type RailRecord } from './payment-record.ts'
import { deliverByRail } from './rail/deliver-by-rail.ts'
import type { Step } from './step.ts'
import type { ReservedRoom } from './take-room.ts'
import { pauseBetweenTries, TRIES_AT_ONCE } from './tries-at-once.ts'

/**
 * Moves an outgoing payment from the state that its record names to its end, and delivers its events to the host.
 * `written` is what this worker has just committed, if it confirmed the hold itself. Resolves once all events have been
 * offered to the host; if `tells` is `later`, once the money has got as far as it can now (see `tellLater`). Never rejects.
 */
export async function advancePayment(
  context: Context,
  start: StoredRecord<'outgoing-payment'>,
  {
    written,
    tells = 'at once',
  }: { readonly written?: WrittenWithHold | undefined; readonly tells?: 'at once' | 'later' } = {},
): Promise<void> {
  const { id } = start.value
  // The host receives the event in parallel: while its handler waits, neither the answer nor the money does.
  const telling = tells === 'later' ? undefined : deliverEvents(context, id, { first: written?.createdEvent })
  const completed = await moveToEnd(context, start, written?.room)
  const tellRest = async (): Promise<void> => {
    await telling
    await deliverEvents(context, id)
    if (completed !== undefined) await deliverEvents(context, completed)
  }
  if (tells === 'later') context.ongoing.tellLater(tellRest)
  else await tellRest()
}

/**
 * Takes step after step until the payment has ended or is left to another worker. Every step can be repeated safely:
 * the arguments of each ledger call were committed before the call, and each commit that writes the payment expects the
 * version that this worker read, so of two workers one stops. A call that the ledger does not answer is left to
 * `recover()`. Returns the id of the incoming payment if this completed it and the host must be told. Never rejects.
 */
async function moveToEnd(
  context: Context,
  start: StoredRecord<'outgoing-payment'>,
  reserved: ReservedRoom | undefined,
): Promise<string | undefined> {
  let record = start
  let room = reserved
  let tries = 0
  let completed: string | undefined
  try {
    for (;;) {
      const step = await takeStep(context, record, room).catch((cause) => stallOn(context, cause))
      switch (step.outcome) {
        case 'moved':
          record = step.record
          room = step.room
          completed ??= step.completes
          tries = 0
          break
        case 'stalled':
          // Others may have written its receiver, and its receipt, by the next try, which reads them.
          room = undefined
          tries++
          if (tries < TRIES_AT_ONCE) {
            await pauseBetweenTries(context)
            break
          }
          await postpone(context, record, step.reason)
          return completed
        case 'later':
          await postpone(context, step.record, step.reason)
          return completed
        case 'no_place':
          await leaveDue(context, record)
          return completed
        case 'ended':
          return completed ?? step.completes
        case 'waiting':
        case 'lost':
          return completed
      }
    }
  } catch (cause) {
    stallOn(context, cause)
    return completed
  }
}

/** A step that threw is tried again like one that got no answer: repeating it is safe. */
function stallOn(context: Context, cause: unknown): Step {
  tellFault(context, 'a payment could not be moved on', cause)
  return { outcome: 'stalled', reason: 'a step failed with a fault' }
}

async function takeStep(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  room: ReservedRoom | undefined,
): Promise<Step> {
  const payment = record.value
  switch (payment.state) {
    case 'created': {
      const held = await confirmHold(context, record)
      if (held.outcome === 'held') return { outcome: 'moved', record: held.record, room: held.written.room }
      if (held.outcome === 'unknown') return { outcome: 'stalled', reason: held.reason }
      return { outcome: held.outcome === 'lost' ? 'lost' : 'ended' }
    }
    case 'sending':
      if (isRailRecord(record)) return deliverAtPlace(context, record)
      if (isLocalRecord(record)) return deliverLocally(context, record, room)
      throw new Error('the receiver of a payment is not on this server')
    case 'decided':
      return finishPayment(context, record)
    case 'refused':
    case 'completed':
    case 'failed':
      return { outcome: 'ended' }
    default:
      // A record that was changed by hand.
      throw new Error(`the payment is in no state: ${payment.state satisfies never}`)
  }
}

/**
 * Lets a payment method work on a payment if this process has a place for it; what `recover()` took up already has one.
 */
async function deliverAtPlace(context: Context, record: RailRecord): Promise<Step> {
  const { deliveries } = context
  if (!deliveries.hasPlaceFor(record.value)) return { outcome: 'no_place' }
  const work = deliverByRail(context, record)
  deliveries.follow(record.value, work)
  return work
}

/**
 * Leaves a payment to the first process with a place for it: this one, or another through its `recover()`. If this
 * commit fails, the payment is due again when its lease ends.
 */
async function leaveDue(context: Context, record: StoredRecord<'outgoing-payment'>): Promise<void> {
  const change = { ...record, action: 'replace', dueAt: context.clock.now() } satisfies Change
  const outcome = await tryCommit(context, [change], 'a payment could not be moved on')
  if (outcome === 'taken') context.deliveries.wait(record.value)
}

const LONGEST_PAUSE_SECONDS = 3600

/** Postpones a payment, twice as long after each failure, up to an hour. Each postponement is an event. */
async function postpone(context: Context, record: StoredRecord<'outgoing-payment'>, reason: string): Promise<void> {
  const { value } = record
  const attempts = value.attempts + 1
  const pauseSeconds = Math.min(context.limits.leaseSeconds * 2 ** value.attempts, LONGEST_PAUSE_SECONDS)
  const dueAt = context.clock.now() + pauseSeconds * 1000
  const changes: readonly Change[] = [{ ...record, action: 'replace', value: { ...value, attempts }, dueAt }]
  if ((await tryCommit(context, changes, 'a payment could not be moved on')) !== 'taken') return
  context.emit({
    type: 'payment_stalled',
    at: context.clock.now(),
    outgoingPayment: value.id,
    state: value.state,
    attempts,
    retryAt: dueAt,
    reason: reasonText(reason),
  })
}
