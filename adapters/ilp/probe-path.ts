import type { RailRate } from '../../src/protocol/price.ts'
import { type IlpReject, readAmountTooLarge } from './packet.ts'
import { smaller } from './send-money-amounts.ts'
import { type StreamConnection, sendTestPacket } from './stream-connection.ts'

/**
 * The result of a probe. Hops round down, so the real rate is the one found, or higher. `refused`: the answers say that
 * this will not get better; `busy`: it may. `unreachable` only if the peer itself did not answer.
 */
export type ProbedPath =
  | ({ readonly ok: true } & RailRate)
  | {
      readonly ok: false
      readonly reason: 'unreachable' | 'unauthorized' | 'refused' | 'busy'
      readonly detail: string
    }

const MOST_PACKETS = 24
/** A hop that says more often than this that a packet is too large is not telling the truth. */
const MOST_SHRINKS = 8
const MOST_REFUSALS = 3
const FIRST_PAUSE_MILLISECONDS = 50
/** With this many units arriving, the rate is known to a thousandth. */
const PRECISE = 1000n
const STEP = 1_000_000n
/**
 * Liquidity may be short only for a moment, or by orders of magnitude: first the same amount is tried again, then these
 * parts of it.
 */
const SHORTAGE_PARTS: readonly bigint[] = [1n, 16n, 256n, 65_536n]

/**
 * Measures what arrives of what leaves, with test packets, whose money nobody can take: first with `first` units, then
 * with more if too little arrived to tell, or less if a hop does not take that much; never above `most`. Ends within
 * `milliseconds`.
 */
export async function probePath(
  connection: StreamConnection,
  {
    first,
    most,
    milliseconds,
    isOrdered,
  }: {
    readonly first: bigint
    readonly most: bigint
    readonly milliseconds: number
    /** Whether a payment waits for this: then it needs no free room for its packets, as for the first of its money. */
    readonly isOrdered: boolean
  },
): Promise<ProbedPath> {
  const { clock, requests } = connection
  const deadline = clock.now() + milliseconds
  let amount = first
  let cap = most
  let pause = FIRST_PAUSE_MILLISECONDS
  let refusals = 0
  let shrinks = 0
  let shortages = 0
  let best: RailRate = { sent: 0n, received: 0n }
  let detail = 'no answer'
  let isAnswered = false
  const rest = (wanted: number): Promise<void> => clock.sleep(Math.min(wanted, Math.max(deadline - clock.now(), 0)))
  const found = (): ProbedPath =>
    best.received > 0n ? { ok: true, ...best } : { ok: false, reason: isAnswered ? 'busy' : 'unreachable', detail }

  for (let count = 0; count < MOST_PACKETS && clock.now() < deadline; count++) {
    if (!isOrdered && !requests.hasRoom()) {
      detail = 'no room for another packet'
      isAnswered = true
      await rest(pause)
      pause *= 2
      continue
    }
    const outcome = await requests.follow(sendTestPacket(connection, amount, deadline - clock.now()))
    if (outcome.outcome === 'rejected' && outcome.received !== undefined) {
      best = { sent: amount, received: outcome.received }
      if (best.received >= PRECISE || amount >= cap) {
        // While there is no liquidity for more, nothing may arrive of a small packet, and that is nobody's fault.
        return best.received > 0n || shortages > 0
          ? found()
          : { ok: false, reason: 'refused', detail: 'nothing arrives' }
      }
      amount = smaller(amount * STEP, cap)
      continue
    }
    const reply = outcome.outcome === 'rejected' ? outcome.reply : undefined
    isAnswered = reply !== undefined
    if (reply?.code === 'F08' || reply?.code === 'T04') {
      detail = reply.code
      cap = reply.code === 'F08' ? smallerAmount(amount, reply) : amount / (SHORTAGE_PARTS[shortages++] ?? STEP)
      if (cap <= best.sent || ++shrinks > MOST_SHRINKS) return found()
      if (cap === amount) await rest(FIRST_PAUSE_MILLISECONDS)
      amount = cap
      continue
    }
    // If measuring more precisely fails now, what is known is enough.
    if (best.received > 0n) return found()
    detail = reply?.code ?? ('detail' in outcome ? outcome.detail : 'a test was fulfilled')
    if (outcome.outcome === 'not_taken' && outcome.reason === 'unauthorized')
      return { ok: false, reason: 'unauthorized', detail }
    if (reply?.code.startsWith('F') && ++refusals >= MOST_REFUSALS) return { ok: false, reason: 'refused', detail }
    await rest(pause)
    pause *= 2
  }
  return found()
}

/** The amount to try after a packet was too large: what the hop takes, in our units, if it says so; otherwise half. */
export function smallerAmount(amount: bigint, reply: IlpReject): bigint {
  const limit = readAmountTooLarge(reply)
  const scaled =
    limit === undefined || limit.receivedAmount === 0n
      ? amount / 2n
      : (amount * limit.maximumAmount) / limit.receivedAmount
  return scaled < amount ? scaled : amount / 2n
}
