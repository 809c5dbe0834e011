import type { Change, StoredRecord } from '../ports/storage.ts'

/** A change that writes a value. */
export type Write = Exclude<Change, { readonly id: string }>

/** A record as it is once this write has been committed. */
export function asCommitted<W extends Write>(write: W): Omit<W, 'action'> & { readonly version: number } {
  const { action: _, ...record } = write
  return { ...record, version: write.action === 'insert' ? (write.version ?? 1) : write.version + 1 }
}

/**
 * Whether a stored record is what a write would have left: the next version, with exactly that value and those marks. The
 * marks are compared too, because a worker that claims a payment changes nothing else. For records whose id alone proves
 * nothing.
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
  return left.length === right.size && left.every(([name, member]) => isEqualValue(member, right.get(name)))
}
