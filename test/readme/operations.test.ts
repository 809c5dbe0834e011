import { readFileSync } from 'node:fs'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { ALICE, BASE, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql.trim())

it('the page for the person on call shows what is not over, and hurries it', async () => {
  const [unfinished = '', events = '', receipts = '', hurry = ''] = blocks
  expect(blocks).toHaveLength(4)
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

  isAway = false
  expect(await wallet.openPayments.recover()).toBe(0)
  handle.exec(hurry.replace('0123456789abcdef0123456789abcdef', id))
  expect(await wallet.openPayments.recover()).toBe(1)
  expect([rowsOf(unfinished), rowsOf(receipts)]).toEqual([[], []])
  expect(await books.balance('bob')).toMatchObject({ total: 7n })
  expect(await books.balance('alice')).toMatchObject({ total: 93n, held: 0n })
  handle.close()
})
