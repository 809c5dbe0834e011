import type { AuditedPayment } from 'open-payments-server'
import {
  type BookedLine,
  type ClosedDay,
  creditIdOf,
  type Received,
  reconcileDay,
} from 'open-payments-server/reconciliation'
import { describe, expect, it } from 'vitest'
import { ALICE, CAROL, testWallet } from '../support/test-wallet.ts'
import { CREDIT_OF_RECEIPT, MIDNIGHT, payTenDollars, RECEIPT, readBooksOf } from './one-day.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const ID = 'a'.repeat(32)

type Told = Pick<AuditedPayment, 'createdAt' | 'state' | 'states'>

/** A payment that was ordered and was over so long after midnight. */
function told(ordered: number, over: number, state: 'completed' | 'failed' = 'completed'): Told {
  return { createdAt: MIDNIGHT + ordered, state, states: [{ state, at: MIDNIGHT + over }] }
}

/** Payments of 10.00 within the wallet, what came in, and what the ledger has of them. */
async function openWorld() {
  const wallet = await testWallet()
  await payTenDollars(wallet)
  const payments: AuditedPayment[] = []
  const read: string[] = []
  const received: Received[] = []
  const lines: BookedLine[] = []
  const book = (id: string, at: number, sums: Readonly<Record<string, bigint>>): void => {
    for (const [account, amount] of Object.entries(sums)) lines.push({ id, account, amount, at: MIDNIGHT + at })
  }
  return {
    received,
    lines,
    /** The ids of the payments that were read. */
    read,
    /** What `audit()` says of a payment; the newest is to be added first. */
    tell: async (id: string, what: Told): Promise<void> => {
      for await (const audited of wallet.openPayments.audit(ALICE)) {
        const failed = what.state === 'failed' && { failureReason: 'expired' as const }
        payments.push({ ...audited, ...what, ...failed, id, holdId: id, creditId: await creditIdOf(id) })
      }
    },
    /** What the ledger has of a payment that is completed. */
    bookPayment: async (id: string, at: number): Promise<void> => {
      book(id, at, { alice: -1000n, 'clearing:USD:2': 1000n })
      book(await creditIdOf(id), at, { bob: 1000n, 'clearing:USD:2': -1000n })
    },
    book,
    /** Closes the day that ended so many days after the first one, twenty minutes after its end. */
    night: (
      days: number,
      closed?: ClosedDay,
      {
        walletAddresses = [ALICE],
        noted = [],
      }: { readonly walletAddresses?: readonly string[]; readonly noted?: readonly string[] } = {},
    ) =>
      reconcileDay({
        openPayments: {
          audit: async function* (payer) {
            for (const payment of payer === ALICE ? payments : []) {
              read.push(payment.id)
              yield payment
            }
          },
        },
        walletAddresses,
        noted,
        readReceived: () => received,
        readBooks: readBooksOf(lines),
        closed,
        endedAt: MIDNIGHT + days * DAY,
        clock: { now: () => MIDNIGHT + days * DAY + 20 * MINUTE },
      }),
  }
}

describe('a payment that was ordered before midnight', () => {
  it.each([
    ['at midnight, and booked by a ledger that is a minute ahead', 0, MINUTE],
    ['later, and booked then', 4 * MINUTE, 4 * MINUTE],
  ])('and was over %s, is left to the next night, and told by neither', async (_, over, booked) => {
    const { tell, bookPayment, night } = await openWorld()
    await tell(ID, told(-MINUTE, over))
    await bookPayment(ID, booked)
    const first = await night(0)
    expect(first).toEqual({ differences: [], closed: { at: MIDNIGHT, payments: { [ALICE]: [ID] }, receipts: [] } })
    const second = await night(1, first.closed)
    expect(second).toEqual({ differences: [], closed: { at: MIDNIGHT + DAY, payments: {}, receipts: [] } })
  })

  it.each(['completed', 'failed'] as const)('and has %s before it, is closed', async (state) => {
    const { tell, bookPayment, night } = await openWorld()
    await tell(ID, told(-2 * MINUTE, -1, state))
    if (state === 'completed') await bookPayment(ID, -1)
    expect(await night(0)).toEqual({ differences: [], closed: { at: MIDNIGHT, payments: {}, receipts: [] } })
  })

  it('and was left to the next night, is compared though its payer has ordered nothing since', async () => {
    const { tell, night } = await openWorld()
    await tell(ID, told(-MINUTE, 1))
    const closed = { at: MIDNIGHT, payments: { [ALICE]: [ID] }, receipts: [] }
    const { differences } = await night(1, closed, { walletAddresses: [CAROL] })
    expect(differences).toEqual([`${ID}: completed, credit: no`, `${ID}: completed, settlement: no`])
  })

  it('and was left to the next night, is compared though a later one of its payer was closed', async () => {
    const { tell, night } = await openWorld()
    await tell('b'.repeat(32), told(-1, -1))
    await tell(ID, told(-MINUTE, 1))
    const { differences } = await night(1, { at: MIDNIGHT, payments: { [ALICE]: [ID] }, receipts: [] })
    expect(differences).toEqual([`${ID}: completed, credit: no`, `${ID}: completed, settlement: no`])
  })
})

