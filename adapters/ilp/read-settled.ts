import { answerWithin } from '../../src/deadline/answer-within.ts'
import type { Clock } from '../../src/index.ts'
import type { Peer } from './peers.ts'

/** The same time for which the core waits for the wallet's own code by default. */
const SETTLED_MILLISECONDS = 3_000

/**
 * What the wallet's books say was settled with a peer; zero if the peer has no `settled` function. Rejects if they
 * fail, do not answer with a bigint, or do not answer in time.
 */
export async function readSettled(clock: Clock, { settled }: Peer): Promise<bigint> {
  if (settled === undefined) return 0n
  const answer = await answerWithin(clock, SETTLED_MILLISECONDS, async () => settled())
  if (answer === 'late') throw new Error('`settled` of a peer did not answer in time')
  if (typeof answer !== 'bigint') throw new TypeError('`settled` of a peer did not answer with a bigint')
  return answer
}
