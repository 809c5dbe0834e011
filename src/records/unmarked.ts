import type { RecordMarks } from '../ports/storage.ts'

/**
 * A record without its marks: what replaces it is due and listed only if the change itself says so. A change that is made
 * from the whole record keeps them.
 */
export function unmarked<T extends RecordMarks>(record: T): Omit<T, keyof RecordMarks> {
  const { dueAt, isListed, schemaVersion, ...others } = record
  return others
}
