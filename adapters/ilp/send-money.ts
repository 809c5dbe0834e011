import type { RecordProgress } from '../../src/index.ts'
import { formatProgress, type SendState } from './deliver-notes.ts'
import type { PathRate } from './probe-path.ts'
import { countArrived, greater, nextPacket, type SendOrder } from './send-money-amounts.ts'
import { openBook, type Undecided } from './send-money-book.ts'
import { createPace, type SendStop } from './send-money-pace.ts'
import { type MoneyPacket, type PacketOutcome, type StreamConnection, sendMoneyPacket } from './stream-connection.ts'

type NotTaken = Exclude<PacketOutcome, { readonly outcome: 'fulfilled' }>

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
/** Where a packet can be sent again, its answer is not waited for longer. */
const ASK_MILLISECONDS = 10_000
const FIRST_ASK_PAUSE_MILLISECONDS = 100
/** Where a packet was taken, and the word on how much of it arrived got lost, that is asked for so often; then the least counts. */
const MOST_ASKS_FOR_WORD = 7
/** Recorded so often while packets are in the air, so that who holds the payment is seen to be alive. */
const RECORD_MILLISECONDS = 5_000
/** Packets that are recorded together before they leave. */
const MOST_AHEAD = 16
/** Packets are planned anew when no more than so many are in the air. */
const FEW_IN_FLIGHT = 4
const MOST_UNDECIDED = 64
/** Why nothing more leaves while a packet has no answer, and cannot be asked about. */
export const IN_FLIGHT: SendStop = { outcome: 'later', reason: 'in_flight' }

/**
 * Sends money in packets, several at once, from where `start` left off, until all has left or arrived, the receiver takes
 * no more, or nothing gets through. What leaves is recorded before, and its value is sent again only where it was refused.
 * Rejects where `record` does, once nothing is in the air any more; after any other fault, once what is known is recorded.
 */
