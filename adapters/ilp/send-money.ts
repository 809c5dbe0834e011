import type { RecordProgress } from '../../src/index.ts'
import { formatProgress, type SendState } from './deliver-notes.ts'
import type { PathRate } from './probe-path.ts'
import { isHigher, nextPacket, type SendOrder, smaller, smallestPart } from './send-money-amounts.ts'
import { openBook, type Undecided } from './send-money-book.ts'
import { ASK_MILLISECONDS, countTaken, IN_FLIGHT, noteOutcome, type Sending } from './send-money-outcomes.ts'
import { createPace, type SendStop } from './send-money-pace.ts'
import { type StreamConnection, sendMoneyPacket } from './stream-connection.ts'

/** How an order is carried out. */
export interface SendTerms {
  readonly order: SendOrder
  /** The greatest packet to begin with. */
  readonly maxPacketAmount: bigint
  /** Whether a packet without an answer may be sent again, to find out. */
  readonly isIdempotent: boolean
  /** Whether nothing new leaves: it is only found out what became of what has left. */
  readonly isOver: boolean
  /** What arrived of what leaves when the price was made. */
  readonly quotedRate: PathRate
  /** By no better one a receiver that takes no more, for good, can have what its word says. */
  readonly closingRate: PathRate
  /** What arrives of what leaves now, by what is `known`; or why nothing may leave. Asked once, before the first new packet. */
  findRate(known: PathRate): Promise<PathRate | SendStop>
  /**
   * What the account of the rail may have sent more than it has received, or why that is not known. Asked before each record
   * of new packets.
   */
  findMost(): Promise<bigint | undefined | SendStop>
}

/** How far it came. */
export interface SendResult {
  readonly state: SendState
  /** Absent where all is done. */
  readonly stop?: SendStop
  /** Whether `state` is what was recorded last. */
  readonly isRecorded: boolean
}

/** After a packet's expiry and this nobody fulfills it any more, wherever it is, if clocks are not far apart. */
export const EXPIRY_MARGIN_MILLISECONDS = 10_000

const LIFETIME_MILLISECONDS = 30_000
/** A packet that has less time left does not leave any more. */
const LEAST_LIFE_MILLISECONDS = 15_000
/** Recorded so often while packets are in the air, so that who holds the payment is seen to be alive. */
const RECORD_MILLISECONDS = 5_000
/** Packets that are recorded together before they leave. */
const MOST_AHEAD = 16
/** Packets are planned anew when no more than so many are in the air. */
const FEW_IN_FLIGHT = 4
const MOST_UNDECIDED = 64

/**
 * Sends money in packets, several at once, from where `start` left off, until all has left or arrived, the receiver takes
 * no more, or nothing gets through. What leaves is recorded before, and its value is sent again only where it was refused.
 * Rejects where `record` does, once nothing is in the air any more; after any other fault, once what is known is recorded.
 */
