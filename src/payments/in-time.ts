import { unavailable } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import { answerBefore } from '../records/deadline.ts'

/** Calls what the wallet brings under a deadline: what does not answer in time is `late`. Rejects where the call does. */
export async function raceDeadline<T>(context: Context, call: () => Promise<T>): Promise<T | 'late'> {
  return answerBefore(context.clock, context.limits.holdSeconds * 1000, call)
}

/**
 * The same for a call that changes nothing: throws "unavailable" where it fails, which is an event with its cause, and
 * where it does not answer in time.
 */
export async function answerInTime<T>(context: Context, what: string, call: () => Promise<T>): Promise<T> {
  try {
    const answer = await raceDeadline(context, call)
    if (answer !== 'late') return answer
  } catch (cause) {
    const at = context.clock.now()
    context.emit({ type: 'fault', at, operation: undefined, message: `${what} failed`, cause })
  }
  throw unavailable(`${what} does not answer`)
}
