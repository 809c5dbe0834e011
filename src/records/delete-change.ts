import type { Change, StoredRecord } from '../ports/storage.ts'

/** The change that deletes a record, if it is still as it was read. */
export function deleteChange({ kind, version, value }: StoredRecord): Change {
  return { action: 'delete', kind, id: value.id, version }
}
