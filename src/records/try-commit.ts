import type { Change } from '../ports/storage.ts'
import { type CommitContext, conflictsOf } from './decide.ts'
import { tellFault } from './tell-fault.ts'

/**
 * What became of something that was due: it was picked up, another worker was faster, or nothing could be committed, so
 * that it is still due.
 */
export type TakenUp = 'taken' | 'lost' | 'failed'

/**
 * Commits changes of work that can wait: they are not tried again, and if the commit has happened after all, whatever they
 * mark is due again later. Never rejects: a commit that fails, or whose answer is none, is a `fault` if that is named.
 */
export async function tryCommit(context: CommitContext, changes: readonly Change[], fault?: string): Promise<TakenUp> {
  try {
    const conflicts = conflictsOf(await context.storage.commit(changes), changes)
    return conflicts.length === 0 ? 'taken' : 'lost'
  } catch (cause) {
    if (fault !== undefined) tellFault(context, fault, cause)
    return 'failed'
  }
}
