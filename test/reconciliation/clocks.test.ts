import type { AuditedPayment } from 'open-payments-server'
import { type BookedLine, reconcileDay } from 'open-payments-server/reconciliation'
import { expect, it } from 'vitest'
import { ALICE, testWallet } from '../support/test-wallet.ts'
import { MIDNIGHT as CLOSED_AT, CREDIT_OF_RECEIPT, payTenDollars, RECEIPT, readBooksOf } from './one-day.ts'

const SECOND = 1000
const ENDED_AT = CLOSED_AT + 86_400 * SECOND

/** When a payment was completed and a receipt credited, by the clock of the processes, and when by that of the ledger. */
interface Times {
  readonly told: number
  readonly booked: number
}

/** What the day after the closed one finds of a payment of 10.00 and a receipt of 0.05. */
async function findingsOf(
  { told, booked }: Times,
  change: (lines: readonly BookedLine[]) => readonly BookedLine[] = (lines) => lines,
): Promise<readonly string[]> {
  const wallet = await testWallet()
  await payTenDollars(wallet)
  async function* audit(): AsyncGenerator<AuditedPayment> {
    for await (const audited of wallet.openPayments.audit(ALICE))
      yield { ...audited, createdAt: told, states: [{ state: 'completed', at: told }] }
  }
  const lines: BookedLine[] = []
  const book = (id: string, sums: Readonly<Record<string, bigint>>): void => {
    for (const [account, amount] of Object.entries(sums)) lines.push({ id, account, amount, at: booked })
  }
  for await (const { holdId, creditId = '' } of audit()) {
    book(holdId, { alice: -1000n, 'clearing:USD:2': 1000n })
    book(creditId, { bob: 1000n, 'clearing:USD:2': -1000n })
  }
  book(RECEIPT.id, CREDIT_OF_RECEIPT)
  const { differences } = await reconcileDay({
    openPayments: { audit },
    walletAddresses: [ALICE],
    readReceived: () => [{ ...RECEIPT, createdAt: told }],
    readBooks: readBooksOf(change(lines)),
    closed: { at: CLOSED_AT, payments: {}, receipts: [] },
    endedAt: ENDED_AT,
    clock: { now: () => ENDED_AT + 3600 * SECOND },
  })
  return differences
}

it.each<[string, Times]>([
  ['closed, and booked after that by a ledger that is ahead', { told: -1, booked: 59 }],
  ['not closed, and booked before that by a ledger that is behind', { told: 1, booked: -59 }],
  ['not closed, and a minute older in the ledger than all that is read', { told: 90, booked: 31 }],
  ['not closed, and booked when the reading begins', { told: 120, booked: 60 }],
  ['booked by clocks that agree', { told: 90, booked: 90 }],
])('a minute between the clocks makes no difference to what is %s', async (_, { told, booked }) => {
  expect(await findingsOf({ told: CLOSED_AT + told * SECOND, booked: CLOSED_AT + booked * SECOND })).toEqual([])
})

it('nor does a clock of the processes that was hours ahead', async () => {
  const found = await findingsOf({ told: CLOSED_AT + 10_800 * SECOND, booked: CLOSED_AT - 3600 * SECOND })
  expect(found).toEqual([])
})

it('what is missing, or booked otherwise, of a payment by such a clock is found', async () => {
  const times = { told: CLOSED_AT + 10_800 * SECOND, booked: CLOSED_AT - 3600 * SECOND }
  const [paid = '', ...none] = await findingsOf(times, (lines) =>
    lines.filter(({ account }) => account !== 'bob').map((line) => ({ ...line, amount: line.amount * 2n })),
  )
  expect([paid.replace(/^[0-9a-f]{32}/, ''), none.map((line) => line.replace(/^[0-9a-f]{32}/, ''))]).toEqual([
    ': completed, credit: other',
    [': completed, settlement: other', ': credited, credit: other'],
  ])
  expect(await findingsOf(times, () => [])).toHaveLength(3)
})

it('a clock of the processes that was more than a minute behind does', async () => {
  const found = await findingsOf({ told: CLOSED_AT - SECOND, booked: CLOSED_AT + 61 * SECOND })
  expect(found).toHaveLength(3)
  for (const difference of found) expect(difference).toContain('held or booked for no payment')
})
