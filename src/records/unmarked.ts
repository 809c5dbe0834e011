import type { RecordMarks } from '../ports/storage.ts'

/**
 * A record without its marks, so that a change made from it is due and listed only if the change itself says so. A
 * change made from the whole record keeps the marks.
 */
export function unmarked<T extends RecordMarks>(record: T): Omit<T, keyof RecordMarks> {
  const { dueAt, isListed, schemaVersion, ...others } = record
  return others
}
