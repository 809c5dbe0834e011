import { unavailable } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'

/** Calls what the wallet brings under a deadline: what does not answer in time is `late`. Rejects where the call does. */
export async function raceDeadline<T>(context: Context, call: () => Promise<T>): Promise<T | 'late'> {
  const timer = new AbortController()
  const late = context.clock.sleep(context.limits.holdSeconds * 1000, timer.signal).then(() => 'late' as const)
  try {
    return await Promise.race([call(), late])
  } finally {
    timer.abort()
  }
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
