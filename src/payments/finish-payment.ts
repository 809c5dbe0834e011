import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import { amountOf } from '../protocol/amount.ts'
import type { Decision, OutgoingPayment } from '../protocol/outgoing-payment.ts'
import { backOffMilliseconds } from '../records/decide.ts'
import { askLedger } from './ask-ledger.ts'
import { releaseSpending } from './confirm-hold.ts'
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
  const told = await askLedger(context, () => tellLedger(context, payment, decision))
  if (told.outcome !== 'done') return { progress: 'stalled' }
  const isSettled = decision.action === 'settle'
  const end: OutgoingPayment = isSettled
    ? { ...payment, state: 'completed', sentAmount: amountOf(payment.debitAmount, decision.amount) }
    : { ...payment, state: 'failed' }
  return writeEnd(context, record, end)
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

/** Only a failed payment touches the records of what its grant has spent; they are read again where others write them. */
async function writeEnd(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  end: OutgoingPayment,
): Promise<Step> {
  const { kind, version } = record
  const deadline = context.clock.now() + context.limits.commitSeconds * 1000
  return context.serialize(`grant:${end.grantId}`, async () => {
    for (let round = 0; context.clock.now() < deadline || round === 0; round++) {
      const released = end.state === 'failed' ? await releaseSpending(context, end) : []
      const event = outgoingPaymentEvent(context, end, end.state === 'failed' ? 'failed' : 'completed')
      const outcome = await context.storage.commit([
        { action: 'replace', kind, version, value: end, isListed: true },
        ...released,
        ...recordEvents(context, [event]),
      ])
      if (outcome === 'committed') return { progress: 'ended' }
      if (outcome.conflicts.includes(0)) return { progress: 'lost' }
      await context.clock.sleep(backOffMilliseconds(context, round))
    }
    return { progress: 'stalled' }
  })
}
