import { readFile } from 'node:fs/promises'
import type { Ledger } from 'open-payments-server'
import type { LedgerUnderTest } from 'open-payments-server/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postgresLedger, postgresLedgerSchema } from '../../examples/postgres-ledger.ts'
import { type Settings, unheardErrors, useDatabases } from '../storage/postgres-databases.ts'
import { type PostgresProxy, startEndingServer, startProxy } from '../storage/postgres-proxy.ts'
import { postgresWallet } from './ledger-wallets.ts'

const { newSchema, openPool, run, whileLocked } = useDatabases()

let proxy: PostgresProxy
beforeAll(async () => {
  proxy = await startProxy()
})
afterAll(() => proxy.close())

const USD = { assetCode: 'USD', assetScale: 2 }
const usd = (value: bigint) => ({ value, ...USD })
const counterparty = { kind: 'local', account: 'bob', incomingPayment: 'incoming' } as const
const hold = { id: 'a'.repeat(32), account: 'alice', amount: usd(400n), counterparty }
const credit = { id: 'b'.repeat(32), account: 'bob', amount: usd(300n), counterparty }
const settlement = { id: hold.id, amount: usd(310n), fee: usd(10n) }

/** Alice with 1000 and Bob with 500, on tables of their own. */
async function openWallet(
  settings: Settings = {},
  more: { readonly host?: string; readonly port?: number } = {},
): Promise<LedgerUnderTest & { readonly schema: string; readonly ledger: Ledger }> {
  const schema = await newSchema()
  await run(schema, postgresLedgerSchema)
  const wallet = postgresWallet(openPool(schema), postgresLedger(openPool(schema, settings, { max: 2, ...more })))
  await wallet.openAccount('alice', USD, 1000n)
  await wallet.openAccount('bob', USD, 500n)
  return { ...wallet, schema }
}

const MAIN = new URL('../../examples/users-in-postgres/main.ts', import.meta.url)
const LOCK_ALICE = `SELECT FROM account WHERE id = 'alice' FOR UPDATE`

it('loses nothing but the call when its connection is lost in the middle of a transaction', async () => {
  const wallet = await openWallet()
  const { schema, ledger } = wallet
  const end = (_client: unknown, waiting: number) => run(schema, `SELECT pg_terminate_backend(${waiting})`)
  await expect(whileLocked(schema, LOCK_ALICE, () => ledger.hold(hold), end)).rejects.toThrow()
  expect(await wallet.available('alice')).toBe(1000n)
  expect(await run(schema, 'SELECT FROM transfer')).toEqual([])
  expect(await ledger.hold(hold)).toEqual({ ok: true })
  expect(await wallet.available('alice')).toBe(600n)
})

it('writes again once its database can be written to again', async () => {
  const schema = await newSchema()
  await run(schema, postgresLedgerSchema)
  const pool = openPool(schema, {}, { max: 1 })
  const wallet = postgresWallet(openPool(schema), postgresLedger(pool))
  await wallet.openAccount('alice', USD, 1000n)
  // As a connection is that was made while the whole database could only be read.
  await pool.query('SET default_transaction_read_only = on')
  await expect(wallet.ledger.hold(hold)).rejects.toThrow('read-only')
  expect(await wallet.ledger.hold(hold)).toEqual({ ok: true })
})

it('settles what is held also where the wallet has taken the balance back, if its table allows that', async () => {
  const { schema, ledger, available } = await openWallet()
  await ledger.hold(hold)
  const takeBack = `UPDATE account SET balance = balance - 900 WHERE id = 'alice'`
  await expect(run(schema, takeBack)).rejects.toThrow('account_check')
  const allow = 'ALTER TABLE account DROP CONSTRAINT account_check, ADD CHECK (held >= 0)'
  await run(schema, `${allow}; ${takeBack}`)
  expect(await ledger.hold({ ...hold, id: 'c' })).toEqual({ ok: false, reason: 'insufficient_funds' })
  expect(await ledger.settle(settlement)).toEqual({ ok: true })
  expect(await available('alice')).toBe(1000n - 900n - 310n)
})

it('loses nothing but the call when its connection is ended just as it is handed out', async () => {
  const server = await startEndingServer()
  try {
    const pool = openPool('none', {}, { host: server.host, port: server.port })
    const unheard = unheardErrors(pool)
    await expect(postgresLedger(pool).hold(hold)).rejects.toThrow('not queryable')
    expect(unheard).toEqual([])
  } finally {
    await server.close()
  }
})

