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

const blocks = codeBlocksOf('docs/operations.md').flatMap(({ language, code }) => (language === 'sql' ? [code] : []))
const find = blocks.find((sql) => sql.includes('HAVING')) ?? ''
const decide = blocks.find((sql) => sql.includes("SET state = 'decided'")) ?? ''

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
      ['received_value', '80abc', '80'],
      ['reserved_value', '0', '20'],
      ['reserved_value', '', '20'],
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

it.each(DATABASES.flatMap(([name, open]) => [true, false].map((isCredited) => ({ name, open, isCredited }))))(
  'the page on operations goes on with a payment that is behind its receipt: $name, credited: $isCredited',
  async ({ open, isCredited }) => {
    const [storage, query] = await open()
    const books = testLedger()
    let isAway = true
    const away = <T>(call: () => Promise<T>): Promise<T> => (isAway ? Promise.reject(new Error('away')) : call())
    const ledger: typeof books = {
      ...books,
      settle: (settlement) => away(() => books.settle(settlement)),
      release: (release) => away(() => books.release(release)),
    }
    const wallet = await testWallet({ storage, ledger })
    const { openPayments, clock, events } = wallet
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    if (!isCredited) await books.setPermissions('bob', { canSend: true, canReceive: false })
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('30') }
    const { body } = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    const recoverLater = async (): Promise<void> => {
      clock.advance(3_600_000)
      await openPayments.recover()
      await openPayments.drain()
    }
    await openPayments.drain()
    // As it was in the backup that somebody has put back.
    await query(`UPDATE op_outgoing_payment SET state = 'sending', decision_action = NULL, decision_amount = NULL,
    decision_fee = NULL, decision_reason = NULL, due_at = 0, version = version + 1`)
    await recoverLater()
    expect(events.filter(({ type }) => type === 'fault').at(-1)).toMatchObject({
      cause: { message: 'the payment is older than its receipt, which has ended' },
    })
    await query(decide.replace('0123456789abcdef0123456789abcdef', lastSegment(body.id)))
    isAway = false
    await recoverLater()
    expect((await wallet.send('GET', body.id, { token: await spendingToken(wallet) })).body).toMatchObject({
      failed: !isCredited,
      sentAmount: usd(isCredited ? '30' : '0'),
    })
    expect(events.filter(({ type }) => type.startsWith('outgoing_payment.')).at(-1)?.type).toBe(
      isCredited ? 'outgoing_payment.completed' : 'outgoing_payment.failed',
    )
    expect(await books.balance('alice')).toMatchObject({ total: isCredited ? 99_970n : 100_000n, held: 0n })
  },
)

it.each(DATABASES)(
  'the page on operations lets a damaged token be deleted, with which audits fail: %s',
  async (_, open) => {
    const [storage, query] = await open()
    const wallet = await testWallet({ storage })
    const { openPayments, clock } = wallet
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const order = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('30') }
    const pay = (value: string) => wallet.send('POST', `${BASE}/outgoing-payments`, { token: value, json: order })
    expect((await pay(token)).status).toBe(201)
    await openPayments.drain()
    const audited = async (): Promise<readonly unknown[]> => {
      const payments: unknown[] = []
      for await (const one of openPayments.audit(ALICE)) payments.push(one.signedRequest.signatureBase)
      return payments
    }
    const ofAlice = `wallet_address = '${ALICE}'`
    await query(`UPDATE op_outgoing_payment SET rail = '{}'`)
    await expect(audited()).rejects.toThrow(/^the payment [0-9a-f]{32} cannot be audited$/)
    await query('UPDATE op_outgoing_payment SET rail = NULL')
    await query(`UPDATE op_access_token SET access = '[' WHERE ${ofAlice}`)
    await expect(audited()).rejects.toThrow('the storage could not be read')
    expect((await pay(token)).status).toBe(503)

    await query(`DELETE FROM op_access_token WHERE ${ofAlice}`)
    expect(await audited()).toEqual([expect.stringContaining('"authorization"')])
    expect((await pay(token)).status).toBe(401)
    const [grant] = await openPayments.grants.list(ALICE)
    expect(await openPayments.grants.revoke(ALICE, grant?.id ?? '')).toBe(true)

    clock.advance(1000)
    expect((await pay(await spendingToken(wallet))).status).toBe(201)
    await openPayments.drain()
    expect(await audited()).toHaveLength(2)
  },
)
