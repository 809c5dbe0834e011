import { idempotencyConflict, ledgerRefused, unavailable } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { LedgerRefusal } from '../ports/ledger.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import type { AccessToken } from '../protocol/access-token.ts'
import type { KeptAnswer } from '../protocol/idempotency-key.ts'
import type { Decision } from '../protocol/outgoing-payment.ts'
import { asCommitted } from '../records/as-committed.ts'
import { answerBefore } from '../records/deadline.ts'
import { decide } from '../records/decide.ts'
import { decideOnce, type Effect, planOnce } from '../records/decide-once.ts'
import { knownAtFirst, readRecord } from '../records/read-record.ts'
import { tellFault } from '../records/tell-fault.ts'
import { askHold, type HoldResult, type WrittenWithHold, writeHold } from './confirm-hold.ts'
import { withHoldDeadline } from './in-time.ts'
import { eventChanges, outgoingPaymentEvent } from './notify.ts'
import { effectOfOrder, type Intent, type PaymentOrder, type PaymentTerms } from './plan-payment.ts'
import { turnAtGrant } from './turns.ts'

/** A payment that was created. */
export interface CreatedPayment {
  readonly record: StoredRecord<'outgoing-payment'>
  readonly answer: KeptAnswer
  /** Whether it is for the caller to move it on; else another worker does, or recovery will. */
  readonly isOurs: boolean
  /** What this has just committed with the fact that its money is held. */
  readonly written?: WrittenWithHold
}

/** How long orders that share a commit wait for each other's terms: one that takes longer has a commit of its own. */
export const COMPANY_MILLISECONDS = 200

/**
 * Creates an outgoing payment.
 *
 * One commit takes the replay claim, the key, the quote and the budget and writes the payment and the request that
 * ordered it, so that none of them ever exists without the others. Orders of one grant that wait for each other share
 * that commit: each is charged to what those before it leave of the budget. Then the wallet is asked to hold the money.
 * A refusal gives key, quote and budget back and throws; anything else that goes wrong leaves the payment to recovery,
 * and counts as created. A repeat of the order under its key takes the payment up where it stands.
 *
 * `decideTogether` takes the turn and shares the commit, `planOnce` and `decideOnce` know the key, and `effectOfOrder`
 * says what is written.
 * @spec OUT-5 @spec OUT-6 @spec OUT-12 @spec D15
 */
export async function createPayment(context: Context, order: PaymentOrder): Promise<CreatedPayment> {
  const { presented, key, readTerms, answerOf } = order
  const readToken = knownAtFirst(context.storage, presented)
  const id = context.secrets.randomId()
  const effectOf = async (terms: PaymentTerms, uncommitted: readonly Change[]): Promise<Effect<Intent>> =>
    effectOfOrder(context, id, order, await readToken(), terms, uncommitted)
  const reader = createTermsReader(context, readTerms)
  const once = await context.decideTogether(
    turnAtGrant(presented.value.grantId),
    (before) =>
      planOnce(context, order, async () => {
        const terms = await reader.inCompany()
        return terms && effectOf(terms, [...(await before).values()])
      }),
    () => decideOnce(context, order, async () => effectOf(await reader.alone(), [])),
  )
  if (once.isRepeat) return resumePayment(context, presented.value, once.resourceId, once.response)
  const { record, spent, quote } = once.made
  const held = await beginPayment(context, record, quote)
  // If another worker was faster, the payment may have ended by now. A repeat under the key gets the first answer.
  return { ...held, answer: key === undefined ? answerOf(held.record.value, spent) : once.response }
}

/** The terms of one order: `undefined` in company if they take too long to share a commit. */
interface TermsReader {
  inCompany(): Promise<PaymentTerms | undefined>
  alone(): Promise<PaymentTerms>
}

function createTermsReader(context: Context, readTerms: PaymentOrder['readTerms']): TermsReader {
  // What is late for the joint commit is not asked for once more: everybody behind it in the line would wait for that too.
  let late: Promise<PaymentTerms> | undefined
  return {
    inCompany: async () => {
      const reading = readTerms()
      const terms = await answerBefore(context.clock, COMPANY_MILLISECONDS, () => reading)
      if (terms !== 'late') return terms
      late = reading
      return undefined
    },
    alone: async () => {
      const reading = late ?? readTerms()
      late = undefined
      return reading
    },
  }
}

/**
 * Answers a repeat, unless its token was given for another account than the payment was. A payment whose hold is not
 * confirmed may belong to a request that is still running or to a process that has ended: the hold is asked for again, which
 * is the same call, and both get the same answer.
 * @spec RS-13
 */
async function resumePayment(
  context: Context,
  { account }: AccessToken,
  id: string,
  answer: KeptAnswer,
): Promise<CreatedPayment> {
  const record = await readRecord(context.storage, 'outgoing-payment', id)
  if (record === undefined) throw new Error('an outgoing payment has vanished')
  const { state, decision } = record.value
  // It must not look as if the account that a wallet address has now had paid what the earlier one has.
  if (record.value.account !== account) throw idempotencyConflict()
  // Refused since the key was read, which was freed by that: this is the answer that the other request got.
  if (state === 'refused') throw ledgerRefused(refusalOf(decision))
  if (record.isListed === true) return { record, answer, isOurs: false }
  return { ...(await beginPayment(context, record)), answer }
}

function refusalOf(decision: Decision | undefined): LedgerRefusal {
  const reason = decision?.action === 'release' ? decision.reason : undefined
  return reason === 'insufficient_funds' || reason === 'account_closed' ? reason : 'not_allowed'
}

/**
 * Asks for the hold of a payment whose intent is durable. From here on only the ledger's own refusal undoes it: any
 * other failure leaves it to recovery, which will carry it out. So a client without a key must not be told to try again,
 * which would be a second payment; it is told that this one was created. A client with a key is told that the outcome is
 * unknown: its repeat finds out, and may still be refused.
 */
async function beginPayment(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  quote?: StoredRecord<'quote'>,
): Promise<Omit<CreatedPayment, 'answer'>> {
  const held = await holdMoney(context, record, quote)
  if (held.outcome === 'refused') throw ledgerRefused(held.reason)
  if (held.outcome === 'held') return { record: held.record, isOurs: true, written: held.written }
  return { record: held.record, isOurs: held.outcome === 'unknown' }
}

async function holdMoney(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  quote: StoredRecord<'quote'> | undefined,
): Promise<HoldResult> {
  const asked = await askHold(withHoldDeadline(context), record.value)
  try {
    const held = await writeHold(context, record, asked, 'undo', quote)
    return held.outcome === 'unknown' ? await showPayment(context, held) : held
  } catch (cause) {
    tellFault(context, 'a payment is left to recovery', cause)
    // After a refusal there is nothing to pay twice, and the payment may be undone after all: it must not count as created.
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
    const record = await readRecord(context.storage, 'outgoing-payment', held.record.value.id)
    if (record === undefined) throw new Error('an outgoing payment has vanished')
    const { state, decision } = record.value
    // A repeat of this request has heard the refusal and undone the payment.
    if (state === 'refused') return { answer: { outcome: 'refused', reason: refusalOf(decision) } }
    if (record.isListed === true) return { answer: { outcome: 'lost', record } }
    const events = eventChanges(context, [outgoingPaymentEvent(context, record.value, 'created')])
    const write = { ...record, action: 'replace', isListed: true } satisfies Change
    return { changes: [write, ...events], answer: { ...held, record: asCommitted(write) } }
  })
}
