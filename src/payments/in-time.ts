import { unavailable } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'

/**
 * The context for a request that asks another server: it waits for each as long as ever, and half as long again for all
 * together, one after the other. By default that is 4.5 seconds, and clients in use give up after 5.
 */
export function withPatience(context: Context): Context {
  return { ...context, patience: { milliseconds: context.limits.holdSeconds * 1500 } }
}

/**
 * Calls what the wallet brings, or another server, under a deadline: what does not answer in time is `late`. Rejects where
 * the call does.
 */
export async function raceDeadline<T>(context: Context, call: () => Promise<T>): Promise<T | 'late'> {
  const { clock, limits, patience } = context
  const timer = new AbortController()
  const begunAt = clock.now()
  const milliseconds = Math.min(limits.holdSeconds * 1000, patience?.milliseconds ?? Number.POSITIVE_INFINITY)
  const late = clock.sleep(milliseconds, timer.signal).then(() => 'late' as const)
  try {
    return await Promise.race([call(), late])
  } finally {
    timer.abort()
    // A clock that leaps meanwhile has not waited longer than the deadline.
    const waited = Math.min(Math.max(clock.now() - begunAt, 0), milliseconds)
    if (patience !== undefined) patience.milliseconds -= waited
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
