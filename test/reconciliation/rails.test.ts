import type {
  DeliveryResult,
  Ledger,
  PaymentMethod,
  RailServer,
  RailTransfer,
  RemoteReceivers,
  TransferOutcome,
} from 'open-payments-server'
import { readReceived, reconcileAll } from 'open-payments-server/reconciliation'
import { postgresStorage } from 'open-payments-server/storage/postgres'
import { expect, it } from 'vitest'
import { readPostgresBooks } from '../../examples/postgres-books.ts'
import { postgresLedger, postgresLedgerSchema } from '../../examples/postgres-ledger.ts'
import { readText } from '../architecture/source-tree.ts'
import { postgresWallet } from '../examples/ledger-wallets.ts'
import { useDatabases } from '../storage/postgres-databases.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, BOB, incomingPayment, spendingToken, testWallet, usd, usdAmount } from '../support/test-wallet.ts'

const databases = useDatabases()

const MINUTE = 60_000
const USD = { assetCode: 'USD', assetScale: 2 }
const PEER = 'test.peer/USD/2'
const RECEIVER = 'https://other.example/incoming-payments/4f1b2c3d4f1b2c3d4f1b2c3d4f1b2c3d'
const DETAILS = { type: 'ilp', ilpAddress: 'test.peer.bob', sharedSecret: 'c2hhcmVkIHNlY3JldA' } as const

/** A wallet with storage and ledger in one PostgreSQL, and another one whose deliveries come out as a test says. */
async function openWorld() {
  const schema = await databases.newSchema()
  await databases.run(schema, postgresLedgerSchema)
  const pool = databases.openPool(schema)
  const ledger = postgresLedger(pool)
  const books = postgresWallet(pool, ledger)
  await books.openAccount('alice', USD, 100_000n)
  await books.openAccount('bob', USD, 0n)
  let delivers: (sent: bigint) => DeliveryResult = () => ({ outcome: 'later', reason: 'nothing was said' })
  let isCreditAway = false
  let server: RailServer | undefined
  const rail: PaymentMethod = {
    type: 'ilp',
    createDetails: async ({ address, sharedSecret }) => ({
      type: 'ilp',
      ilpAddress: `test.here.${address}`,
      sharedSecret,
    }),
    quote: async () => ({ ok: true, account: PEER, asset: USD, rate: { sent: 1n, received: 1n } }),
    deliver: async ({ sendAmount }) => delivers(sendAmount.value),
    connect: (connected) => {
      server = connected
    },
  }
  const remoteReceivers: RemoteReceivers = {
    find: async (url) => ({
      ok: true,
      payment: { url, isCompleted: false, receivedAmount: usdAmount(0n), methods: [DETAILS] },
    }),
  }
  const faulty: Ledger = {
    ...ledger,
    credit: (credit) =>
      isCreditAway ? Promise.reject(new Error('injected: the ledger is away')) : ledger.credit(credit),
  }
  const wallet = await testWallet({
    storage: await postgresStorage(pool),
    ledger: faulty,
    paymentMethods: [rail],
    remoteReceivers,
    pricing: { price: async () => ({ rate: '1', fee: { basisPoints: 100, fixed: 5n } }) },
  })
  const { openPayments, clock } = wallet
  const token = await spendingToken(wallet)
  const { payment } = await incomingPayment(wallet)
  let transfers = 0
  return {
    schema,
    clock,
    books,
    /** Pays 10.00 to the other wallet; answers the id of the payment. */
    send: async (result: typeof delivers): Promise<string> => {
      delivers = result
      const json = {
        walletAddress: ALICE,
        incomingPayment: RECEIVER,
        debitAmount: usd('1000'),
        metadata: { transfers },
      }
      transfers++
      const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
      expect(created.status).toBe(201)
      await openPayments.drain()
      return lastSegment(created.body.id)
    },
    /** Brings 5.00 from the other wallet for Bob; answers the id of the receipt. */
    bring: async (isAway = false, outcome: TransferOutcome = 'received'): Promise<string> => {
      isCreditAway = isAway
      const id = (++transfers).toString(16).padStart(32, 'a')
      const amount = usdAmount(500n)
      const incoming = lastSegment(payment.id)
      const transfer: RailTransfer = {
        id,
        incomingPayment: incoming,
        amount,
        least: 500n,
        account: PEER,
        accountAmount: amount,
        notAfter: clock.now() + 60_000,
      }
      expect(await server?.receive(transfer)).toBe(outcome)
      await openPayments.drain()
      isCreditAway = false
      return id
    },
    reconcile: (...noted: readonly string[]) =>
      reconcileAll({
        openPayments,
        walletAddresses: [ALICE, BOB],
        readBooks: () => readPostgresBooks(pool),
        readReceived: () => readReceived(async (statement) => (await pool.query(statement)).rows),
        noted,
        clock,
      }),
    /** The database writes the time of the wall. In this world what was booked was booked now. */
    stamp: async () => {
      const at = [new Date(clock.now())]
      await pool.query('UPDATE posting SET at = $1', at)
      await pool.query('UPDATE transfer SET at = $1', at)
    },
    recover: async () => {
      for (let round = 0; round < 4; round++) {
        clock.advance(60 * MINUTE)
        await openPayments.recover()
        await openPayments.drain()
      }
    },
  }
}

