import type { Context } from '../../ports/context.ts'
import type { DeliveryProgress } from '../../ports/payment-method.ts'
import type { Change } from '../../ports/storage.ts'
import { storedAmount } from '../../protocol/amount.ts'
import type { StoredDelivery } from '../../protocol/delivery.ts'
import type { Decision, RailPayment } from '../../protocol/outgoing-payment.ts'
import { priceOfPart } from '../../protocol/price.ts'
import { type Attempt, commitKnown } from '../../records/decide.ts'
import { changesOfDecision } from '../finish-payment.ts'
import { reasonText, type Step } from '../step.ts'
import { commitDelivery } from './commit-delivery.ts'
import { isComplete, progressOf, toldDelivery, toStoredDelivery } from './delivery-progress.ts'
import type { RailRecord } from './rail-record.ts'

/** How often the host is reminded of what it is to decide. */
const REMINDED_MILLISECONDS = 3_600_000

/** How a delivery ended once nothing is in flight, and why, if that was before all had arrived. */
export type DeliveryEnd =
  | { readonly outcome: 'delivered'; readonly progress: DeliveryProgress }
  | {
      readonly outcome: 'ended'
      readonly progress: DeliveryProgress
      readonly reason: string
      readonly saidByHost?: StoredDelivery['saidByHost']
    }

/**
 * Decides a payment. A delivered one settles in full; otherwise what has left decides: if all has left it settles in full, if
 * nothing has it is released, and if a part has, that part is settled.
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
 * The price is frozen: what an exchange on the way left over is the wallet's, and so is what stayed of a delivery because
 * nothing would have arrived for it.
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

/** From here on the host is asked instead of the rail, until it says what became of what is in flight. */
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
