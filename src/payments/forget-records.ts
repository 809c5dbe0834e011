import type { Change, StoredRecord } from '../ports/storage.ts'
import { commitUncontested } from '../records/commit-uncontested.ts'
import type { CommitContext } from '../records/decide.ts'
import { deleteChange } from '../records/delete-change.ts'
import { tellFault } from '../records/tell-fault.ts'
import { nameRecords, type TakenUp, tryCommit } from '../records/try-commit.ts'

/** A storage that has failed so often in a row is not asked for the rest too: the next call asks again. */
const MOST_FAILURES = 8

/**
 * Deletes records in one commit, except those that another process has changed meanwhile. If that fails, each is tried
 * alone, since one that cannot be deleted must not keep the others: otherwise than in `decide`, a commit that failed may be
 * repeated, because if the deletion has happened there is no record, and that is a conflict. Returns how many it deleted,
 * or fewer if a commit that failed has happened after all.
 */
export async function forgetRecords(context: CommitContext, records: readonly StoredRecord[]): Promise<number> {
  const changes = records.map(deleteChange)
  try {
    return await commitUncontested(context, changes)
  } catch (cause) {
    tellFault(context, 'a record could not be swept', nameRecords(changes, cause))
  }
  return sweepEach(context, changes.length > 1 ? changes : [], (change) => trySweep(context, [change]))
}

/** Commits what deletes or ends a record; never rejects, but reports what fails. */
export async function trySweep(context: CommitContext, changes: readonly Change[]): Promise<TakenUp> {
  return tryCommit(context, changes, 'a record could not be swept')
}

/**
 * Sweeps one after the other, until so many in a row have failed. Returns how many it has swept. It does not always begin
 * with the first: some that can never be swept must not keep the others for good.
 */
export async function sweepEach<T>(
  { clock }: Pick<CommitContext, 'clock'>,
  all: readonly T[],
  sweep: (one: T) => Promise<TakenUp>,
): Promise<number> {
  // Divided by a prime number, since a timer may call at the same part of a second each time.
  const from = Math.floor(clock.now() / 997) % Math.max(all.length, 1)
  let count = 0
  let failures = 0
  for (const one of [...all.slice(from), ...all.slice(0, from)]) {
    if (failures === MOST_FAILURES) break
    const outcome = await sweep(one)
    failures = outcome === 'failed' ? failures + 1 : 0
    if (outcome === 'taken') count++
  }
  return count
}
