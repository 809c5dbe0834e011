import type { Context, Plan } from '../ports/context.ts'
import type { Counterparty, LedgerRefusal } from '../ports/ledger.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { enterState, isLocalPayment, isRailPayment, type OutgoingPayment } from '../protocol/outgoing-payment.ts'
import { signedRequestIdOf } from '../protocol/signed-request.ts'
import { asCommitted } from '../records/as-committed.ts'
import { deleteChange, unmarked } from '../records/change.ts'
import { creditIdOf } from '../records/credit-id.ts'
import { type Attempt, commitKnown, decide } from '../records/decide.ts'
import { freeKeyChanges } from '../records/decide-once.ts'
import { knownAtFirst, readRecord } from '../records/read-record.ts'
import { EXPIRED_KEPT_MILLISECONDS } from '../records/retention.ts'
import { askLedger, type LedgerOutcome } from './ask-ledger.ts'
import { keepIncoming } from './incoming-changes.ts'
import { leaseEnd } from './lease.ts'
import { eventChanges, outgoingPaymentEvent, type RecordedEvent } from './money-events.ts'
import { requireKept } from './payment-record.ts'
import { releaseSpendingChanges } from './release-spending.ts'
import { type ReservedRoom, type TakenRoom, takeRoom } from './take-room.ts'
import { turnAtGrant, turnAtIncoming } from './turn-keys.ts'

/** An incoming payment, and how many turns (`InTurn`) had ended before it was read. */
export interface KnownIncoming {
  readonly record: StoredRecord<'incoming-payment'>
  readonly endedTurns: number
}

/** What was committed together with the fact that the money of a payment is held. */
export interface WrittenWithHold {
  /** The event of its creation, if that was not recorded before. */
  readonly createdEvent?: RecordedEvent | undefined
  /** The room that was reserved; absent if none was. */
  readonly room?: ReservedRoom | undefined
}

/** What came of asking for the hold of a payment. */
export type HoldResult =
  | {
      readonly outcome: 'held'
      readonly record: StoredRecord<'outgoing-payment'>
      readonly written: WrittenWithHold
    }
  /** `reason` is for the operator. */
  | { readonly outcome: 'unknown'; readonly record: StoredRecord<'outgoing-payment'>; readonly reason: string }
  /**
   * The payment is no longer this worker's: another worker has moved it on, or the ledger's answer could not be
   * recorded and it is left to recovery.
   */
  | { readonly outcome: 'lost'; readonly record: StoredRecord<'outgoing-payment'> }
  /** Refused too late to be undone: the payment is visible, and has failed. */
  | { readonly outcome: 'failed'; readonly record: StoredRecord<'outgoing-payment'> }
  /** Refused and undone. */
  | { readonly outcome: 'refused'; readonly reason: LedgerRefusal }

/**
 * Asks the ledger to hold the money of a `created` payment, whose client may already have its answer, and records what
 * the ledger answers.
 * @spec OUT-6
 */
export async function confirmHold(context: Context, record: StoredRecord<'outgoing-payment'>): Promise<HoldResult> {
  return writeHold(context, record, await askHold(context, record.value), { by: 'recovery' })
}

/** Asks the ledger for the hold, under the payment's own id, so that asking again is the same call. Never rejects. */
export async function askHold(context: Context, payment: OutgoingPayment): Promise<LedgerOutcome> {
  return askLedger(context, 'hold', payment.id, () =>
    context.ledger.hold({
      id: payment.id,
      account: payment.account,
      // A copy: what the ledger writes into it must not become the payment's own amount.
      amount: { ...payment.debitAmount },
      counterparty: counterpartyOf(payment),
    }),
  )
}

function counterpartyOf(payment: OutgoingPayment): Counterparty {
  if (isRailPayment(payment)) {
    const { method, address, walletAddress } = payment.rail
    return { kind: 'rail', method, address, ...(walletAddress !== undefined && { walletAddress }) }
  }
  if (isLocalPayment(payment))
    return { kind: 'local', account: payment.payeeAccount, incomingPayment: payment.incomingPaymentId }
  throw new Error('an outgoing payment has no receiver')
}

