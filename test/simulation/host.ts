import { isDeepStrictEqual } from 'node:util'
import type { MoneyEvent, ServiceEvent } from 'open-payments-server'

/** The wallet's own sink of events: it remembers what it heard, and notices what it must never hear. */
export interface Host {
  hear(event: MoneyEvent): void
  note(process: number, event: ServiceEvent): void
  /** What it heard about a payment or a receipt, by its sequence number. */
  heardOf(id: string): readonly MoneyEvent[]
}

/** What goes wrong in a run because the run made it go wrong. */
function isSimulated(cause: unknown): boolean {
  if (cause === undefined) return true
  if (!(cause instanceof Error)) return false
  const isOurs = cause.message.startsWith('simulated:') || cause.message.startsWith('onEvent did not resolve')
  // The library's own refusals, such as "unavailable", carry the condition that they stand for.
  return isOurs || 'condition' in cause || (cause.cause !== undefined && isSimulated(cause.cause))
}

export function simulatedHost({
  violate,
  met,
}: {
  readonly violate: (text: string) => void
  readonly met: (what: string) => void
}): Host {
  const heard = new Map<string, Map<number, MoneyEvent>>()
  return {
    hear(event) {
      const [subject = '', number] = event.id.split(':')
      const sequence = Number(number)
      const events = heard.get(subject) ?? new Map<number, MoneyEvent>()
      heard.set(subject, events)
      const known = events.get(sequence)
      if (known !== undefined) {
        met('an event is told again')
        if (!isDeepStrictEqual(known, event)) violate(`events: ${event.id} is not what it was`)
        return
      }
      met(`event ${event.type}`)
      if (sequence > 1 && !events.has(sequence - 1)) violate(`events: ${event.id} was told before the one before it`)
      events.set(sequence, event)
    },
    note(process, event) {
      switch (event.type) {
        case 'request':
          return met(`${event.operation} ${event.condition ?? event.status}`)
        case 'fault':
          met(`fault: ${event.message}`)
          if (!isSimulated(event.cause)) violate(`p${process} says: ${event.message}: ${String(event.cause)}`)
          return undefined
        default:
          return met(event.type)
      }
    },
    heardOf: (id) => [...(heard.get(id) ?? new Map<number, MoneyEvent>()).values()],
  }
}
