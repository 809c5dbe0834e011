import type { Clock } from '../../src/index.ts'
import { type SendOrder, smaller } from './send-money-amounts.ts'
import type { PacketBook, Undecided } from './send-money-book.ts'
import type { Pace, SendStop } from './send-money-pace.ts'
import type { PacketOutcome } from './stream-connection.ts'

/** The parts of a delivery that handle the outcomes of its packets. */
export interface Sending {
  readonly order: SendOrder
  /** Whether a packet without an answer may be sent again to find out what became of it. */
  readonly isIdempotent: boolean
  readonly book: PacketBook
  readonly pace: Pace
  readonly clock: Clock
}

type NotTaken = Exclude<PacketOutcome, { readonly outcome: 'fulfilled' }>
type Rejected = Extract<PacketOutcome, { readonly outcome: 'rejected' }>

/** How long to wait for the answer to a packet that can be sent again. */
export const ASK_MILLISECONDS = 10_000
const FIRST_ASK_PAUSE_MILLISECONDS = 100
/**
 * How often to ask how much arrived of a packet that was taken, if that answer was lost; after that its least counts.
 */
const MOST_ASKS_FOR_WORD = 7
/** Why nothing more leaves while a packet has no answer and cannot be asked about. */
export const IN_FLIGHT: SendStop = { outcome: 'later', reason: 'in_flight' }

/**
 * Notes the outcome of sending a packet; `epoch` is that of the pace when it left. Returns whether more is known than
 * before.
 */
export function noteOutcome(sending: Sending, packet: Undecided, outcome: PacketOutcome, epoch: number): boolean {
  if (outcome.outcome === 'fulfilled') return noteTaken(sending, packet, outcome.received)
  // A packet that was taken stays taken, whatever the answers to asking how much of it arrived.
  if (packet.isTaken) return askForWord(sending, packet)
  return noteNotTaken(sending, packet, outcome, epoch)
}

/**
 * Counts a packet that its receiver has taken. For a fixed receive, no more counts than the path can have brought,
 * whatever the receiver says, so that it cannot end the payment early.
 */
export function countTaken({ order, book, pace }: Sending, packet: Undecided, arrived: bigint): void {
  const { amount, least } = packet
  const most = order.isFixedReceive ? book.mostArrived(packet) : arrived
  book.settle(packet, arrived, smaller(arrived, most))
  if (arrived === 0n) pace.noteNothing(amount)
  // Some receivers take a packet of which rounding has left nothing. A loss beyond rounding means that somebody took a
  // part.
  if (arrived < least && amount * order.receiveAmount > order.sendAmount)
    pace.noteStop({ outcome: 'ended', reason: 'less_arrived' })
}

function noteTaken(sending: Sending, packet: Undecided, said: bigint | undefined): boolean {
  const isNews = !packet.isTaken
  if (isNews) {
    sending.pace.noteSuccess()
    packet.asks = 0
  }
  packet.isTaken = true
  if (said === undefined && sending.isIdempotent) return askForWord(sending, packet) || isNews
  countTaken(sending, packet, said ?? packet.least)
  return true
}

function askForWord(sending: Sending, packet: Undecided): boolean {
  if (packet.asks < MOST_ASKS_FOR_WORD) {
    askLater(sending, packet)
    return false
  }
  countTaken(sending, packet, packet.least)
  return true
}

function noteNotTaken(sending: Sending, packet: Undecided, outcome: NotTaken, epoch: number): boolean {
  const { isIdempotent, book, pace } = sending
  // A hop may refuse a repeated packet without knowing that it came through before.
  const isFinal = outcome.outcome === 'rejected' && outcome.isFinal
  const isDecided = isFinal || (outcome.outcome !== 'unknown' && !packet.mayHaveLeft)
  if (isDecided) book.drop(packet)
  else {
    askLater(sending, packet)
    if (!isIdempotent) pace.noteStop(IN_FLIGHT)
  }
  if (outcome.outcome === 'rejected') learnFrom(sending, packet, outcome, epoch)
  else pace.noteTrouble(epoch, outcome.outcome === 'not_taken' ? outcome.reason : IN_FLIGHT.reason)
  return isDecided
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
