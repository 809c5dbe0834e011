import type { Context } from '../ports/context.ts'
import type { ServiceEvent } from '../ports/events.ts'

/** Which call of the ledger a fault is of. */
export type LedgerCall = Required<Pick<Extract<ServiceEvent, { readonly type: 'fault' }>, 'call' | 'callId'>>

/** Tells the host, now, what went wrong outside of any one operation. `told` is what the event says in addition. */
export function tellFault(
  { clock, emit }: Pick<Context, 'clock' | 'emit'>,
  message: string,
  cause: unknown,
  told?: LedgerCall,
): void {
  emit({ type: 'fault', at: clock.now(), operation: undefined, message, cause, ...told })
}