/**
 * Records what the ledger has answered to a hold.
 *
 * After a refusal, a payment fails if its client may know of it: because it is listed, or because this is `recovery` of an
 * order without a key, which may have been answered (with a key, the client repeats an order that was not answered with
 * 201). Any other is undone, and the key that its order named is freed (a `refused` tombstone stays, so that a late
 * repeat finds it).
 *
 * `receiver` is its incoming payment, as the order found it.
 */
export async function writeHold(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  asked: LedgerOutcome,
  { by, receiver }: { readonly by: 'request' | 'recovery'; readonly receiver?: KnownIncoming | undefined },
): Promise<HoldResult> {
  if (asked.outcome === 'unknown') return { outcome: 'unknown', record, reason: asked.reason }
  if (asked.outcome === 'done') return startSending(context, record, receiver)
  return refusePayment(context, record.value, asked.reason, by)
}

/**
 * Records that the money is held, and in the same commit reserves room for it in the incoming payment, unless another
 * task is using that one. In that case, or if the incoming payment takes no more, cannot be read or was written meanwhile,
 * the payment goes on without room: `deliverLocally` reads again, and reserves room or gives the payment up. So the answer
 * to the order does not wait for other payers, and does not depend on reading the receiver. That is read again only if it
 * had a turn in this process since the order found it: what another process has written since makes the commit conflict.
 */
async function startSending(
  context: Context,
  known: StoredRecord<'outgoing-payment'>,
  receiver: KnownIncoming | undefined,
): Promise<HoldResult> {
  const { incomingPaymentId } = known.value
  if (incomingPaymentId === undefined) return writeSending(context, known)
  const turn = turnAtIncoming(incomingPaymentId)
  if (context.inTurn.countOf(turn) > 0) return writeSending(context, known)
  const isCurrent = receiver !== undefined && context.inTurn.isQuietSince(turn, receiver.endedTurns)
  // The money is already held: this read only saves the delivery a read, so its failure must not prevent recording the
  // hold.
  const readIncoming = () => readRecord(context.storage, 'incoming-payment', incomingPaymentId).catch(() => undefined)
  const written = await context.inTurn(turn, async () =>
    trySendingWithRoom(context, known, isCurrent ? receiver.record : await readIncoming()),
  )
  return written ?? writeSending(context, known)
}

/** Tries once; `undefined` if there is no room, or if payment or receiver were written meanwhile. */
async function trySendingWithRoom(
  context: Context,
  known: StoredRecord<'outgoing-payment'>,
  incoming: StoredRecord<'incoming-payment'> | undefined,
): Promise<HoldResult | undefined> {
  const now = context.clock.now()
  const taken = incoming && takeRoom(incoming, known.value, await creditIdOf(context, known.value.id), now)
  if (!taken?.ok) return undefined
  const { changes, answer } = changesOfSending(context, known, now, taken)
  const conflicts = await commitKnown(context, changes)
  return conflicts.length === 0 ? answer : undefined
}

async function writeSending(context: Context, known: StoredRecord<'outgoing-payment'>): Promise<HoldResult> {
  const readPayment = knownAtFirst(context.storage, known)
  return decide<HoldResult>(context, async () => {
    const record = requireKept(await readPayment())
    if (record.value.state !== 'created') return { answer: { outcome: 'lost', record } }
    return changesOfSending(context, record, context.clock.now())
  })
}

