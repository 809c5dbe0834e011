import type { Context, Plan } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { amountOf } from '../protocol/amount.ts'
import { type Decision, enterState, type OutgoingPayment, takenBy } from '../protocol/outgoing-payment.ts'
import { asCommitted } from '../records/as-committed.ts'
import { unmarked } from '../records/change.ts'
import { type Attempt, decide } from '../records/decide.ts'
import { askLedger, type LedgerOutcome } from './ask-ledger.ts'
import { leaseEnd } from './lease.ts'
import { eventChanges, outgoingPaymentEvent } from './money-events.ts'
import { releaseSpendingChanges } from './release-spending.ts'
import type { Ended, Moved, Step } from './step.ts'
import { turnAtGrant } from './turn-keys.ts'

/**
 * Tells the ledger what was decided, then records the end of the payment. A ledger that does not answer, or refuses
 * what cannot be refused, is asked again: the decision never changes.
 */
export async function finishPayment(context: Context, record: StoredRecord<'outgoing-payment'>): Promise<Step> {
  const { decision } = record.value
  if (decision === undefined) throw new Error('a decided payment has no decision')
  const answered = await askEnd(context, record.value, decision)
  if (answered.outcome === 'unknown') return { outcome: 'stalled', reason: answered.reason }
  if (answered.outcome === 'refused')
    return { outcome: 'stalled', reason: `the ledger refuses what was decided: ${answered.reason}` }
  return commitEnd(context, record, endOf(context, record.value, decision))
}

/** Tells the ledger how a payment ends; asking again is the same call. Never rejects. */
export async function askEnd(context: Context, payment: OutgoingPayment, decision: Decision): Promise<LedgerOutcome> {
  const { id, debitAmount, fee } = payment
  return askLedger(context, decision.action, id, () =>
    decision.action === 'release'
      ? context.ledger.release({ id })
      : context.ledger.settle({ id, amount: amountOf(debitAmount, decision.amount), fee: amountOf(fee, decision.fee) }),
  )
}

/**
 * Only a failed payment changes the spending records of its grant, so only that one waits for its turn at the grant.
 * The records are read again after a conflict.
 */
async function commitEnd(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  end: OutgoingPayment,
): Promise<Step> {
  const isFailed = end.state === 'failed'
  const attempt = async (): Promise<Attempt<Step>> =>
    changesOfEnd(context, record, end, isFailed ? await releaseSpendingChanges(context, end) : [])
  const commit = (): Promise<Step> => decide(context, attempt, { lost: { outcome: 'lost' } })
  return isFailed ? context.inTurn(turnAtGrant(end.grantId), commit) : commit()
}

/** A payment as it ends once the ledger has carried out its decision. */
function endOf(context: Context, payment: OutgoingPayment, decision: Decision): OutgoingPayment {
  const taken = takenBy(decision)
  const { debitAmount, delivery } = payment
  const isComplete = decision.action === 'settle' && delivery?.reason === undefined
  // The debit for a partial delivery is rounded up, possibly to the whole; yet the whole was not sent. @spec OUT-8
  const sent = !isComplete && taken === debitAmount.value ? taken - 1n : taken
  const ended = enterState(payment, isComplete ? 'completed' : 'failed', context.clock.now())
  return { ...ended, decision, sentAmount: amountOf(debitAmount, sent) }
}

function changesOfEnd(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  end: OutgoingPayment,
  others: readonly Change[],
): Plan<Ended> {
  const event = outgoingPaymentEvent(context, end, end.state === 'failed' ? 'failed' : 'completed')
  const write: Change = { ...unmarked(record), action: 'replace', value: end, isListed: true }
  return { changes: [write, ...others, ...eventChanges(context, [event])], answer: { outcome: 'ended' } }
}

/** What is committed to decide a payment; `others` are the other changes of the same commit. */
export function changesOfDecision(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  decision: Decision,
  others: readonly Change[],
): Plan<Moved> {
  const now = context.clock.now()
  const value: OutgoingPayment = { ...enterState(record.value, 'decided', now), decision, attempts: 0 }
  const dueAt = leaseEnd(context, now)
  const write = { ...record, action: 'replace', value, dueAt } satisfies Change
  return { changes: [write, ...others], answer: { outcome: 'moved', record: asCommitted(write) } }
}

/** What is committed to decide and end a payment that the ledger has already settled in full; `others` as above. */
export function changesOfDecisionAndEnd(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  decision: Decision,
  others: readonly Change[],
): Plan<Ended> {
  const payment = enterState(record.value, 'decided', context.clock.now())
  return changesOfEnd(context, record, endOf(context, payment, decision), others)
}
