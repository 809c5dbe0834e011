import { postgresStorage } from 'open-payments-server/storage/postgres'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { useDatabases } from '../storage/postgres-databases.ts'
import { ALICE, BASE, incomingPayment, spendingToken, testLedger, testWallet, usd } from '../support/test-wallet.ts'
import { copyStorage } from './copy-storage.ts'

const { newSchema, openPool, run } = useDatabases()

/** The largest time of a record: what a restore makes wait is due then. */
const LATEST = 9_000_000_000_000_000

it('a storage that was copied from SQLite to PostgreSQL has every record, and goes on where the other stopped', async () => {
  const handle = await openSqlite(':memory:')
  const ledger = testLedger()
  let isAway = false
  const before = await testWallet({
    storage: sqliteStorage(handle),
    ledger: {
      ...ledger,
      credit: async (credit) => (isAway ? Promise.reject(new Error('away')) : ledger.credit(credit)),
    },
  })
  const { payment, token: receiving } = await incomingPayment(before, {
    walletAddress: ALICE,
    metadata: { note: 'ž 😀 \\ "' },
  })
  const token = await spendingToken(before)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('7') }
  for (isAway of [false, true]) {
    before.clock.advance(1000)
    expect((await before.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(201)
    await before.openPayments.drain()
  }
  handle.exec(`UPDATE op_replay_claim SET due_at = ${LATEST}`)
  // More rows than are read at once.
  handle.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
    INSERT INTO op_replay_claim (id, expires_at, due_at, schema_version, version) SELECT 'copy' || i, ${LATEST}, NULL, 1, i FROM n`)

  const schema = await newSchema()
  const pool = openPool(schema)
  const storage = await postgresStorage(pool)
  await copyStorage(handle, pool)
  const tables = await run(
    schema,
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = '${schema}'::regnamespace`,
  )
  expect(tables.length).toBeGreaterThan(10)
  for (const { name } of tables.filter((table) => table['name'] !== 'op_meta')) {
    const copied = await run(schema, `SELECT * FROM ${name} ORDER BY id COLLATE "C"`)
    const original = handle.prepare(`SELECT * FROM ${name} ORDER BY id`).all()
    const asText = (row: unknown) =>
      Object.fromEntries(Object.entries(Object(row)).map(([key, cell]) => [key, cell === null ? null : String(cell)]))
    expect(copied.map(asText), String(name)).toEqual(original.map(asText))
  }

  const after = await testWallet({ storage, ledger })
  after.clock.advance(3_600_000)
  for (const [url, wallet] of before.directory) after.directory.set(url, wallet)
  expect(await after.openPayments.recover()).toBe(1)
  await after.openPayments.drain()
  const as = before.client
  expect(await after.openPayments.grants.list(ALICE)).toHaveLength(1)
  expect((await after.send('GET', payment.id, { as, token: receiving })).status).toBe(401) // expired, not unknown
  const found = await run(schema, 'SELECT state, count(*)::int FROM op_outgoing_payment GROUP BY state')
  expect(found).toEqual([{ state: 'completed', count: 2 }])
  expect(await ledger.balance('alice')).toMatchObject({ held: 0n })
  handle.close()
})
