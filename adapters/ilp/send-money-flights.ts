import type { Undecided } from './send-money-book.ts'
import type { Journal } from './send-money-journal.ts'
import { ASK_MILLISECONDS, noteOutcome, type Sending } from './send-money-outcomes.ts'
import { type StreamConnection, sendMoneyPacket } from './stream-connection.ts'

/** The packets of one delivery that are in the air: sent, and waiting for an answer. */
export interface Flights {
  count(): number
  /** Sends as many of these packets as the pace and the other deliveries leave room for. */
  launch(packets: readonly Undecided[]): void
  /** Waits until a packet has landed or the moment has come. */
  waitUntil(moment: number): Promise<void>
  /** Resolves once no packet is in the air. */
  landed(): Promise<unknown>
}

/** This long after its expiry, nobody will fulfill a packet any more, wherever it is, if clocks do not differ much. */
export const EXPIRY_MARGIN_MILLISECONDS = 10_000

/** Pauses are cut to this, because the clock may be set back. */
const LONGEST_PAUSE_MILLISECONDS = 5_000

/** Sends packets, each in its own request, and notes what became of them; a fault is given to `noteFault`. */
export function openFlights(
  connection: StreamConnection,
  sending: Sending,
  journal: Journal,
  noteFault: (cause: unknown) => void,
): Flights {
  const { isIdempotent, pace, clock } = sending
  const flights = new Set<Promise<void>>()

  const fly = async (packet: Undecided): Promise<void> => {
    const epoch = pace.epoch()
    packet.state = 'flying'
    const wait = isIdempotent ? ASK_MILLISECONDS : packet.expiresAt + EXPIRY_MARGIN_MILLISECONDS - clock.now()
    const outcome = await sendMoneyPacket(connection, packet, wait)
    if (noteOutcome(sending, packet, outcome, epoch)) journal.noteChange()
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
    landed: () => Promise.all(flights),
  }
}
