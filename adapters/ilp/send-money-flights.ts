import type { Clock } from '../../src/index.ts'
import { type SendOrder, smaller } from './send-money-amounts.ts'
import type { Journal, PacketBook, Undecided } from './send-money-book.ts'
import type { Pace, SendStop } from './send-money-pace.ts'
import { type PacketOutcome, type StreamConnection, sendMoneyPacket } from './stream-connection.ts'

/** The parts of a delivery, and how it treats a packet without an answer. */
export interface Sending {
  readonly order: SendOrder
  /** Whether such a packet may be sent again to find out what became of it. */
  readonly isIdempotent: boolean
  readonly book: PacketBook
  readonly journal: Journal
  readonly pace: Pace
  readonly clock: Clock
}

/** The packets of one delivery that are in the air: sent, and waiting for an answer. */
export interface Flights {
  count(): number
  /** Sends as many of these packets as the pace and the other deliveries leave room for. */
  launch(packets: readonly Undecided[]): void
  /** Waits until a packet has landed or the moment has come. */
  waitUntil(moment: number): Promise<void>
  /**
   * Resolves once no packet is in the air. If it was not found out how much arrived of one that was taken, its least
   * counts then.
   */
  land(): Promise<void>
}

/** This long after its expiry, nobody will fulfill a packet any more, wherever it is, if clocks do not differ much. */
export const EXPIRY_MARGIN_MILLISECONDS = 10_000

/** Why nothing more leaves while a packet has no answer and cannot be asked about. */
export const IN_FLIGHT: SendStop = { outcome: 'later', reason: 'in_flight' }

/** Pauses are cut to this, because the clock may be set back. */
const LONGEST_PAUSE_MILLISECONDS = 5_000
/** How long to wait for the answer to a packet that can be sent again. */
const ASK_MILLISECONDS = 10_000
const FIRST_ASK_PAUSE_MILLISECONDS = 100
/**
 * How often to ask how much arrived of a packet that was taken, if that answer was lost; after that its least counts.
 */
const MOST_ASKS_FOR_WORD = 7

/** Sends packets, each in its own request, and notes what became of them; a fault is given to `noteFault`. */
export function openFlights(
  connection: StreamConnection,
  sending: Sending,
  noteFault: (cause: unknown) => void,
): Flights {
  const { isIdempotent, book, pace, clock } = sending
  const flights = new Set<Promise<void>>()

  const fly = async (packet: Undecided): Promise<void> => {
    const epoch = pace.epoch()
    packet.state = 'flying'
    const wait = isIdempotent ? ASK_MILLISECONDS : packet.expiresAt + EXPIRY_MARGIN_MILLISECONDS - clock.now()
    noteOutcome(sending, packet, await sendMoneyPacket(connection, packet, wait), epoch)
  }

  return {
    count: () => flights.size,
    launch(packets) {
      const { requests } = connection
      for (const packet of packets) {
        if (flights.size >= pace.width() || !requests.hasRoomBeside(flights.size)) return
        const flight: Promise<void> = requests
          .follow(fly(packet))
          .catch(noteFault)
          .then(() => {
            flights.delete(flight)
          })
        flights.add(flight)
      }
    },
    async waitUntil(moment) {
      const pause = Math.min(Math.max(moment - clock.now(), 0), LONGEST_PAUSE_MILLISECONDS)
      const decided = new AbortController()
      await (flights.size === 0 ? clock.sleep(pause) : Promise.race([...flights, clock.sleep(pause, decided.signal)]))
      decided.abort()
    },
    async land() {
      await Promise.all(flights)
      for (const packet of book.undecided('unknown')) if (packet.isTaken) countTaken(sending, packet, packet.least)
    },
  }
}

type NotTaken = Exclude<PacketOutcome, { readonly outcome: 'fulfilled' }>
type Rejected = Extract<PacketOutcome, { readonly outcome: 'rejected' }>

