import { type IlpReject, readAmountTooLarge } from './packet.ts'
import { type StreamConnection, sendTestPacket } from './stream-connection.ts'

/** What arrived of a packet, in the smallest units of both ends: rounded down on the way, so that the rate is no lower. */
export interface PathRate {
  readonly sent: bigint
  readonly received: bigint
}

/**
 * What a probe found. `refused`: those who were asked say that it will not get better; `busy`: that it may. Only if the
 * peer itself did not answer it is `unreachable`.
 */
export type ProbedPath =
  | ({ readonly ok: true } & PathRate)
  | {
      readonly ok: false
      readonly reason: 'unreachable' | 'unauthorized' | 'refused' | 'busy'
      readonly detail: string
    }

const MOST_PACKETS = 24
/** Who says more often that it is too much does not mean it. */
const MOST_SHRINKS = 8
const MOST_REFUSALS = 3
const FIRST_PAUSE_MILLISECONDS = 50
/** What arrived tells the rate to a thousandth, at worst. */
const PRECISE = 1000n
const STEP = 1_000_000n
/** Liquidity is short for a moment, or by orders of magnitude: the same again after it, then such parts of what was too much. */
const SHORTAGE_PARTS: readonly bigint[] = [1n, 16n, 256n, 65_536n]

/**
 * Finds out what arrives of what leaves, with packets whose money nobody can take: of `first` units, then of more if too
 * little arrived to tell, of less if somebody takes no more, never above `most`. Over within `milliseconds`.
 */
export async function probePath(
  connection: StreamConnection,
  { first, most, milliseconds }: { readonly first: bigint; readonly most: bigint; readonly milliseconds: number },
): Promise<ProbedPath> {
  const { clock, requests } = connection
  const deadline = clock.now() + milliseconds
  let [amount, cap, pause, refusals, shrinks] = [first, most, FIRST_PAUSE_MILLISECONDS, 0, 0]
  let shortages = 0
  let best: PathRate = { sent: 0n, received: 0n }
  let [detail, isAnswered] = ['no answer', false]
  const rest = (wanted: number): Promise<void> => clock.sleep(Math.min(wanted, Math.max(deadline - clock.now(), 0)))
  const found = (): ProbedPath =>
    best.received > 0n ? { ok: true, ...best } : { ok: false, reason: isAnswered ? 'busy' : 'unreachable', detail }

  for (let count = 0; count < MOST_PACKETS && clock.now() < deadline; count++) {
    if (!requests.hasRoom()) {
      ;[detail, isAnswered] = ['no room for another packet', true]
      await rest(pause)
      pause *= 2
      continue
    }
    const outcome = await requests.follow(sendTestPacket(connection, amount, deadline - clock.now()))
    if (outcome.outcome === 'rejected' && outcome.received !== undefined) {
      best = { sent: amount, received: outcome.received }
      if (best.received >= PRECISE || amount >= cap) {
        // Of little, while there is no liquidity for more, nothing may arrive without anybody's fault.
        return best.received > 0n || shortages > 0
          ? found()
          : { ok: false, reason: 'refused', detail: 'nothing arrives' }
      }
      amount = amount * STEP < cap ? amount * STEP : cap
      continue
    }
    isAnswered = outcome.outcome === 'rejected' || outcome.outcome === 'fulfilled'
    const reply = outcome.outcome === 'rejected' ? outcome.reply : undefined
    if (reply?.code === 'F08' || reply?.code === 'T04') {
      detail = reply.code
      cap = reply.code === 'F08' ? smallerAmount(amount, reply) : amount / (SHORTAGE_PARTS[shortages++] ?? STEP)
      if (cap <= best.sent || ++shrinks > MOST_SHRINKS) return found()
      if (cap === amount) await rest(FIRST_PAUSE_MILLISECONDS)
      amount = cap
      continue
    }
    // What is known is enough if finding out more takes longer.
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

/** What to try after a packet that was too much: what the hop takes, in our units, if it says so; else half. */
export function smallerAmount(amount: bigint, reply: IlpReject): bigint {
  const limit = readAmountTooLarge(reply)
  const scaled =
    limit === undefined || limit.receivedAmount === 0n
      ? amount / 2n
      : (amount * limit.maximumAmount) / limit.receivedAmount
  return scaled < amount ? scaled : amount / 2n
}
