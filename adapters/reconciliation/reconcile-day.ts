import { requireMilliseconds, requireObject } from '../../src/errors/check-option.ts'
import { type AuditedPayment, ConfigurationError } from '../../src/index.ts'
import { type Books, requireBooks } from './books.ts'
import { compare } from './compare.ts'
import { IN_FLIGHT_MILLISECONDS, inTwoRuns, isJudged } from './in-two-runs.ts'
import { type ReconciliationOptions, requireOptions, requireTexts, SHARED } from './options.ts'
import { type Received, requireReceived } from './received.ts'
import { noteUnread, type Unread } from './unread.ts'

/** What one night leaves to the next. It can be written as JSON. */
export interface ClosedDay {
  /** When its day ended, in milliseconds since 1970. */
  readonly at: number
  /** The ids of the payments that were not over then, by the wallet address of the payer. */
  readonly payments: Readonly<Record<string, readonly string[]>>
  /** The ids of what had come from other wallets and was not credited or refused then. */
  readonly receipts: readonly string[]
}

/** What `reconcileDay` needs. `walletAddresses`: at least those that have paid since `closed.at`. */
export interface ReconcileDayOptions extends ReconciliationOptions {
  /** What the night before has left. Default: nothing is closed yet, so that everything is compared. */
  readonly closed?: ClosedDay | undefined
  /** When the day ended, in milliseconds since 1970: at least 16 minutes ago. Everything since `closed.at` is part of it. */
  readonly endedAt: number
}

/** What a night has found, and what it leaves to the next one. */
export interface ReconciledDay {
  /** What somebody has to explain, in the form that `reconcileAll` has. */
  readonly differences: readonly string[]
  /** To be kept. The same as before if a wallet address could not be read: then the next night compares this day again. */
  readonly closed: ClosedDay
}

/** By how much the clocks of the ledger and of the processes may differ. */
const CLOCKS_MILLISECONDS = 60_000

const NOTHING_CLOSED: ClosedDay = { at: 0, payments: {}, receipts: [] }

/**
 * Compares what came after the day that was closed last, and what that left open, with the ledger; closes the day that ended
 * at `endedAt`. What is closed is not compared again. A wallet address that cannot be read is a line, all others are
 * compared, and nothing is closed.
 *
 * It changes nothing. Rejects as `reconcileAll` does.
 */
export async function reconcileDay(options: ReconcileDayOptions): Promise<ReconciledDay> {
  requireOptions('reconcileDay', options, [...SHARED, 'closed', 'endedAt'])
  const { openPayments, walletAddresses, readBooks, readReceived, endedAt } = options
  const { closed = NOTHING_CLOSED, clock = { now: () => Date.now() } } = options
  requireClosed(closed)
  requireDay(closed, endedAt, clock.now())
  const noted = new Set(options.noted)
  const unread: Unread = new Map()
  // By clocks that differ by a minute at most, the lines of what is closed are earlier, and those of what is not
  // `mayBeEarlier` are later.
  const since = closed.at + CLOCKS_MILLISECONDS
  const mayBeEarlier = (createdAt: number): boolean => createdAt < since + CLOCKS_MILLISECONDS
  let left = closed
  /** Of what has differed, older lines are read, too: its time may be that of a clock that was ahead. */
  const differing = new Set<string>()
  const compareDay = async (): Promise<readonly string[]> => {
    const ids = new Set(noted) // of what may have lines that are older than those which are read
    const open: Record<string, string[]> = {}
    async function* payments(): AsyncGenerator<AuditedPayment> {
      for (const payer of new Set([...walletAddresses, ...Object.keys(closed.payments)])) {
        const older = new Set(closed.payments[payer])
        try {
          for await (const payment of openPayments.audit(payer)) {
            const { id, createdAt, state, states, holdId, creditId = holdId } = payment
            if (createdAt < closed.at && !older.delete(id)) {
              if (older.size === 0) break // all that follow are older
              continue
            }
            const isOver = (state === 'completed' || state === 'failed') && (states.at(-1)?.at ?? endedAt) < endedAt
            if (createdAt < endedAt && !isOver) open[payer] = [...(open[payer] ?? []), id]
            if (mayBeEarlier(createdAt) || differing.has(id)) ids.add(holdId).add(creditId)
            yield payment
          }
        } catch (cause) {
          noteUnread(unread, payer, cause)
        }
      }
    }
    const older = new Set(closed.receipts)
    const all = await requireReceived(readReceived)
    const received = all.filter(({ id, createdAt }) => createdAt >= closed.at || older.has(id))
    for (const { id, createdAt } of received) if (mayBeEarlier(createdAt) || differing.has(id)) ids.add(id)
    const bookedLater = new Set<string>()
    const readDay = async (): Promise<Books> => {
      const { lines, openHolds } = requireBooks(await readBooks(since, [...ids]))
      for (const { id, at } of lines) if (at >= endedAt) bookedLater.add(id)
      // What was booked before, and belongs to no payment, was found the night before, which read on until its own present.
      return { lines: lines.filter(({ id, at }) => at >= since || ids.has(id)), openHolds }
    }
    const now = clock.now()
    const found = await compare({
      payments: payments(),
      received,
      readBooks: readDay,
      noted,
      isJudged: (at) => isJudged(at, now),
    })
    // A receipt does not say when it was credited. The next night reads the lines that are later than this day.
    const isOpen = ({ id, state }: Received): boolean => state === 'reserved' || bookedLater.has(id)
    const waiting = received.filter((receipt) => receipt.createdAt < endedAt && isOpen(receipt))
    left = { at: endedAt, payments: open, receipts: waiting.map(({ id }) => id) }
    return found
  }
  const differences = await inTwoRuns(async () => {
    const found = await compareDay()
    const known = differing.size
    for (const difference of found) differing.add(difference.split(':', 1)[0] ?? '')
    return differing.size > known ? compareDay() : found
  })
  return { differences: [...unread.values(), ...differences], closed: unread.size === 0 ? left : closed }
}

function requireClosed(closed: ClosedDay): void {
  requireObject('reconcileDay: closed', closed)
  requireObject('reconcileDay: closed.payments', closed.payments)
  for (const ids of Object.values(closed.payments)) requireTexts('reconcileDay: closed.payments', ids)
  requireTexts('reconcileDay: closed.receipts', closed.receipts)
  requireMilliseconds('reconcileDay: closed.at', closed.at)
}

/** Of a day that ended just now, what is in flight would be closed without having been judged. */
function requireDay(closed: ClosedDay, endedAt: number, now: number): void {
  requireMilliseconds('reconcileDay: endedAt', endedAt)
  if (endedAt > now - IN_FLIGHT_MILLISECONDS - CLOCKS_MILLISECONDS)
    throw new ConfigurationError('reconcileDay: endedAt must be at least 16 minutes ago')
  if (endedAt < closed.at) throw new ConfigurationError('reconcileDay: endedAt must not be before closed.at')
}
