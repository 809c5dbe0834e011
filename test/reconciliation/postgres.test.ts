import type { AuditedPayment, Ledger, Pricing, WireAmount } from 'open-payments-server'
import {
  type BookedLine,
  type ClosedDay,
  creditIdOf,
  type Received,
  reconcileAll,
  reconcileDay,
} from 'open-payments-server/reconciliation'
import { describe, expect, it } from 'vitest'
import { readPostgresBooks } from '../../examples/postgres-books.ts'
import { postgresLedger, postgresLedgerSchema } from '../../examples/postgres-ledger.ts'
import { postgresWallet } from '../examples/ledger-wallets.ts'
import { useDatabases } from '../storage/postgres-databases.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, BOB, CAROL, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'

const databases = useDatabases()

type Call = 'hold' | 'credit' | 'settle' | 'release'
/** What becomes of a call of the ledger from now on. */
type Fault = 'fails' | 'loses its reply'

const MINUTE = 60_000

/** A wallet whose ledger is that of the example, and may fail. */
async function openWorld() {
  const schema = await databases.newSchema()
  await databases.run(schema, postgresLedgerSchema)
  const pool = databases.openPool(schema)
  const ledger = postgresLedger(pool)
  const books = postgresWallet(pool, ledger)
  await books.openAccount('alice', { assetCode: 'USD', assetScale: 2 }, 100_000n)
  await books.openAccount('bob', { assetCode: 'USD', assetScale: 2 }, 0n)
  await books.openAccount('carol', { assetCode: 'EUR', assetScale: 4 }, 0n)
  let faults: Partial<Record<Call, Fault>> = {}
  const meet = async <T>(call: Call, make: () => Promise<T>): Promise<T> => {
    if (faults[call] === 'fails') throw new Error('injected: the ledger is down')
    const answer = await make()
    if (faults[call] === 'loses its reply') throw new Error('injected: the reply was lost')
    return answer
  }
  let closesWhenHeld = false
  const faulty: Ledger = {
    account: ledger.account,
    hold: (hold) =>
      meet('hold', async () => {
        const answer = await ledger.hold(hold)
        if (closesWhenHeld) await books.setClosed('bob', true)
        return answer
      }),
    credit: (credit) => meet('credit', () => ledger.credit(credit)),
    settle: (settlement) => meet('settle', () => ledger.settle(settlement)),
    release: (release) => meet('release', () => ledger.release(release)),
  }
  const pricing: Pricing = {
    price: async ({ from, to }) => ({
      rate: from.assetCode === to.assetCode ? '1' : '0.92',
      fee: { basisPoints: 100 },
    }),
  }
  const settings = { lifetimes: { accessTokenSeconds: 1e6 } }
  const wallet = await testWallet({ ledger: faulty, pricing, settings })
  const { openPayments, clock } = wallet
  const { payment: toBob } = await incomingPayment(wallet)
  const { payment: toCarol } = await incomingPayment(wallet, { walletAddress: CAROL })
  const token = await spendingToken(wallet)
  let orders = 0
  let lines: readonly BookedLine[] = []
  return {
    schema,
    ledger,
    clock,
    /** A payment of 10.00 that meets faults, with a payee who may close the account in the meantime; answers its id. */
    pay: async (
      met: Partial<Record<Call, Fault>> = {},
      payee: 'open' | 'closed' | 'abroad' = 'open',
    ): Promise<string> => {
      faults = met
      closesWhenHeld = payee === 'closed'
      const json = {
        walletAddress: ALICE,
        incomingPayment: payee === 'abroad' ? toCarol.id : toBob.id,
        debitAmount: usd('1000'),
        metadata: { n: ++orders },
      }
      const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
      expect(created.status).toBe(201)
      await openPayments.drain()
      await books.setClosed('bob', false)
      return lastSegment(created.body.id)
    },
    reconcile: () =>
      reconcileAll({
        openPayments,
        walletAddresses: [ALICE, BOB],
        readBooks: (since, ids) => readPostgresBooks(pool, since, ids),
        clock,
      }),
    reconcileDay: (closed: ClosedDay | undefined, endedAt: number, received: readonly Received[]) =>
      reconcileDay({
        openPayments,
        walletAddresses: [ALICE],
        readReceived: () => received,
        readBooks: async (since, ids) => {
          const read = await readPostgresBooks(pool, since, ids)
          lines = read.lines
          return read
        },
        closed,
        endedAt,
        clock,
      }),
    /** What the last one of these has read. */
    linesRead: () => lines,
    /** The database writes the time of the wall. In this world what was booked was booked now, but for one payment. */
    stamp: async (otherThan = '0'.repeat(32)) => {
      const at = [new Date(clock.now()), [otherThan, await creditIdOf(otherThan)]]
      await pool.query('UPDATE posting SET at = $1 WHERE transfer <> ALL ($2)', at)
      await pool.query('UPDATE transfer SET at = $1 WHERE id <> ALL ($2)', at)
    },
    audit: async () => {
      const payments: AuditedPayment[] = []
      for await (const payment of openPayments.audit(ALICE)) payments.push(payment)
      return payments
    },
    recover: async () => {
      faults = {}
      closesWhenHeld = false
      for (let round = 0; round < 12; round++) {
        clock.advance(60 * MINUTE)
        await openPayments.recover()
      }
    },
  }
}