/** Notes the outcome of sending a packet; `epoch` is that of the pace when it left. */
function noteOutcome(sending: Sending, packet: Undecided, outcome: PacketOutcome, epoch: number): void {
  if (outcome.outcome === 'fulfilled') noteTaken(sending, packet, outcome.received)
  // A packet that was taken stays taken, whatever the answers to asking how much of it arrived.
  else if (packet.isTaken) askForWord(sending, packet)
  else noteNotTaken(sending, packet, outcome, epoch)
}

function noteTaken(sending: Sending, packet: Undecided, said: bigint | undefined): void {
  const { isIdempotent, journal, pace } = sending
  if (!packet.isTaken) {
    pace.noteSuccess(packet.amount)
    journal.noteChange()
    packet.isTaken = true
    packet.asks = 0
  }
  if (said === undefined && isIdempotent) askForWord(sending, packet)
  else countTaken(sending, packet, said ?? packet.least)
}

function askForWord(sending: Sending, packet: Undecided): void {
  if (packet.asks < MOST_ASKS_FOR_WORD) askLater(sending, packet)
  else countTaken(sending, packet, packet.least)
}

/**
 * Counts a packet that its receiver has taken. For a fixed receive, no more counts than the path can have brought,
 * whatever the receiver says, so that it cannot end the payment early.
 */
function countTaken({ order, book, journal, pace }: Sending, packet: Undecided, arrived: bigint): void {
  const { amount, least } = packet
  const most = order.isFixedReceive ? book.mostArrived(packet) : arrived
  book.settle(packet, arrived, smaller(arrived, most))
  journal.noteChange()
  if (arrived === 0n) pace.noteNothing(amount)
  // Some receivers take a packet of which rounding has left nothing. A loss beyond rounding means that somebody took a
  // part.
  if (arrived < least && amount * order.receiveAmount > order.sendAmount)
    pace.noteStop({ outcome: 'ended', reason: 'less_arrived' })
}

function noteNotTaken(sending: Sending, packet: Undecided, outcome: NotTaken, epoch: number): void {
  const { isIdempotent, book, journal, pace } = sending
  // A hop may refuse a repeated packet without knowing that it came through before.
  const isFinal = outcome.outcome === 'rejected' && outcome.isFinal
  if (isFinal || (outcome.outcome !== 'unknown' && !packet.mayHaveLeft)) {
    book.drop(packet)
    journal.noteChange()
  } else {
    askLater(sending, packet)
    if (!isIdempotent) pace.noteStop(IN_FLIGHT)
  }
  if (outcome.outcome === 'rejected') learnFrom(sending, packet, outcome, epoch)
  else pace.noteTrouble(epoch, outcome.outcome === 'not_taken' ? outcome.reason : IN_FLIGHT.reason)
}

function askLater({ clock }: Sending, packet: Undecided): void {
  packet.state = 'unknown'
  packet.mayHaveLeft = true
  packet.askAt = clock.now() + Math.min(FIRST_ASK_PAUSE_MILLISECONDS * 2 ** packet.asks++, ASK_MILLISECONDS)
}

function learnFrom(
  { order, pace }: Sending,
  { amount, least }: Undecided,
  { reply, received: arrived, isClosed }: Rejected,
  epoch: number,
): void {
  if (isClosed) pace.noteStop({ outcome: 'ended', reason: 'closed_by_receiver' })
  // The next packet will be twice as large, so this refusal does not count against it.
  const isTooLittle = order.isFixedReceive && arrived === 0n && amount > pace.dust()
  if (arrived === 0n) pace.noteNothing(amount)
  if (reply.code === 'F08') pace.noteTooLarge(amount, reply)
  if (reply.code === 'T04') pace.noteShortage(amount)
  const reason = arrived !== undefined && arrived < least ? 'rate_too_low' : reply.code
  if (!reply.code.startsWith('F') || isTooLittle) pace.noteTrouble(epoch, reason)
  else if (reply.code !== 'F08') pace.noteRefusal(epoch, reason)
}
