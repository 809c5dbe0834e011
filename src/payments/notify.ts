import type { Context } from '../ports/context.ts'
import type { MoneyEvent } from '../ports/events.ts'
import type { Change } from '../ports/storage.ts'
import { amountToWire } from '../protocol/amount.ts'
import type { IncomingPayment } from '../protocol/incoming-payment.ts'
import type { OutgoingPayment } from '../protocol/outgoing-payment.ts'
import { readRecord } from '../records/read-record.ts'

/** The event of an incoming payment's new state. `created` is its first, the end of it its second and last. */
export function incomingPaymentEvent(
  context: Context,
  payment: IncomingPayment,
  what: 'created' | 'completed' | 'expired',
): MoneyEvent {
  return {
    type: `incoming_payment.${what}`,
    id: `${payment.id}:${what === 'created' ? 1 : 2}`,
    at: context.clock.now(),
    incomingPayment: payment.id,
    walletAddress: payment.walletAddress,
    receivedAmount: amountToWire(payment.received),
  }
}

/** The event of an outgoing payment's new state. */
export function outgoingPaymentEvent(
  context: Context,
  payment: OutgoingPayment,
  what: 'created' | 'completed' | 'failed',
): MoneyEvent {
  return {
    type: `outgoing_payment.${what}`,
    id: `${payment.id}:${what === 'created' ? 1 : 2}`,
    at: context.clock.now(),
    outgoingPayment: payment.id,
    walletAddress: payment.walletAddress,
    debitAmount: amountToWire(payment.debitAmount),
    sentAmount: amountToWire(payment.sentAmount),
  }
}

/**
 * The changes that write events down in the commit of what they tell, so that no crash loses one. Nothing where nobody
 * listens. `recover()` tells again what was not acknowledged within a lease.
 */
export function recordEvents(context: Context, events: readonly MoneyEvent[]): readonly Change[] {
  if (context.deliverEvent === undefined) return []
  const dueAt = context.clock.now() + context.limits.leaseSeconds * 1000
  return events.map((event) => ({ action: 'insert', kind: 'event', value: { id: event.id, event }, dueAt }))
}

/** Delivers the events of one payment, oldest first, and forgets each once the host has acknowledged it. Never rejects. */
export async function deliverEvents(context: Context, paymentId: string): Promise<void> {
  const { deliverEvent } = context
  if (deliverEvent === undefined) return
  await context.serialize(`events:${paymentId}`, async () => {
    for (const sequence of [1, 2]) {
      const isDelivered = await deliverOne(context, `${paymentId}:${sequence}`, deliverEvent)
      if (!isDelivered) return
    }
  })
}

async function deliverOne(
  context: Context,
  id: string,
  deliver: (event: MoneyEvent) => Promise<void>,
): Promise<boolean> {
  try {
    const record = await readRecord(context.storage, 'event', id)
    if (record === undefined) return true
    await deliver(record.value.event)
    await context.storage.commit([{ action: 'delete', kind: 'event', id, version: record.version }])
    return true
  } catch (cause) {
    context.emit({
      type: 'fault',
      at: context.clock.now(),
      operation: undefined,
      message: 'a money event was not delivered',
      cause,
    })
    return false
  }
}
