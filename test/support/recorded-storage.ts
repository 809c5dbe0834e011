import type { Key, Storage, StoredRecord } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'

/** A storage that can be looked into as a whole. */
export interface RecordedStorage extends Storage {
  /** Every record that is there, in the order in which they were first written. */
  records(): Promise<readonly StoredRecord[]>
}

/** A storage in memory that remembers what was ever written to it. */
export function recordedStorage(inner: Storage = memoryStorage()): RecordedStorage {
  const keys = new Map<string, Key>()
  return {
    ...inner,
    async commit(changes) {
      for (const change of changes) {
        const id = 'value' in change ? change.value.id : change.id
        keys.set(`${change.kind} ${id}`, { kind: change.kind, id })
      }
      return inner.commit(changes)
    },
    async records() {
      const found = await inner.get([...keys.values()])
      return found.filter((record) => record !== undefined)
    },
  }
}
