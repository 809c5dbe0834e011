import type { Context } from '../ports/context.ts'
import type { Change } from '../ports/storage.ts'
import { type TakenUp, tryCommit } from '../records/try-commit.ts'

/** Claims one of several due records by a write, which is made anew for each try. Answers the write that was committed. */
export type Claim = <W extends Change>(write: () => W) => Promise<W | Exclude<TakenUp, 'taken'>>

/** So many that fail in a row, each alone, and the storage fails for all of them: the next call asks again. */
const MOST_FAILURES = 3

/**
 * Claims records that are due at the same time, each in a commit of its own. All are asked for at once, and a storage may
 * share what it does for them: on PostgreSQL one record that somebody keeps locked fails them all. So each that has failed is
 * tried once more, alone, and reported if that fails. If a try happened after all, the record is due again later.
 */
export function createClaims(context: Context): Claim {
  let failures = 0
  return async (write) => {
    const take = async (fault?: string) => {
      const change = write()
      const outcome = await tryCommit(context, [change], fault)
      return outcome === 'taken' ? change : outcome
    }
    const together = await take()
    if (together !== 'failed') return together
    return context.inTurn('claims', async () => {
      const alone = failures < MOST_FAILURES ? await take('a due record could not be claimed') : together
      failures = alone === 'failed' ? failures + 1 : 0
      return alone
    })
  }
}
