import type { Pool } from 'pg'
import { expect, it } from 'vitest'
import { type PgPool, postgresStorage } from '../../adapters/storage/postgres.ts'
import { claim, insertClaim, mustCommit } from '../../src/testing/storage-case.ts'
import { ALICE, BASE, incomingPayment, spendingToken, testLedger, testWallet, usd } from '../support/test-wallet.ts'
import { useDatabases } from './postgres-databases.ts'

const { newSchema, openPool, run } = useDatabases()

/** What the application does with the pool that it shares, and forgets to end. */
async function leaveOpen(pool: Pool, ...statements: readonly string[]): Promise<void> {
  const client = await pool.connect()
  for (const text of statements) await client.query(text).catch(() => undefined)
  client.release()
}

it.each([
  ['open', ['BEGIN']],
  ['open and failed', ['BEGIN', 'SELECT 1 / 0']],
  ['open, with what it saw long ago', ['BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT * FROM op_replay_claim']],
])('a transaction that the application left %s takes no commit and no read', async (_name, statements) => {
  const schema = await newSchema()
  const pool = openPool(schema, {}, { max: 2 })
  const storage = await postgresStorage(pool)
  await leaveOpen(pool, ...statements)
  await leaveOpen(pool, ...statements)
  await mustCommit(storage, insertClaim('a'))
  expect(await run(schema, 'SELECT id FROM op_replay_claim')).toEqual([{ id: 'a' }])
  await leaveOpen(pool, ...statements)
  await run(schema, 'UPDATE op_replay_claim SET version = 2')
  expect(await storage.get([claim('a')])).toMatchObject([{ version: 2 }])
})

it('transactions that the application left open on all connections of the pool take no commit', async () => {
  const schema = await newSchema()
  const pool = openPool(schema, {}, { max: 3 })
  const storage = await postgresStorage(pool)
  const clients = await Promise.all([pool.connect(), pool.connect(), pool.connect()])
  for (const client of clients) {
    await client.query('BEGIN')
    client.release()
  }
  await mustCommit(storage, insertClaim('a'))
  expect(await run(schema, 'SELECT id FROM op_replay_claim')).toEqual([{ id: 'a' }])
})

it('a connection is waited for no longer where the one before it was in a transaction that was left open', async () => {
  const pool = openPool(await newSchema(), {}, { max: 1 })
  let taken = 0
  const wrapped: PgPool = {
    connect: (callback) => {
      taken += 1
      if (taken === 1) pool.connect(callback)
    },
  }
  await leaveOpen(pool, 'BEGIN')
  await expect(postgresStorage(wrapped, { answerSeconds: 0.5 })).rejects.toThrow('did not answer within 0.5 s')
  expect(taken).toBe(2)
})

it('a conflict in a transaction that begins once the connection is given back leaves it to nobody', async () => {
  const schema = await newSchema()
  const pool = openPool(schema, {}, { max: 1 })
  const storage = await postgresStorage(pool)
  await mustCommit(storage, insertClaim('a'))
  const client = await pool.connect()
  // Not over before the commit is sent.
  const beginning = client.query('BEGIN; SELECT count(*) FROM generate_series(1, 300000)')
  client.release()
  expect(await storage.commit([insertClaim('a')])).toEqual({ conflicts: [0] })
  await beginning
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

it('a transaction that begins once the connection is given back makes a commit unknown, and undoes it', async () => {
  const schema = await newSchema()
  const pool = openPool(schema, {}, { max: 1 })
  const storage = await postgresStorage(pool)
  const client = await pool.connect()
  const beginning = client.query('BEGIN')
  client.release()
  const commit = storage.commit([insertClaim('a')])
  await expect(commit).rejects.toThrow('a connection of the pool was given back within a transaction')
  await beginning
  expect(await storage.get([claim('a')])).toEqual([undefined])
  await mustCommit(storage, insertClaim('a'))
})

it('no order is paid twice where the application leaves a transaction open, and undoes it later', async () => {
  const schema = await newSchema()
  const pool = openPool(schema, {}, { max: 1 })
  const ledger = testLedger()
  const wallet = await testWallet({ storage: await postgresStorage(pool), ledger })
  const token = await spendingToken(wallet, { debitAmount: usd('15') })
  const { payment } = await incomingPayment(wallet, { incomingAmount: usd('100') })
  const order = async (): Promise<number> => {
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('10') }
    const { status } = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    await wallet.openPayments.drain()
    return status
  }
  await leaveOpen(pool, 'BEGIN')
  expect(await order()).toBe(201)
  await leaveOpen(pool, 'BEGIN', 'ROLLBACK')
  wallet.clock.advance(2000)
  expect(await order()).toBe(403)
  expect(await run(schema, 'SELECT state FROM op_outgoing_payment')).toHaveLength(1)
})
