import { readSqliteBooks, sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { type ClosedDay, reconcileDay } from 'open-payments-server/reconciliation'
import { openSqlite } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { ALICE, BASE, BOB, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'

const DAY = 86_400_000

/** A wallet of which the payments of some wallet addresses cannot be read, and whose days are closed one by one. */
async function openWorld() {
  const handle = await openSqlite(':memory:')
  const ledger = sqliteLedger(handle)
  await ledger.createAccount({ account: 'alice', assetCode: 'USD', assetScale: 2, balance: 100_000n })
  await ledger.createAccount({ account: 'bob', assetCode: 'USD', assetScale: 2 })
  const wallet = await testWallet({ ledger, settings: { lifetimes: { accessTokenSeconds: 1e7 } } })
  const { openPayments, clock } = wallet
  const { payment } = await incomingPayment(wallet)
  const token = await spendingToken(wallet)
  const damaged = new Set<string>()
  let orders = 0
  return {
    handle,
    damaged,
    pay: async () => {
      const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('1000'), metadata: { orders } }
      orders += 1
      expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(201)
      await openPayments.drain()
      // The ledger writes the time of the wall. In this world what was booked just now was booked now.
      for (const table of ['ledger_entry', 'ledger_transfer'])
        handle.exec(`UPDATE ${table} SET created_at = ${clock.now()} WHERE created_at > ${clock.now()}`)
      for await (const { id, creditId = '' } of openPayments.audit(ALICE)) return { id, creditId }
      throw new Error('there is no payment')
    },
    /** Closes the day that has just ended. */
    nextDay: (closed?: ClosedDay) => {
      const endedAt = clock.now() + 1
      clock.advance(DAY)
      return reconcileDay({
        openPayments: {
          audit: async function* (address) {
            if (damaged.has(address)) throw new Error('the row is damaged')
            yield* openPayments.audit(address)
          },
        },
        walletAddresses: [BOB, ALICE],
        readBooks: () => readSqliteBooks(handle),
        closed,
        endedAt,
        clock,
      })
    },
  }
}

it('a payer who cannot be read hides no other, and keeps the day open until all can be read', async () => {
  const { handle, damaged, pay, nextDay } = await openWorld()
  const over = await pay()
  const first = await nextDay()
  expect(first.differences).toEqual([])

  const lost = await pay()
  handle.exec(`DELETE FROM ledger_entry WHERE transfer = '${lost.creditId}'`)
  damaged.add(BOB)
  const found = `${lost.id}: completed, credit: no`
  const second = await nextDay(first.closed)
  expect(second).toEqual({ differences: [`${BOB}: cannot be read: the row is damaged`, found], closed: first.closed })

  damaged.clear()
  damaged.add(ALICE)
  const third = await nextDay(second.closed)
  expect(third).toEqual({
    differences: [`${ALICE}: cannot be read: the row is damaged`, `${lost.id}: held or booked for no payment`],
    closed: first.closed,
  })

  // The next night compares those days, too, and of what was closed before it reads nothing.
  damaged.clear()
  handle.exec(`DELETE FROM ledger_entry WHERE transfer IN ('${over.id}', '${over.creditId}')`)
  const fourth = await nextDay(third.closed)
  expect(fourth.differences).toEqual([found])
  expect(fourth.closed.at).toBeGreaterThan(first.closed.at + 2 * DAY)
  expect((await nextDay(fourth.closed)).differences).toEqual([])
})
