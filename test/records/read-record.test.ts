import type { Key, StoredRecord } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { expect, it } from 'vitest'
import { knowingAtFirst } from '../../src/records/read-record.ts'

it('a storage that knows a record answers the first read of it, alone, and passes every other on', async () => {
  const storage = memoryStorage()
  const value = { id: 'a', expiresAt: 1 }
  await storage.commit([{ action: 'insert', kind: 'replay-claim', value }])
  const stored = { kind: 'replay-claim', version: 1, value } satisfies StoredRecord
  const known = { ...stored, version: 0 }
  const key: Key = { kind: 'replay-claim', id: 'a' }
  const knowing = knowingAtFirst(storage, key, known)
  const others: readonly Key[] = [
    { kind: 'receipt', id: 'a' },
    { ...key, id: 'b' },
  ]
  for (const other of others) expect(await knowing.get([other])).toEqual([undefined])
  expect(await knowing.get([key, key])).toMatchObject([stored, stored])
  expect(await knowing.get([key])).toEqual([known])
  expect(await knowing.get([key])).toMatchObject([stored])
})
