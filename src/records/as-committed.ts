import type { Change, StoredRecord } from '../ports/storage.ts'

/** A change that writes a value. */
export type Write = Exclude<Change, { readonly id: string }>

/** A record as it is once the commit that writes it so has happened. */
export function asCommitted<W extends Write>(write: W): Omit<W, 'action'> & { readonly version: number } {
  const { action: _, ...record } = write
  return { ...record, version: write.action === 'insert' ? 1 : write.version + 1 }
}

/**
 * Whether a record without a fresh id is as a write was to leave it: its next version holds exactly the value that was to be
 * written, and its marks: a worker that claims a payment changes nothing but those.
 */
export function isWrittenBy(record: StoredRecord, write: Write): boolean {
  const { version, value, dueAt, isListed } = asCommitted(write)
  const isMarkedSo = record.dueAt === dueAt && (record.isListed === true) === (isListed === true)
  return record.version === version && isMarkedSo && isEqualValue(record.value, value)
}

function isEqualValue(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const left = Object.entries(a).filter(([, member]) => member !== undefined)
  const right = new Map(Object.entries(b).filter(([, member]) => member !== undefined))
  return (
    left.length === right.size &&
    left.every(([name, member]) => right.has(name) && isEqualValue(member, right.get(name)))
  )
}
