import type { Context } from '../ports/context.ts'

/**
 * When the lease of a record ends that is written at `now`. A lease is the time (`limits.leaseSeconds`) for which the worker that
 * wrote a record last has it to itself; after that the record is due, and any worker may take it up.
 */
export function leaseEnd(context: Pick<Context, 'clock' | 'limits'>, now = context.clock.now()): number {
  return now + context.limits.leaseSeconds * 1000
}
