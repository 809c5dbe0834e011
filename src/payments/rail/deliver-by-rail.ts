import type { Context } from '../../ports/context.ts'
import type { Delivery, DeliveryProgress, DeliveryResult, PaymentMethod } from '../../ports/payment-method.ts'
import { amountOf, storedAmount } from '../../protocol/amount.ts'
import type { RailPayment } from '../../protocol/outgoing-payment.ts'
import type { IlpPaymentMethod } from '../../protocol/payment-method.ts'
import { tellFault } from '../../records/tell-fault.ts'
import type { RailRecord } from '../payment-record.ts'
import type { Step } from '../step.ts'
import { askRail, hideSecret } from './ask-rail.ts'
import { checkProgress, handOver, isInFlight, progressOf } from './delivery-progress.ts'
import { endDelivery, leaveToHost, remindHost } from './end-delivery.ts'
import { type FollowedDelivery, followDelivery, outlastStorage } from './follow-delivery.ts'
import { type CheckedReceiver, recheckReceiver } from './recheck-receiver.ts'
import { openDetails } from './seal-details.ts'

/** For how long after the order new money may leave: its price is as old as the order. */
const TRIED_MILLISECONDS = 3_600_000

/**
 * For how long after the order a rail is asked what became of money in flight; after that the host is asked. Nothing
 * leaves after the first hour, and the rail then has a day to find out. Counted from the order, because a rail that
 * keeps recording progress without finding out would restart any other count.
 */
const ASKED_MILLISECONDS = 25 * 3_600_000

/**
 * Pays a receiver on another server: checks it again, lets the rail send from where it left off, and decides the
 * payment by what has left. Money in flight is neither given back nor counted as arrived before the rail or the host
 * knows its fate.
 * @spec T-45
 */
export async function deliverByRail(context: Context, record: RailRecord): Promise<Step> {
  const payment = record.value
  if (payment.delivery?.isLeftToHost !== undefined) return remindHost(context, record)
  const method = context.paymentMethods.find(({ type }) => type === payment.rail.method)
  // A payment method that was removed from the configuration may come back. Without any, no receiver can be asked.
  if (method === undefined) return tryLater(context, record, 'no_payment_method')
  const progress = progressOf(payment)
  const receiver = await recheckReceiver(context, payment, progress)
  if (receiver.state === 'silent' && !isTriedOut(context, payment))
    return { outcome: 'later', record, reason: [receiver.reason, receiver.detail].filter(Boolean).join(': ') }
  const stop = whyStopped(context, payment, receiver)
  if (stop !== undefined && !isInFlight(progress))
    return endDelivery(context, record, { outcome: 'ended', progress, reason: stop })
  let details: IlpPaymentMethod | undefined
  try {
    details = await detailsFor(context, payment, receiver)
  } catch (cause) {
    // The secret that is missing here may be configured again, or another process may have it.
    const message = cause instanceof Error ? cause.message : 'a payment could not be moved on'
    tellFault(context, message, cause)
    return tryLater(context, record, message)
  }
  if (details === undefined) return giveUp(context, record, progress, 'details_unreadable')
  return sendOn(context, record, { method, details, receiver, stop })
}

/** What a rail is asked to carry on with; `stop` is why no new money is to leave. */
interface Sending {
  readonly method: PaymentMethod
  readonly details: IlpPaymentMethod
  readonly receiver: CheckedReceiver
  readonly stop: string | undefined
}

/** Lets the rail send from where it left off, and draws the consequence of its answer. */
async function sendOn(context: Context, record: RailRecord, sending: Sending): Promise<Step> {
  const { method, details, receiver, stop } = sending
  const followed = followDelivery(context, record, details)
  const delivery = deliveryOf(record.value, details, stop !== undefined || receiver.state === 'unclear')
  // Copies: what the rail writes into them must not become the payment's own amounts, or how far it has come.
  const progress = structuredClone(progressOf(record.value))
  const deliver = () => method.deliver(structuredClone(delivery), progress, followed.record)
  const result = await carry(context, followed, details, deliver)
  if (result === 'lost') return { outcome: 'lost' }
  try {
    // Retried for the whole lease: the rail may not be able to find this out a second time.
    return await outlastStorage(context, followed.current().dueAt, () => conclude(context, followed, result, sending))
  } catch (cause) {
    if (followed.isLost()) return { outcome: 'lost' }
    tellFault(context, 'a payment could not be moved on', cause)
    return tryLater(context, followed.current(), 'rail_failed')
  }
}

function sendUntil({ createdAt }: RailPayment): number {
  return createdAt + TRIED_MILLISECONDS
}

