import type { Context } from '../ports/context.ts'
import type { DeliveryProgress } from '../ports/payment-method.ts'
import { isSameAsset } from '../protocol/amount.ts'
import type { RailPayment } from '../protocol/outgoing-payment.ts'
import type { IlpPaymentMethod } from '../protocol/payment-method.ts'
import { findRemoteReceiver } from './remote-receiver.ts'

/** Whether a receiver may be sent money: it is `open`, it is `over` for good, or its server does not say so now. */
export type CheckedReceiver =
  | { readonly state: 'open'; readonly details: IlpPaymentMethod }
  | { readonly state: 'over' | 'silent'; readonly reason: string }

/**
 * Looks at a receiver again right before money leaves: it must still be what the payment was priced for, and take what it
 * has not had yet. @spec T-45
 */
export async function recheckReceiver(
  context: Context,
  payment: RailPayment,
  progress: DeliveryProgress,
): Promise<CheckedReceiver> {
  const found = await findRemoteReceiver(context, payment.receiver)
  if (!found.ok) {
    const isSilent = found.reason === 'unreachable' || found.reason === 'refused' || found.reason === 'invalid'
    return { state: isSilent ? 'silent' : 'over', reason: `receiver_${found.reason}` }
  }
  const { asset, remainder, details } = found.receiver
  if (!isSameAsset(asset, payment.receiveAmount)) return { state: 'over', reason: 'receiver_changed_asset' }
  const missing = payment.receiveAmount.value - progress.received - progress.inFlight.received
  if (remainder !== undefined && missing > remainder) return { state: 'over', reason: 'receiver_over_remainder' }
  return { state: 'open', details }
}
