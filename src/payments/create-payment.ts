import { idempotencyConflict, ledgerRefused, unavailable } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { LedgerRefusal } from '../ports/ledger.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import type { AccessToken } from '../protocol/access-token.ts'
import type { KeptAnswer } from '../protocol/idempotency-key.ts'
import type { Decision } from '../protocol/outgoing-payment.ts'
import { asCommitted } from '../records/as-committed.ts'
import { decide } from '../records/decide.ts'
import { decideOnce, type Effect, planOnce, unlessRepeated } from '../records/decide-once.ts'
import { knownAtFirst, readRecord } from '../records/read-record.ts'
import { tellFault } from '../records/tell-fault.ts'
import { withHoldDeadline } from './answer-deadline.ts'
import { askHold, type HoldResult, type KnownIncoming, type WrittenWithHold, writeHold } from './confirm-hold.ts'
import { eventChanges, outgoingPaymentEvent } from './money-events.ts'
import { requireKept } from './payment-record.ts'
import { type Intent, type PaymentOrder, type PaymentTerms, planPayment } from './plan-payment.ts'
import { turnAtGrant } from './turn-keys.ts'

/** A payment that was created. */
export interface CreatedPayment {
  readonly record: StoredRecord<'outgoing-payment'>
  readonly answer: KeptAnswer
  /** Whether the caller must move it on; otherwise another worker does, or recovery will. */
  readonly isOurs: boolean
  /** What this call has just committed together with the fact that the money is held. */
  readonly written?: WrittenWithHold
}

/**
 * Creates an outgoing payment.
 *
 * First its terms are read. That may take asking the host or another server, so it comes before the grant's turn, for
 * which other orders wait: the turn is for the storage alone (except for a repeat whose first order is undone just then).
 * Then one commit takes the replay claim, the key, the quote and the budget and writes the payment and the request that
 * ordered it, so that none of them ever exists without the others. Orders of one grant that wait at the same time share
 * that commit: each is charged to the budget that those before it leave. Last, the ledger is asked to hold the money: see
 * `beginPayment`. A repeat of the order under its key resumes the payment where it stands.
 *
 * `decideTogether` takes the turn and shares the commit; `unlessRepeated`, `planOnce` and `decideOnce` handle the key; and
 * `planPayment` says what is written.
 * @spec OUT-5 @spec OUT-6 @spec OUT-12 @spec D15
 */
export async function createPayment(context: Context, order: PaymentOrder): Promise<CreatedPayment> {
  const { presented, key, answerOf } = order
  // Also the id of its hold, for which ledgers have 128 bits: so no time stands before it.
  const id = context.secrets.randomId()
  // Reads only after a conflict, like every `knownAtFirst`.
  const readToken = knownAtFirst(context.storage, presented)
  const { needed, isKeyFree } = await unlessRepeated(context, key, order.readAhead, order.readTerms)
  let terms = needed
  const turn = turnAtGrant(presented.value.grantId)
  // Whoever has had the turn since has charged the grant, and may have used the key: then both are read again.
  const isQuiet = context.inTurn.isQuietSince(turn, order.endedTurns)
  const readAhead = isQuiet ? order.readAhead : undefined
  const effectOf = async (uncommitted: readonly Change[]): Promise<Effect<Intent>> => {
    // A repeat has read none. If its first order has just been undone, it is now the first, and needs them.
    terms ??= await order.readTerms()
    return planPayment(context, order, { id, terms, current: await readToken(), uncommitted, readAhead })
  }
  const once = await context.decideTogether(
    turn,
    // Only for a commit shared with orders that wait; an order alone in its line goes the second way.
    (before) => planOnce(context, order, async () => effectOf(await before)),
    () => decideOnce(context, order, () => effectOf([]), isKeyFree && isQuiet),
  )
  if (once.isRepeat) return resumePayment(context, presented.value, once.resourceId, once.response)
  const { record, spent } = once.made
  const begun = await beginPayment(context, record, receiverOf(order, terms))
  // If another worker was faster, the payment may have ended by now; but with a key, the first answer must be repeated.
  return { ...begun, answer: key === undefined ? answerOf(begun.record.value, spent) : once.response }
}

