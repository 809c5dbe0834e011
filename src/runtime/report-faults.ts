import type { OpenPaymentsEvent } from '../ports/events.ts'

declare const console: { error(...values: readonly unknown[]): void }

/** The default sink for events: prints faults and stalled payments on the error stream, and nothing else. */
export function reportFaults(event: OpenPaymentsEvent): void {
  if (event.type === 'fault') console.error(`open-payments-server: ${event.message}`, event.cause)
  if (event.type === 'payment_stalled') {
    console.error(
      `open-payments-server: payment ${event.outgoingPayment} is stalled in "${event.step}" after ${event.attempts} attempts`,
    )
  }
}
