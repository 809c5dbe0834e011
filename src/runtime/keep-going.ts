import { requireMethods } from '../errors/check-option.ts'
import { ConfigurationError } from '../errors/configuration-error.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from './system-clock.ts'

const RECOVER_SECONDS = 5
const SWEEP_SECONDS = 60
/** How many records one call handles at most; a result of this or more means that there may be more to do. */
const MOST_AT_ONCE = 100

/**
 * Calls `recover()` now and every 5 seconds, and `sweep()` now and every minute; either again at once if there is more
 * to do. Use it in every process of a wallet: without it, payments that a crash interrupted keep their money on hold.
 * If a call rejects because the storage is unavailable, the next one follows after the usual pause.
 *
 * Its pauses do not keep a process alive. A worker process that serves nothing needs something that does, such as
 * `setInterval(() => {}, 2 ** 30)`.
 *
 * The returned function stops both loops and resolves once neither runs any more: call it before `drain()`, and before
 * closing the storage.
 *
 * `clock` times the pauses; default: the system's. Throws a `ConfigurationError` if its first argument has no `recover()`
 * or no `sweep()`, or its second is no clock.
 */
export function keepGoing(
  openPayments: { recover(): Promise<number>; sweep(): Promise<number> },
  clock: Clock = systemClock(),
): () => Promise<void> {
  for (const name of ['recover', 'sweep'] as const) {
    if (typeof openPayments?.[name] !== 'function')
      throw new ConfigurationError(`keepGoing takes what createOpenPayments returns: it has no ${name}()`)
  }
  requireMethods('keepGoing.clock', clock, ['now', 'sleep'])
  const stop = new AbortController()
  const repeat = async (work: () => Promise<number>, seconds: number): Promise<void> => {
    while (!stop.signal.aborted) {
      const isMore = await moveOn(work)
      if (!isMore) await clock.sleep(seconds * 1000, stop.signal)
    }
  }
  const running = Promise.all([
    repeat(() => openPayments.recover(), RECOVER_SECONDS),
    repeat(() => openPayments.sweep(), SWEEP_SECONDS),
  ])
  return async () => {
    stop.abort()
    await running
  }
}

/**
 * Runs one call; whether there is more to do. Only a number of 100 or more says so: after any other result comes the
 * pause.
 */
async function moveOn(work: () => Promise<number>): Promise<boolean> {
  try {
    return (await work()) >= MOST_AT_ONCE
  } catch {
    // The call has already reported what went wrong.
    return false
  }
}
