import type { Context } from '../ports/context.ts'
import type { Delivery, DeliveryResult, PaymentMethod } from '../ports/payment-method.ts'
import type { StoredRecord } from '../ports/storage.ts'
import { amountOf } from '../protocol/amount.ts'
import type { RailPayment } from '../protocol/outgoing-payment.ts'
import type { IlpPaymentMethod } from '../protocol/payment-method.ts'
import { askRail } from './ask-rail.ts'
import { checkProgress, handOver, isInFlight, progressOf } from './delivery-progress.ts'
import { endDelivery, leaveToHost, remindHost } from './end-delivery.ts'
import { type FollowedDelivery, followDelivery } from './follow-delivery.ts'
import { type CheckedReceiver, recheckReceiver } from './recheck-receiver.ts'
import { openDetails } from './seal-details.ts'
import type { Step } from './step.ts'

/** How long a payment is tried of which nothing is in flight. Its price is from when it was ordered. */
const TRIED_MILLISECONDS = 3_600_000

/**
 * Pays a receiver on another server: looks at it again, lets the rail send from where it left off, and decides by what has
 * left. What is in flight is never given back, and never counted as having arrived, before the rail or the host knows.
 * @spec T-45
 */
export async function deliverByRail(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  payment: RailPayment,
): Promise<Step> {
  if (payment.delivery?.isLeftToHost !== undefined) return remindHost(context, record, payment)
  const progress = progressOf(payment)
  const receiver = await recheckReceiver(context, payment, progress)
  const isTriedOut = context.clock.now() - payment.createdAt >= TRIED_MILLISECONDS
  if (receiver.state === 'silent' && !isTriedOut) return { progress: 'later', record }
  if (receiver.state !== 'open' && !isInFlight(progress))
    return endDelivery(context, record, payment, progress, receiver.reason)
  const method = context.paymentMethods.find(({ type }) => type === payment.rail.method)
  // A rail that was taken out of the configuration may come back, and then it can find out.
  if (method === undefined) return { progress: 'later', record }
  const details = await detailsFor(context, payment, receiver)
  if (details === undefined) return leaveToHost(context, record, payment, progress, 'unknown')
  const followed = followDelivery(context, record, payment, details)
  const delivery = deliveryOf(payment, details, receiver.state !== 'open')
  const result = await carry(context, followed, () => method.deliver(delivery, progress, followed.record), details)
  if (result === 'lost') return { progress: 'lost' }
  try {
    return await conclude(context, { followed, payment, receiver, isTriedOut }, result)
  } catch (cause) {
    const at = context.clock.now()
    context.emit({ type: 'fault', at, operation: undefined, message: 'a payment could not be moved on', cause })
    return { progress: 'later', record: followed.current() }
  }
}

/** Those that the first of it left with, and of now where nothing has left; none where they cannot be opened any more. */
async function detailsFor(
  context: Context,
  { delivery }: RailPayment,
  receiver: CheckedReceiver,
): Promise<IlpPaymentMethod | undefined> {
  if (delivery?.details !== undefined) return openDetails(context, delivery.details)
  return receiver.state === 'open' ? receiver.details : undefined
}

function deliveryOf({ id, rail, receiveAmount }: RailPayment, details: IlpPaymentMethod, isOver: boolean): Delivery {
  const { account, sendAmount, isFixedReceive } = rail
  const send = amountOf(sendAmount, BigInt(sendAmount.value))
  return { id, details, account, sendAmount: send, receiveAmount, isFixedReceive, isOver }
}

/** Lets the rail work; what it throws is a fault, and it is asked again later. */
async function carry(
  context: Context,
  followed: FollowedDelivery,
  deliver: () => ReturnType<PaymentMethod['deliver']>,
  details: IlpPaymentMethod,
): Promise<DeliveryResult | 'lost'> {
  try {
    const result = await followed.whileLeased(() => askRail(details, deliver))
    return result === 'lapsed' ? 'lost' : result
  } catch (cause) {
    if (followed.isLost()) return 'lost'
    const at = context.clock.now()
    context.emit({ type: 'fault', at, operation: undefined, message: 'a payment method failed', cause })
    return { outcome: 'later', reason: 'the payment method failed' }
  }
}

/** A delivery that the rail has worked on. */
interface Attempt {
  readonly followed: FollowedDelivery
  readonly payment: RailPayment
  readonly receiver: CheckedReceiver
  readonly isTriedOut: boolean
}

async function conclude(
  context: Context,
  { followed, payment, receiver, isTriedOut }: Attempt,
  result: DeliveryResult,
): Promise<Step> {
  const record = followed.current()
  const before = progressOf(record.value)
  if ('progress' in result) checkProgress(payment, before, result.progress)
  switch (result.outcome) {
    case 'delivered':
    case 'ended': {
      if (isInFlight(result.progress))
        throw new TypeError('a payment method ended a delivery of which something is in flight')
      // What the rail was stopped by is why it ended.
      const said = result.outcome === 'ended' ? result.reason : 'delivered'
      return endDelivery(context, record, payment, result.progress, receiver.state === 'open' ? said : receiver.reason)
    }
    case 'unknown':
      return isInFlight(result.progress)
        ? leaveToHost(context, record, payment, result.progress, 'unknown')
        : endDelivery(context, record, payment, result.progress, 'unknown')
    case 'pending': {
      const pending = isInFlight(before) ? before : handOver(payment, before)
      return leaveToHost(context, record, payment, pending, 'pending')
    }
    case 'later':
      return isTriedOut && !isInFlight(before)
        ? endDelivery(context, record, payment, before, result.reason)
        : { progress: 'later', record }
  }
}
