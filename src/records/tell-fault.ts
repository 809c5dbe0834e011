import { isOpenPaymentsError } from '../errors/open-payments-error.ts'
import type { Context } from '../ports/context.ts'
import type { ServiceEvent } from '../ports/events.ts'

/** The ledger call that a fault is about. */
export type LedgerCall = Required<Pick<Extract<ServiceEvent, { readonly type: 'fault' }>, 'call' | 'callId'>>

/**
 * Reports a fault that belongs to no single operation to the host, at once; `about` is the ledger call that failed, if one did.
 */
export function tellFault(
  { clock, emit }: Pick<Context, 'clock' | 'emit'>,
  message: string,
  cause: unknown,
  about?: LedgerCall,
): void {
  emit({ type: 'fault', at: clock.now(), operation: undefined, message, cause, ...about })
}

/**
 * Runs work that a host's timer calls and whose rejection the host may swallow: a failure that no event has reported
 * yet becomes a `fault`. Storage failures (`OpenPaymentsError`) were already reported. Rejects if the work does.
 */
export async function tellFailure<T>(context: Context, message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!isOpenPaymentsError(cause)) tellFault(context, message, cause)
    throw cause
  }
}
