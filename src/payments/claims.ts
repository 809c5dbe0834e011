import type { Context } from '../ports/context.ts'
import type { Change } from '../ports/storage.ts'
import { type TakenUp, tryCommit } from '../records/try-commit.ts'
import { TURN_AT_CLAIMS } from './turn-keys.ts'

/** Claims a due record by a write, which is made anew for each try. Answers the write that was committed. */
export type Claim = <W extends Change>(write: () => W) => Promise<Claimed<W>>

type Claimed<W extends Change> = W | Exclude<TakenUp, 'taken'>

/** So many at each end that fail in a row, each alone, and the storage fails for all of them: the next call asks again. */
const MOST_FAILURES = 3

const UNCLAIMED = 'a due record could not be claimed'

/** An end of the records that are left, in the order in which they fell due. */
type End = 'longest' | 'youngest'

/**
 * Claims records that are due at the same time, each in a commit of its own. All are asked for at once, and a storage may
 * share what it does for them: on PostgreSQL one record that somebody keeps locked fails them all. So each that has failed is
 * tried once more, alone, and reported if that fails. If a try happened after all, the record is due again later.
 */
export function createClaims(context: Context): Claim {
  const left: ((end: End) => Promise<void>)[] = []
  // Those that can never be claimed lie together, mostly as the longest due, and must not keep the others: where one fails, it
  // goes on at the other end.
  const failures = { longest: 0, youngest: 0 }
  const tryNext = async (): Promise<void> => {
    const end = failures.longest <= failures.youngest ? 'longest' : 'youngest'
    await (end === 'longest' ? left.shift() : left.pop())?.(end)
  }
  const claimAt = (end: End): Claim => {
    return async (write) => {
      const alone = failures[end] < MOST_FAILURES ? await tryClaim(context, write, UNCLAIMED) : 'failed'
      failures[end] = alone === 'failed' ? failures[end] + 1 : 0
      return alone
    }
  }
  return async (write) => {
    const together = await tryClaim(context, write)
    if (together !== 'failed') return together
    return new Promise((resolve, reject) => {
      left.push((end) => claimAt(end)(write).then(resolve, reject))
      void context.inTurn(TURN_AT_CLAIMS, tryNext)
    })
  }
}

/** Claims each record by one try, which is reported if it fails. */
export function claimOnce(context: Context): Claim {
  return (write) => tryClaim(context, write, UNCLAIMED)
}

async function tryClaim<W extends Change>(context: Context, write: () => W, fault?: string): Promise<Claimed<W>> {
  const change = write()
  const outcome = await tryCommit(context, [change], fault)
  return outcome === 'taken' ? change : outcome
}
