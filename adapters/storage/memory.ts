/**
 * A storage for tests and trials.
 *
 * @module open-payments-server/storage/memory
 */

import type { Change, ListableKind, ListPosition, RecordKind, Storage, StoredRecord } from '../../src/ports/storage.ts'
import { idOf } from '../../src/records/change.ts'
import { makeOnce } from './make-once.ts'

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freezeDeep(member)
  return Object.freeze(value)
}

function isListed(record: StoredRecord): record is StoredRecord<ListableKind> {
  return record.isListed === true
}

/** Oldest first: the order of a list with direction `newer`. */
function compareAge(a: ListPosition, b: ListPosition): number {
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1
}

/** When a record is due: never, if it has no such moment. */
function momentOf({ dueAt = Number.POSITIVE_INFINITY }: StoredRecord): number {
  return dueAt
}

function recordOf(change: Change & { action: 'insert' | 'replace' }, version: number): StoredRecord {
  const { kind, value, dueAt, isListed, schemaVersion } = change
  return freezeDeep({
    kind,
    version,
    value: structuredClone(value),
    ...(dueAt !== undefined && { dueAt }),
    ...(isListed === true && { isListed }),
    ...(schemaVersion !== undefined && { schemaVersion }),
  })
}

/**
 * A storage in this process's memory, for tests and trials: it forgets everything when the process ends. What it
 * returns is frozen.
 */
export function memoryStorage(): Storage {
  const tableOf = makeOnce((_kind: RecordKind) => new Map<string, StoredRecord>())

  const fits = (change: Change): boolean => {
    const version = tableOf(change.kind).get(idOf(change))?.version
    return change.action === 'insert' ? version === undefined : version === change.version
  }

  const apply = (change: Change): void => {
    const table = tableOf(change.kind)
    if (change.action === 'insert') table.set(change.value.id, recordOf(change, change.version ?? 1))
    if (change.action === 'replace') table.set(change.value.id, recordOf(change, change.version + 1))
    if (change.action === 'delete') table.delete(change.id)
  }

  return {
    async get(keys) {
      return keys.map(({ kind, id }) => tableOf(kind).get(id))
    },
    async list({ kind, walletAddress, client, after, direction, limit }) {
      const sign = direction === 'newer' ? 1 : -1
      return [...tableOf(kind).values()]
        .filter(isListed)
        .filter(({ value }) => value.walletAddress === walletAddress)
        .filter(({ value }) => client === undefined || value.client === client)
        .filter(({ value }) => after === undefined || sign * compareAge(value, after) > 0)
        .sort((a, b) => sign * compareAge(a.value, b.value))
        .slice(0, limit)
    },
    async due(kind, now, limit) {
      return [...tableOf(kind).values()]
        .filter((record) => momentOf(record) <= now)
        .sort((a, b) => momentOf(a) - momentOf(b))
        .slice(0, limit)
    },
    async commit(changes) {
      const conflicts = changes.flatMap((change, index) => (fits(change) ? [] : [index]))
      if (conflicts.length > 0) return { conflicts }
      for (const change of changes) apply(change)
      return 'committed'
    },
  }
}
