import { isOpenPaymentsError } from '../../errors/open-payments-error.ts'
import type { Context } from '../../ports/context.ts'
import type { DeliveryProgress, RecordProgress } from '../../ports/payment-method.ts'
import type { Change } from '../../ports/storage.ts'
import type { StoredDelivery } from '../../protocol/delivery.ts'
import type { IlpPaymentMethod } from '../../protocol/payment-method.ts'
import { asCommitted, isWrittenBy, type Write } from '../../records/as-committed.ts'
import { type Attempt, backOffMilliseconds, LONGEST_BACK_OFF } from '../../records/decide.ts'
import { readRecord } from '../../records/read-record.ts'
import { commitDelivery } from './commit-delivery.ts'
import { checkProgress, isInFlight, progressOf, toStoredDelivery } from './delivery-progress.ts'
import type { RailRecord } from './rail-record.ts'
import { sealDetails } from './seal-details.ts'

/** What a worker on a delivery holds. */
export interface FollowedDelivery {
  /** The payment as this worker has written it last. */
  current(): RailRecord
  readonly record: RecordProgress
  /** Whether the rail was told that the payment may now belong to another worker. */
  isLost(): boolean
  /** Runs a call of the rail for as long as it keeps renewing the payment's lease; `lapsed` if it does not. */
  whileLeased<T>(call: () => Promise<T>): Promise<T | 'lapsed'>
}

/**
 * Follows a delivery: records how far it has come, each time at the version that this worker wrote last, so that a rail
 * whose worker has lost the payment is told before anything more leaves.
 */
export function followDelivery(context: Context, start: RailRecord, details: IlpPaymentMethod): FollowedDelivery {
  let current = start
  let isLost = false
  let hasLapsed = false
  const record: RecordProgress = async (progress, most) =>
    // Serialized per delivery only: while it is retried, others may use the rail account.
    context.serialize(`delivery:${start.value.id}`, async () => {
      const before = progressOf(current.value)
      checkProgress(current.value, before, progress)
      const next = await nextDelivery(context, current, progress, details)
      const written = await commitProgress(context, current, next, most).catch((cause) => {
        // Whether it was written is unknown, and so is the version to go on from.
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
        // What was about to leave does not. If nothing else is in flight, nobody has to find out what became of it.
        if (!isInFlight(before) && progress.sent === before.sent)
          await commitProgress(context, written, toStoredDelivery(next, before))
        throw new Error('this delivery is no longer waited for')
      }
      return 'recorded'
    })
  const untilLapsed = async (signal: AbortSignal): Promise<'lapsed'> => {
    for (let left = 1; left > 0 && !signal.aborted; ) {
      left = (current.dueAt ?? 0) - context.clock.now()
      if (left > 0) await context.clock.sleep(left, signal)
    }
    // At once: from here on nothing that is recorded may leave.
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
        // It counts for as long as it runs, even if nobody waits for it any more.
        if (outcome === 'lapsed') context.deliveries.follow(start.value, called)
        return outcome
      } finally {
        timer.abort()
      }
    },
  }
}

/** Sealed with the first of it that leaves: the receiver's server may name its secret no more when it is needed again. */
async function nextDelivery(
  context: Context,
  { value }: RailRecord,
  progress: DeliveryProgress,
  details: IlpPaymentMethod,
): Promise<StoredDelivery> {
  const stored = toStoredDelivery(value.delivery, progress)
  return stored.details === undefined ? { ...stored, details: await sealDetails(context, details) } : stored
}

type Written = RailRecord | 'lost' | 'over_limit'

/** How often the longest back-off between colliding writers doubles: pauses of about 0.1 seconds become some of about 2. */
const MOST_DOUBLINGS = 4

/**
 * Retries, with pauses, what failed because of the storage, until the lease of a payment ends at `dueAt`. Rejects then, and at
 * once if anything else has failed. `attempt` is told how often it was tried before.
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

/** Records how far a delivery has come, under a lease of which half or more is left once it resolves. */
async function commitProgress(
  context: Context,
  record: RailRecord,
  delivery: StoredDelivery,
  most?: bigint,
): Promise<Written> {
  const lease = context.limits.leaseSeconds * 1000
  const before = progressOf(record.value)
  const tried: Tried[] = []
  const write = (next: RailRecord, moved: readonly Change[]): Attempt<RailRecord> => {
    // As long as money moves it is worth asking again soon.
    const attempts = progressOf(next.value).sent > before.sent ? 0 : record.value.attempts
    // From this attempt: the first may have been nearly a lease ago.
    const dueAt = context.clock.now() + lease
    const change = { ...next, action: 'replace', value: { ...next.value, attempts }, dueAt } satisfies Change
    const written = asCommitted(change)
    tried.push({ change, written })
    return { changes: [change, ...moved], answer: written }
  }
  const written = await outlastStorage(context, record.dueAt, async (round) => {
    const answer = await commitDelivery(context, record, delivery, write, most)
    // A commit that failed may have happened. All are at one version, so that only one of them happens.
    return answer === 'lost' && round > 0 ? findWritten(context, record.value.id, tried) : answer
  })
  if (typeof written === 'string' || context.clock.now() + lease / 2 <= (written.dueAt ?? 0)) return written
  return commitProgress(context, written, delivery)
}

/** A change that was to be committed, and the payment once it is. */
interface Tried {
  readonly change: Write
  readonly written: RailRecord
}

/** The attempt of this worker that the stored payment is from; `lost` if it is from none of them. */
async function findWritten(context: Context, id: string, tried: readonly Tried[]): Promise<Written> {
  const stored = await readRecord(context.storage, 'outgoing-payment', id)
  return tried.find(({ change }) => stored !== undefined && isWrittenBy(stored, change))?.written ?? 'lost'
}