export async function sendMoney(
  connection: StreamConnection,
  { order, maxPacketAmount, isIdempotent, isOver, quotedRate, findRate, findMost }: SendTerms,
  start: SendState,
  record: RecordProgress,
): Promise<SendResult> {
  const { clock } = connection
  const pace = createPace(clock, maxPacketAmount, order.sendAmount)
  const book = openBook(start)
  const flights = new Set<Promise<void>>()
  const leastRate: PathRate = { sent: order.sendAmount, received: order.receiveAmount }
  let rate = start.rate ?? quotedRate
  let isRateFound = false
  let dust = 0n
  let isResizing = false
  let [changes, recordedChanges, recordedAt] = [0, 0, clock.now()]
  let isLost = false
  const faults: unknown[] = []
  if (isOver) pace.noteStop({ outcome: 'ended', reason: 'receiver_over' })
  if (start.packets.length > 0 && !isIdempotent) pace.noteStop(IN_FLIGHT)

  const nextAt = (by: PathRate) => nextPacket(order, book.assigned(by), { ...by, cap: pace.cap(), dust })

  const stateNow = (): SendState => ({ ...book.state(), rate })

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

  const judge = (
    { amount, least }: MoneyPacket,
    { reply, received: arrived, isClosed }: NotTaken & { readonly outcome: 'rejected' },
    epoch: number,
  ): void => {
    if (isClosed) pace.noteStop({ outcome: 'ended', reason: 'closed_by_receiver' })
    if (arrived === 0n) dust = greater(dust, amount)
    if (reply.code === 'F08' || reply.code === 'T04') {
      isResizing = true
      pace.noteTooLarge(amount, reply)
    }
    const reason = arrived !== undefined && arrived < least ? 'rate_too_low' : reply.code
    if (!reply.code.startsWith('F')) pace.noteTrouble(epoch, reason)
    else if (reply.code !== 'F08') pace.noteRefusal(epoch, reason)
  }

  const settle = (packet: Undecided, arrived: bigint): void => {
    const { amount, least } = packet
    changes++
    book.settle(packet, countArrived(order, packet, arrived, rate))
    if (arrived === 0n) dust = greater(dust, amount)
    // Receivers exist that take a packet of which nothing is left; more than rounding is somebody's hand in it.
    if (arrived < least && amount * order.receiveAmount > order.sendAmount)
      pace.noteStop({ outcome: 'ended', reason: 'less_arrived' })
  }

  const askLater = (packet: Undecided): void => {
    packet.state = 'unknown'
    packet.mayHaveLeft = true
    packet.askAt = clock.now() + Math.min(FIRST_ASK_PAUSE_MILLISECONDS * 2 ** packet.asks++, ASK_MILLISECONDS)
  }

  const askForWord = (packet: Undecided): void => {
    if (packet.asks < MOST_ASKS_FOR_WORD) askLater(packet)
    else settle(packet, packet.least)
  }

  const noteTaken = (packet: Undecided, said: bigint | undefined): void => {
    if (!packet.isWordless) {
      pace.noteSuccess()
      packet.asks = 0
    }
    packet.isWordless = said === undefined && isIdempotent
    if (packet.isWordless) askForWord(packet)
    else settle(packet, said ?? packet.least)
  }

  const noteNotTaken = (packet: Undecided, outcome: NotTaken, epoch: number): void => {
    changes++
    // Somebody on the way may refuse a packet that has come through before, and not know of it.
    const isFinal = outcome.outcome === 'rejected' && outcome.isFinal
    if (isFinal || (outcome.outcome !== 'unknown' && !packet.mayHaveLeft)) book.drop(packet)
    else {
      askLater(packet)
      if (!isIdempotent) pace.noteStop(IN_FLIGHT)
    }
    if (outcome.outcome === 'rejected') judge(packet, outcome, epoch)
    else pace.noteTrouble(epoch, outcome.outcome === 'not_taken' ? outcome.reason : IN_FLIGHT.reason)
  }

  const fly = async (packet: Undecided): Promise<void> => {
    const epoch = pace.epoch()
    packet.state = 'flying'
    const wait = isIdempotent ? ASK_MILLISECONDS : packet.expiresAt + EXPIRY_MARGIN_MILLISECONDS - clock.now()
    const outcome = await sendMoneyPacket(connection, packet, wait)
    if (outcome.outcome === 'fulfilled') noteTaken(packet, outcome.received)
    // What was taken stays taken, whatever comes of asking its receiver how much arrived.
    else if (packet.isWordless) askForWord(packet)
    else noteNotTaken(packet, outcome, epoch)
  }

  const launch = (ready: readonly Undecided[]): void => {
    for (const packet of ready.slice(0, Math.max(pace.width() - flights.size, 0))) {
      const flight: Promise<void> = fly(packet)
        .catch((cause: unknown) => faults.push(cause))
        .then(() => {
          flights.delete(flight)
        })
      flights.add(flight)
    }
  }

  /** Records as many of the packets as may leave by the limit of the account; why none may. */
  const recordPlanned = async (planned: readonly Undecided[]): Promise<SendStop | undefined> => {
    const most = await findMost()
    if (typeof most === 'object') return most
    for (let count = planned.length; count > 0; ) {
      if (await write(most)) return undefined
      const fewer = Math.floor(count / 2)
      for (const packet of planned.slice(fewer, count)) book.drop(packet)
      count = fewer
    }
    return { outcome: 'later', reason: 'sending_limit' }
  }

  /** Plans the next packets and records them; whether there are any. */
  const planAhead = async (): Promise<boolean> => {
    if (nextAt(leastRate) === undefined) return false
    if (!isRateFound) {
      const found = await findRate(rate)
      if ('outcome' in found) {
        pace.noteStop(found)
        return false
      }
      rate = found
      isRateFound = true
    }
    isResizing = false
    const expiresAt = clock.now() + LIFETIME_MILLISECONDS
    const planned: Undecided[] = []
    while (flights.size + planned.length < MOST_AHEAD && book.undecided().length < MOST_UNDECIDED) {
      const next = nextAt(rate)
      if (next === undefined) break
      planned.push(book.plan({ ...next, expiresAt }))
    }
    if (planned.length === 0) return false
    const unrecorded = await recordPlanned(planned)
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

  const sendOn = async (): Promise<void> => {
    while (faults.length === 0) {
      const now = clock.now()
      if (now - recordedAt >= RECORD_MILLISECONDS) await write()
      if (pace.isTired()) pace.noteStop({ outcome: 'later', reason: 'no_progress' })
      for (const packet of book.undecided('planned')) {
        const isStale = packet.expiresAt - now < LEAST_LIFE_MILLISECONDS || packet.amount > pace.cap()
        if (pace.stop() === undefined && !isStale) continue
        book.drop(packet)
        changes++
      }
      const asked = isIdempotent && !pace.isTired() ? book.undecided('unknown') : []
      launch(asked.filter(({ askAt }) => askAt <= now))
      const mayBegin = pace.stop() === undefined
      if (mayBegin && pace.resumeAt() <= now) {
        launch(book.undecided('planned'))
        // What others of the wrong size come back with is divided anew together.
        const isShort = book.undecided('planned').length === 0 && flights.size <= (isResizing ? 0 : FEW_IN_FLIGHT)
        if (isShort && (await planAhead())) continue
      }
      const moments = [...asked.map(({ askAt }) => askAt), ...(mayBegin ? [pace.resumeAt()] : [])]
      const coming = moments.filter((moment) => moment > now)
      if (flights.size === 0 && coming.length === 0) return
      await waitUntil(...coming)
    }
  }

  await sendOn().catch((cause: unknown) => faults.push(cause))
  await Promise.all(flights)
  if (faults.length > 0) {
    for (const packet of book.undecided('planned')) book.drop(packet)
    // Whoever lost the payment writes no more.
    if (!isLost) await write().catch(() => undefined)
    throw faults[0]
  }
  const isDone = book.undecided().length === 0 && nextAt(leastRate) === undefined
  const stop = isDone ? undefined : (pace.stop() ?? IN_FLIGHT)
  return { state: stateNow(), isRecorded: changes === recordedChanges, ...(stop && { stop }) }
}
