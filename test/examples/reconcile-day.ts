import type { OpenPayments } from 'open-payments-server'
import { type Books, type Received, reconcile } from './reconcile.ts'

/** What one night leaves to the next: when its day ended, and the ids of what was not over then, of payments by payer. */
export interface Closed {
  readonly at: number
  readonly payments: Readonly<Record<string, readonly string[]>>
  readonly receipts: readonly string[]
}

/** What there is before the first night, which looks at everything. */
export const NOTHING_CLOSED: Closed = { at: 0, payments: {}, receipts: [] }

/** By how much the clocks of the ledger and of the processes may differ. */
const CLOCKS_MILLISECONDS = 60_000

/**
 * Compares what came after the day that was closed last, and what that left open. Closes the day that ended at `until`, unless
 * a payer cannot be read.
 */
export async function reconcileDay(
  openPayments: Pick<OpenPayments, 'audit'>,
  payers: readonly string[], // the wallet addresses that have paid since `closed.at`
  readReceived: () => Promise<readonly Received[]>,
  readBooks: (since: number, ids: readonly string[]) => Promise<Books>,
  closed: Closed,
  until: number,
  now: number,
): Promise<{ readonly differences: readonly string[]; readonly closed: Closed }> {
  const ids: string[] = [] // of what may have lines that are older than those which are read
  const mayBeEarlier = (createdAt: number) => createdAt < closed.at + 2 * CLOCKS_MILLISECONDS
  const open: Record<string, string[]> = {}
  async function* paymentsOf(payer: string) {
    const older = new Set(closed.payments[payer])
    for await (const payment of openPayments.audit(payer)) {
      const { id, createdAt, state, states, holdId, creditId = holdId } = payment
      if (createdAt < closed.at && !older.delete(id)) {
        if (older.size === 0) break // all that follow are older
        continue
      }
      const isOver = (state === 'completed' || state === 'failed') && (states.at(-1)?.at ?? until) < until
      if (createdAt < until && !isOver) open[payer] = [...(open[payer] ?? []), id]
      if (mayBeEarlier(createdAt)) ids.push(holdId, creditId)
      yield payment
    }
  }
  const unread: string[] = [] // of these payers nothing is known; all others are compared
  async function* payments() {
    for (const payer of new Set([...payers, ...Object.keys(closed.payments)])) {
      try {
        yield* paymentsOf(payer)
      } catch (cause) {
        unread.push(`${payer}: cannot be read: ${cause instanceof Error ? cause.message : cause}`)
      }
    }
  }
  const older = new Set(closed.receipts)
  const received = (await readReceived()).filter(({ id, createdAt }) => createdAt >= closed.at || older.has(id))
  const waiting = received.filter(({ state, createdAt }) => state === 'reserved' && createdAt < until)
  for (const { id, createdAt } of received) if (mayBeEarlier(createdAt)) ids.push(id)
  // What was booked before, and belongs to no payment, was found the night before, which read on until its own now.
  const readDay = () => readBooks(closed.at + CLOCKS_MILLISECONDS, ids)
  const differences = await reconcile(payments(), received, readDay, now)
  // The day stays open where it was not compared as a whole: the next night compares it, too.
  if (unread.length > 0) return { differences: [...unread, ...differences], closed }
  return { differences, closed: { at: until, payments: open, receipts: waiting.map(({ id }) => id) } }
}
