import type { Clock } from '../ports/clock.ts'

/**
 * An answer that is available at once takes at most this many steps of a promise: it may pass through functions that
 * hand it on.
 */
const STEPS_AT_ONCE = 8

/** What a call answers, or `late` if that takes longer. Rejects if the call does. */
export async function answerBefore<T>(clock: Clock, milliseconds: number, call: () => Promise<T>): Promise<T | 'late'> {
  const endsAt = clock.now() + milliseconds
  // In JavaScript a wallet's code may answer with a plain value, or with a thenable that each `then` asks anew.
  const answer = Promise.resolve(call())
  if (await isThereAtOnce(answer)) return answer
  const timer = new AbortController()
  const { signal } = timer
  const late = async (): Promise<'late'> => {
    await clock.sleep(Math.min(Math.max(endsAt - clock.now(), 0), milliseconds), signal)
    // A process that was held up sees the timer before what has arrived meanwhile: that gets one more turn.
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

/** Whether a call was answered without waiting, as from memory: then no timer need be started and stopped. */
async function isThereAtOnce(answer: Promise<unknown>): Promise<boolean> {
  let isThere = false
  const settle = (): void => {
    isThere = true
  }
  answer.then(settle, settle)
  for (let step = 0; step < STEPS_AT_ONCE && !isThere; step++) await undefined
  return isThere
}
