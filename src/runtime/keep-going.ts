import { ConfigurationError } from '../errors/configuration-error.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from './system-clock.ts'

const RECOVER_SECONDS = 5
const SWEEP_SECONDS = 60
/** What one call looks at: as many may be waiting again. */
const MOST_AT_ONCE = 100

/**
 * Calls `recover()` now and every 5 seconds, and `sweep()` now and every minute, and at once again if there is more to do.
 * Use it in every process of a wallet: without it, payments interrupted by a crash keep their money on hold. If one
 * rejects, because the storage is unavailable, it is called again after the same pause.
 *
 * Its pauses do not keep a process alive. One that serves nothing, a worker, needs something that does:
 * `setInterval(() => {}, 2 ** 30)`.
 *
 * The function that it returns stops both, and resolves once neither runs any more: call it before `drain()`, and before
 * closing the storage.
 *
 * `clock` times the pauses; default: the system's. Throws a `ConfigurationError` if its argument has no `recover()` or no
 * `sweep()`.
 */
export function keepGoing(
  openPayments: { recover(): Promise<number>; sweep(): Promise<number> },
  clock: Clock = systemClock(),
): () => Promise<void> {
  for (const name of ['recover', 'sweep'] as const) {
    if (typeof openPayments?.[name] !== 'function')
      throw new ConfigurationError(`keepGoing takes what createOpenPayments returns: it has no ${name}()`)
  }
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

/** Only a number says that there is more: after any other result of a host's own function comes the pause. */
async function moveOn(work: () => Promise<number>): Promise<boolean> {
  try {
    return (await work()) >= MOST_AT_ONCE
  } catch {
    // It has already reported what went wrong.
    return false
  }
}
