import { readSqliteBooks, sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { reconcileAll } from 'open-payments-server/reconciliation'
import { openSqlite } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { ALICE, BOB, testWallet } from '../support/test-wallet.ts'
import { payTenDollars } from './one-day.ts'

const MINUTE = 60_000

it('reconciles with the ledger in SQLite, and finds a missing credit and a hold of no payment', async () => {
  const handle = await openSqlite(':memory:')
  const ledger = sqliteLedger(handle)
  await ledger.createAccount({ account: 'alice', assetCode: 'USD', assetScale: 2, balance: 100_000n })
  await ledger.createAccount({ account: 'bob', assetCode: 'USD', assetScale: 2, balance: 5n })
  const wallet = await testWallet({ ledger })
  const { openPayments, clock } = wallet
  await payTenDollars(wallet)
  await ledger.hold({
    id: 'f'.repeat(32),
    account: 'alice',
    amount: { value: 1n, assetCode: 'USD', assetScale: 2 },
    counterparty: { kind: 'rail', method: 'a rail of its own', address: 'elsewhere' },
  })
  expect(readSqliteBooks(handle).openHolds[0]?.at).toBeGreaterThan(Date.parse('2026-03-01'))
  // The ledger writes the time of the wall. In this world what was booked was booked now.
  for (const table of ['ledger_entry', 'ledger_transfer']) {
    handle.exec(`UPDATE ${table} SET created_at = ${clock.now()}`)
  }
  const reconcileNow = () =>
    reconcileAll({
      openPayments,
      walletAddresses: [ALICE, BOB],
      readBooks: () => readSqliteBooks(handle),
      clock,
    })
  clock.advance(14 * MINUTE)
  expect(await reconcileNow()).toEqual([])
  clock.advance(MINUTE)
  const orphan = `${'f'.repeat(32)}: held or booked for no payment`
  expect(await reconcileNow()).toEqual([orphan])
  for await (const { id, creditId } of openPayments.audit(ALICE)) {
    handle.exec(`DELETE FROM ledger_entry WHERE transfer = '${creditId}'`)
    expect(await reconcileNow()).toEqual([orphan, `${id}: completed, credit: no`])
  }
})

it('a line whose time is no integer is named by the cell that holds it', async () => {
  const handle = await openSqlite(':memory:')
  const ledger = sqliteLedger(handle)
  await ledger.createAccount({ account: 'alice', assetCode: 'USD', assetScale: 2, balance: 0n })
  await ledger.credit({
    id: 'f'.repeat(32),
    account: 'alice',
    amount: { value: 1n, assetCode: 'USD', assetScale: 2 },
    counterparty: { kind: 'rail', method: 'a rail of its own', address: 'elsewhere' },
  })
  handle.exec("UPDATE ledger_entry SET created_at = 'yesterday'")
  expect(() => readSqliteBooks(handle)).toThrow('cell 3 holds no integer')
})
