import type { Clock } from '../ports/clock.ts'

/** What a call answers, or `late` where that takes longer. Rejects where the call does. */
export async function answerBefore<T>(clock: Clock, milliseconds: number, call: () => Promise<T>): Promise<T | 'late'> {
  const timer = new AbortController()
  const late = clock.sleep(milliseconds, timer.signal).then(() => 'late' as const)
  try {
    return await Promise.race([call(), late])
  } finally {
    // With no reason given, each abort would make an error and its stack: half of what a deadline costs.
    timer.abort(null)
  }
}