it('of a payment soon after midnight, the lines are read that a ledger which is a minute behind has booked', async () => {
  const { tell, bookPayment, night } = await openWorld()
  await tell(ID, told(1.5 * MINUTE, 1.5 * MINUTE, 'failed'))
  await bookPayment(ID, 0.5 * MINUTE)
  const { differences } = await night(1, { at: MIDNIGHT, payments: {}, receipts: [] })
  expect(differences).toEqual([`${ID}: failed, credit: yes`, `${ID}: failed, settlement: other`])
})

it.each([0, 1, 4 * MINUTE])('a payment that was ordered %d ms after midnight is of the next day', async (ordered) => {
  const { lines, tell, bookPayment, night } = await openWorld()
  await tell(ID, told(ordered, ordered))
  await bookPayment(ID, ordered)
  const first = await night(0)
  expect(first).toEqual({ differences: [], closed: { at: MIDNIGHT, payments: {}, receipts: [] } })
  expect((await night(1, first.closed)).differences).toEqual([])
  lines.length = 0
  const lost = [`${ID}: completed, credit: no`, `${ID}: completed, settlement: no`]
  expect((await night(1, first.closed)).differences).toEqual(lost)
})

it.each([0, 1, 4 * MINUTE])('what came in %d ms after midnight is of the next day', async (createdAt) => {
  const { received, lines, book, night } = await openWorld()
  received.push({ ...RECEIPT, createdAt: MIDNIGHT + createdAt })
  book(RECEIPT.id, createdAt, CREDIT_OF_RECEIPT)
  const first = await night(0)
  expect(first).toEqual({ differences: [], closed: { at: MIDNIGHT, payments: {}, receipts: [] } })
  expect((await night(1, first.closed)).differences).toEqual([])
  lines.length = 0
  expect((await night(1, first.closed)).differences).toEqual([`${RECEIPT.id}: credited, credit: no`])
})

it('reads no more of a payer than the first payment that is closed', async () => {
  const { tell, read, night } = await openWorld()
  await tell(ID, told(-2, -1))
  await tell('b'.repeat(32), told(-MINUTE, -MINUTE))
  const { differences } = await night(1, { at: MIDNIGHT, payments: {}, receipts: [] })
  expect([differences, read]).toEqual([[], [ID]])
})

it('of what somebody has explained, the lines are read however old they are', async () => {
  const { book, night } = await openWorld()
  book(ID, -DAY, { alice: -1000n, 'clearing:USD:2': 1000n })
  book(await creditIdOf(ID), DAY - MINUTE, { bob: 1000n, 'clearing:USD:2': -1000n })
  const noted = [ID, await creditIdOf(ID)]
  const closed = { at: MIDNIGHT, payments: {}, receipts: [] }
  // The payer is charged: the day before.
  expect((await night(1, closed, { noted })).differences).toEqual([])
})

it.each([
  ['is judged once it is a quarter of an hour old', 0, [`${ID}: held or booked for no payment`]],
  ['is not judged before', 1, []],
])('what was booked for no payment %s', async (_, after, found) => {
  const { book, night } = await openWorld()
  book(ID, 5 * MINUTE + after, { carol: 1n })
  expect((await night(0)).differences).toEqual(found)
})
