import type { Pool } from 'pg'
import { expect, it, vi } from 'vitest'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { unheardErrors, useDatabases } from './postgres-databases.ts'
import { startEndingServer } from './postgres-proxy.ts'

const { newSchema, openPool } = useDatabases()

/** How many listen for errors of the only connection of a pool, while somebody has it. */
async function listenersOf(pool: Pool): Promise<number> {
  const client = await pool.connect()
  try {
    return client.listenerCount('error')
  } finally {
    client.release()
  }
}

it('a connection of pg that is ended just as it is handed out is an error of that call, and ends no process', async () => {
  const server = await startEndingServer()
  try {
    const pool = openPool('none', {}, { host: server.host, port: server.port })
    const unheard = unheardErrors(pool)
    await expect(postgresStorage(pool)).rejects.toThrow('not queryable')
    expect(unheard).toEqual([])
  } finally {
    await server.close()
  }
})

it('a pool that a wrapper lets promise its connections, and not call back, gives them all the same', async () => {
  const schema = await newSchema()
  const pool = openPool(schema, {}, { max: 1 })
  const storage = await postgresStorage({ connect: () => pool.connect() })
  const value = { id: 'a', expiresAt: 5 }
  expect(await storage.commit([{ action: 'insert', kind: 'replay-claim', value }])).toBe('committed')
  expect(await storage.get([{ kind: 'replay-claim', id: 'a' }])).toMatchObject([{ value }])
  expect(pool.idleCount).toBe(1)
})

it('a pool that a wrapper lets promise its connections rejects as its promise does', async () => {
  const refusal = new Error('the pool has ended')
  await expect(postgresStorage({ connect: () => Promise.reject(refusal) })).rejects.toBe(refusal)
})

it('a pool that calls back and promises the same connection is given it back once', async () => {
  const schema = await newSchema()
  const pool = openPool(schema, {}, { max: 1 })
  const before = await listenersOf(pool)
  const storage = await postgresStorage({
    connect: (callback) =>
      new Promise((resolve) =>
        pool.connect((error, client) => {
          callback(error, client)
          resolve(client)
        }),
      ),
  })
  expect(await storage.get([{ kind: 'replay-claim', id: 'a' }])).toEqual([undefined])
  expect(pool.idleCount).toBe(1)
  expect(await listenersOf(pool)).toBe(before)
})

it('a connection of pg.native that cannot tell whether it is in a transaction is used all the same', async () => {
  const schema = await newSchema()
  const pool = openPool(schema, {}, { max: 1 })
  const asked = vi.fn(() => {
    throw new Error('the library is older than this call')
  })
  pool.on('connect', (client) => Object.assign(client, { getTransactionStatus: asked }))
  const storage = await postgresStorage(pool)
  expect(await storage.get([{ kind: 'replay-claim', id: 'a' }])).toEqual([undefined])
  expect(asked).toHaveBeenCalled()
  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1])
})

it('a connection that is given back has no listener more than before', async () => {
  const schema = await newSchema()
  const pool = openPool(schema, {}, { max: 1 })
  const before = await listenersOf(pool)
  const storage = await postgresStorage(pool)
  await storage.get([{ kind: 'replay-claim', id: 'a' }])
  expect(await listenersOf(pool)).toBe(before)
})
