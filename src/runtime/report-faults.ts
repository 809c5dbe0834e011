import type { OpenPaymentsEvent, ServiceEvent } from '../ports/events.ts'
import type { WireAmount } from '../protocol/amount.ts'

declare const console: { error(...values: readonly unknown[]): void }

/**
 * The default of `onEvent`: prints each fault, and a line for each event that needs a person's attention, on the error
 * stream. Call it from your own `onEvent` to keep that.
 */
export function reportFaults(event: OpenPaymentsEvent): void {
  if (event.type === 'fault') {
    const { message, cause, call, callId } = event
    // Do not repeat a message that the printed error already contains.
    const text = cause instanceof Error && cause.message === message ? '' : ` ${message}`
    const line = `open-payments-server:${text}${call === undefined ? '' : ` (${call} ${callId})`}`
    console.error(line, ...(cause === undefined ? [] : [cause]))
  }
  const line = lineFor(event)
  if (line !== undefined) console.error(`open-payments-server: ${line}`)
}

/** What has happened, and what to do; `undefined` for events that need no attention. */
function lineFor(event: OpenPaymentsEvent): string | undefined {
  switch (event.type) {
    case 'payment_stalled': {
      const { outgoingPayment, state, attempts, reason } = event
      return `payment ${outgoingPayment} is stalled in "${state}", attempt ${attempts}, until recover() takes it up: ${reason}`
    }
    case 'delivery_unknown': {
      const { outgoingPayment, railAccount, inFlightSent } = event
      return `it is not known whether ${show(inFlightSent)} of payment ${outgoingPayment} have arrived: ask the peer of ${railAccount}, then call outgoingPayments.sent or .failed`
    }
    case 'credit_refused': {
      const { incomingPayment, receipt, amount, reason } = event
      return `${show(amount)} have arrived for incoming payment ${incomingPayment}, but the ledger refuses to credit them (${reason}): book receipt ${receipt} by hand`
    }
    case 'key_substituted':
      return `client ${event.client} came with a different key under "${event.keyId}": it was refused, and its wallet may be compromised`
    case 'rail_unavailable': {
      const { railAccount, reason, detail } = event
      return `nothing moves through ${railAccount}: ${[reason, detail].filter(Boolean).join(', ')}. ${MEND[reason]}`
    }
    default:
      return undefined
  }
}

const MEND: Readonly<Record<Extract<ServiceEvent, { readonly type: 'rail_unavailable' }>['reason'], string>> = {
  sending_limit: 'Pay the peer, and count that in `settled`',
  receiving_limit: 'Have the peer pay, and count that in `settled`',
  unreachable: 'Check that the peer is up and its url is right',
  unauthorized: 'Compare the tokens of both sides',
}

/** An amount in smallest units, as events contain it. */
function show({ value, assetCode, assetScale }: WireAmount): string {
  return `${value} ${assetCode} of scale ${assetScale}`
}