/**
 * Answers a repeat, unless its token was given for a different account than the one that the payment was made from. A
 * payment whose hold is not confirmed may belong to a request that is still running or to a process that has ended: the
 * hold is requested again under the same id, so it is the same call, and both requests get the same answer.
 * @spec RS-13
 */
async function resumePayment(
  context: Context,
  { account }: AccessToken,
  id: string,
  answer: KeptAnswer,
): Promise<CreatedPayment> {
  const record = requireKept(await readRecord(context.storage, 'outgoing-payment', id))
  const { state, decision } = record.value
  // The wallet address may have a new account now: it must not look as if that account had made the earlier one's
  // payment.
  if (record.value.account !== account) throw idempotencyConflict()
  // Refused (which freed the key) after the key was read here: the other request got this same answer.
  if (state === 'refused') throw ledgerRefused(refusalOf(decision))
  if (state !== 'created' || record.isListed === true) return { record, answer, isOurs: false }
  return { ...(await beginPayment(context, record)), answer }
}

function refusalOf(decision: Decision | undefined): LedgerRefusal {
  const reason = decision?.action === 'release' ? decision.reason : undefined
  return reason === 'insufficient_funds' || reason === 'account_closed' ? reason : 'not_allowed'
}

/** The receiver on this server, as the terms found it. */
function receiverOf({ endedTurns }: PaymentOrder, terms: PaymentTerms | undefined): KnownIncoming | undefined {
  return terms?.receiver.kind === 'local' ? { record: terms.receiver.record, endedTurns } : undefined
}

/**
 * Asks for the hold of a payment whose intent is durable. The client is told:
 * - that it was refused, if the ledger refused: only that undoes the payment, and gives key, quote and budget back;
 * - that it was created, if the money is held, or if the ledger did not answer: then it is shown and moved on;
 * - if the outcome could not be recorded (recovery finds out and carries on), that it is unknown, but only if trying again
 *   is safe: under a key, or after a refusal. Otherwise that would make a second payment, so the client is told that this
 *   one was created.
 */
async function beginPayment(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  receiver?: KnownIncoming,
): Promise<Omit<CreatedPayment, 'answer'>> {
  const held = await holdMoney(context, record, receiver)
  if (held.outcome === 'refused') throw ledgerRefused(held.reason)
  if (held.outcome === 'held') return { record: held.record, isOurs: true, written: held.written }
  return { record: held.record, isOurs: held.outcome === 'unknown' }
}

async function holdMoney(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  receiver: KnownIncoming | undefined,
): Promise<HoldResult> {
  const asked = await askHold(withHoldDeadline(context), record.value)
  try {
    const held = await writeHold(context, record, asked, { by: 'request', receiver })
    return held.outcome === 'unknown' ? await showPayment(context, held) : held
  } catch (cause) {
    tellFault(context, 'a payment is left to recovery', cause)
    // After a refusal a retry cannot pay twice, and the payment may yet be undone: it must not count as created.
    const isRepeatable = record.value.keyId !== undefined || asked.outcome === 'refused'
    if (isRepeatable) throw unavailable('the outcome of an order is not known')
    return { outcome: 'lost', record }
  }
}

/**
 * Makes a payment visible whose hold is not confirmed yet: its client is about to learn its id, so from here on a
 * refusal fails the payment instead of undoing it.
 */
async function showPayment(
  context: Context,
  held: Extract<HoldResult, { readonly outcome: 'unknown' }>,
): Promise<HoldResult> {
  return decide<HoldResult>(context, async () => {
    const record = requireKept(await readRecord(context.storage, 'outgoing-payment', held.record.value.id))
    const { state, decision } = record.value
    // A repeat of this request was told of the refusal and has undone the payment.
    if (state === 'refused') return { answer: { outcome: 'refused', reason: refusalOf(decision) } }
    if (record.isListed === true) return { answer: { outcome: 'lost', record } }
    const events = eventChanges(context, [outgoingPaymentEvent(context, record.value, 'created')])
    const write = { ...record, action: 'replace', isListed: true } satisfies Change
    return { changes: [write, ...events], answer: { ...held, record: asCommitted(write) } }
  })
}
