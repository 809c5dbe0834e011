import { isDeepStrictEqual } from 'node:util'
import type { Change, RecordKind, RecordTypes, Storage, StoredRecord } from 'open-payments-server'

function isOf<K extends RecordKind>(record: StoredRecord, kind: K): record is StoredRecord<K> {
  return record.kind === kind
}

/** The values of one kind. */
export function valuesOf<K extends RecordKind>(records: readonly StoredRecord[], kind: K): readonly RecordTypes[K][] {
  return records.filter((record): record is StoredRecord<K> => isOf(record, kind)).map(({ value }) => value)
}

/**
 * What of a record may never change again; `undefined` while it is not final. A used quote may be open again, in the commit
 * that refuses its payment.
 */
function finalPartOf(record: StoredRecord, written: readonly StoredRecord[] = []): unknown {
  const { value } = record
  if (isOf(record, 'grant') && record.value.state === 'finalised') return value
  if (isOf(record, 'outgoing-payment') && ['completed', 'failed', 'refused'].includes(record.value.state)) return value
  if (isOf(record, 'quote') && record.value.state === 'used')
    return valuesOf(written, 'outgoing-payment').some(
      ({ id, state }) => id === record.value.outgoingPaymentId && state === 'refused',
    )
      ? undefined
      : value
  if (isOf(record, 'receipt') && record.value.state !== 'reserved') return value
  if (isOf(record, 'access-token')) {
    const { state, successorId, rotatedAt, expiresAt } = record.value
    return state === 'active' ? undefined : [state, successorId, rotatedAt, expiresAt]
  }
  if (isOf(record, 'incoming-payment')) {
    // A receipt that was reserved before may still be counted.
    const { state, incomingAmount, expiresAt } = record.value
    return state === 'completed' || state === 'expired' ? [state, incomingAmount, expiresAt] : undefined
  }
  return undefined
}

const writtenBy = (change: Change): readonly StoredRecord[] =>
  change.action === 'replace' ? [{ ...change, version: change.version + 1 }] : []

/** A storage that notes every commit in which something final changes (invariant 7). */
export function watchFinalRecords(inner: Storage, broken: string[]): Storage {
  return {
    ...inner,
    async commit(changes) {
      const replaced = changes.flatMap(writtenBy)
      const before = await inner.get(replaced.map(({ kind, value }) => ({ kind, id: value.id })))
      const outcome = await inner.commit(changes)
      if (outcome !== 'committed') return outcome
      for (const [index, after] of replaced.entries()) {
        const record = before[index]
        const final = record && finalPartOf(record, replaced)
        if (final !== undefined && !isDeepStrictEqual(final, finalPartOf(after)))
          broken.push(`${after.kind} ${after.value.id} changed after its end`)
      }
      return outcome
    },
  }
}
