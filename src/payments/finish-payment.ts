import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { amountOf } from '../protocol/amount.ts'
import { type Decision, enterState, type OutgoingPayment } from '../protocol/outgoing-payment.ts'
import { decide, type Decision as WriteDecision } from '../records/decide.ts'
import { askLedger } from './ask-ledger.ts'
import { releaseSpending } from './charge-grant.ts'
import { outgoingPaymentEvent, recordEvents } from './notify.ts'
import type { Step } from './step.ts'

/**
 * Tells the ledger what was decided, then writes the end of the payment down. A ledger that does not answer, or
 * refuses what cannot be refused, is asked again: the decision never changes.
 */
export async function finishPayment(context: Context, record: StoredRecord<'outgoing-payment'>): Promise<Step> {
  const payment = record.value
  const { decision } = payment
  if (decision === undefined) throw new Error('a decided payment has no decision')
  const told = await askLedger(context, `end ${payment.id}`, () => tellLedger(context, payment, decision))
  if (told.outcome === 'unknown') return { progress: 'stalled', reason: told.reason }
  if (told.outcome === 'refused')
    return { progress: 'stalled', reason: `the ledger refuses what was decided: ${told.reason}` }
  const sent = decision.action === 'settle' ? decision.amount : 0n
  // What a payment took in full it has sent, even where the last of it was lost in rounding. @spec OUT-8
  const state = sent === payment.debitAmount.value ? 'completed' : 'failed'
  const ended = enterState(payment, state, context.clock.now())
  const sentAmount = amountOf(payment.debitAmount, sent)
  return writeEnd(context, record, { ...ended, sentAmount })
}

async function tellLedger(
  context: Context,
  payment: OutgoingPayment,
  decision: Decision,
): ReturnType<Context['ledger']['release']> {
  if (decision.action === 'release') return context.ledger.release({ id: payment.id })
  return context.ledger.settle({
    id: payment.id,
    amount: amountOf(payment.debitAmount, decision.amount),
    fee: amountOf(payment.fee, decision.fee),
  })
}

/**
 * Only a failed payment touches the records of what its grant has spent, and waits its turn among those that do; they are
 * read again where others write them.
 */
async function writeEnd(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  end: OutgoingPayment,
): Promise<Step> {
  const { kind, version } = record
  const isFailed = end.state === 'failed'
  const event = outgoingPaymentEvent(context, end, isFailed ? 'failed' : 'completed')
  const attempt = async (): Promise<WriteDecision<Step>> => {
    const released = isFailed ? await releaseSpending(context, end) : []
    const write: Change = { action: 'replace', kind, version, value: end, isListed: true }
    return { changes: [write, ...released, ...recordEvents(context, [event])], answer: { progress: 'ended' } }
  }
  const lost = { payment: end.id, answer: { progress: 'lost' } } as const
  const commit = (): Promise<Step> => decide(context, attempt, [], { lost })
  return isFailed ? context.serialize(`grant:${end.grantId}`, commit) : commit()
}
