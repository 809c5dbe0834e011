import type { Clock } from '../../src/index.ts'
import type { Peer } from './peers.ts'

/** As long as the core waits for what a wallet brings. */
const SETTLED_MILLISECONDS = 3_000

/** What the wallet's books say was settled with a peer; zero where there are none. Rejects where they fail, or do not answer in time. */
export async function readSettled(clock: Clock, { settled }: Peer): Promise<bigint> {
  if (settled === undefined) return 0n
  const timer = new AbortController()
  try {
    const late = clock.sleep(SETTLED_MILLISECONDS, timer.signal).then(() => 'late' as const)
    const answer = await Promise.race([settled(), late])
    if (answer === 'late') throw new Error('what was settled with a peer was not answered in time')
    return answer
  } finally {
    timer.abort()
  }
}
