import type { Change, StoredRecord } from '../ports/storage.ts'
import { commitUncontested } from '../records/commit-uncontested.ts'
import type { CommitContext } from '../records/decide.ts'
import { tellFault } from '../records/tell-fault.ts'

/**
 * Deletes records in one commit, except those that another process has changed meanwhile. Returns how many it deleted, or
 * fewer if a commit that failed has happened after all.
 */
export async function forgetRecords(context: CommitContext, records: readonly StoredRecord[]): Promise<number> {
  const changes = records.map(deleteRecord)
  try {
    return await commitUncontested(context, changes)
  } catch (cause) {
    tellFault(context, 'a record could not be swept', cause)
    // A record that cannot be deleted must not keep the others: each is tried alone. Otherwise than in `decide`,
    // a commit that failed may be repeated: if the deletion has happened, there is no record, and that is a conflict.
    let count = 0
    for (const record of records.length > 1 ? records : []) count += await forgetRecords(context, [record])
    return count
  }
}

function deleteRecord({ kind, version, value }: StoredRecord): Change {
  return { action: 'delete', kind, id: value.id, version }
}
