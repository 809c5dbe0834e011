import type { Context } from '../../ports/context.ts'
import type { DeliveryProgress } from '../../ports/payment-method.ts'
import type { Change, StoredRecord } from '../../ports/storage.ts'
import type { StoredDelivery } from '../../protocol/delivery.ts'
import type { Decision, RailPayment } from '../../protocol/outgoing-payment.ts'
import { priceOfPart } from '../../protocol/price.ts'
import { type Attempt, decide } from '../../records/decide.ts'
import { changesOfDecision } from '../finish-payment.ts'
import { reasonText, type Step } from '../step.ts'
import { turnAtRailAccount } from '../turns.ts'
import { isComplete, progressOf, toldDelivery, toStoredDelivery } from './delivery-progress.ts'
import { accountChanges } from './follow-delivery.ts'

/** How often the host is reminded of what it is to decide. */
const REMINDED_MILLISECONDS = 3_600_000

/** A payment over a rail, as it was read and written last. */
type PaymentRecord = StoredRecord<'outgoing-payment'>

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
export async function endDelivery(
  context: Context,
  record: PaymentRecord,
  payment: RailPayment,
  end: DeliveryEnd,
): Promise<Step> {
  const delivery: StoredDelivery = {
    ...toStoredDelivery(record.value.delivery, end.progress),
    ...(end.outcome === 'ended' && end.saidByHost && { saidByHost: end.saidByHost }),
    ...(end.outcome === 'ended' && !isComplete(payment, end.progress) && { reason: reasonText(end.reason) }),
  }
  const ended = { ...record, value: { ...record.value, delivery } }
  return commitWithAccount(context, record, payment, end.progress, (changes) =>
    changesOfDecision(context, ended, decisionOf(payment, end), changes),
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
  const fixedFee = BigInt(rail.fixedFee ?? '0')
  const price = { debit: debitAmount.value, fee: fee.value, fixedFee, sendAmount: BigInt(rail.sendAmount.value) }
  const part = priceOfPart(price, progress.sent)
  return { action: 'settle', amount: part.debit, fee: part.fee }
}

/** From here on the host is asked instead of the rail, until it says what became of what is in flight. */
export async function leaveToHost(
  context: Context,
  record: PaymentRecord,
  payment: RailPayment,
  progress: DeliveryProgress,
  isLeftToHost: 'pending' | 'unknown',
): Promise<Step> {
  const delivery: StoredDelivery = { ...toStoredDelivery(record.value.delivery, progress), isLeftToHost }
  const dueAt = context.clock.now() + REMINDED_MILLISECONDS
  const value = { ...record.value, delivery, attempts: 0 }
  const step = await commitWithAccount(context, record, payment, progress, (changes) => ({
    changes: [{ ...record, action: 'replace', value, dueAt }, ...changes],
    answer: { outcome: 'waiting' },
  }))
  if (step.outcome === 'waiting') tellHost(context, payment, progress)
  return step
}

/** Reminds the host of a payment that waits for its decision. */
export async function remindHost(context: Context, record: PaymentRecord, payment: RailPayment): Promise<Step> {
  const dueAt = context.clock.now() + REMINDED_MILLISECONDS
  const outcome = await context.storage.commit([{ ...record, action: 'replace', dueAt }])
  if (outcome === 'committed') tellHost(context, payment, progressOf(payment))
  return { outcome: 'waiting' }
}

function tellHost(context: Context, payment: RailPayment, progress: DeliveryProgress): void {
  const told = toldDelivery(payment, progress)
  context.emit({ type: 'delivery_unknown', at: context.clock.now(), outgoingPayment: payment.id, ...told })
}

/** Commits a payment together with what its account of the rail has moved by then. */
async function commitWithAccount(
  context: Context,
  record: PaymentRecord,
  payment: RailPayment,
  after: DeliveryProgress,
  write: (changes: readonly Change[]) => Attempt<Step>,
): Promise<Step> {
  const lost = { payment: payment.id, answer: { outcome: 'lost' } } as const
  const attempt = async (): Promise<Attempt<Step>> => {
    const moved = await accountChanges(context, record, payment, after)
    if (moved === 'lost') return { answer: lost.answer }
    if (moved === 'over_limit') throw new Error('an account of a rail is over a limit that nobody named')
    return write(moved)
  }
  return context.serialize(turnAtRailAccount(payment.rail), () => decide(context, attempt, { lost }))
}
