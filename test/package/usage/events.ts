import type { MoneyEvent, OnEvent, OpenPaymentsEvent } from 'open-payments-server'

/** Every type, and what each carries; without one of them this does not compile. */
export function describeEvent(event: OpenPaymentsEvent): string {
  switch (event.type) {
    case 'incoming_payment.created':
    case 'incoming_payment.completed':
    case 'incoming_payment.expired':
      return `${event.incomingPayment} ${event.receivedAmount.value}`
    case 'outgoing_payment.created':
    case 'outgoing_payment.completed':
      return `${event.outgoingPayment} ${event.debitAmount.value} ${event.sentAmount.value}`
    case 'outgoing_payment.failed':
      return `${event.outgoingPayment} ${event.sentAmount.value} ${event.reason ?? ''}`
    case 'request':
      return `${event.operation ?? 'none'} ${event.status.toFixed()} ${event.client ?? ''} ${event.condition ?? ''}`
    case 'fault':
      return `${event.message} ${event.call ?? ''} ${event.callId ?? ''}`
    case 'legacy_signature_syntax':
      return event.syntax
    case 'key_substituted':
      return event.client
    case 'payment_stalled':
      return `${event.state} ${event.retryAt.toFixed()} ${event.reason}`
    case 'payment_resumed':
      return `${event.state} ${event.attempts.toFixed()}`
    case 'delivery_unknown':
      return `${event.railAccount} ${event.inFlightSent.value} ${event.inFlightReceived.assetCode}`
    case 'credit_refused':
      return `${event.receipt} ${event.amount.value} ${event.reason}`
    case 'rail_unavailable':
      return `${event.railAccount} ${event.reason} ${event.detail ?? ''}`
    case 'recovered':
      return `${event.payments.toFixed()} ${event.receipts.toFixed()} ${event.events.toFixed()}`
    case 'swept':
      return Object.keys(event.records).join()
    default:
      return event satisfies never
  }
}

/** What an event does not carry. */
export function refusesOtherMembers(event: OpenPaymentsEvent): readonly unknown[] {
  // @ts-expect-error which payment, if any, is told by its type
  const early: unknown = event.outgoingPayment
  if (event.type === 'incoming_payment.completed') {
    // @ts-expect-error nothing is debited there
    return [early, event.debitAmount]
  }
  if (event.type === 'fault') {
    // @ts-expect-error a cause may be anything
    return [early, event.cause.message]
  }
  // @ts-expect-error there is no such event
  return [early, event.type === 'outgoing_payment.done']
}

/** A listener may take its time. */
export const later: OnEvent = async (event) => {
  await Promise.resolve(event.at)
}

/** Only what happens to money is told again until it was heard. */
export const isAboutMoney = (event: OpenPaymentsEvent): event is MoneyEvent => 'id' in event
