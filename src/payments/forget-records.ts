import type { Change, StoredRecord } from '../ports/storage.ts'
import { commitUncontested } from '../records/commit-uncontested.ts'
import type { CommitContext } from '../records/decide.ts'
import { tellFault } from '../records/tell-fault.ts'

/** Deletes records in one commit; without those that another process was faster with. Answers how many. */
export async function forgetRecords(context: CommitContext, records: readonly StoredRecord[]): Promise<number> {
  const changes = records.map(deleteRecord)
  try {
    return await commitUncontested(context, changes)
  } catch (cause) {
    tellFault(context, 'a record could not be swept', cause)
    // One record that cannot be deleted keeps no other.
    let count = 0
    for (const record of records.length > 1 ? records : []) count += await forgetRecords(context, [record])
    return count
  }
}

function deleteRecord({ kind, version, value }: StoredRecord): Change {
  return { action: 'delete', kind, id: value.id, version }
}
