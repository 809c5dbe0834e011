import type { Clock } from '../../src/index.ts'
import { ceilDivide } from '../../src/protocol/price.ts'
import type { IlpReject } from './packet.ts'
import { smallerAmount } from './probe-path.ts'
import { greater, smaller } from './send-money-amounts.ts'

/** Why nothing more leaves: `ended` for good, `later` for now. */
export interface SendStop {
  readonly outcome: 'ended' | 'later'
  readonly reason: string
}

/** Decides how much may leave at once, by what became of earlier packets. */
export interface Pace {
  /** The largest packet that is likely to come through. */
  cap(): bigint
  /** Of a packet of this amount or less, nothing arrives. */
  dust(): bigint
  /** Whether a packet was too large since packets were last planned; then the others have the wrong size too. */
  isResizing(): boolean
  /** How many packets may be in the air. */
  width(): number
  /** Nothing new leaves before this time. */
  resumeAt(): number
  /**
   * A counter that is noted when a packet leaves and passed back with its outcome, so that one trouble which hits
   * several packets counts once.
   */
  epoch(): number
  /** Why nothing new leaves any more. */
  stop(): SendStop | undefined
  /**
   * Whether to give up for now, because nothing came through for too long, it takes too long altogether, or the clock was
   * set back.
   */
  isTired(): boolean
  notePlanning(): void
  noteSuccess(amount: bigint): void
  /** Something that may pass by itself. */
  noteTrouble(epoch: number, reason: string): void
  /** A refusal that claims to be final; believed once it is repeated. */
  noteRefusal(epoch: number, reason: string): void
  /** A packet was too large for a hop. */
  noteTooLarge(amount: bigint, reply: IlpReject): void
  /** A packet was too large for the liquidity that a hop, or this server, has left. */
  noteShortage(amount: bigint): void
  /** Nothing arrived of a packet. */
  noteNothing(amount: bigint): void
  /** Keeps the first reason, but a final one replaces one for now. */
  noteStop(stop: SendStop): void
}

const MOST_IN_FLIGHT = 8
const FIRST_PAUSE_MILLISECONDS = 20
const LONGEST_PAUSE_MILLISECONDS = 2_000
const PATIENCE_MILLISECONDS = 20_000
const LONGEST_MILLISECONDS = 60_000
const MOST_TROUBLES = 12
const MOST_REFUSALS = 3
const MOST_SHRINKS = 64
/** If liquidity is short, packets get smaller, but not below this part, or there would be too many. */
const SMALLEST_PART = 16n

/**
 * A payment that would need more packets than this is not worth it, unless the peer itself accepts only so little at
 * once.
 */
const MOST_PACKETS = 1000n

/**
 * Begins at full width and with the largest packet allowed. If liquidity is short, packets get no smaller than
 * `smallest`.
 */
export function createPace(clock: Clock, maxPacketAmount: bigint, sendAmount: bigint, smallest: bigint): Pace {
  const startedAt = clock.now()
  const floor = greater(smaller(sendAmount / MOST_PACKETS, maxPacketAmount / SMALLEST_PART), 1n)
  let goodAt = startedAt
  /** The largest packet that every hop accepts. */
  let limit = maxPacketAmount
  /** The largest that is likely to come through now. */
  let comfort = maxPacketAmount
  let width = MOST_IN_FLIGHT
  let pause = 0
  let resumeAt = startedAt
  let epoch = 0
  let troubles = 0
  let refusals = 0
  let shrinks = 0
  let dust = 0n
  let isResizing = false
  let stop: SendStop | undefined

  // In the past or, once the clock was set back, ahead: then so is every moment that is waited for.
  const isFarFrom = (moment: number, patience: number): boolean => Math.abs(clock.now() - moment) > patience
  const noteStop = (other: SendStop): void => {
    if (stop === undefined || (stop.outcome === 'later' && other.outcome === 'ended')) stop = other
  }
  const slowDown = (launchedIn: number, reason: string): boolean => {
    if (launchedIn !== epoch) return false
    epoch++
    pause = Math.min(Math.max(pause * 2, FIRST_PAUSE_MILLISECONDS), LONGEST_PAUSE_MILLISECONDS)
    resumeAt = clock.now() + pause
    width = Math.ceil(width / 2)
    if (++troubles >= MOST_TROUBLES) noteStop({ outcome: 'later', reason })
    return true
  }
  return {
    cap: () => comfort,
    dust: () => dust,
    isResizing: () => isResizing,
    width: () => width,
    resumeAt: () => resumeAt,
    epoch: () => epoch,
    stop: () => stop,
    isTired: () => isFarFrom(goodAt, PATIENCE_MILLISECONDS) || isFarFrom(startedAt, LONGEST_MILLISECONDS),
    notePlanning() {
      isResizing = false
    },
    noteSuccess(amount) {
      // Not by what is left over beside packets of full size: whoever takes only that could be asked for every size there is.
      if (amount >= comfort) shrinks = 0
      comfort = smaller(comfort * 2n, limit)
      width = Math.min(width + 1, MOST_IN_FLIGHT)
      troubles = 0
      refusals = 0
      pause = 0
      resumeAt = clock.now()
      goodAt = clock.now()
    },
    noteTrouble(launchedIn, reason) {
      slowDown(launchedIn, reason)
    },
    noteRefusal(launchedIn, reason) {
      if (slowDown(launchedIn, reason) && ++refusals >= MOST_REFUSALS) noteStop({ outcome: 'ended', reason })
    },
    noteTooLarge(amount, reply) {
      isResizing = true
      const taken = smallerAmount(amount, reply)
      if (taken < floor) noteStop({ outcome: 'ended', reason: 'packets_too_small' })
      else if (++shrinks > MOST_SHRINKS) noteStop({ outcome: 'later', reason: reply.code })
      else limit = smaller(limit, taken)
      comfort = smaller(comfort, limit)
    },
    noteShortage(amount) {
      isResizing = true
      comfort = smaller(limit, greater(greater(ceilDivide(amount, 2n), smallest), ceilDivide(limit, SMALLEST_PART)))
    },
    noteNothing(amount) {
      dust = greater(dust, amount)
    },
    noteStop,
  }
}
