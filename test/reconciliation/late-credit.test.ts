import { type BookedLine, type ClosedDay, reconcileDay } from 'open-payments-server/reconciliation'
import { expect, it } from 'vitest'
import { ALICE } from '../support/test-wallet.ts'
import { CREDIT_OF_RECEIPT, MIDNIGHT, RECEIPT, readBooksOf } from './one-day.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const LAST = { ...RECEIPT, createdAt: MIDNIGHT - MINUTE }

/** A ledger that has credited a receipt, which was taken a minute before midnight, so long after midnight. */
function openWorld(bookedAfter: number) {
  const lines: BookedLine[] = Object.entries(CREDIT_OF_RECEIPT).map(([account, amount]) => ({
    ...{ id: RECEIPT.id, account, amount },
    at: MIDNIGHT + bookedAfter,
  }))
  return {
    lines,
    /** Closes the day that ended so many days after the first one, an hour after its end. */
    night: (days: number, closed?: ClosedDay) =>
      reconcileDay({
        openPayments: { audit: async function* () {} },
        walletAddresses: [ALICE],
        readReceived: () => [LAST],
        readBooks: readBooksOf(lines),
        closed,
        endedAt: MIDNIGHT + days * DAY,
        clock: { now: () => MIDNIGHT + days * DAY + 60 * MINUTE },
      }),
  }
}

it.each([0, 1, 2, 59])(
  'what came before midnight and was credited %d minutes after it, before the night read it, is told by no night',
  async (minutes) => {
    const { night } = openWorld(minutes * MINUTE)
    const first = await night(0)
    expect(first.differences).toEqual([])
    const second = await night(1, first.closed)
    expect(second).toEqual({ differences: [], closed: { at: MIDNIGHT + DAY, payments: {}, receipts: [] } })
    expect((await night(2, second.closed)).differences).toEqual([])
  },
)

it('what is credited once more after it was closed is told', async () => {
  const { lines, night } = openWorld(-MINUTE)
  const first = await night(0)
  expect(first.closed.receipts).toEqual([])
  lines.push(...lines.map((line) => ({ ...line, at: MIDNIGHT + 2 * MINUTE })))
  expect((await night(1, first.closed)).differences).toEqual([`${RECEIPT.id}: held or booked for no payment`])
})
