import type { Clock, RecordProgress } from '../../src/index.ts'
import { MAX_AMOUNT_VALUE } from '../../src/protocol/amount.ts'
import { ceilDivide, type RailRate } from '../../src/protocol/price.ts'
import { formatProgress, type OpenPacket, type SendState } from './deliver-notes.ts'
import { type Assigned, isHigher, smaller } from './send-money-amounts.ts'
import type { MoneyPacket } from './stream-connection.ts'

/** A packet that is planned or may have left, and whose outcome is not known. */
export interface Undecided extends OpenPacket {
  state: 'planned' | 'flying' | 'unknown'
  /** Whether it may have left already before its next sending. */
  mayHaveLeft: boolean
  /** The rate that was known when it was planned, or last before this call. */
  readonly plannedRate: RailRate
  isTaken: boolean
  /** How often in a row it got no answer (or, once taken, no statement of what arrived), and when to ask again. */
  asks: number
  askAt: number
}

/** Keeps account, packet by packet, of what has left and what has arrived of it. */
export interface PacketBook {
  state(): SendState
  /** The rate between what leaves and what arrives, as far as it is known. */
  rate(): RailRate
  noteRate(rate: RailRate): void
  undecided(state?: Undecided['state']): readonly Undecided[]
  /**
   * The sums over all packets; undecided ones are expected to arrive at `rate`. By default that is the better of the rate
   * now and the one known when they were planned, since they may have left at that: otherwise, once the rate has
   * fallen, more would be sent for what has arrived already.
   */
  assigned(rate?: RailRate): Assigned
  plan(packet: Pick<MoneyPacket, 'amount' | 'least' | 'expiresAt'>): Undecided
  /** Removes a packet: its money has not left, or has come back. */
  drop(packet: Undecided): void
  /** Records that the receiver has the money: how much it says has arrived (`said`), and how much of that counts. */
  settle(packet: Undecided, said: bigint, counted: bigint): void
  /**
   * The most that a packet can have brought, at the better of the rate now and the rate when the book was opened
   * (packets that left before the rate fell arrived at that). Rounded up once for everything settled since the book was
   * opened: if each packet were rounded up, a receiver could gain nearly a unit with each.
   */
  mostArrived(packet: Undecided): bigint
}

/**
 * Opens the book where it was left; packets that were undecided then may have left. Without a known rate, uses the
 * quote's.
 */
export function openBook({ packets, ...start }: SendState, quotedRate: RailRate): PacketBook {
  let { sent, received, said, nextSequence, rate = quotedRate } = start
  const rateBefore = rate
  const undecided = new Map<bigint, Undecided>()
  const enter = (packet: OpenPacket, state: Undecided['state']): Undecided => {
    const entry = { ...packet, state, mayHaveLeft: state !== 'planned', plannedRate: rate, asks: 0, askAt: 0 }
    undecided.set(packet.sequence, entry)
    return entry
  }
  for (const packet of packets) enter(packet, 'unknown')
  const drop = ({ sequence }: Undecided): void => {
    undecided.delete(sequence)
  }
  const better = (one: RailRate, other: RailRate): RailRate => (isHigher(one, other) ? one : other)
  return {
    drop,
    state() {
      const packets = [...undecided.values()]
      // The next call needs a better rate that is over as well, as long as packets may have left at it.
      const known = packets.reduce((best, { plannedRate }) => better(plannedRate, best), rate)
      return { sent, received, said, nextSequence, packets, rate: known }
    },
    rate: () => rate,
    noteRate(found) {
      rate = found
    },
    undecided: (wanted) => [...undecided.values()].filter(({ state }) => wanted === undefined || state === wanted),
    assigned(expectedRate) {
      const sums = { sent, received, expected: received }
      for (const { amount, least, plannedRate } of undecided.values()) {
        const expectedAt = expectedRate ?? better(plannedRate, rate)
        sums.sent += amount
        sums.received += least
        sums.expected += (amount * expectedAt.received) / expectedAt.sent
      }
      return sums
    },
    plan: (packet) => enter({ sequence: nextSequence++, ...packet, isTaken: false }, 'planned'),
    settle(packet, word, counted) {
      drop(packet)
      sent += packet.amount
      said += word
      received = smaller(received + counted, MAX_AMOUNT_VALUE)
    },
    mostArrived({ amount }) {
      const at = better(rateBefore, rate)
      const brought = ceilDivide((sent - start.sent + amount) * at.received, at.sent)
      return brought - (received - start.received)
    },
  }
}

/** What is recorded of a delivery. */
export interface Journal {
  /** Notes that more is known than was last recorded. */
  noteChange(): void
  /** Whether everything that is known is recorded. */
  isCurrent(): boolean
  /** When it must be recorded again to renew the payment's lease, even if nothing has changed. */
  dueAt(): number
  /** Whether recording has failed: the payment may belong to another worker by now. */
  isLost(): boolean
  /**
   * Records how far the delivery has come, unless the account would then have sent more than it has received by more
   * than `most`. Rejects if recording does.
   */
  write(most?: bigint): Promise<'recorded' | 'over_limit'>
}

const RECORD_MILLISECONDS = 5_000

/** Opens the journal of a delivery whose state is recorded as it is now. */
export function openJournal(clock: Clock, record: RecordProgress, stateNow: () => SendState): Journal {
  let changes = 0
  let recordedChanges = 0
  let recordedAt = clock.now()
  let isLost = false
  return {
    noteChange() {
      changes++
    },
    isCurrent: () => changes === recordedChanges,
    dueAt: () => recordedAt + RECORD_MILLISECONDS,
    isLost: () => isLost,
    async write(most) {
      // Counted from the beginning: the renewed lease may count from now, however long recording takes.
      const written = changes
      const begunAt = clock.now()
      const recorded = await record(formatProgress(stateNow()), most).catch((cause: unknown) => {
        isLost = true
        throw cause
      })
      if (recorded === 'over_limit') return 'over_limit'
      recordedChanges = written
      recordedAt = begunAt
      return 'recorded'
    },
  }
}
