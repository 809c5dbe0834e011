import type { OpenPaymentsEvent } from 'open-payments-server'
import { postgresStorage } from 'open-payments-server/storage/postgres'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { postgresLedger, postgresLedgerSchema } from '../../examples/postgres-ledger.ts'
import { useDatabases } from '../storage/postgres-databases.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, incomingPayment, spendingToken, testLedger, testWallet, usd } from '../support/test-wallet.ts'
import { codeBlocksOf } from './markdown.ts'

const { newSchema, openPool, run } = useDatabases()

const blocks = codeBlocksOf('docs/operations.md').flatMap(({ language, code }) => (language === 'sql' ? [code] : []))

/** Repairs what a clock that was ahead has left. */
const afterwards = blocks.find((sql) => sql.startsWith('UPDATE') && sql.includes('op_event')) ?? ''

/** A payment of 0.07 whose ledger and host are away, until they come back. */
async function stoppedPayment(onEvent: (event: OpenPaymentsEvent, isAway: boolean) => void) {
  const handle = await openSqlite(':memory:')
  const books = testLedger()
  let isAway = true
  const away = () => Promise.reject(new Error('the ledger is away'))
  const wallet = await testWallet({
    storage: sqliteStorage(handle),
    ledger: { ...books, credit: (credit) => (isAway ? away() : books.credit(credit)) },
    onEvent: async (event) => onEvent(event, isAway),
  })
  const { payment } = await incomingPayment(wallet)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('7') }
  const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token: await spendingToken(wallet), json })
  await wallet.openPayments.drain()
  const comeBack = (): void => {
    isAway = false
  }
  return { handle, wallet, payment, created, comeBack }
}

it('the page for the person on call shows what is not over, and hurries it', async () => {
  const [unfinished = '', events = '', receipts = '', outgoing = '', incoming = '', hurry = ''] = blocks
  expect(blocks).toHaveLength(12)
  const { handle, wallet, payment, created, comeBack } = await stoppedPayment((event) => {
    if ('outgoingPayment' in event && 'id' in event) throw new Error('the host is away')
  })
  const id = lastSegment(created.body.id)

  const rowsOf = (sql: string): readonly unknown[] => handle.prepare(sql.replace(';', '')).all()
  expect(rowsOf(unfinished)).toMatchObject([
    { id, state: 'sending', attempts: 1, debit_amount_value: '7', account: 'alice', payee_account: 'bob' },
  ])
  expect(rowsOf(events)).toMatchObject([{ id: `${id}:1` }])
  expect(rowsOf(receipts)).toMatchObject([{ outgoing_payment_id: id, amount_value: '7' }])

  const rowsAbout = (sql: string, about: string): readonly unknown[] =>
    rowsOf(sql.replace(/'(019ca945311f)?0123456789abcdef0123456789abcdef'/, `'${about}'`))
  const incomingId = lastSegment(payment.id)
  const order = { wallet_address: ALICE, account: 'alice', payee_account: 'bob', debit_amount_value: '7', is_listed: 1 }
  expect(rowsAbout(outgoing, id)).toMatchObject([
    { ...order, state: 'sending', attempts: 1, sent_amount_value: '0', incoming_payment_id: incomingId },
  ])
  const receipt = { outgoing_payment_id: id, amount_value: '7', payee_account: null }
  expect(rowsAbout(incoming, incomingId)).toMatchObject([
    { ...receipt, state: 'processing', receipt_state: 'reserved', received_value: '0', reserved_value: '7' },
  ])
  for (const sql of [outgoing, incoming]) expect(rowsAbout(sql, 'f'.repeat(32))).toEqual([])

  comeBack()
  expect(await wallet.openPayments.recover()).toBe(0)
  handle.exec(hurry.replace('0123456789abcdef0123456789abcdef', id))
  expect(await wallet.openPayments.recover()).toBe(1)
  expect([rowsOf(unfinished), rowsOf(receipts)]).toEqual([[], []])
  expect(rowsAbout(outgoing, id)).toMatchObject([
    { ...order, state: 'completed', due_at: null, sent_amount_value: '7' },
  ])

  // What may be under way to another server is not hurried.
  for (const [state, due] of [
    ['sending', 7],
    ['created', 0],
    ['decided', 0],
  ] as const) {
    handle.exec(`UPDATE op_outgoing_payment SET payee_account = NULL, state = '${state}', due_at = 7`)
    handle.exec(hurry.replace('0123456789abcdef0123456789abcdef', id))
    expect(rowsOf('SELECT due_at FROM op_outgoing_payment')).toMatchObject([{ due_at: due }])
  }
  expect(rowsAbout(incoming, incomingId)).toMatchObject([
    { ...receipt, state: 'processing', receipt_state: 'credited', received_value: '7', reserved_value: '0' },
  ])
  expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 7n })
  expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 99_993n, held: 0n })
  handle.close()
})

