import type { Context } from '../../ports/context.ts'
import type { DeliveryProgress } from '../../ports/payment-method.ts'
import type { Change } from '../../ports/storage.ts'
import { storedAmount } from '../../protocol/amount.ts'
import type { StoredDelivery } from '../../protocol/delivery.ts'
import type { Decision, RailPayment } from '../../protocol/outgoing-payment.ts'
import { priceOfPart } from '../../protocol/price.ts'
import { reasonText } from '../../protocol/reason-text.ts'
import { type Attempt, commitKnown } from '../../records/decide.ts'
import { changesOfDecision } from '../finish-payment.ts'
import type { RailRecord } from '../payment-record.ts'
import type { Step } from '../step.ts'
import { commitDelivery } from './commit-delivery.ts'
import { isComplete, progressOf, toldDelivery, toStoredDelivery } from './delivery-progress.ts'

/** How often the host is reminded of a payment that it must decide. */
const REMINDED_MILLISECONDS = 3_600_000

/** How a delivery ended, once nothing is in flight; with the reason if it ended before everything had arrived. */
export type DeliveryEnd =
  | { readonly outcome: 'delivered'; readonly progress: DeliveryProgress }
  | {
      readonly outcome: 'ended'
      readonly progress: DeliveryProgress
      readonly reason: string
      readonly saidByHost?: StoredDelivery['saidByHost']
    }

/**
 * Decides a payment. If it was delivered, or everything has left, it is settled in full; if nothing has left, it is
 * released; if a part has left, that part is settled.
 * @spec OUT-9
 */
export async function endDelivery(context: Context, record: RailRecord, end: DeliveryEnd): Promise<Step> {
  const delivery: StoredDelivery = {
    ...toStoredDelivery(record.value.delivery, end.progress),
    ...(end.outcome === 'ended' && end.saidByHost && { saidByHost: end.saidByHost }),
    ...(end.outcome === 'ended' && !isComplete(record.value, end.progress) && { reason: reasonText(end.reason) }),
  }
  return commitStep(context, record, delivery, (next, moved) =>
    changesOfDecision(context, next, decisionOf(next.value, end), moved),
  )
}

/**
 * The price is frozen: if the exchange on the way was better than priced, the difference is the wallet's. So is a
 * remainder of a delivered payment that did not leave because nothing would have arrived for it.
 */
function decisionOf(payment: RailPayment, end: DeliveryEnd): Decision {
  const { debitAmount, fee, rail } = payment
  const { outcome, progress } = end
  if (outcome === 'delivered' || isComplete(payment, progress))
    return { action: 'settle', amount: debitAmount.value, fee: fee.value }
  if (progress.sent === 0n) return { action: 'release', reason: reasonText(end.reason) }
  const fixedFee = storedAmount(rail.fixedFee ?? '0')
  const price = { debit: debitAmount.value, fee: fee.value, fixedFee, sendAmount: storedAmount(rail.sendAmount.value) }
  const part = priceOfPart(price, progress.sent)
  return { action: 'settle', amount: part.debit, fee: part.fee }
}

/** From here on the host is asked instead of the rail, until it says what became of the money in flight. */
export async function leaveToHost(
  context: Context,
  record: RailRecord,
  progress: DeliveryProgress,
  isLeftToHost: 'pending' | 'unknown',
): Promise<Step> {
  const delivery: StoredDelivery = { ...toStoredDelivery(record.value.delivery, progress), isLeftToHost }
  const dueAt = context.clock.now() + REMINDED_MILLISECONDS
  const step = await commitStep(context, record, delivery, (next, moved) => ({
    changes: [{ ...next, action: 'replace', value: { ...next.value, attempts: 0 }, dueAt }, ...moved],
    answer: { outcome: 'waiting' },
  }))
  if (step.outcome === 'waiting') tellHost(context, record.value, progress)
  return step
}

/** Reminds the host of a payment that waits for its decision. */
export async function remindHost(context: Context, record: RailRecord): Promise<Step> {
  const dueAt = context.clock.now() + REMINDED_MILLISECONDS
  const conflicts = await commitKnown(context, [{ ...record, action: 'replace', dueAt }])
  if (conflicts.length === 0) tellHost(context, record.value, progressOf(record.value))
  return { outcome: 'waiting' }
}

function tellHost(context: Context, payment: RailPayment, progress: DeliveryProgress): void {
  const told = toldDelivery(payment, progress)
  context.emit({ type: 'delivery_unknown', at: context.clock.now(), outgoingPayment: payment.id, ...told })
}

async function commitStep(
  context: Context,
  record: RailRecord,
  delivery: StoredDelivery,
  write: (next: RailRecord, moved: readonly Change[]) => Attempt<Step>,
): Promise<Step> {
  const step = await commitDelivery(context, record, delivery, write)
  if (step === 'over_limit') throw new Error('an account of a rail is over a limit that nobody named')
  return step === 'lost' ? { outcome: 'lost' } : step
}
