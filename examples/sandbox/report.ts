import type { OnEvent, OpenPaymentsEvent, WireAmount } from 'open-payments-server'
import { formatMoney } from './money.ts'

/** What the person who started a sandbox should know, in one line; `undefined` if an event needs nobody. */
function describeTrouble(event: OpenPaymentsEvent): string | undefined {
  switch (event.type) {
    case 'payment_stalled': {
      const { outgoingPayment, state, attempts, reason } = event
      return `payment ${outgoingPayment} is stalled in "${state}", attempt ${attempts}: ${reason}`
    }
    case 'rail_unavailable':
      return `nothing moves through ${event.railAccount}: ${[event.reason, event.detail].filter(Boolean).join(', ')}`
    case 'credit_refused': {
      const { amount, incomingPayment, reason } = event
      return `${show(amount)} that came for incoming payment ${incomingPayment} cannot be credited: ${reason}`
    }
    case 'delivery_unknown': {
      const { outgoingPayment, inFlightReceived } = event
      return `nobody knows whether ${show(inFlightReceived)} of payment ${outgoingPayment} have arrived`
    }
    default:
      return undefined
  }
}

function show(amount: WireAmount): string {
  return formatMoney(BigInt(amount.value), amount)
}

/** Reports everything that somebody has to look at: a line through `warn`, and faults with their cause. */
export function reportTrouble(warn: (line: string) => void): OnEvent {
  return (event) => {
    if (event.type === 'fault') console.error(`open-payments-server: ${event.message}`, event.cause)
    const line = describeTrouble(event)
    if (line !== undefined) warn(line)
  }
}
