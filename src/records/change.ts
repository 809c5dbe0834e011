import type { Context } from '../ports/context.ts'
import type { Change, RecordKind, RecordMarks, StoredRecord } from '../ports/storage.ts'

/**
 * The most changes that one commit may have: see `Storage`. Whoever commits for many records at once takes no more of them.
 */
export const MOST_CHANGES = 100

/** The id of the record that a change is about. */
export function idOf(change: Change): string {
  return 'value' in change ? change.value.id : change.id
}

/** A name that only one record has. */
export function nameOf(kind: RecordKind, id: string): string {
  return `${kind} ${id}`
}

/**
 * The version at which a record starts whose id can come back after it was deleted: random, so that whoever has read an earlier
 * record of this id never finds the version that it had in this one. It is from 2^48 on, where no record comes that started at 1.
 * @spec OUT-12 @spec T-49 @spec SIG-23
 */
export function startVersion({ cryptography }: Pick<Context, 'cryptography'>): number {
  return cryptography.randomBytes(6).reduce((version, byte) => version * 256 + byte, 1)
}

/** The change that deletes a record, if it is still as it was read. */
export function deleteChange({ kind, version, value }: StoredRecord): Change {
  return { action: 'delete', kind, id: value.id, version }
}

/**
 * A record without its marks, so that a change made from it is due and listed only if the change itself says so. A
 * change made from the whole record keeps the marks.
 */
export function unmarked<T extends RecordMarks>(record: T): Omit<T, keyof RecordMarks> {
  const { dueAt, isListed, schemaVersion, ...others } = record
  return others
}
