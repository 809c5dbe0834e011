import { isOpenPaymentsError } from '../../errors/open-payments-error.ts'
import type { Context } from '../../ports/context.ts'
import type { DeliveryProgress, RecordProgress } from '../../ports/payment-method.ts'
import type { Change, StoredRecord } from '../../ports/storage.ts'
import type { StoredDelivery } from '../../protocol/delivery.ts'
import type { OutgoingPayment, RailPayment } from '../../protocol/outgoing-payment.ts'
import type { IlpPaymentMethod } from '../../protocol/payment-method.ts'
import { railAccountId } from '../../protocol/rail-account.ts'
import { type Attempt, backOffMilliseconds, decide, LONGEST_BACK_OFF } from '../../records/decide.ts'
import { readRecord, recordsOfKind } from '../../records/read-record.ts'
import { turnAtRailAccount } from '../turns.ts'
import { checkProgress, isInFlight, progressOf, toStoredDelivery } from './delivery-progress.ts'
import { railAccountChange } from './rail-account.ts'
import { sealDetails } from './seal-details.ts'

/** What a worker on a delivery holds. */
export interface FollowedDelivery {
  /** The payment as this worker has written it last. */
  current(): StoredRecord<'outgoing-payment'>
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
export function followDelivery(
  context: Context,
  start: StoredRecord<'outgoing-payment'>,
  payment: RailPayment,
  details: IlpPaymentMethod,
): FollowedDelivery {
  let current = start
  let isLost = false
  let hasLapsed = false
  const record: RecordProgress = async (progress, most) =>
    // Serialized per delivery only: while it is retried, others may use the rail account.
    context.serialize(`delivery:${payment.id}`, async () => {
      const before = progressOf(current.value)
      checkProgress(payment, before, progress)
      const next = await nextDelivery(context, current, progress, details)
      const written = await commitProgress(context, current, payment, next, most).catch((cause) => {
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
          await commitProgress(context, written, payment, toStoredDelivery(next, before))
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
        if (outcome === 'lapsed') context.deliveries.follow(payment, called)
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
  { value }: StoredRecord<'outgoing-payment'>,
  progress: DeliveryProgress,
  details: IlpPaymentMethod,
): Promise<StoredDelivery> {
  const stored = toStoredDelivery(value.delivery, progress)
  return stored.details === undefined ? { ...stored, details: await sealDetails(context, details) } : stored
}

type Written = StoredRecord<'outgoing-payment'> | 'lost' | 'over_limit'

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
  record: StoredRecord<'outgoing-payment'>,
  payment: RailPayment,
  delivery: StoredDelivery,
  most?: bigint,
): Promise<Written> {
  const before = progressOf(record.value)
  const after = progressOf({ ...record.value, delivery })
  // As long as money moves it is worth asking again soon.
  const attempts = after.sent > before.sent ? 0 : record.value.attempts
  const value: OutgoingPayment = { ...record.value, delivery, attempts }
  const lease = context.limits.leaseSeconds * 1000
  const tried: StoredRecord<'outgoing-payment'>[] = []
  const attempt = async (): Promise<Attempt<Written>> => {
    const moved = await accountChanges(context, record, payment, after, most)
    if (moved === 'over_limit' || moved === 'lost') return { answer: moved }
    // From this attempt: the first may have been nearly a lease ago.
    const dueAt = context.clock.now() + lease
    const answer = { ...record, version: record.version + 1, value, dueAt }
    tried.push(answer)
    return { changes: [{ ...record, action: 'replace', value, dueAt }, ...moved], answer }
  }
  const lost = { payment: payment.id, answer: 'lost' } as const
  const commit = (): Promise<Written> => decide(context, attempt, { lost })
  // What only renews the lease does not write the account, and 256 deliveries renew theirs every few seconds.
  const isMoving = movementOf(before, after) !== 0n
  const written = await outlastStorage(context, record.dueAt, async (round) => {
    const answer = await (isMoving ? context.serialize(turnAtRailAccount(payment.rail), commit) : commit())
    // A commit that failed may have happened. All are at one version, so that only one of them happens.
    return answer === 'lost' && round > 0 ? findWritten(context, payment.id, tried) : answer
  })
  if (typeof written === 'string' || context.clock.now() + lease / 2 <= (written.dueAt ?? 0)) return written
  return commitProgress(context, written, payment, delivery)
}

/** The attempt of this worker that the stored payment is from; `lost` if it is from none of them. */
async function findWritten(
  context: Context,
  id: string,
  tried: readonly StoredRecord<'outgoing-payment'>[],
): Promise<Written> {
  const stored = await readRecord(context.storage, 'outgoing-payment', id)
  const written = tried.find(({ version, dueAt }) => version === stored?.version && dueAt === stored.dueAt)
  if (stored === undefined || written === undefined) return 'lost'
  const [one, other] = [stored, written].map(({ value }) =>
    JSON.stringify(toStoredDelivery(undefined, progressOf(value))),
  )
  return one === other ? written : 'lost'
}

/** What has left its rail's account meanwhile; below zero for what is known not to have left. */
function movementOf(before: DeliveryProgress, after: DeliveryProgress): bigint {
  return after.sent + after.inFlight.sent - before.sent - before.inFlight.sent
}

/**
 * The changes by which the rail's account follows a payment: what is in flight has left, until it is known that it has not.
 * `lost` if the payment was changed meanwhile: the account may have followed that already.
 */
export async function accountChanges(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  { id, rail }: RailPayment,
  after: DeliveryProgress,
  most?: bigint,
): Promise<readonly Change[] | 'lost' | 'over_limit'> {
  const sent = movementOf(progressOf(record.value), after)
  if (sent === 0n) return []
  const { method, account, sendAmount } = rail
  const { assetCode, assetScale } = sendAmount
  const railAccountKey = { kind: 'rail-account', id: railAccountId(method, account) } as const
  const records = await context.storage.get([{ kind: 'outgoing-payment', id }, railAccountKey])
  const [stored] = recordsOfKind(records, 'outgoing-payment')
  if (stored?.version !== record.version) return 'lost'
  const [railAccount] = recordsOfKind(records, 'rail-account')
  const change = railAccountChange(railAccount, { method, account, assetCode, assetScale }, { sent }, most)
  return change === 'over_limit' ? change : [change]
}
