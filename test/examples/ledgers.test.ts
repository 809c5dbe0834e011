import { readFileSync } from 'node:fs'
import type { Ledger } from 'open-payments-server'
import { inTurns, type LedgerUnderTest, ledgerContract } from 'open-payments-server/testing'
import type { Pool } from 'pg'
import { describe, expect, it } from 'vitest'
import { postgresLedger, postgresLedgerSchema } from '../../examples/postgres-ledger.ts'
import { type Settings, useDatabases } from '../storage/postgres-databases.ts'
import { nextFailure } from '../support/next-failure.ts'
import { ALICE, BASE, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'
import { failCommits, postgresWallet, tigerBeetleWallet } from './ledger-wallets.ts'
import { fakeTigerBeetle } from './tigerbeetle-fake.ts'

const databases = useDatabases()

/** Makes wallets on the same tables, which are empty again for each; every process has a pool, with settings of its own. */
function onPostgres(...processes: readonly Settings[]): () => Promise<LedgerUnderTest> {
  let opened: readonly Pool[] | undefined
  const failure = nextFailure()
  const open = async (): Promise<readonly Pool[]> => {
    const schema = await databases.newSchema()
    await databases.run(schema, postgresLedgerSchema)
    return processes.map((settings) => {
      const pool = databases.openPool(schema, settings, { max: 6 })
      failCommits(pool, failure)
      return pool
    })
  }
  return async () => {
    opened ??= await open()
    const [pool] = opened
    if (pool === undefined) throw new TypeError('a wallet without a process')
    await pool.query('TRUNCATE account, transfer, posting')
    return { ...postgresWallet(pool, inTurns(opened.map(postgresLedger))), failNext: failure.failNext }
  }
}

/** Requests and answers arrive in an order that a seed decides. */
function shuffledTurns(seed: number): () => Promise<void> {
  let state = seed
  return async () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    for (let waited = state % 7; waited > 0; waited--) await undefined
  }
}

async function onTigerBeetle(seed: number): Promise<LedgerUnderTest> {
  const cluster = fakeTigerBeetle(shuffledTurns(seed))
  return tigerBeetleWallet([cluster.connect(), cluster.connect(), cluster.connect()])
}

const LEDGERS: Readonly<Record<string, () => Promise<LedgerUnderTest>>> = {
  'PostgreSQL, two processes, one of them serializable': onPostgres(
    {},
    { default_transaction_isolation: 'serializable' },
  ),
  'TigerBeetle, one process': async () => tigerBeetleWallet([fakeTigerBeetle().connect()]),
  'TigerBeetle, three processes': () => onTigerBeetle(1),
}

describe.each(Object.entries(LEDGERS))('the ledger contract on %s', (_name, makeLedger) => {
  it.each(ledgerContract().map((contractCase) => [contractCase.name, contractCase] as const))('%s', (_case, { run }) =>
    expect(run(makeLedger)).resolves.toBeUndefined(),
  )
})

it.each(Object.entries(LEDGERS))(
  'a fee in another asset than its amount is a conflict on %s',
  async (_name, makeLedger) => {
    const { ledger, openAccount, available } = await makeLedger()
    await openAccount('alice', usd('0'), 1000n)
    const amount = { ...usd('0'), value: 400n }
    const id = 'a'.repeat(32)
    await ledger.hold({ id, account: 'alice', amount, counterparty: { kind: 'rail', method: 'ilp', address: 'g.bob' } })
    for (const other of [{ assetCode: 'EUR' }, { assetScale: 4 }]) {
      const fee = { ...amount, value: 10n, ...other }
      expect(await ledger.settle({ id, amount, fee })).toEqual({ ok: false, reason: 'conflict' })
    }
    expect(await available('alice')).toBe(600n)
  },
)

describe.each(Object.entries(LEDGERS))('a server on %s', (_name, makeLedger) => {
  const open = async () => {
    const books = await makeLedger()
    await books.openAccount('alice', usd('0'), 1000n)
    await books.openAccount('bob', usd('0'), 0n)
    let closesWhenHeld = false
    const hold: Ledger['hold'] = async (one) => {
      const answer = await books.ledger.hold(one)
      if (closesWhenHeld) await books.setClosed('bob', true)
      return answer
    }
    const wallet = await testWallet({
      ledger: { ...books.ledger, hold },
      pricing: { price: async () => ({ rate: '1', fee: { fixed: 5n } }) },
    })
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const pay = async (value: string, order = 0) => {
      const metadata = { order } // so that no two orders are the same request
      const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd(value), metadata }
      const answer = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
      await wallet.openPayments.drain()
      return answer
    }
    const read = async (url: string) => (await wallet.send('GET', url, { token })).body
    const balances = async () => [
      await books.available('alice'),
      await books.available('bob'),
      await books.fees(usd('0')),
      await books.total(usd('0')),
    ]
    const closeWhenHeld = () => {
      closesWhenHeld = true
    }
    return { closeWhenHeld, pay, read, balances }
  }

  it('pays, keeps its fee, refuses what is not there, and gives back what cannot be delivered', async () => {
    const { closeWhenHeld, pay, read, balances } = await open()
    const paid = await pay('100')
    expect(await read(paid.body.id)).toMatchObject({ failed: false, sentAmount: usd('100'), receiveAmount: usd('95') })
    expect(await balances()).toEqual([900n, 95n, 5n, 1000n])
    expect((await pay('901')).status).toBe(403)
    closeWhenHeld()
    const undelivered = await pay('100', 1)
    expect(await read(undelivered.body.id)).toMatchObject({ failed: true, sentAmount: usd('0') })
    expect(await balances()).toEqual([900n, 95n, 5n, 1000n])
  })

  it('lets ten of twelve pay at the same time where there is money for ten', async () => {
    const { pay, balances } = await open()
    const answers = await Promise.all(Array.from({ length: 12 }, (_, order) => pay('100', order)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(10).fill(201), 403, 403])
    expect(await balances()).toEqual([0n, 950n, 50n, 1000n])
  })
})

it.each(['postgres-ledger', 'tigerbeetle-ledger'])('%s has less than 100 lines', (name) => {
  const lines = readFileSync(new URL(`../../examples/${name}.ts`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  expect(lines.length).toBeLessThan(100)
  // Not by lines that nobody reads to their end.
  expect(lines.filter((line) => line.length > 120)).toEqual([])
})
