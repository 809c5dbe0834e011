import type { RailRate } from '../../src/protocol/price.ts'
import { type Assigned, nextPacket, type SendOrder } from './send-money-amounts.ts'
import type { Undecided } from './send-money-book.ts'
import type { Flights, Sending } from './send-money-flights.ts'
import type { SendStop } from './send-money-pace.ts'

/** What must be known before packets are planned. */
export interface PlanTerms {
  readonly order: SendOrder
  /**
   * The current rate, given the one that is `known`; or why nothing may leave. Asked once, before the first new packet.
   */
  findRate(known: RailRate): Promise<RailRate | SendStop>
  /**
   * By how much the rail account may have sent more than it has received (`undefined`: without limit), or why that is
   * not known. Asked before each record of new packets.
   */
  findMost(): Promise<bigint | undefined | SendStop>
}

/** Cuts what is left of an order into packets. */
export interface Planner {
  /** Whether nothing is left to send, even if only the least arrives of the packets in the air. */
  isDone(): boolean
  /**
   * Plans the next packets in addition to those in the air, and records them before they may leave. Returns whether it
   * had any to plan.
   */
  planAhead(): Promise<boolean>
}

const LIFETIME_MILLISECONDS = 30_000
/** The most packets that are in the air or recorded to leave next. */
const MOST_AHEAD = 16
const MOST_UNDECIDED = 64

/** Plans from the book, and stops the pace if nothing more may leave. */
export function createPlanner(
  { order, findRate, findMost }: PlanTerms,
  { book, journal, pace, clock }: Sending,
  flights: Flights,
): Planner {
  const leastRate: RailRate = { sent: order.sendAmount, received: order.receiveAmount }
  let isRateFound = false
  const nextAt = (rate: RailRate, assigned: Assigned) =>
    nextPacket(order, assigned, { ...rate, cap: pace.cap(), dust: pace.dust() })
  const isDone = (): boolean => nextAt(leastRate, book.assigned(leastRate)) === undefined

  const askRate = async (): Promise<SendStop | undefined> => {
    const found = await findRate(book.rate())
    if ('outcome' in found) return found
    book.noteRate(found)
    isRateFound = true
    return undefined
  }

  const plan = (): readonly Undecided[] => {
    const expiresAt = clock.now() + LIFETIME_MILLISECONDS
    const planned: Undecided[] = []
    while (flights.count() + planned.length < MOST_AHEAD && book.undecided().length < MOST_UNDECIDED) {
      const next = nextAt(book.rate(), book.assigned())
      if (next === undefined) break
      planned.push(book.plan({ ...next, expiresAt }))
    }
    return planned
  }

  /**
   * Records as many of the packets as the account's limit allows. Returns a stop if none may leave, and no smaller ones
   * either.
   */
  const recordPlanned = async (first: Undecided, planned: readonly Undecided[]): Promise<SendStop | undefined> => {
    const most = await findMost()
    if (typeof most === 'object') return most
    for (let count = planned.length; count > 0; ) {
      if ((await journal.write(most)) === 'recorded') return undefined
      const fewer = Math.floor(count / 2)
      for (const packet of planned.slice(fewer, count)) book.drop(packet)
      count = fewer
    }
    pace.noteShortage(first.amount)
    return pace.cap() < first.amount ? undefined : { outcome: 'later', reason: 'sending_limit' }
  }

  return {
    isDone,
    async planAhead() {
      if (isDone()) return false
      const unknown = isRateFound ? undefined : await askRate()
      if (unknown !== undefined) {
        pace.noteStop(unknown)
        return false
      }
      pace.notePlanning()
      const planned = plan()
      const [first] = planned
      if (first === undefined) return false
      const unrecorded = await recordPlanned(first, planned)
      if (unrecorded === undefined) return true
      for (const packet of planned) book.drop(packet)
      pace.noteStop(unrecorded)
      return true
    },
  }
}
