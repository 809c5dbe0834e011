import type { RecordProgress } from '../../src/index.ts'
import type { RailRate } from '../../src/protocol/price.ts'
import type { SendState } from './deliver-notes.ts'
import { smaller, smallestPart } from './send-money-amounts.ts'
import { openBook, openJournal } from './send-money-book.ts'
import { IN_FLIGHT, openFlights, type Sending } from './send-money-flights.ts'
import { createPace, type SendStop } from './send-money-pace.ts'
import { createPlanner, type PlanTerms } from './send-money-plan.ts'
import type { StreamConnection } from './stream-connection.ts'

/** How an order is carried out. */
export interface SendTerms extends PlanTerms {
  /** The largest packet to begin with. */
  readonly maxPacketAmount: bigint
  /** Whether a packet without an answer may be sent again to find out what became of it. */
  readonly isIdempotent: boolean
  /** Whether no new packets leave, so that only the fate of earlier ones is found out. */
  readonly isOver: boolean
  /** From then on no new packets leave either, in milliseconds since 1970. */
  readonly sendUntil: number
  /** The rate on which the price was based. */
  readonly quotedRate: RailRate
  /** The best rate at which the receiver is believed once it says that it takes no more. */
  readonly closingRate: RailRate
}

/** How far the delivery came. */
export interface SendResult {
  readonly state: SendState
  /** Absent if everything is done. */
  readonly stop?: SendStop
  /** Whether `state` is what was recorded last. */
  readonly isRecorded: boolean
}

/** A packet with less time than this left does not leave any more. */
const LEAST_LIFE_MILLISECONDS = 15_000
/** New packets are planned when at most this many are in the air. */
const FEW_IN_FLIGHT = 4

/**
 * Sends money in packets, several at once, from where `start` left off, until all has left or arrived, the receiver
 * takes no more, or nothing gets through. Packets are recorded before they leave, and their value is sent again only if
 * they were refused. Rejects if `record` does, once nothing is in the air; after any other fault, once everything known
 * is recorded.
 */
export async function sendMoney(
  connection: StreamConnection,
  terms: SendTerms,
  start: SendState,
  record: RecordProgress,
): Promise<SendResult> {
  const { order, maxPacketAmount, isIdempotent, isOver, sendUntil, quotedRate, closingRate } = terms
  const { clock } = connection
  const faults: unknown[] = []
  const pace = createPace(clock, maxPacketAmount, order.sendAmount, smallestPart(order, quotedRate))
  const book = openBook(start, quotedRate)
  const journal = openJournal(clock, record, book.state)
  const sending: Sending = { order, isIdempotent, book, journal, pace, clock }
  const flights = openFlights(connection, sending, (cause) => faults.push(cause))
  const planner = createPlanner(terms, sending, flights)
  if (isOver) pace.noteStop({ outcome: 'ended', reason: 'receiver_over' })
  if (start.packets.length > 0 && !isIdempotent) pace.noteStop(IN_FLIGHT)

  /**
   * Drops planned packets that are too old or too large by now, or must no longer leave. This comes before the next
   * record, so that the record shows it: if the lease is lost after that, nobody else could find out.
   */
  const dropUnfit = (): void => {
    if (pace.isTired()) pace.noteStop({ outcome: 'later', reason: 'no_progress' })
    if (clock.now() >= sendUntil) pace.noteStop({ outcome: 'later', reason: 'out_of_time' })
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
        // Recording may have taken long.
        dropUnfit()
      }
      const now = clock.now()
      const asked = isIdempotent && !pace.isTired() ? book.undecided('unknown') : []
      flights.launch(asked.filter(({ askAt }) => askAt <= now))
      const mayBegin = pace.stop() === undefined
      if (mayBegin && pace.resumeAt() <= now) {
        flights.launch(book.undecided('planned'))
        // While sizes change, wait for all packets in the air: what comes back is then divided anew together.
        const few = pace.isResizing() ? 0 : FEW_IN_FLIGHT
        const before = flights.count()
        const isShort = book.undecided('planned').length === 0 && before <= few
        // Packets that came back meanwhile may have to be asked about first.
        if (isShort && ((await planner.planAhead()) || flights.count() < before)) continue
      }
      const moments = [...asked.map(({ askAt }) => askAt), ...(mayBegin ? [pace.resumeAt()] : [])]
      const coming = moments.filter((moment) => moment > now)
      if (flights.count() === 0 && coming.length === 0) return
      await flights.waitUntil(Math.min(...coming, journal.dueAt()))
    }
  }

  await sendOn().catch((cause: unknown) => faults.push(cause))
  await flights.land()
  if (faults.length > 0) {
    for (const packet of book.undecided('planned')) book.drop(packet)
    // A worker that has lost the payment must not write any more.
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
