import type { Change, Key, Storage, StoredRecord } from '../../src/ports/storage.ts'
import type { StorageUnderTest } from '../../src/testing/storage-case.ts'

/** A store with one fault, and the cases of the contract that must find it. */
export interface BrokenStore {
  /** What it does, after "finds a store that". */
  readonly does: string
  readonly breaks: readonly string[]
  /** What it rejects with by itself, where that is how it is found. */
  readonly rejects?: string
  /** Puts the fault into a sound store. */
  breakStore(storage: Storage): StorageUnderTest
}

/** The id of the record that a change names. */
export function idOf(change: Change): string {
  return 'value' in change ? change.value.id : change.id
}

/** The key of the record that a change names. */
export function keyOf(change: Change): Key {
  return { kind: change.kind, id: idOf(change) }
}

function fits(change: Change, record: StoredRecord | undefined): boolean {
  return record?.version === (change.action === 'insert' ? undefined : change.version)
}

/** A store that writes other values or marks than it is given. */
export function writing(
  storage: Storage,
  alter: (change: Extract<Change, { readonly value: unknown }>) => Change,
): Storage {
  return {
    ...storage,
    commit: (changes) => storage.commit(changes.map((change) => ('value' in change ? alter(change) : change))),
  }
}

/** A store that makes something else of a replacement, knowing what is there. */
export function replacing(
  storage: Storage,
  alter: (change: Extract<Change, { readonly action: 'replace' }>, before: StoredRecord) => Change,
): Storage {
  return {
    ...storage,
    async commit(changes) {
      const found = await storage.get(changes.map(keyOf))
      return storage.commit(
        changes.map((change, index) => {
          const before = found[index]
          return change.action === 'replace' && before !== undefined ? alter(change, before) : change
        }),
      )
    },
  }
}

/** A store that answers every read with other records than it holds. */
export function reading(storage: Storage, alter: (record: StoredRecord) => StoredRecord): Storage {
  return {
    ...storage,
    get: async (keys) => (await storage.get(keys)).map((record) => record && alter(record)),
    list: async (query) => (await storage.list(query)).map(alter),
    due: async (kind, now, limit) => (await storage.due(kind, now, limit)).map(alter),
  }
}

/** A copy of something with one member changed, however deep the member's name is used. */
export function withMember<T extends object>(value: T, name: string, alter: (member: unknown) => unknown): T {
  const copy = structuredClone(value)
  if (Object.hasOwn(copy, name)) Reflect.set(copy, name, alter(Reflect.get(copy, name)))
  return copy
}

/** The conflicts of a commit, all of them, without committing. */
export async function conflictsOf(storage: Storage, changes: readonly Change[]): Promise<readonly number[]> {
  const found = await storage.get(changes.map(keyOf))
  return changes.flatMap((change, index) => (fits(change, found[index]) ? [] : [index]))
}

/** The change that writes a record as it is, marks and all. */
export function changeOf(record: StoredRecord): Extract<Change, { readonly action: 'replace' }> {
  // The compiler does not know that the kind of a record and that of its value are one.
  return { ...(record as StoredRecord<'replay-claim'>), action: 'replace' }
}
