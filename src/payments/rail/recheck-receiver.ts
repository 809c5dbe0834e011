import type { Context } from '../../ports/context.ts'
import type { DeliveryProgress } from '../../ports/payment-method.ts'
import { isSameAsset } from '../../protocol/amount.ts'
import type { RailPayment } from '../../protocol/outgoing-payment.ts'
import type { IlpPaymentMethod } from '../../protocol/payment-method.ts'
import { isInFlight } from './delivery-progress.ts'
import { findRemoteReceiver, type NotReachable } from './remote-receiver.ts'

/**
 * Whether a receiver may be sent money. `open`: it may. `over`: never again. `silent`: its server does not say now.
 * `unclear`: whether it takes the rest shows only once the fate of the money in flight is known, which it may already
 * have received.
 */
export type CheckedReceiver =
  | { readonly state: 'open'; readonly details: IlpPaymentMethod }
  | { readonly state: 'unclear' }
  | { readonly state: 'over'; readonly reason: string }
  | { readonly state: 'silent'; readonly reason: string; readonly detail: string | undefined }

/** Whether an answer about a receiver may change soon (`silent`) or ends the payment (`over`). */
const STATES: Readonly<Record<NotReachable | 'rate_limited', 'silent' | 'over'>> = {
  unreachable: 'silent',
  refused: 'silent',
  invalid: 'silent',
  rate_limited: 'silent',
  unknown: 'over',
  completed: 'over',
  expired: 'over',
  no_method: 'over',
}

/**
 * Checks a receiver again right before money leaves: it must still have the asset that the payment was priced for, and
 * take what it has not received yet.
 * @spec T-45
 */
export async function recheckReceiver(
  context: Context,
  payment: RailPayment,
  progress: DeliveryProgress,
): Promise<CheckedReceiver> {
  const found = await findRemoteReceiver(context, payment.receiver, { isOrdered: true })
  if (!found.ok) {
    const state = STATES[found.reason]
    // The rail may know the fate of the money in flight even if the receiver's server does not answer.
    if (state === 'silent' && isInFlight(progress)) return { state: 'unclear' }
    const reason = `receiver_${found.reason}`
    if (state === 'over') return { state, reason }
    return { state, reason, detail: 'detail' in found ? found.detail : undefined }
  }
  const { asset, remainder, details } = found.receiver
  if (!isSameAsset(asset, payment.receiveAmount)) return { state: 'over', reason: 'receiver_changed_asset' }
  if (remainder === undefined || remainder >= payment.receiveAmount.value - progress.received)
    return { state: 'open', details }
  if (isInFlight(progress)) return { state: 'unclear' }
  // More may have arrived than this server knows. A receiver that still takes anything will itself stop when it has
  // enough.
  if (progress.sent > 0n && remainder > 0n) return { state: 'open', details }
  return { state: 'over', reason: 'receiver_over_remainder' }
}
