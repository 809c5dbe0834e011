import type { ServiceEvent } from '../../ports/events.ts'
import type { DeliveryProgress } from '../../ports/payment-method.ts'
import { amountOf, amountToWire, storedAmount, type WireAmount } from '../../protocol/amount.ts'
import type { StoredDelivery } from '../../protocol/delivery.ts'
import type { OutgoingPayment, RailPayment } from '../../protocol/outgoing-payment.ts'

/** Before anything has left. */
const NOTHING_SENT: DeliveryProgress = { sent: 0n, received: 0n, inFlight: { sent: 0n, received: 0n }, notes: '' }

/** How far the delivery of a payment has come. */
export function progressOf({ delivery }: OutgoingPayment): DeliveryProgress {
  if (delivery === undefined) return NOTHING_SENT
  return {
    sent: storedAmount(delivery.sent),
    received: storedAmount(delivery.received),
    inFlight: { sent: storedAmount(delivery.inFlightSent), received: storedAmount(delivery.inFlightReceived) },
    notes: delivery.notes,
  }
}

type DeliveryUnknown = Extract<ServiceEvent, { readonly type: 'delivery_unknown' }>

/** What a host is told about a delivery: how far it has come, in wire form. */
export function toldDelivery(
  { rail: { account, sendAmount }, receiveAmount }: RailPayment,
  { sent, received, inFlight }: DeliveryProgress,
): Omit<DeliveryUnknown, 'type' | 'at' | 'outgoingPayment'> {
  const leaving = (value: bigint): WireAmount => amountToWire(amountOf(sendAmount, value))
  const arriving = (value: bigint): WireAmount => amountToWire(amountOf(receiveAmount, value))
  return {
    railAccount: account,
    sent: leaving(sent),
    received: arriving(received),
    inFlightSent: leaving(inFlight.sent),
    inFlightReceived: arriving(inFlight.received),
  }
}

/** How far a delivery has come, in the stored form. What else is known of it is kept. */
export function toStoredDelivery(before: StoredDelivery | undefined, progress: DeliveryProgress): StoredDelivery {
  return {
    ...before,
    sent: progress.sent.toString(),
    received: progress.received.toString(),
    inFlightSent: progress.inFlight.sent.toString(),
    inFlightReceived: progress.inFlight.received.toString(),
    notes: progress.notes,
  }
}

/** Whether money whose fate is unknown may have left. */
export function isInFlight({ inFlight }: DeliveryProgress): boolean {
  return inFlight.sent > 0n || inFlight.received > 0n
}

/** Whether the receiver has got the whole receive amount (if that is fixed), or the whole send amount has left. */
export function isComplete({ rail, receiveAmount }: RailPayment, { sent, received }: DeliveryProgress): boolean {
  if (rail.isFixedReceive && received >= receiveAmount.value) return true
  return sent === storedAmount(rail.sendAmount.value)
}

/** Everything that remains to be sent counts as in flight: the host has taken it over. */
export function handOver({ rail, receiveAmount }: RailPayment, progress: DeliveryProgress): DeliveryProgress {
  const received = receiveAmount.value - progress.received
  const sent = storedAmount(rail.sendAmount.value) - progress.sent
  return { ...progress, inFlight: { sent, received: received > 0n ? received : 0n } }
}

/** The progress once the fate of the money in flight is known. */
export function settleFlight(progress: DeliveryProgress, hasArrived: boolean): DeliveryProgress {
  const { sent, received, inFlight, notes } = progress
  const nothing = { sent: 0n, received: 0n }
  if (!hasArrived) return { ...progress, inFlight: nothing }
  return { sent: sent + inFlight.sent, received: received + inFlight.received, inFlight: nothing, notes }
}

const LONGEST_NOTES = 16_384
// Databases refuse a NUL, and store every unpaired surrogate as the same replacement character.
const NO_TEXT = /[\0\p{Surrogate}]/u

/**
 * Throws if what a rail reports is impossible: it takes back what it reported before, or more has left than may leave.
 */
export function checkProgress({ rail }: RailPayment, before: DeliveryProgress, progress: DeliveryProgress): void {
  const { sent, received, inFlight, notes } = progress
  const amounts = [sent, received, inFlight.sent, inFlight.received]
  if (!amounts.every((amount) => typeof amount === 'bigint' && amount >= 0n))
    throw new TypeError('a payment method reported invalid progress')
  if (sent < before.sent || received < before.received)
    throw new RangeError('a payment method took back what it had reported as sent')
  if (sent + inFlight.sent > storedAmount(rail.sendAmount.value))
    throw new RangeError('a payment method sent more than it may')
  if (typeof notes !== 'string' || notes.length > LONGEST_NOTES || NO_TEXT.test(notes))
    throw new RangeError(`the notes of a payment method must be text of at most ${LONGEST_NOTES} characters`)
}