it('what a process took up whose clock was ahead is due again once the clocks are right', async () => {
  const told: string[] = []
  const { handle, wallet, comeBack } = await stoppedPayment((event, isAway) => {
    if (!('id' in event)) return
    if (isAway) throw new Error('the host is away')
    told.push(event.type)
  })
  const [day, twoHours] = [24 * 3_600_000, 2 * 3_600_000]
  wallet.clock.advance(day)
  expect(await wallet.openPayments.recover()).toBeGreaterThan(0)
  await wallet.openPayments.drain()
  wallet.clock.advance(-day)

  comeBack()
  wallet.clock.advance(twoHours)
  expect(await wallet.openPayments.recover()).toBe(0)
  handle.exec(afterwards.replaceAll('1800000000000', String(wallet.clock.now() + twoHours)))
  expect(await wallet.openPayments.recover()).toBeGreaterThan(0)
  await wallet.openPayments.drain()
  expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 7n })
  expect(told).toEqual(expect.arrayContaining(['incoming_payment.created', 'outgoing_payment.completed']))
  handle.close()
})

it('a quote of a process whose clock was ahead keeps its price as long, unless a person ends it', async () => {
  const handle = await openSqlite(':memory:')
  let rate = '1'
  const wallet = await testWallet({ storage: sqliteStorage(handle), pricing: { price: async () => ({ rate }) } })
  const [day, hour] = [24 * 3_600_000, 3_600_000]
  const { payment } = await incomingPayment(wallet)
  wallet.clock.advance(day)
  const token = await spendingToken(wallet)
  const quote = async (): Promise<string> => {
    const json = { walletAddress: ALICE, receiver: payment.id, method: 'ilp', debitAmount: usd('10') }
    return (await wallet.send('POST', `${BASE}/quotes`, { token, json })).body.id
  }
  const order = (quoteId: string) =>
    wallet.send('POST', `${BASE}/outgoing-payments`, { token, json: { walletAddress: ALICE, quoteId } })
  const [early, late] = [await quote(), await quote()]
  wallet.clock.advance(-day)

  rate = '0.5'
  wallet.clock.advance(hour)
  await wallet.openPayments.sweep()
  const ordered = await order(early)
  expect(ordered.status).toBe(201)
  await wallet.openPayments.drain()
  expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 10n })

  handle.exec(afterwards.replaceAll('1800000000000', String(wallet.clock.now() + 2 * hour)))
  await wallet.openPayments.sweep()
  expect(await order(late)).toMatchObject({ status: 400, body: { error: { code: 'invalid_quote' } } })
  expect(await order(await quote())).toMatchObject({ status: 201 })
  await wallet.openPayments.drain()
  expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 15n })
  expect(await wallet.send('GET', ordered.body.id, { token })).toMatchObject({ status: 200, body: { quoteId: early } })
  handle.close()
})

it('one statement stops a payment while the wallet runs, unless its payee is paid', async () => {
  const schema = await newSchema()
  await run(schema, postgresLedgerSchema)
  await run(schema, `INSERT INTO account VALUES ('alice', 'USD', 2, 1000), ('bob', 'USD', 2, 0)`)
  const books = postgresLedger(openPool(schema))
  let isAway = false
  const away = () => Promise.reject(new Error('the ledger is away'))
  const wallet = await testWallet({
    storage: await postgresStorage(openPool(schema)),
    ledger: { ...books, credit: (credit) => (isAway ? away() : books.credit(credit)) },
  })
  const token = await spendingToken(wallet)
  const order = async (): Promise<string> => {
    const { payment } = await incomingPayment(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('7') }
    const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    await wallet.openPayments.drain()
    return lastSegment(created.body.id)
  }
  const statement = (start: string) => blocks.find((sql) => sql.startsWith(start)) ?? ''
  const doTo = (id: string, start: string) =>
    run(schema, statement(start).replace('0123456789abcdef0123456789abcdef', id))

  const paid = await order()
  isAway = true
  const stalled = await order()
  expect(await doTo(paid, 'INSERT INTO transfer')).toEqual([])
  expect(await doTo(stalled, 'INSERT INTO transfer')).toHaveLength(1)
  expect(await doTo(stalled, 'INSERT INTO transfer')).toEqual([])
  isAway = false
  await doTo(stalled, 'UPDATE op_outgoing_payment SET due_at = 0\nWHERE id')
  expect(await wallet.openPayments.recover()).toBe(1)
  await wallet.openPayments.drain()

  const states = await run(schema, 'SELECT id, state, decision_reason FROM op_outgoing_payment ORDER BY created_at')
  expect(states).toEqual(
    expect.arrayContaining([
      { id: paid, state: 'completed', decision_reason: null },
      { id: stalled, state: 'failed', decision_reason: 'not_allowed' },
    ]),
  )
  const balances = await run(schema, 'SELECT id, balance::int, held::int FROM account ORDER BY id')
  expect(balances).toEqual([
    { id: 'alice', balance: 993, held: 0 },
    { id: 'bob', balance: 7, held: 0 },
  ])
})
