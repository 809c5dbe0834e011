import { isOpenPaymentsError } from '../errors/open-payments-error.ts'
import type { Context } from '../ports/context.ts'
import { tellFault } from '../records/tell-fault.ts'

/**
 * Work that a host's timer calls, and whose rejection it may swallow: what no event has told yet is a fault. Where the
 * storage could not be read, that has been told. Rejects where the work does.
 */
export async function tellFailure<T>(context: Context, message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!isOpenPaymentsError(cause)) tellFault(context, message, cause)
    throw cause
  }
}