const NOTHING = { sent: 0n, received: 0n }

it('reconciliation explains what went to another wallet, in parts too, and what came from there', async () => {
  const world = await openWorld()
  const whole = await world.send((sent) => ({
    outcome: 'delivered',
    progress: { sent, received: sent, inFlight: NOTHING, notes: '' },
  }))
  const part = await world.send(() => ({
    outcome: 'ended',
    progress: { sent: 333n, received: 333n, inFlight: NOTHING, notes: '' },
    reason: 'the receiver takes no more',
  }))
  await world.send(() => ({ outcome: 'ended', progress: { ...NOTHING, inFlight: NOTHING, notes: '' }, reason: 'none' }))
  const waiting = await world.send(() => ({ outcome: 'later', reason: 'no answer' }))
  const brought = await world.bring()
  const owed = await world.bring(true)
  await world.books.setClosed('bob', true)
  await world.stamp()
  world.clock.advance(20 * MINUTE)
  const still = [`${waiting}: still sending`, `${owed}: still reserved`]
  expect(await world.reconcile()).toEqual(still)

  // 10.00 with a fee of 0.15, 3.33 of another one with all of the fixed fee and a part of the other; 5.00 for Bob.
  const sums = await databases.run(world.schema, 'SELECT account, sum(amount)::text FROM posting GROUP BY 1 ORDER BY 1')
  expect(sums.map(({ account, sum }) => `${account} ${sum}`)).toEqual([
    'alice -1342',
    'bob 500',
    'clearing:USD:2 818',
    'fees:USD:2 24',
  ])

  for (const [sql, difference] of [
    [`UPDATE posting SET amount = 2 * amount WHERE transfer = '${part}'`, `${part}: failed, settlement: other`],
    [`DELETE FROM posting WHERE transfer = '${whole}'`, `${whole}: completed, settlement: no`],
    [`UPDATE posting SET amount = 2 * amount WHERE transfer = '${brought}'`, `${brought}: credited, credit: other`],
    [`DELETE FROM posting WHERE transfer = '${brought}'`, `${brought}: credited, credit: no`],
    [`DELETE FROM op_receipt WHERE id = '${brought}'`, `${brought}: held or booked for no payment`],
  ] as const) {
    await databases.run(
      world.schema,
      `CREATE TABLE kept AS TABLE posting; CREATE TABLE kept_receipt AS TABLE op_receipt; ${sql}`,
    )
    expect((await world.reconcile()).filter((found) => !still.includes(found))).toEqual([difference])
    await databases.run(
      world.schema,
      `TRUNCATE posting, op_receipt; INSERT INTO posting TABLE kept; INSERT INTO op_receipt TABLE kept_receipt;
       DROP TABLE kept, kept_receipt`,
    )
  }

  // The account was closed by the time that its credit could be asked for again.
  await world.recover()
  await world.bring(false, 'not_payable')
  expect(await world.reconcile()).toEqual([`${owed}: dropped, not made good`])
  const refused = /SELECT [^;]*state = 'dropped'[^;]*/.exec(readText('docs/operations.md'))?.[0] ?? ''
  expect(await databases.run(world.schema, refused)).toMatchObject([{ id: owed, amount_value: '500' }])

  // Bob has an account again, and somebody books it there.
  const byHand = 'made good by hand'
  await databases.run(
    world.schema,
    `INSERT INTO transfer (id, type, account, amount, asset, counterparty, at, state)
     VALUES ('${byHand}', 'credit', 'bob', 500, 'USD:2', '{}', '2020-01-01', 'credited');
     INSERT INTO posting VALUES ('${byHand}', 'bob', 500, '2020-01-01'), ('${byHand}', 'clearing:USD:2', -500, '2020-01-01')`,
  )
  expect(await world.reconcile(owed)).toEqual([`${byHand}: held or booked for no payment`])
  expect(await world.reconcile(owed, byHand)).toEqual([])
})

it('reconciliation goes on past a payer whose row is damaged', async () => {
  const world = await openWorld()
  const whole = await world.send((sent) => ({
    outcome: 'delivered',
    progress: { sent, received: sent, inFlight: NOTHING, notes: '' },
  }))
  await world.stamp()
  world.clock.advance(20 * MINUTE)
  expect(await world.reconcile()).toEqual([])
  await databases.run(world.schema, `UPDATE op_outgoing_payment SET states = ''`)
  expect(await world.reconcile()).toEqual([
    `${ALICE}: cannot be read: the storage could not be read`,
    `${whole}: held or booked for no payment`,
  ])
})
