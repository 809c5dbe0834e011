import type { Clock } from '../ports/clock.ts'

/**
 * The system's time. A sleep with a `signal` is a deadline or the pause of a loop: on hosts that allow it (Node, Bun)
 * it does not keep the process alive, because it must not hold up a shutdown. A sleep without one is a pause in ongoing
 * work, for which `drain()` waits, so it does keep the process alive.
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
        if (signal === undefined) return
        letProcessEnd(timer)
        signal.addEventListener('abort', finish)
      }),
  }
}

function letProcessEnd(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}
