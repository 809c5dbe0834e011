import { readFileSync } from 'node:fs'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { ALICE, BASE, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql.trim())

it('the page for the person on call shows what is not over, and hurries it', async () => {
  const [unfinished = '', events = '', receipts = '', outgoing = '', incoming = '', hurry = ''] = blocks
  expect(blocks).toHaveLength(9)
  const handle = await openSqlite(':memory:')
  const books = memoryLedger({
    accounts: [
      { account: 'alice', assetCode: 'USD', assetScale: 2, balance: 100n },
      { account: 'bob', assetCode: 'USD', assetScale: 2 },
    ],
  })
  let isAway = true
  const away = async (): Promise<never> => {
    throw new Error('the ledger is away')
  }
  const wallet = await testWallet({
    storage: sqliteStorage(handle),
    ledger: { ...books, credit: (credit) => (isAway ? away() : books.credit(credit)) },
    onEvent: async (event) => {
      if ('outgoingPayment' in event && 'id' in event) throw new Error('the host is away')
    },
  })
  const { payment } = await incomingPayment(wallet)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('7') }
  const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token: await spendingToken(wallet), json })
  await wallet.openPayments.drain()
  const id = created.body.id.split('/').at(-1) ?? ''

  const rowsOf = (sql: string): readonly unknown[] => handle.prepare(sql.replace(';', '')).all()
  expect(rowsOf(unfinished)).toMatchObject([
    { id, state: 'sending', attempts: 1, debit_amount_value: '7', account: 'alice', payee_account: 'bob' },
  ])
  expect(rowsOf(events)).toMatchObject([{ id: `${id}:1` }])
  expect(rowsOf(receipts)).toMatchObject([{ outgoing_payment_id: id, amount_value: '7' }])

  const rowsAbout = (sql: string, about: string): readonly unknown[] =>
    rowsOf(sql.replace('0123456789abcdef0123456789abcdef', about))
  const incomingId = payment.id.split('/').at(-1) ?? ''
  const order = { wallet_address: ALICE, account: 'alice', payee_account: 'bob', debit_amount_value: '7', is_listed: 1 }
  expect(rowsAbout(outgoing, id)).toMatchObject([
    { ...order, state: 'sending', attempts: 1, sent_amount_value: '0', incoming_payment_id: incomingId },
  ])
  const receipt = { outgoing_payment_id: id, amount_value: '7', payee_account: null }
  expect(rowsAbout(incoming, incomingId)).toMatchObject([
    { ...receipt, state: 'processing', receipt_state: 'reserved', received_value: '0', reserved_value: '7' },
  ])
  for (const sql of [outgoing, incoming]) expect(rowsAbout(sql, 'f'.repeat(32))).toEqual([])

  isAway = false
  expect(await wallet.openPayments.recover()).toBe(0)
  handle.exec(hurry.replace('0123456789abcdef0123456789abcdef', id))
  expect(await wallet.openPayments.recover()).toBe(1)
  expect([rowsOf(unfinished), rowsOf(receipts)]).toEqual([[], []])
  expect(rowsAbout(outgoing, id)).toMatchObject([
    { ...order, state: 'completed', due_at: null, sent_amount_value: '7' },
  ])
  expect(rowsAbout(incoming, incomingId)).toMatchObject([
    { ...receipt, state: 'processing', receipt_state: 'credited', received_value: '7', reserved_value: '0' },
  ])
  expect(await books.balance('bob')).toMatchObject({ total: 7n })
  expect(await books.balance('alice')).toMatchObject({ total: 93n, held: 0n })
  handle.close()
})

it('what a process took up whose clock was ahead is due again once the clocks are right', async () => {
  const afterwards = blocks.find((sql) => sql.startsWith('UPDATE') && sql.includes('op_event')) ?? ''
  const handle = await openSqlite(':memory:')
  const books = memoryLedger({
    accounts: [
      { account: 'alice', assetCode: 'USD', assetScale: 2, balance: 100n },
      { account: 'bob', assetCode: 'USD', assetScale: 2 },
    ],
  })
  let isAway = true
  const told: string[] = []
  const wallet = await testWallet({
    storage: sqliteStorage(handle),
    ledger: { ...books, credit: async (credit) => (isAway ? Promise.reject(new Error('away')) : books.credit(credit)) },
    onEvent: async (event) => {
      if (!('id' in event)) return
      if (isAway) throw new Error('the host is away')
      told.push(event.type)
    },
  })
  const { payment } = await incomingPayment(wallet)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('7') }
  await wallet.send('POST', `${BASE}/outgoing-payments`, { token: await spendingToken(wallet), json })
  await wallet.openPayments.drain()
  const [day, twoHours] = [24 * 3_600_000, 2 * 3_600_000]
  wallet.clock.advance(day)
  expect(await wallet.openPayments.recover()).toBeGreaterThan(0)
  await wallet.openPayments.drain()
  wallet.clock.advance(-day)

  isAway = false
  wallet.clock.advance(twoHours)
  expect(await wallet.openPayments.recover()).toBe(0)
  handle.exec(afterwards.replaceAll('1800000000000', String(wallet.clock.now() + twoHours)))
  expect(await wallet.openPayments.recover()).toBeGreaterThan(0)
  await wallet.openPayments.drain()
  expect(await books.balance('bob')).toMatchObject({ total: 7n })
  expect(told).toEqual(expect.arrayContaining(['incoming_payment.created', 'outgoing_payment.completed']))
  handle.close()
})
