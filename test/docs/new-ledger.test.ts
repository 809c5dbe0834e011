import { readSqliteBooks, sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { reconcileAll, reconcileDay, tellLedger } from 'open-payments-server/reconciliation'
import { openSqlite } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { keyed } from '../support/keyed.ts'
import {
  ALICE,
  BASE,
  incomingPayment,
  spendingToken,
  type TestWallet,
  testLedger,
  testWallet,
  usd,
} from '../support/test-wallet.ts'
import { sinceMove } from './since-move.ts'

/** Orders a payment of Alice to Bob under a key, waits for its end, and answers its URL. */
async function order(wallet: TestWallet, token: string, incoming: string, key: string): Promise<string> {
  wallet.clock.advance(1000)
  const created = await wallet.send('POST', `${BASE}/outgoing-payments`, {
    token,
    json: { walletAddress: ALICE, incomingPayment: incoming, debitAmount: usd('7') },
    ...keyed(key),
  })
  expect(created.status).toBe(201)
  await wallet.openPayments.drain()
  return created.body.id
}

it('a new ledger that got the balances alone agrees with all that is paid from then on, and must not be told the rest', async () => {
  let ledger = testLedger()
  const wallet = await testWallet({
    ledger: {
      account: async (account) => ledger.account(account),
      hold: async (hold) => ledger.hold(hold),
      credit: async (credit) => ledger.credit(credit),
      settle: async (settlement) => ledger.settle(settlement),
      release: async (release) => ledger.release(release),
    },
  })
  const [token, { payment }] = [await spendingToken(wallet), await incomingPayment(wallet)]
  const paid = await order(wallet, token, payment.id, 'one')

  const handle = await openSqlite(':memory:')
  const newer = sqliteLedger(handle)
  for (const account of ['alice', 'bob']) {
    const balance = (await ledger.balance(account))?.total ?? 0n
    await newer.createAccount({ account, assetCode: 'USD', assetScale: 2, balance })
  }
  ledger = newer
  wallet.clock.advance(1000)
  const at = wallet.clock.now()
  expect(await order(wallet, token, payment.id, 'one')).toBe(paid)
  await order(wallet, token, payment.id, 'two')
  expect(await newer.balance('bob')).toMatchObject({ total: 14n })

  wallet.clock.advance(3_600_000)
  // These books have the time of the machine, and the wallet has that of a test.
  const booked = <T extends object>(one: T) => ({ ...one, at: at + 1 })
  const readBooks = () => {
    const { lines, openHolds } = readSqliteBooks(handle)
    return { lines: lines.map(booked), openHolds: openHolds.map(booked) }
  }
  const amount = { value: '7', assetCode: 'USD', assetScale: 2 }
  const came = { id: '0'.repeat(32), state: 'credited', payeeAccount: 'bob', amount, createdAt: at - 1 } as const
  const readReceived = () => [{ ...came, railAccount: 'ilp:g.other-wallet/USD/2' }]
  const all = { openPayments: wallet.openPayments, walletAddresses: [ALICE], readReceived }
  const night = { ...all, readBooks, clock: wallet.clock }
  const endedAt = at + 1_800_000
  expect((await reconcileDay({ ...sinceMove(night, at), endedAt })).differences).toEqual([])
  expect(await reconcileAll({ ...sinceMove(night, at), isAfterRestore: true })).toEqual([])
  const older = paid.split('/').at(-1)
  expect(await reconcileAll(night)).toEqual([
    `${older}: completed, credit: no`,
    `${older}: completed, settlement: no`,
    `${came.id}: credited, credit: no`,
  ])

  expect(await tellLedger({ ...sinceMove(all, at), ledger: newer })).toEqual([])
  expect(await newer.balance('bob')).toMatchObject({ total: 14n })
  await tellLedger({ ...all, ledger: newer })
  expect(await newer.balance('bob')).toMatchObject({ total: 28n })
  handle.close()
})
