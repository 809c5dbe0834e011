import type { Change, CommitResult, Key, ListableKind, ListQuery, RecordKind, StoredRecord } from 'open-payments-server'

/** What a commit did to one record. */
export interface Write {
  readonly before: StoredRecord | undefined
  readonly after: StoredRecord | undefined
}

/** A storage whose calls take effect at once: when they do is for the scheduler to say. */
export interface SimulatedStorage {
  get(keys: readonly Key[]): readonly (StoredRecord | undefined)[]
  list(query: ListQuery): readonly StoredRecord[]
  due(kind: RecordKind, now: number, limit: number): readonly StoredRecord[]
  commit(changes: readonly Change[]): CommitResult
  /** Puts records there as they are, as if they had always been. */
  load(records: readonly StoredRecord[]): void
  dump(): readonly StoredRecord[]
  all<K extends RecordKind>(kind: K): readonly StoredRecord<K>[]
  find<K extends RecordKind>(kind: K, id: string): StoredRecord<K> | undefined
}

const idOf = (change: Change): string => ('value' in change ? change.value.id : change.id)

const isListed = (record: StoredRecord): record is StoredRecord<ListableKind> => record.isListed === true

/** A copy that nobody can change. */
function keep<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  const copy = Array.isArray(value)
    ? value.map(keep)
    : Object.fromEntries(Object.entries(value).map(([name, member]) => [name, keep(member)]))
  return Object.freeze(copy) as T
}

/** `onCommit` is shown every commit that happens, before anybody else sees it. */
export function simulatedStorage(onCommit: (writes: readonly Write[]) => void = () => undefined): SimulatedStorage {
  const tables = new Map<RecordKind, Map<string, StoredRecord>>()
  const tableOf = (kind: RecordKind): Map<string, StoredRecord> => {
    const table = tables.get(kind) ?? new Map<string, StoredRecord>()
    tables.set(kind, table)
    return table
  }

  const fits = (change: Change): boolean => {
    const version = tableOf(change.kind).get(idOf(change))?.version
    return change.action === 'insert' ? version === undefined : version === change.version
  }

  const apply = (change: Change): Write => {
    const table = tableOf(change.kind)
    const before = table.get(idOf(change))
    if (change.action === 'check') return { before, after: before }
    if (change.action === 'delete') {
      table.delete(change.id)
      return { before, after: undefined }
    }
    const { action, version = 1, ...marked } = change
    const after = keep({ ...marked, version: action === 'insert' ? version : version + 1 }) as StoredRecord
    table.set(idOf(change), after)
    return { before, after }
  }

  const isOlder = (a: { createdAt: number; id: string }, b: { createdAt: number; id: string }): boolean =>
    a.createdAt === b.createdAt ? a.id < b.id : a.createdAt < b.createdAt

  return {
    get: (keys) => keys.map(({ kind, id }) => tableOf(kind).get(id)),
    list({ kind, walletAddress, client, after, direction, limit }) {
      const comes = (a: { createdAt: number; id: string }, b: { createdAt: number; id: string }): boolean =>
        direction === 'newer' ? isOlder(a, b) : isOlder(b, a)
      return [...tableOf(kind).values()]
        .filter(isListed)
        .filter(({ value }) => value.walletAddress === walletAddress)
        .filter(({ value }) => client === undefined || value.client === client)
        .filter(({ value }) => after === undefined || comes(after, value))
        .sort((a, b) => (comes(a.value, b.value) ? -1 : 1))
        .slice(0, limit)
    },
    due: (kind, now, limit) =>
      [...tableOf(kind).values()]
        .filter(({ dueAt }) => dueAt !== undefined && dueAt <= now)
        .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
        .slice(0, limit),
    commit(changes) {
      const conflicts = changes.flatMap((change, index) => (fits(change) ? [] : [index]))
      if (conflicts.length > 0) return { conflicts }
      onCommit(changes.map(apply))
      return 'committed'
    },
    load: (records) => {
      for (const record of records) tableOf(record.kind).set(record.value.id, record)
    },
    dump: () => [...tables.values()].flatMap((table) => [...table.values()]),
    all: <K extends RecordKind>(kind: K) => [...tableOf(kind).values()] as StoredRecord<K>[],
    find: <K extends RecordKind>(kind: K, id: string) => tableOf(kind).get(id) as StoredRecord<K> | undefined,
  }
}
