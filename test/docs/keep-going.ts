import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenPayments } from 'open-payments-server'

/** Recovers and sweeps until it is stopped. The stop resolves once neither runs any more. */
export function keepGoing({ recover, sweep }: Pick<OpenPayments, 'recover' | 'sweep'>): () => Promise<unknown> {
  const stop = new AbortController()
  const repeat = async (work: () => Promise<number>, seconds: number): Promise<void> => {
    while (!stop.signal.aborted) {
      const count = await work().catch(() => 0) // the storage is away: told as an event, tried again
      if (count < 100) await sleep(seconds * 1000, undefined, stop).catch(() => undefined)
    }
  }
  const running = Promise.all([repeat(recover, 5), repeat(sweep, 60)])
  return () => {
    stop.abort()
    return running
  }
}
