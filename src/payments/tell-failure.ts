import { isOpenPaymentsError } from '../errors/open-payments-error.ts'
import type { Context } from '../ports/context.ts'
import { tellFault } from '../records/tell-fault.ts'

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
