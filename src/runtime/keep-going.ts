import type { Clock } from '../ports/clock.ts'
import { systemClock } from './system-clock.ts'

const RECOVER_SECONDS = 5
const SWEEP_SECONDS = 60
/** What one call looks at: as many may be waiting again. */
const MOST_AT_ONCE = 100

/**
 * Calls `recover()` now and every 5 seconds, and `sweep()` now and every minute, at once again where there is more. In every
 * process of a wallet: without it, what a crash has interrupted waits with its money held. Where one rejects, because
 * the storage is away, it is called again after the same pause.
 *
 * The function that it returns stops both, and resolves once neither runs any more: before `drain()`, and before the host closes its storage.
 */
export function keepGoing(
  { recover, sweep }: { recover(): Promise<number>; sweep(): Promise<number> },
  clock: Clock = systemClock(),
): () => Promise<void> {
  const stop = new AbortController()
  const repeat = async (work: () => Promise<number>, seconds: number): Promise<void> => {
    while (!stop.signal.aborted) {
      const count = await work().catch(() => 0)
      if (count < MOST_AT_ONCE) await clock.sleep(seconds * 1000, stop.signal)
    }
  }
  const running = Promise.all([repeat(recover, RECOVER_SECONDS), repeat(sweep, SWEEP_SECONDS)])
  return async () => {
    stop.abort()
    await running
  }
}