type World = Awaited<ReturnType<typeof openWorld>>

/** A payment for each way in which one may stand, by what it met; answers their ids. */
async function payInEveryState({ pay }: World): Promise<Readonly<Record<string, string>>> {
  return {
    completed: await pay(),
    failed: await pay({}, 'closed'),
    created: await pay({ hold: 'fails' }),
    'created, held': await pay({ hold: 'loses its reply' }),
    sending: await pay({ credit: 'fails' }),
    'sending, credited': await pay({ credit: 'loses its reply' }),
    decided: await pay({ settle: 'fails' }),
    'decided, settled': await pay({ settle: 'loses its reply' }),
    'decided to release': await pay({ release: 'fails' }, 'closed'),
    'decided to release, released': await pay({ release: 'loses its reply' }, 'closed'),
  }
}

describe('reconciliation with the ledger of the example', () => {
  it('finds nothing while payments are in flight, then what stands still, and nothing once it has come through', async () => {
    const world = await openWorld()
    const ids = await payInEveryState(world)
    await world.stamp()
    const states = new Map((await world.audit()).map(({ id, state }) => [id, state]))
    for (const [name, id] of Object.entries(ids)) expect(states.get(id)).toBe(name.split(/,? /)[0])
    world.clock.advance(14 * MINUTE)
    expect(await world.reconcile()).toEqual([])
    world.clock.advance(6 * MINUTE)
    const still = Object.entries(ids).filter(([name]) => name !== 'completed' && name !== 'failed')
    const expected = still.map(([name, id]) => `${id}: still ${name.split(/,? /)[0]}`)
    expect((await world.reconcile()).toSorted()).toEqual(expected.toSorted())
    await world.recover()
    expect(await world.reconcile()).toEqual([])
    const last = new Set((await world.audit()).map(({ state }) => state))
    expect([...last].toSorted()).toEqual(['completed', 'failed'])
  })

  // What is done to the books behind the server's back, and what is found then; names stand for ids.
  const SPOILED: readonly (readonly [what: string, sql: string, difference: string])[] = [
    ['a missing credit', `DELETE FROM posting WHERE transfer = 'CREDIT'`, 'COMPLETED: completed, credit: no'],
    [
      'a credit of less',
      `UPDATE posting SET amount = amount - sign(amount) WHERE transfer = 'CREDIT'`,
      'COMPLETED: completed, credit: other',
    ],
    [
      'a credit to somebody else',
      `UPDATE posting SET account = 'carol' WHERE transfer = 'CREDIT' AND account = 'bob'`,
      'COMPLETED: completed, credit: other',
    ],
    [
      'a doubled settlement',
      `UPDATE posting SET amount = 2 * amount WHERE transfer = 'COMPLETED'`,
      'COMPLETED: completed, settlement: other',
    ],
    [
      'a fee that was not kept',
      `DELETE FROM posting WHERE transfer = 'COMPLETED' AND account = 'fees:USD:2'`,
      'COMPLETED: completed, settlement: other',
    ],
    [
      'a missing settlement',
      `DELETE FROM posting WHERE transfer = 'COMPLETED'`,
      'COMPLETED: completed, settlement: no',
    ],
    [
      'a hold that was left behind',
      `UPDATE transfer SET state = 'held' WHERE id = 'FAILED'`,
      'FAILED: failed, hold: yes',
    ],
    [
      'a settlement of what has failed',
      `INSERT INTO posting SELECT 'FAILED', account, amount, at FROM posting WHERE transfer = 'COMPLETED'`,
      'FAILED: failed, settlement: other',
    ],
    [
      'a hold that is gone while the payment is being sent',
      `UPDATE transfer SET state = 'released' WHERE id = 'SENDING'`,
      'SENDING: sending, hold: no',
    ],
    [
      'a hold of no payment',
      `INSERT INTO transfer SELECT 'orphan', type, account, amount, asset, counterparty, at, 'held' FROM transfer
       WHERE id = 'COMPLETED'`,
      'orphan: held or booked for no payment',
    ],
    [
      'a credit of no payment',
      `INSERT INTO transfer SELECT 'orphan', type, account, amount, asset, counterparty, at, 'credited' FROM transfer
       WHERE id = 'CREDIT';
       INSERT INTO posting SELECT 'orphan', account, amount, at FROM posting WHERE transfer = 'CREDIT'`,
      'orphan: held or booked for no payment',
    ],
  ]

  it('finds what is missing, doubled, changed or left over', async () => {
    const world = await openWorld()
    const { schema, audit, clock } = world
    const ids = {
      COMPLETED: await world.pay(),
      FAILED: await world.pay({}, 'closed'),
      SENDING: await world.pay({ credit: 'fails' }),
    }
    const CREDIT = (await audit()).find(({ id }) => id === ids.COMPLETED)?.creditId ?? ''
    const named = (text: string) =>
      Object.entries({ ...ids, CREDIT }).reduce((filled, [name, id]) => filled.replaceAll(name, id), text)
    await world.stamp()
    clock.advance(20 * MINUTE)
    await databases.run(
      schema,
      'CREATE TABLE kept_transfer AS TABLE transfer; CREATE TABLE kept_posting AS TABLE posting',
    )
    const sound = [named('SENDING: still sending')]
    expect(await world.reconcile()).toEqual(sound)
    for (const [what, sql, difference] of SPOILED) {
      await databases.run(schema, named(sql))
      const found = await world.reconcile()
      expect(
        found.filter((one) => !sound.includes(one)),
        what,
      ).toEqual([named(difference)])
      const restore = 'INSERT INTO transfer TABLE kept_transfer; INSERT INTO posting TABLE kept_posting'
      await databases.run(schema, `TRUNCATE transfer, posting; ${restore}`)
    }
  })

  it('can say what clearing and fees must hold, in flight and across assets', async () => {
    const world = await openWorld()
    await world.pay()
    await world.pay({}, 'abroad')
    await world.pay({}, 'abroad')
    await world.pay({}, 'closed')
    await world.pay({ settle: 'fails' })
    const expected: Record<string, bigint> = {}
    const add = (kind: string, { assetCode, assetScale, value }: WireAmount, sign: bigint): void => {
      const account = `${kind}:${assetCode}:${assetScale}`
      expected[account] = (expected[account] ?? 0n) + sign * BigInt(value)
    }
    for (const { state, debitAmount, fee, receiveAmount, failureReason } of await world.audit()) {
      if (state === 'completed') {
        add('fees', fee, 1n)
        add('clearing', debitAmount, 1n)
        add('clearing', fee, -1n)
      }
      const isCredited = state === 'completed' || (state === 'decided' && failureReason === undefined)
      if (isCredited) add('clearing', receiveAmount, -1n)
    }
    const sums = await databases.run(
      world.schema,
      `SELECT account, sum(amount)::text AS sum FROM posting WHERE account LIKE 'clearing:%' OR account LIKE 'fees:%'
       GROUP BY account`,
    )
    expect(Object.fromEntries(sums.map(({ account, sum }) => [account, BigInt(String(sum))]))).toEqual(expected)
    // One payment of 10.00 in flight, two of 9.90 USD for 9.108 EUR, and a fee of 1 % of three.
    expect(expected).toEqual({ 'fees:USD:2': 30n, 'clearing:USD:2': 1980n - 990n, 'clearing:EUR:4': -182_160n })
  })

  it('leaves what is booked while it reads to the next run', async () => {
    const world = await openWorld()
    await world.pay()
    await world.stamp()
    world.clock.advance(20 * MINUTE)
    await world.ledger.hold({
      id: 'f'.repeat(32),
      account: 'alice',
      amount: { value: 1n, assetCode: 'USD', assetScale: 2 },
      counterparty: { kind: 'rail', method: 'a rail of its own', address: 'elsewhere' },
    })
    await databases.run(
      world.schema,
      `UPDATE transfer SET at = to_timestamp(${world.clock.now() / 1000}) WHERE state = 'held'`,
    )
    expect(await world.reconcile()).toEqual([])
    world.clock.advance(15 * MINUTE)
    expect(await world.reconcile()).toEqual([`${'f'.repeat(32)}: held or booked for no payment`])
  })

  it('closes a day, and compares the next one without what was over by then', async () => {
    const world = await openWorld()
    const { schema, clock, ledger } = world
    const ids = { OVER: await world.pay(), SENDING: await world.pay({ credit: 'fails' }) }
    const created = clock.now()
    const amount = { value: 500n, assetCode: 'USD', assetScale: 2 }
    const received = { id: 'e'.repeat(32), state: 'reserved' as const, payeeAccount: 'bob', createdAt: created }
    const receipt = { ...received, amount: { ...amount, value: '500' }, railAccount: 'ilp:test.peer/USD/2' }
    await world.stamp()
    clock.advance(20 * MINUTE)
    const first = await world.reconcileDay(undefined, created + 1, [receipt])
    expect(first.differences).toEqual([`${ids.SENDING}: still sending`, `${receipt.id}: still reserved`])
    const open = { payments: { [ALICE]: [ids.SENDING] }, receipts: [receipt.id] }
    expect(first.closed).toEqual({ at: created + 1, ...open })

    await world.recover()
    const next = await world.pay()
    const counterparty = { kind: 'rail', method: 'ilp', address: 'test.peer/USD/2' } as const
    expect(await ledger.credit({ id: receipt.id, account: 'bob', amount, counterparty })).toEqual({ ok: true })
    await world.stamp(ids.OVER)
    const end = clock.now() + 1
    clock.advance(20 * MINUTE)
    const second = () => world.reconcileDay(first.closed, end, [{ ...receipt, state: 'credited' }])
    expect(await second()).toEqual({ differences: [], closed: { at: end, payments: {}, receipts: [] } })
    expect(world.linesRead().map(({ id }) => id)).not.toContain(ids.OVER)

    const doubled = `INSERT INTO posting SELECT transfer, 'carol', amount, to_timestamp(${(end - 1) / 1000})`
    await databases.run(schema, `${doubled} FROM posting WHERE transfer = '${ids.OVER}' AND amount < 0`)
    expect((await second()).differences).toEqual([`${ids.OVER}: held or booked for no payment`])
    await databases.run(schema, `DELETE FROM posting WHERE transfer IN ('${ids.OVER}', '${ids.SENDING}', '${next}')`)
    const lost = [`${next}: completed, settlement: no`, `${ids.SENDING}: completed, settlement: no`]
    expect((await second()).differences).toEqual(lost)
  })
})
