import type { RecordProgress } from '../../src/index.ts'
import type { SendState } from './deliver-notes.ts'
import type { PathRate } from './probe-path.ts'
import { smaller, smallestPart } from './send-money-amounts.ts'
import { openBook } from './send-money-book.ts'
import { openFlights } from './send-money-flights.ts'
import { openJournal } from './send-money-journal.ts'
import { countTaken, IN_FLIGHT, noteOutcome, type Sending } from './send-money-outcomes.ts'
import { createPace, type SendStop } from './send-money-pace.ts'
import { createPlanner, type PlanTerms } from './send-money-plan.ts'
import type { StreamConnection } from './stream-connection.ts'

/** How an order is carried out. */
export interface SendTerms extends PlanTerms {
  /** The greatest packet to begin with. */
  readonly maxPacketAmount: bigint
  /** Whether a packet without an answer may be sent again, to find out. */
  readonly isIdempotent: boolean
  /** Whether nothing new leaves: it is only found out what became of what has left. */
  readonly isOver: boolean
  /** What arrived of what leaves when the price was made. */
  readonly quotedRate: PathRate
  /** The best rate that the receiver's word is believed by, once it says that it takes no more. */
  readonly closingRate: PathRate
}

/** How far it came. */
export interface SendResult {
  readonly state: SendState
  /** Absent if all is done. */
  readonly stop?: SendStop
  /** Whether `state` is what was recorded last. */
  readonly isRecorded: boolean
}

/** A packet that has less time left does not leave any more. */
const LEAST_LIFE_MILLISECONDS = 15_000
/** Packets are planned anew when no more than so many are in the air. */
const FEW_IN_FLIGHT = 4

/**
 * Sends money in packets, several at once, from where `start` left off, until all has left or arrived, the receiver takes
 * no more, or nothing gets through. What leaves is recorded before, and its value is sent again only if it was refused.
 * Rejects if `record` does, once nothing is in the air any more; after any other fault, once what is known is recorded.
 */
export async function sendMoney(
  connection: StreamConnection,
  terms: SendTerms,
  start: SendState,
  record: RecordProgress,
): Promise<SendResult> {
  const { order, maxPacketAmount, isIdempotent, isOver, quotedRate, closingRate } = terms
  const { clock } = connection
  const faults: unknown[] = []
  const pace = createPace(clock, maxPacketAmount, order.sendAmount, smallestPart(order, quotedRate))
  const book = openBook(start, quotedRate)
  const journal = openJournal(clock, record, book.state)
  const sending: Sending = { order, isIdempotent, book, pace, clock }
  const planner = createPlanner(terms, sending, journal)
  const flights = openFlights(connection, sending, {
    note(packet, outcome, epoch) {
      if (noteOutcome(sending, packet, outcome, epoch)) journal.noteChange()
    },
    noteFault: (cause) => faults.push(cause),
  })
  if (isOver) pace.noteStop({ outcome: 'ended', reason: 'receiver_over' })
  if (start.packets.length > 0 && !isIdempotent) pace.noteStop(IN_FLIGHT)

  /**
   * What is too old or too large by now, or is to leave no more, does not. Before the next record, which says so: if that
   * comes too late for the lease nobody could tell any more.
   */
  const dropUnfit = (): void => {
    if (pace.isTired()) pace.noteStop({ outcome: 'later', reason: 'no_progress' })
    for (const packet of book.undecided('planned')) {
      const isStale = packet.expiresAt - clock.now() < LEAST_LIFE_MILLISECONDS
      if (pace.stop() === undefined && !isStale && packet.amount <= pace.cap()) continue
      book.drop(packet)
      journal.noteChange()
    }
  }

  const sendOn = async (): Promise<void> => {
    while (faults.length === 0) {
      dropUnfit()
      if (journal.dueAt() <= clock.now()) {
        await journal.write()
        // The record may have taken its time.
        dropUnfit()
      }
      const now = clock.now()
      const asked = isIdempotent && !pace.isTired() ? book.undecided('unknown') : []
      flights.launch(asked.filter(({ askAt }) => askAt <= now))
      const mayBegin = pace.stop() === undefined
      if (mayBegin && pace.resumeAt() <= now) {
        flights.launch(book.undecided('planned'))
        // What others of the wrong size come back with is divided anew together.
        const few = pace.isResizing() ? 0 : FEW_IN_FLIGHT
        const before = flights.count()
        const isShort = book.undecided('planned').length === 0 && before <= few
        // What has come back meanwhile may have to be asked about.
        if (isShort && ((await planner.planAhead(flights.count)) || flights.count() < before)) continue
      }
      const moments = [...asked.map(({ askAt }) => askAt), ...(mayBegin ? [pace.resumeAt()] : [])]
      const coming = moments.filter((moment) => moment > now)
      if (flights.count() === 0 && coming.length === 0) return
      await flights.waitUntil(Math.min(...coming, journal.dueAt()))
    }
  }

  await sendOn().catch((cause: unknown) => faults.push(cause))
  await flights.landed()
  // If nobody has the patience to ask for the word, the least counts too.
  for (const packet of book.undecided('unknown')) {
    if (!packet.isTaken) continue
    countTaken(sending, packet, packet.least)
    journal.noteChange()
  }
  if (faults.length > 0) {
    for (const packet of book.undecided('planned')) book.drop(packet)
    // Whoever lost the payment writes no more.
    if (!journal.isLost()) await journal.write().catch(() => undefined)
    throw faults[0]
  }
  const { sent, said } = book.state()
  const isAcknowledged =
    order.isFixedReceive &&
    pace.stop()?.outcome === 'ended' &&
    smaller(said, (sent * closingRate.received) / closingRate.sent) >= order.receiveAmount
  const isDone = book.undecided().length === 0 && (isAcknowledged || planner.isDone())
  const stop = isDone ? undefined : (pace.stop() ?? IN_FLIGHT)
  return { state: book.state(), isRecorded: journal.isCurrent(), ...(stop && { stop }) }
}
