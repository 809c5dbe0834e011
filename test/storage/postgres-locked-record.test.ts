import { expect, it } from 'vitest'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import type { Change } from '../../src/ports/storage.ts'
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
import { useDatabases } from './postgres-databases.ts'

// The claims of a recovery share a statement, which waits for the row that somebody keeps locked: an operator who has not
// ended a transaction, for instance.

const { newSchema, openPool, run } = useDatabases()

/** A wallet whose database ends what waits for long, and what keeps rows of it locked. */
async function world() {
  const schema = await newSchema()
  const storage = await postgresStorage(openPool(schema, { statement_timeout: '1s' }))
  let isAway = true
  const books = testLedger()
  const awayAtFirst = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isAway) throw new Error('away')
    return call()
  }
  const ledger = {
    ...books,
    hold: (hold: Parameters<typeof books.hold>[0]) => awayAtFirst(() => books.hold(hold)),
    credit: (credit: Parameters<typeof books.credit>[0]) => awayAtFirst(() => books.credit(credit)),
  }
  const wallet = await testWallet({ storage, ledger })
  const whileLocked = async (table: string, id: string, act: () => Promise<void>): Promise<void> => {
    const client = await openPool(schema).connect()
    try {
      await client.query('BEGIN')
      await client.query(`UPDATE ${table} SET due_at = due_at WHERE id = $1`, [id])
      await act()
    } finally {
      client.release(true)
    }
  }
  const recover = async (): Promise<number> => {
    isAway = false
    wallet.clock.advance(60_000)
    const count = await wallet.openPayments.recover()
    await wallet.openPayments.drain()
    return count
  }
  return { schema, storage, wallet, whileLocked, recover }
}

it('a payment whose row somebody keeps locked keeps no other from being taken up', async () => {
  const { schema, wallet, whileLocked, recover } = await world()
  const token = await spendingToken(wallet)
  for (let count = 0; count < 5; count++) {
    const { payment } = await incomingPayment(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('10') }
    expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(201)
    await wallet.openPayments.drain()
  }
  const states = async (): Promise<unknown> =>
    run(schema, 'SELECT state, CAST(count(*) AS INTEGER) FROM op_outgoing_payment GROUP BY state ORDER BY state')
  const [locked] = await run(schema, 'SELECT id FROM op_outgoing_payment ORDER BY due_at LIMIT 1 OFFSET 2')
  await whileLocked('op_outgoing_payment', String(locked?.['id']), async () => {
    expect(await recover()).toBe(4)
    expect(await states()).toEqual([
      { state: 'completed', count: 4 },
      { state: 'created', count: 1 },
    ])
    const faults = wallet.events.filter(({ type }) => type === 'fault').slice(-1)
    expect(faults).toMatchObject([
      {
        message: 'a due record could not be claimed',
        cause: { message: `the commit of outgoing-payment ${locked?.['id']} failed` },
      },
    ])
  })
  expect(await recover()).toBe(1)
  expect(await states()).toEqual([{ state: 'completed', count: 5 }])
})

it('money from another wallet whose receipt somebody keeps locked keeps no other from being credited', async () => {
  const { schema, storage, wallet, whileLocked, recover } = await world()
  const ids = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(32))
  for (const id of ids) {
    const { payment } = await incomingPayment(wallet)
    const incomingPaymentId = lastSegment(payment.id)
    await run(schema, `UPDATE op_incoming_payment SET reserved_value = '10' WHERE id = '${incomingPaymentId}'`)
    const paid = { amount: usdAmount(10n), payeeAccount: 'bob', railAccountId: 'ilp:g.peer/USD/2', railAmount: 10n }
    const createdAt = wallet.clock.now()
    const value = { id, incomingPaymentId, state: 'reserved', createdAt, ...paid } as const
    const receipt: Change = { action: 'insert', kind: 'receipt', value, dueAt: createdAt }
    expect(await storage.commit([receipt])).toBe('committed')
  }
  const reserved = (): Promise<unknown> => run(schema, `SELECT id FROM op_receipt WHERE state = 'reserved'`)
  await whileLocked('op_receipt', String(ids[1]), async () => {
    expect(await recover()).toBe(3)
    expect(await reserved()).toEqual([{ id: ids[1] }])
  })
  expect(await recover()).toBe(1)
  expect(await reserved()).toEqual([])
})
