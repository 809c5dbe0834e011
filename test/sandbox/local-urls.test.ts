import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { storageWithLocalUrls } from '../../examples/sandbox/local-urls.ts'

it('a damaged row of a sandbox holds up none of the others that are due', async () => {
  const handle = await openSqlite(':memory:')
  const storage = storageWithLocalUrls(sqliteStorage(handle), 'http://localhost:4000')
  for (const id of ['a', 'b']) {
    await storage.commit([{ action: 'insert', kind: 'replay-claim', dueAt: 1, value: { id, expiresAt: 1 } }])
  }
  handle.exec("UPDATE op_replay_claim SET expires_at = 'damaged' WHERE id = 'a'")
  const told: unknown[] = []
  expect(await storage.due('replay-claim', 2, 10, (cause) => told.push(cause))).toMatchObject([{ value: { id: 'b' } }])
  expect(told).toHaveLength(1)
  handle.close()
})
