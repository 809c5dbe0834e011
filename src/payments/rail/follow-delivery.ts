import { isOpenPaymentsError } from '../../errors/open-payments-error.ts'
import type { Context } from '../../ports/context.ts'
import type { RecordProgress } from '../../ports/payment-method.ts'
import type { Change } from '../../ports/storage.ts'
import type { StoredDelivery } from '../../protocol/delivery.ts'
import type { IlpPaymentMethod } from '../../protocol/payment-method.ts'
import { asCommitted, isWrittenBy } from '../../records/as-committed.ts'
import { type Attempt, backOffMilliseconds, LONGEST_BACK_OFF } from '../../records/decide.ts'
import { readRecord } from '../../records/read-record.ts'
import type { RailRecord } from '../payment-record.ts'
import { turnAtDelivery } from '../turn-keys.ts'
import { commitDelivery } from './commit-delivery.ts'
import { checkProgress, isInFlight, progressOf, toStoredDelivery } from './delivery-progress.ts'
import { sealDetails } from './seal-details.ts'

/** A delivery, for the worker that has its lease. */
export interface FollowedDelivery {
  /** The payment as this worker last wrote it. */
  current(): RailRecord
  readonly record: RecordProgress
  /** Whether the rail was told (`record` rejected) that the payment may now belong to another worker. */
  isLost(): boolean
  /**
   * Waits for a call of the rail as long as the rail's records keep renewing the payment's lease; `lapsed` once they do
   * not.
   */
  whileLeased<T>(call: () => Promise<T>): Promise<T | 'lapsed'>
}

/**
 * Records how far a delivery has come, each time at the version that this worker wrote last: so if the worker has lost
 * the payment, the rail is told before anything more leaves.
 */
export function followDelivery(context: Context, start: RailRecord, details: IlpPaymentMethod): FollowedDelivery {
  let current = start
  let isLost = false
  let hasLapsed = false
  const record: RecordProgress = async (progress, most) =>
    // In turn by delivery, not by rail account: while this one is retried, others may use the account.
    context.inTurn(turnAtDelivery(start.value.id), async () => {
      const before = progressOf(current.value)
      checkProgress(current.value, before, progress)
      const stored = toStoredDelivery(current.value.delivery, progress)
      // Sealed when the first money leaves: its server may no longer return the secret when it is needed again.
      const next = { ...stored, details: stored.details ?? (await sealDetails(context, details)) }
      const written = await commitProgress(context, current, next, most).catch((cause) => {
        // It is unknown whether this was written, and so which version to continue from.
        isLost = true
        throw cause
      })
      if (written === 'over_limit') return written
      if (written === 'lost') {
        isLost = true
        throw new Error('another worker has this delivery')
      }
      current = written
      if (hasLapsed) {
        isLost = true
        // What was about to leave will not leave. If nothing else was in flight, record that, so that nobody has to
        // find out.
        if (!isInFlight(before) && progress.sent === before.sent)
          await commitProgress(context, written, toStoredDelivery(next, before))
        throw new Error('this delivery is no longer waited for')
      }
      return 'recorded'
    })
  const untilLapsed = async (signal: AbortSignal): Promise<'lapsed'> => {
    for (let left = 1; left > 0 && !signal.aborted; ) {
      left = (current.dueAt ?? 0) - context.clock.now()
      // No longer than a lease: if the clock was set back far, no timer could run until then.
      if (left > 0) await context.clock.sleep(Math.min(left, context.limits.leaseSeconds * 1000), signal)
    }
    // Set synchronously: from here on nothing that is recorded may leave.
    hasLapsed = !signal.aborted
    return 'lapsed'
  }
  return {
    current: () => current,
    record,
    isLost: () => isLost,
    whileLeased: async (call) => {
      const timer = new AbortController()
      try {
        const called = call()
        const outcome = await Promise.race([called, untilLapsed(timer.signal)])
        // The call keeps its place for as long as it runs, even if nobody waits for it any more.
        if (outcome === 'lapsed') context.deliveries.follow(start.value, called)
        return outcome
      } finally {
        timer.abort()
      }
    },
  }
}

type Written = RailRecord | 'lost' | 'over_limit'
type Renewal = RailRecord & { readonly action: 'replace' }

/** How many times the longest back-off between colliding writers is doubled: from about 0.1 seconds to about 2. */
const MOST_DOUBLINGS = 4

/**
 * Retries an attempt that failed because of the storage, with pauses, until the payment's lease ends at `dueAt`; then
 * it rejects. It rejects at once if anything else failed. `attempt` is told how often it was tried before.
 */
export async function outlastStorage<T>(
  context: Context,
  dueAt: number | undefined,
  attempt: (round: number) => Promise<T>,
): Promise<T> {
  for (let round = 0; ; round++) {
    try {
      return await attempt(round)
    } catch (cause) {
      const pause = backOffMilliseconds(context, LONGEST_BACK_OFF) * 2 ** Math.min(round, MOST_DOUBLINGS)
      if (!isOpenPaymentsError(cause) || context.clock.now() + pause >= (dueAt ?? 0)) throw cause
      await context.clock.sleep(pause)
    }
  }
}

/** Records how far a delivery has come. Once it resolves, at least half of the lease is left. */
async function commitProgress(
  context: Context,
  record: RailRecord,
  delivery: StoredDelivery,
  most?: bigint,
): Promise<Written> {
  const lease = context.limits.leaseSeconds * 1000
  const before = progressOf(record.value)
  const tried: Renewal[] = []
  const write = (next: RailRecord, moved: readonly Change[]): Attempt<RailRecord> => {
    // Money moves, so it is worth asking again soon.
    const attempts = progressOf(next.value).sent > before.sent ? 0 : record.value.attempts
    // Counted from this attempt: the first may have been nearly a lease ago.
    const dueAt = context.clock.now() + lease
    const change: Renewal = { ...next, action: 'replace', value: { ...next.value, attempts }, dueAt }
    tried.push(change)
    return { changes: [change, ...moved], answer: asCommitted(change) }
  }
  const written = await outlastStorage(context, record.dueAt, async (round) => {
    const answer = await commitDelivery(context, record, delivery, write, most)
    // A commit that failed may have happened after all. All attempts expect one version, so at most one of them has
    // happened.
    return answer === 'lost' && round > 0 ? findWritten(context, record.value.id, tried) : answer
  })
  if (typeof written === 'string' || context.clock.now() + lease / 2 <= (written.dueAt ?? 0)) return written
  return commitProgress(context, written, delivery)
}

/** The payment as the successful one of these attempts wrote it; `lost` if none of them wrote the stored payment. */
async function findWritten(context: Context, id: string, tried: readonly Renewal[]): Promise<Written> {
  const stored = await readRecord(context.storage, 'outgoing-payment', id)
  const happened = tried.find((change) => stored !== undefined && isWrittenBy(stored, change))
  return happened === undefined ? 'lost' : asCommitted(happened)
}
