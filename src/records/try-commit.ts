import type { Change } from '../ports/storage.ts'
import { idOf } from './change.ts'
import { type CommitContext, conflictsOf } from './decide.ts'
import { tellFault } from './tell-fault.ts'

/**
 * What became of a due record: it was taken up here; a faster worker had it, or it was put off, or nothing was to be done; or
 * the commit failed, so that it is still due.
 */
export type TakenUp = 'taken' | 'lost' | 'failed'

/**
 * Commits changes for work that can wait. A failed commit is not retried here; if it happened after all, the records that it
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

/** The cause of a fault, with the first record that the failed commit was about: whoever mends it has to find it. */
export function nameRecords([first, ...others]: readonly Change[], cause: unknown): unknown {
  if (first === undefined) return cause
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return new Error(`the commit of ${first.kind} ${idOf(first)}${more} failed`, { cause })
}
