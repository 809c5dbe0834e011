import type { Change } from '../ports/storage.ts'
import { type CommitContext, conflictsOf } from './decide.ts'
import { idOf } from './id-of.ts'
import { tellFault } from './tell-fault.ts'

/**
 * What became of a due record: it was taken up here; a faster worker had it, or nothing was to be done; or the commit failed,
 * so that it is still due.
 */
export type TakenUp = 'taken' | 'lost' | 'failed'

/**
 * Commits changes for work that can wait. A failed commit is not retried; if it happened after all, the records that it
 * marked are due again later. Never rejects: a commit that fails or gets an invalid answer is reported under the
 * message `fault`, if one is given, with the first record that it was about.
 */
export async function tryCommit(context: CommitContext, changes: readonly Change[], fault?: string): Promise<TakenUp> {
  try {
    const conflicts = conflictsOf(await context.storage.commit(changes), changes)
    return conflicts.length === 0 ? 'taken' : 'lost'
  } catch (cause) {
    if (fault !== undefined) tellFault(context, fault, nameRecords(changes, cause))
    return 'failed'
  }
}

/** Claims one of several due records by `take`, which reports what fails under the message that it is given, if any. */
export type Claim = <T>(take: (fault?: string) => Promise<T | 'failed'>, fault: string) => Promise<T | 'failed'>

/** So many that fail in a row, each alone, and the storage fails for all of them: the next call asks again. */
const MOST_FAILURES = 3

/**
 * Claims records that are due at the same time, each in a commit of its own. All are asked for at once, and a storage may
 * share what it does for them: on PostgreSQL one record that somebody keeps locked fails them all. So each that has failed is
 * tried once more, alone. If the first try happened after all, the second one is lost, and the record is due again later.
 */
export function createClaims(): Claim {
  let last: Promise<unknown> = Promise.resolve()
  let failures = 0
  return async (take, fault) => {
    const together = await take()
    if (together !== 'failed') return together
    const takeAlone = async () => {
      if (failures === MOST_FAILURES) return 'failed'
      const alone = await take(fault)
      failures = alone === 'failed' ? failures + 1 : 0
      return alone
    }
    const alone = last.then(takeAlone)
    last = alone
    return alone
  }
}

/** The cause of a fault, with the first record that the failed commit was about: whoever mends it has to find it. */
export function nameRecords([first, ...others]: readonly Change[], cause: unknown): unknown {
  if (first === undefined) return cause
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return new Error(`the commit of ${first.kind} ${idOf(first)}${more} failed`, { cause })
}
