import type { Clock } from '../ports/clock.ts'

/**
 * The system's time. A sleep does not keep the process alive by itself where the host can say so (Node, Bun): a
 * deadline that nobody waits for must not hold up a shutdown.
 */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const finish = (): void => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', finish)
          resolve()
        }
        const timer = setTimeout(finish, milliseconds)
        letProcessEnd(timer)
        signal?.addEventListener('abort', finish)
      }),
  }
}

function letProcessEnd(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}
