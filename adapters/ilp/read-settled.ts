import type { Clock } from '../../src/index.ts'
import type { Peer } from './peers.ts'

/** As long as the core waits for the wallet's own code by default. */
const SETTLED_MILLISECONDS = 3_000

/** An answer that is available at once takes at most this many steps of a promise. */
const STEPS_AT_ONCE = 8

/**
 * What the wallet's books say was settled with a peer; zero if there are none. Rejects if they fail, do not answer with a
 * bigint, or do not answer in time.
 */
export async function readSettled(clock: Clock, { settled }: Peer): Promise<bigint> {
  if (settled === undefined) return 0n
  const asked = Promise.resolve(settled())
  // As from memory: then no timer need be started and stopped.
  const early = await Promise.race([asked, afterSteps()])
  const answer = early === 'late' ? await answerInTime(clock, asked) : early
  if (typeof answer !== 'bigint') throw new TypeError('`settled` of a peer did not answer with a bigint')
  return answer
}

async function answerInTime(clock: Clock, asked: Promise<bigint>): Promise<bigint> {
  const timer = new AbortController()
  try {
    const late = clock.sleep(SETTLED_MILLISECONDS, timer.signal).then(() => 'late' as const)
    const answer = await Promise.race([asked, late])
    if (answer === 'late') throw new Error('`settled` of a peer did not answer in time')
    return answer
  } finally {
    timer.abort(null)
  }
}

async function afterSteps(): Promise<'late'> {
  for (let step = 0; step < STEPS_AT_ONCE; step++) await undefined
  return 'late'
}
