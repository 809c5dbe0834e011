import type { Clock } from 'open-payments-server'
import { turn } from './turns.ts'

/** A clock that stands still until it is told. */
export interface FakeClock extends Clock {
  /** Moves the time on; deadlines that it passes fire. */
  advance(milliseconds: number): void
}

/**
 * A clock for tests. A deadline (a sleep that can be aborted) fires when the time is moved past it; a pause (one that
 * cannot) moves the time on by itself, so that back-off costs no real time. It shows whole milliseconds, as clocks do.
 */
export function fakeClock(start: number = Date.parse('2026-03-01T12:00:00Z')): FakeClock {
  let now = start
  const deadlines = new Set<{ readonly at: number; readonly fire: () => void }>()
  const advance = (milliseconds: number): void => {
    now += Math.ceil(milliseconds)
    for (const deadline of deadlines) if (deadline.at <= now) deadline.fire()
  }
  return {
    now: () => now,
    advance,
    sleep: (milliseconds, signal) => {
      if (signal === undefined) {
        advance(milliseconds)
        return turn()
      }
      return new Promise((resolve) => {
        const end = (): void => {
          deadlines.delete(deadline)
          signal.removeEventListener('abort', end)
          resolve()
        }
        const deadline = { at: now + milliseconds, fire: end }
        if (signal.aborted || milliseconds <= 0) return resolve()
        deadlines.add(deadline)
        signal.addEventListener('abort', end)
      })
    },
  }
}
