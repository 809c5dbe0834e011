import type { Storage } from 'open-payments-server'
import { postgresStorage } from 'open-payments-server/storage/postgres'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { useDatabases } from '../storage/postgres-databases.ts'
import { gate } from '../support/gate.ts'
import { lastSegment } from '../support/last-segment.ts'
import {
  ALICE,
  BASE,
  incomingPayment,
  spendingToken,
  testLedger,
  testWallet,
  usd,
  usdAmount,
} from '../support/test-wallet.ts'
import { codeBlocksOf } from './markdown.ts'

const { newSchema, openPool, run } = useDatabases()

const [find = ''] = codeBlocksOf('docs/operations.md').flatMap(({ language, code }) =>
  language === 'sql' && code.includes('HAVING') ? [code] : [],
)

type RunSql = (sql: string) => Promise<unknown>

const DATABASES: readonly (readonly [string, () => Promise<readonly [Storage, RunSql]>])[] = [
  [
    'SQLite',
    async () => {
      const handle = await openSqlite(':memory:')
      return [sqliteStorage(handle), async (sql) => handle.prepare(sql.replace(';', '')).all()]
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const schema = await newSchema()
      return [await postgresStorage(openPool(schema)), (sql) => run(schema, sql)]
    },
  ],
]

it.each(DATABASES)(
  'the page on operations finds what differs from its receipts, and nothing else: %s',
  async (_, open) => {
    const [storage, query] = await open()
    const books = testLedger()
    const { open: answer, opened } = gate()
    const credits: string[] = []
    const credit: typeof books.credit = async (call) => {
      credits.push(call.id)
      // The second one is under way while the query runs.
      if (credits.length === 2) await opened
      return books.credit(call)
    }
    const wallet = await testWallet({ storage, ledger: { ...books, credit } })
    const { payment } = await incomingPayment(wallet, { incomingAmount: usd('100') })
    const id = lastSegment(payment.id)
    const token = await spendingToken(wallet)
    const pay = (value: string) =>
      wallet.send('POST', `${BASE}/outgoing-payments`, {
        token,
        json: { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd(value) },
      })
    expect((await pay('30')).status).toBe(201)
    await wallet.openPayments.drain()
    expect((await pay('20')).status).toBe(201)
    // More than there is room for: the rest does not count.
    expect(await wallet.openPayments.incomingPayments.received(id, usdAmount(70n), 'transfer')).toMatchObject({
      accepted: 50n,
    })
    expect(await query(find)).toEqual([])
    for (const [member, damaged, right] of [
      ['received_value', '79', '80'],
      ['reserved_value', '0', '20'],
    ] as const) {
      const set = (value: string) => `UPDATE op_incoming_payment SET ${member} = '${value}', version = version + 1`
      await query(set(damaged))
      expect(await query(find)).toEqual([{ id }])
      await query(set(right))
      expect(await query(find)).toEqual([])
    }
    answer()
    await wallet.openPayments.drain()
    expect(await query(find)).toEqual([])
  },
)
