import type { Clock } from '../ports/clock.ts'

/**
 * An answer that is available at once settles within this many microtasks, even if it passes through several async
 * functions.
 */
const STEPS_AT_ONCE = 8

/** What a call answers, or `late` if it takes longer than that. Rejects if the call does. */
export async function answerWithin<T>(clock: Clock, milliseconds: number, call: () => Promise<T>): Promise<T | 'late'> {
  const endsAt = clock.now() + milliseconds
  // In JavaScript a wallet's code may return a plain value, or a thenable that runs its query again with each `then`.
  const answer = Promise.resolve(call())
  if (await isThereAtOnce(answer)) return answer
  const timer = new AbortController()
  const { signal } = timer
  const late = async (): Promise<'late'> => {
    await clock.sleep(Math.max(Math.min(endsAt - clock.now(), milliseconds), 0), signal)
    // A process that was held up sees the timer before an answer that has arrived meanwhile: one more turn of the event
    // loop lets that answer through.
    if (!signal.aborted) await clock.sleep(0, signal)
    return 'late'
  }
  try {
    return await Promise.race([answer, late()])
  } finally {
    // With no reason given, each abort would make an error and its stack: half of what a deadline costs.
    timer.abort(null)
  }
}

/** The same for a call that can be stopped: if it is late, its `signal` is aborted. */
export async function answerOrStop<T>(
  clock: Clock,
  milliseconds: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T | 'late'> {
  const stop = new AbortController()
  const answer = await answerWithin(clock, milliseconds, () => call(stop.signal))
  if (answer === 'late') stop.abort()
  return answer
}

/** Whether a call was answered without waiting, for instance from memory: then it needs no timer. */
async function isThereAtOnce(answer: Promise<unknown>): Promise<boolean> {
  let isThere = false
  const settle = (): void => {
    isThere = true
  }
  answer.then(settle, settle)
  for (let step = 0; step < STEPS_AT_ONCE && !isThere; step++) await undefined
  return isThere
}