/** What is committed for a `created` payment whose money is held. */
function changesOfSending(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  now: number,
  taken?: TakenRoom,
): Plan<HoldResult> {
  const payment: OutgoingPayment = { ...enterState(record.value, 'sending', now), attempts: 0 }
  const events =
    record.isListed === true ? [] : eventChanges(context, [outgoingPaymentEvent(context, payment, 'created')])
  const dueAt = leaseEnd(context, now)
  const write = { ...record, action: 'replace', value: payment, dueAt, isListed: true } satisfies Change
  return {
    changes: [write, ...(taken?.changes ?? []), ...events],
    answer: {
      outcome: 'held',
      record: asCommitted(write),
      written: { createdEvent: events[0], room: taken?.room },
    },
  }
}

async function refusePayment(
  context: Context,
  { id, grantId }: OutgoingPayment,
  reason: LedgerRefusal,
  by: 'request' | 'recovery',
): Promise<HoldResult> {
  const attempt = async (): Promise<Attempt<HoldResult>> => {
    const record = requireKept(await readRecord(context.storage, 'outgoing-payment', id))
    if (record.value.state === 'refused') return { answer: { outcome: 'refused', reason } }
    if (record.value.state !== 'created') return { answer: { outcome: 'lost', record } }
    const isShown = record.isListed === true || (by === 'recovery' && record.value.keyId === undefined)
    return isShown ? changesOfFailure(context, record, reason) : changesOfUndoing(context, record, reason)
  }
  // This gives budget back to the grant while other payments take from it: each waits for its turn, so they do not
  // conflict.
  return context.inTurn(turnAtGrant(grantId), () => decide(context, attempt))
}

/** What is committed to fail a payment; its receiver is kept, although its money was never held. */
async function changesOfFailure(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  reason: LedgerRefusal,
): Promise<Plan<HoldResult>> {
  const ended = enterState(record.value, 'failed', context.clock.now())
  const payment: OutgoingPayment = { ...ended, decision: { action: 'release', reason } }
  const end = { ...unmarked(record), action: 'replace', value: payment, isListed: true } satisfies Change
  const incoming = await readRecord(context.storage, 'incoming-payment', payment.incomingPaymentId)
  const created = record.isListed === true ? [] : [outgoingPaymentEvent(context, payment, 'created')]
  const events = eventChanges(context, [...created, outgoingPaymentEvent(context, payment, 'failed')])
  return {
    changes: [
      end,
      ...(await releaseSpendingChanges(context, payment)),
      ...(incoming ? keepIncoming(incoming) : []),
      ...events,
    ],
    answer: { outcome: 'failed', record: asCommitted(end) },
  }
}

/**
 * What is committed to undo a payment: its order can be given again, since its quote and its key are freed, and nothing
 * of its request is kept.
 */
async function changesOfUndoing(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  reason: LedgerRefusal,
): Promise<Plan<HoldResult>> {
  // Nobody will read it again, and the client chose how large it is. @spec D15 @spec T-37
  const { metadata: _, ...bare } = record.value
  const ended = enterState(bare, 'refused', context.clock.now())
  const payment: OutgoingPayment = { ...ended, decision: { action: 'release', reason } }
  const signed = await readRecord(context.storage, 'signed-request', signedRequestIdOf(payment))
  const changes: readonly Change[] = [
    { ...unmarked(record), action: 'replace', value: payment },
    ...(await releaseSpendingChanges(context, payment)),
    ...(signed ? [deleteChange(signed)] : []),
    ...(await reopenQuoteChanges(context, payment)),
    ...(await freeKeyChanges(context, payment)),
  ]
  return { changes, answer: { outcome: 'refused', reason } }
}

async function reopenQuoteChanges(context: Context, { id, quoteId }: OutgoingPayment): Promise<readonly Change[]> {
  const quote = await readRecord(context.storage, 'quote', quoteId)
  if (quote?.value.outgoingPaymentId !== id) return []
  const { outgoingPaymentId: _, ...rest } = quote.value
  const dueAt = rest.expiresAt + EXPIRED_KEPT_MILLISECONDS
  return [{ ...quote, action: 'replace', value: { ...rest, state: 'open' }, dueAt }]
}