function isTriedOut(context: Context, payment: RailPayment): boolean {
  return context.clock.now() >= sendUntil(payment)
}

/** Why no new money may leave; `undefined` if it may, now or once the fate of the money in flight is known. */
function whyStopped(context: Context, payment: RailPayment, receiver: CheckedReceiver): string | undefined {
  if (receiver.state === 'over' || receiver.state === 'silent') return receiver.reason
  return isTriedOut(context, payment) ? 'out_of_time' : undefined
}

/** Leaves a payment for later as long as that may help; after that the payment ends, or the host is asked. */
async function tryLater(context: Context, record: RailRecord, reason: string): Promise<Step> {
  const progress = progressOf(record.value)
  const triedFor = isInFlight(progress) ? ASKED_MILLISECONDS : TRIED_MILLISECONDS
  const isOver = context.clock.now() >= record.value.createdAt + triedFor
  return isOver ? giveUp(context, record, progress, reason) : { outcome: 'later', record, reason }
}

/** Ends a payment or, if the fate of money in flight is unknown, asks the host. */
async function giveUp(context: Context, record: RailRecord, progress: DeliveryProgress, reason: string): Promise<Step> {
  return isInFlight(progress)
    ? leaveToHost(context, record, progress, 'unknown')
    : endDelivery(context, record, { outcome: 'ended', progress, reason })
}

/**
 * The details with which the first money left, or the current ones if nothing has left; `undefined` if there are none
 * or they are damaged. Rejects if the secret that sealed them is not configured.
 */
async function detailsFor(
  context: Context,
  { delivery }: RailPayment,
  receiver: CheckedReceiver,
): Promise<IlpPaymentMethod | undefined> {
  if (delivery?.details !== undefined) return openDetails(context, delivery.details)
  return receiver.state === 'open' ? receiver.details : undefined
}

function deliveryOf(payment: RailPayment, details: IlpPaymentMethod, isOver: boolean): Delivery {
  const { id, rail, receiveAmount } = payment
  return {
    id,
    details,
    account: rail.account,
    sendAmount: amountOf(rail.sendAmount, storedAmount(rail.sendAmount.value)),
    receiveAmount,
    rate: { sent: storedAmount(rail.rate.sent), received: storedAmount(rail.rate.received) },
    isFixedReceive: rail.isFixedReceive,
    isOver,
    sendUntil: sendUntil(payment),
  }
}

/** Lets the rail work. If it throws, that is a fault; after that, or if it does not answer, it is asked again later. */
async function carry(
  context: Context,
  followed: FollowedDelivery,
  details: IlpPaymentMethod,
  deliver: () => ReturnType<PaymentMethod['deliver']>,
): Promise<DeliveryResult | 'lost'> {
  try {
    const result = await followed.whileLeased(() => askRail(details, deliver))
    if (result === 'lapsed') return { outcome: 'later', reason: 'the payment method did not answer' }
    return 'reason' in result ? { ...result, reason: hideSecret(result.reason, details) } : result
  } catch (cause) {
    if (followed.isLost()) return 'lost'
    tellFault(context, 'a payment method failed', cause)
    return { outcome: 'later', reason: 'the payment method failed' }
  }
}

/** Draws the consequence of what the rail answered. */
async function conclude(
  context: Context,
  followed: FollowedDelivery,
  result: DeliveryResult,
  { receiver, stop }: Sending,
): Promise<Step> {
  const record = followed.current()
  const before = progressOf(record.value)
  if ('progress' in result) checkProgress(record.value, before, result.progress)
  switch (result.outcome) {
    case 'delivered':
      checkEnd(result.progress)
      if (result.progress.sent === 0n)
        throw new TypeError('a payment method reported a payment as delivered of which nothing had left')
      return endDelivery(context, record, result)
    case 'ended':
      checkEnd(result.progress)
      if (receiver.state === 'unclear' && stop === undefined) {
        // Now that the fate of what was in flight is known, the receiver is checked again.
        await followed.record(result.progress)
        return { outcome: 'moved', record: followed.current() }
      }
      // If this server stopped the rail, that is the reason why it ended.
      return endDelivery(context, record, { ...result, reason: stop ?? result.reason })
    case 'unknown':
      return giveUp(context, record, result.progress, 'unknown')
    case 'pending': {
      const pending = isInFlight(before) ? before : handOver(record.value, before)
      return leaveToHost(context, record, pending, 'pending')
    }
    case 'later':
      return tryLater(context, record, result.reason)
    default:
      throw new TypeError('a payment method answered with an outcome that does not exist')
  }
}

function checkEnd(progress: DeliveryProgress): void {
  if (isInFlight(progress)) throw new TypeError('a payment method ended a delivery with something still in flight')
}