it('rejects a call whose commit was not answered, and answers it when it comes again, with one effect', async () => {
  const wallet = await openWallet({}, { host: proxy.host, port: proxy.port })
  const { ledger } = wallet
  const loseReply = async (call: () => ReturnType<Ledger['hold']>): Promise<void> => {
    proxy.loseNextReply()
    await expect(call()).rejects.toThrow()
    expect(await call()).toEqual({ ok: true })
  }
  await loseReply(() => ledger.hold(hold))
  await loseReply(() => ledger.credit(credit))
  await loseReply(() => ledger.settle(settlement))
  expect([await wallet.available('alice'), await wallet.available('bob')]).toEqual([690n, 800n])
  await ledger.hold({ ...hold, id: 'c' })
  await loseReply(() => ledger.release({ id: 'c' }))
  expect([await wallet.available('alice'), await wallet.fees(USD), await wallet.total(USD)]).toEqual([690n, 10n, 1500n])
})

it('runs a transaction again after a serialization failure', async () => {
  const wallet = await openWallet({ default_transaction_isolation: 'serializable' })
  const { schema, ledger } = wallet
  const spend = `UPDATE account SET balance = balance - 700 WHERE id = 'alice'`
  const answer = await whileLocked(schema, spend, () => ledger.hold(hold))
  expect(answer).toEqual({ ok: false, reason: 'insufficient_funds' })
  expect(await wallet.available('alice')).toBe(300n)
})

it('runs a transaction again after a deadlock with the wallet', async () => {
  // The server looks for a deadlock once, so long after a wait began: by then the other side of this one is there.
  const wallet = await openWallet({ deadlock_timeout: '3s' })
  const { schema, ledger } = wallet
  await ledger.hold(hold)
  const answer = await whileLocked(
    schema,
    `SET LOCAL deadlock_timeout = '1min'; ${LOCK_ALICE}`,
    () => ledger.release({ id: hold.id }),
    (client) => client.query('UPDATE transfer SET at = at'),
  )
  expect(answer).toEqual({ ok: true })
  expect(await wallet.available('alice')).toBe(1000n)
})

it('has connections for other accounts while one is locked, with the `lock_timeout` of the example', async () => {
  const { lock = '' } = /lock_timeout: (?<lock>\d+)/.exec(await readFile(MAIN, 'utf8'))?.groups ?? {}
  expect(Number(lock)).toBeGreaterThan(0)
  const { schema, ledger } = await openWallet({ lock_timeout: lock })
  const locking = await openPool(schema).connect()
  await locking.query(`BEGIN; ${LOCK_ALICE}`)
  // Two have the connections of the pool, one waits for the first that is free, and the other account for the second.
  const waiting = ['1', '2', '3'].map((id) => ({ ...hold, id, amount: usd(1n) }))
  const calls = Promise.allSettled(waiting.map((call) => ledger.hold(call)))
  expect(await ledger.hold({ ...hold, id: '4', account: 'bob' })).toEqual({ ok: true })
  await locking.query('COMMIT')
  locking.release()
  expect((await calls).filter(({ status }) => status === 'rejected').length).toBeGreaterThan(1)
  for (const call of waiting) expect(await ledger.hold(call)).toEqual({ ok: true })
})

it('lets nobody else spend what is held', async () => {
  const { schema, ledger } = await openWallet()
  await ledger.hold(hold)
  const spend = run(schema, `UPDATE account SET balance = balance - 601 WHERE id = 'alice'`)
  await expect(spend).rejects.toThrow('violates check constraint')
})

it('writes lines that sum to zero for each transfer, and to what has changed for each account', async () => {
  const { schema, ledger } = await openWallet()
  await ledger.hold(hold)
  await ledger.credit(credit)
  await ledger.settle(settlement)
  await ledger.hold({ ...hold, id: 'c' })
  await ledger.release({ id: 'c' })
  await ledger.credit({ ...credit, id: 'd', account: 'nobody' })
  const lines = await run(
    schema,
    'SELECT transfer, account, amount::int AS amount FROM posting ORDER BY transfer, amount',
  )
  expect(lines).toEqual([
    { transfer: hold.id, account: 'alice', amount: -310 },
    { transfer: hold.id, account: 'fees:USD:2', amount: 10 },
    { transfer: hold.id, account: 'clearing:USD:2', amount: 300 },
    { transfer: credit.id, account: 'clearing:USD:2', amount: -300 },
    { transfer: credit.id, account: 'bob', amount: 300 },
  ])
  const states = await run(schema, 'SELECT id, state, refusal FROM transfer ORDER BY id')
  expect(states).toEqual([
    { id: hold.id, state: 'settled', refusal: null },
    { id: credit.id, state: 'credited', refusal: null },
    { id: 'c', state: 'released', refusal: null },
    { id: 'd', state: 'refused', refusal: 'account_closed' },
  ])
})
