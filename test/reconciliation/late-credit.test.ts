import { type BookedLine, type ClosedDay, type Received, reconcileDay } from 'open-payments-server/reconciliation'
import { expect, it } from 'vitest'
import { ALICE } from '../support/test-wallet.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const MIDNIGHT = Date.parse('2026-11-21')

const RECEIPT: Received = {
  id: 'e'.repeat(32),
  state: 'credited',
  payeeAccount: 'bob',
  amount: { value: '5', assetCode: 'USD', assetScale: 2 },
  createdAt: MIDNIGHT - MINUTE,
  railAccount: 'ilp:g.other-wallet/USD/2',
}

/** A ledger that has credited a receipt, which was taken a minute before midnight, so long after midnight. */
function openWorld(bookedAfter: number) {
  const lines: BookedLine[] = Object.entries({ bob: 5n, 'clearing:USD:2': -5n }).map(([account, amount]) => ({
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
        readReceived: () => [RECEIPT],
        // No more than what is asked for.
        readBooks: (since, ids) => ({
          lines: lines.filter(({ id, at }) => at >= since || ids.includes(id)),
          openHolds: [],
        }),
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