export async function sendMoney(
  connection: StreamConnection,
  { order, maxPacketAmount, isIdempotent, isOver, quotedRate, closingRate, findRate, findMost }: SendTerms,
  start: SendState,
  record: RecordProgress,
): Promise<SendResult> {
  const { clock, requests } = connection
  const pace = createPace(clock, maxPacketAmount, order.sendAmount, smallestPart(order, quotedRate))
  const book = openBook(start)
  const flights = new Set<Promise<void>>()
  const leastRate: PathRate = { sent: order.sendAmount, received: order.receiveAmount }
  let found: PathRate | undefined
  let [changes, recordedChanges, recordedAt] = [0, 0, clock.now()]
  let isLost = false
  const faults: unknown[] = []
  if (isOver) pace.noteStop({ outcome: 'ended', reason: 'receiver_over' })
  if (start.packets.length > 0 && !isIdempotent) pace.noteStop(IN_FLIGHT)

  const rateNow = (): PathRate => found ?? start.rate ?? quotedRate
  const known = rateNow()
  // What left before the rate fell arrived at the one before.
  const bestRate = (): PathRate => (isHigher(rateNow(), known) ? rateNow() : known)
  const sending: Sending = { order, isIdempotent, book, pace, clock, bestRate }
  const stateNow = (): SendState => ({ ...book.state(), rate: rateNow() })
  const nextAt = (by: PathRate) => nextPacket(order, book.assigned(by), { ...by, cap: pace.cap(), dust: pace.dust() })

  const write = async (most?: bigint): Promise<boolean> => {
    const written = changes
    recordedAt = clock.now()
    const recorded = await record(formatProgress(stateNow()), most).catch((cause: unknown) => {
      isLost = true
      throw cause
    })
    if (recorded === 'over_limit') return false
    recordedChanges = written
    return true
  }

  const fly = async (packet: Undecided): Promise<void> => {
    const epoch = pace.epoch()
    packet.state = 'flying'
    const wait = isIdempotent ? ASK_MILLISECONDS : packet.expiresAt + EXPIRY_MARGIN_MILLISECONDS - clock.now()
    const outcome = await sendMoneyPacket(connection, packet, wait)
    if (noteOutcome(sending, packet, outcome, epoch)) changes++
  }

  const launch = (ready: readonly Undecided[]): void => {
    for (const packet of ready) {
      if (flights.size >= pace.width() || !requests.hasRoomBeside(flights.size)) return
      const flight: Promise<void> = requests
        .follow(fly(packet))
        .catch((cause: unknown) => faults.push(cause))
        .then(() => {
          flights.delete(flight)
        })
      flights.add(flight)
    }
  }

  /** Records as many of the packets as may leave by the limit of the account; why none may, nor smaller ones. */
  const recordPlanned = async (first: Undecided, planned: readonly Undecided[]): Promise<SendStop | undefined> => {
    const most = await findMost()
    if (typeof most === 'object') return most
    for (let count = planned.length; count > 0; ) {
      if (await write(most)) return undefined
      const fewer = Math.floor(count / 2)
      for (const packet of planned.slice(fewer, count)) book.drop(packet)
      count = fewer
    }
    pace.noteShortage(first.amount)
    return pace.cap() < first.amount ? undefined : { outcome: 'later', reason: 'sending_limit' }
  }

  /** Plans the next packets and records them; whether there are any. */
  const planAhead = async (): Promise<boolean> => {
    if (nextAt(leastRate) === undefined) return false
    if (found === undefined) {
      const answer = await findRate(rateNow())
      if ('outcome' in answer) {
        pace.noteStop(answer)
        return false
      }
      found = answer
    }
    pace.notePlanning()
    const expiresAt = clock.now() + LIFETIME_MILLISECONDS
    const planned: Undecided[] = []
    while (flights.size + planned.length < MOST_AHEAD && book.undecided().length < MOST_UNDECIDED) {
      const next = nextAt(found)
      if (next === undefined) break
      planned.push(book.plan({ ...next, expiresAt }))
    }
    const [first] = planned
    if (first === undefined) return false
    const unrecorded = await recordPlanned(first, planned)
    if (unrecorded === undefined) return true
    for (const packet of planned) book.drop(packet)
    pace.noteStop(unrecorded)
    return true
  }

  /** Waits until something is decided, or one of some moments has come. */
  const waitUntil = async (...moments: readonly number[]): Promise<void> => {
    const left = Math.min(...moments, recordedAt + RECORD_MILLISECONDS) - clock.now()
    // Clocks may be set back.
    const pause = Math.min(Math.max(left, 0), RECORD_MILLISECONDS)
    const decided = new AbortController()
    await (flights.size === 0 ? clock.sleep(pause) : Promise.race([...flights, clock.sleep(pause, decided.signal)]))
    decided.abort()
  }

  /**
   * What is too old or too large by now, or is to leave no more, does not. Before the next record, which says so: where that
   * comes too late for the lease nobody could tell any more.
   */
  const dropUnfit = (): void => {
    if (pace.isTired()) pace.noteStop({ outcome: 'later', reason: 'no_progress' })
    for (const packet of book.undecided('planned')) {
      const isStale = packet.expiresAt - clock.now() < LEAST_LIFE_MILLISECONDS
      if (pace.stop() === undefined && !isStale && packet.amount <= pace.cap()) continue
      book.drop(packet)
      changes++
    }
  }

  const sendOn = async (): Promise<void> => {
    while (faults.length === 0) {
      dropUnfit()
      if (clock.now() - recordedAt >= RECORD_MILLISECONDS) {
        await write()
        // The record may have taken its time.
        dropUnfit()
      }
      const now = clock.now()
      const asked = isIdempotent && !pace.isTired() ? book.undecided('unknown') : []
      launch(asked.filter(({ askAt }) => askAt <= now))
      const mayBegin = pace.stop() === undefined
      if (mayBegin && pace.resumeAt() <= now) {
        launch(book.undecided('planned'))
        // What others of the wrong size come back with is divided anew together.
        const isShort =
          book.undecided('planned').length === 0 && flights.size <= (pace.isResizing() ? 0 : FEW_IN_FLIGHT)
        const before = flights.size
        // What has come back meanwhile may have to be asked about.
        if (isShort && ((await planAhead()) || flights.size < before)) continue
      }
      const moments = [...asked.map(({ askAt }) => askAt), ...(mayBegin ? [pace.resumeAt()] : [])]
      const coming = moments.filter((moment) => moment > now)
      if (flights.size === 0 && coming.length === 0) return
      await waitUntil(...coming)
    }
  }

  await sendOn().catch((cause: unknown) => faults.push(cause))
  await Promise.all(flights)
  // Where nobody has the patience to ask for the word, the least counts too.
  for (const packet of book.undecided('unknown')) {
    if (!packet.isTaken) continue
    countTaken(sending, packet, packet.least)
    changes++
  }
  if (faults.length > 0) {
    for (const packet of book.undecided('planned')) book.drop(packet)
    // Whoever lost the payment writes no more.
    if (!isLost) await write().catch(() => undefined)
    throw faults[0]
  }
  const { sent, said } = book.state()
  const isAcknowledged =
    order.isFixedReceive &&
    pace.stop()?.outcome === 'ended' &&
    smaller(said, (sent * closingRate.received) / closingRate.sent) >= order.receiveAmount
  const isDone = book.undecided().length === 0 && (isAcknowledged || nextAt(leastRate) === undefined)
  const stop = isDone ? undefined : (pace.stop() ?? IN_FLIGHT)
  return { state: stateNow(), isRecorded: changes === recordedChanges, ...(stop && { stop }) }
}
