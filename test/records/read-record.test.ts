import type { Key, Storage, StoredRecord } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { expect, it } from 'vitest'
import { readNamed, storageKnowing } from '../../src/records/read-record.ts'
import { idOf } from '../../src/testing/ledger-case.ts'

const keyOf = (id: string): Key => ({ kind: 'replay-claim', id })

/** A storage with the records `a` and `b`, and one that knows an older `a` and that there is no `b`. */
async function knowing() {
  const storage = memoryStorage()
  const claimOf = (id: string) => ({ id, expiresAt: 1 })
  await storage.commit(['a', 'b'].map((id) => ({ action: 'insert', kind: 'replay-claim', value: claimOf(id) })))
  const known = { kind: 'replay-claim', version: 0, value: claimOf('a') } satisfies StoredRecord
  const { get } = storageKnowing(storage, [keyOf('a'), keyOf('b')], [known, undefined])
  /** The versions that a read answers. */
  return async (...keys: readonly Key[]) => (await get(keys)).map((record) => record?.version)
}

it('a storage that knows records answers the first read of each, and passes every other on', async () => {
  const read = await knowing()
  expect(await read(keyOf('c'), { kind: 'receipt', id: 'a' })).toEqual([undefined, undefined])
  expect(await read(keyOf('a'))).toEqual([0])
  expect(await read(keyOf('b'))).toEqual([undefined])
  expect(await read(keyOf('a'))).toEqual([1])
  expect(await read(keyOf('b'))).toEqual([1])
})

it('it answers a read of several if it knows all of them, in the order that is asked for', async () => {
  const read = await knowing()
  expect(await read(keyOf('b'), keyOf('a'))).toEqual([undefined, 0])
  expect(await read(keyOf('b'), keyOf('a'))).toEqual([1, 1])
})

it('a read that asks for more reads all of it, and is the first read of what is known', async () => {
  const read = await knowing()
  expect(await read(keyOf('a'), keyOf('c'))).toEqual([1, undefined])
  expect(await read(keyOf('a'))).toEqual([1])
  expect(await read(keyOf('b'))).toEqual([undefined])
})

it('a storage that is told of nothing is the storage itself', () => {
  const storage = memoryStorage()
  expect(storageKnowing(storage, [], [])).toBe(storage)
})

it('what somebody wrote is looked up if it can be an id of this server, and only then', async () => {
  const asked: string[] = []
  const get: Storage['get'] = async (keys) => {
    asked.push(...keys.map(({ id }) => id))
    return keys.map(() => undefined)
  }
  const ids = [idOf(10), `${'a'.repeat(12)}${idOf(10)}`]
  for (const text of [undefined, '', 'a', idOf(10).toUpperCase(), `${idOf(10)}0`, `${idOf(10)}\n`, ...ids])
    expect(await readNamed({ ...memoryStorage(), get }, 'grant', text)).toBeUndefined()
  expect(asked).toEqual(ids)
})
