import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { isRailPayment } from '../protocol/outgoing-payment.ts'
import { answerBefore } from '../records/deadline.ts'
import { readRecord, recordsOfKind } from '../records/read-record.ts'
import { tellFault } from '../records/tell-fault.ts'
import { advancePayment } from './advance-payment.ts'
import { deliverEvents, subjectOf } from './notify.ts'
import { recoverReceipts } from './rail/credit-receipt.ts'
import { MOST_DELIVERIES } from './rail/deliveries.ts'
import { BATCH, commitUncontested, forgetRecords, isRefusal } from './sweep.ts'
import type { TakenUp } from './taken-up.ts'

/** How many of the payments that are due a call reads at most, to find some that need no place with a payment method. */
const MOST_READ = 1600

/** Payments that were postponed come back one after the other, over so long. */
const POSTPONED_MILLISECONDS = 240_000

/** How long a call waits for the host to hear of events, which it then has counted: what falls due meanwhile waits as long. */
const EVENTS_MILLISECONDS = 1000

/**
 * Moves on what was interrupted: payments whose lease has lapsed, money that a rail has taken and nobody credited, and
 * money events that nobody acknowledged. Safe to run in several processes at once: a payment is claimed by a commit that
 * only one of them wins, and so is a receipt. What would keep money waiting is taken out of its way: refusals of transfers
 * are deleted, and payments that there is no place for are postponed if there are so many that nothing else is seen.
 *
 * Resolves with how many were taken up or taken out of the way, together with those that other workers took up at the same
 * moment; 100 or more means that there may be more. What could not be committed does not count, and if this call got
 * nothing, nothing does: to call again at once would be of no use.
 *
 * What has to wait for other servers, or for the host to hear of what was moved on, is taken up here and goes on afterwards.
 * While there is no place for a payment with its rail, it is left to other processes or a later call, and holds up nothing else.
 */
export function createRecovery(context: Context): () => Promise<number> {
  context.deliveries.onPlace(({ id }) => context.ongoing.keep(takeUpWaiting(context, id)))
  let endsAt = 0
  // One run at a time: a slow host is not asked for more by each call. If a run hangs, the next one begins a lease later.
  const tellEvents = async (): Promise<readonly TakenUp[]> => {
    const now = context.clock.now()
    if (now < endsAt) return []
    const until = now + context.limits.leaseSeconds * 1000
    endsAt = until
    const run = recoverEvents(context).finally(() => {
      if (endsAt === until) endsAt = 0
    })
    context.ongoing.keep(run)
    const told = await answerBefore(context.clock, EVENTS_MILLISECONDS, () => run)
    return told === 'late' ? [] : told
  }
  return () => recoverPayments(context, tellEvents)
}

async function recoverPayments(context: Context, tellEvents: () => Promise<readonly TakenUp[]>): Promise<number> {
  const now = context.clock.now()
  // A kind that cannot be read keeps nothing else waiting.
  const settled = await Promise.allSettled([recoverDue(context, now), recoverMoney(context, now)])
  const told = tellEvents()
  context.ongoing.keep(told)
  if (settled.some(({ status }) => status === 'rejected')) await told
  const { payments, postponed } = resultOf(settled[0])
  const { receipts, refusals } = resultOf(settled[1])
  const money = [...payments, ...receipts]
  // If there may be more money to move on, the next call must not wait for the host to receive events.
  const outOfTheWay = postponed + refusals
  const events = countOf(money, outOfTheWay) >= BATCH ? [] : await told
  const counts = { payments: countTaken(payments), receipts: countTaken(receipts), events: countTaken(events) }
  const count = countOf([...money, ...events], outOfTheWay)
  if (countTaken([...money, ...events]) > 0)
    context.emit({ type: 'recovered', at: context.clock.now(), ...counts, isFull: count >= BATCH })
  return count
}

/** What a call resolves with: what other workers took first counts too, if this call got anything itself. */
function countOf(outcomes: readonly TakenUp[], outOfTheWay: number): number {
  const taken = countTaken(outcomes) + outOfTheWay
  return taken > 0 ? taken + outcomes.filter((outcome) => outcome === 'lost').length : 0
}

/** What a part came to; throws what it was rejected with. */
function resultOf<T>(part: PromiseSettledResult<T>): T {
  if (part.status === 'rejected') throw part.reason
  return part.value
}

function countTaken(outcomes: readonly TakenUp[]): number {
  return outcomes.filter((outcome) => outcome === 'taken').length
}

/**
 * Takes up the payments that are longest due; it looks on behind those for a rail that there is no place for, and postpones
 * them if it sees no end of them: `postponed` is how many. As many as there are places stay due, for another process
 * or for the next call.
 */
async function recoverDue(
  context: Context,
  now: number,
): Promise<{ readonly payments: readonly TakenUp[]; readonly postponed: number }> {
  for (let limit = BATCH; ; limit *= 4) {
    const due = recordsOfKind(await context.storage.due('outgoing-payment', now, limit), 'outgoing-payment')
    const takePlace = context.deliveries.handOutPlaces()
    const left = new Set(due.filter((record) => isForRail(record) && !takePlace(record.value)))
    const found = due.filter((record) => !left.has(record)).slice(0, BATCH)
    const isMore = found.length < BATCH && due.length === limit
    if (isMore && limit < MOST_READ) continue
    // Started at once, so that what another call counts meanwhile includes this.
    const taken = found.map((record) => takeUp(context, record))
    const postponed = isMore ? await postponeAll(context, [...left].slice(MOST_DELIVERIES)) : 0
    return { payments: await Promise.all(taken), postponed }
  }
}

/** Lets others come before payments that are due, but for those that another process was faster with. Answers how many. */
async function postponeAll(context: Context, records: readonly StoredRecord<'outgoing-payment'>[]): Promise<number> {
  const from = context.clock.now() + context.limits.leaseSeconds * 1000
  const changes = records.map((record, index): Change => {
    const dueAt = from + Math.floor((POSTPONED_MILLISECONDS * index) / records.length)
    return { ...record, action: 'replace', dueAt }
  })
  let count = 0
  try {
    for (let at = 0; at < changes.length; at += BATCH)
      count += await commitUncontested(context, changes.slice(at, at + BATCH))
  } catch (cause) {
    tellFault(context, 'payments could not be postponed', cause)
  }
  return count
}

/** Whether the next step may take long because of another server. */
function isForRail({ value }: StoredRecord<'outgoing-payment'>): boolean {
  return isRailPayment(value) && value.state !== 'decided'
}

/** Takes up a payment that has waited for a place in this process, unless another worker has it by now. */
async function takeUpWaiting(context: Context, id: string): Promise<void> {
  const record = await readRecord(context.storage, 'outgoing-payment', id)
  const isDue = record?.dueAt !== undefined && record.dueAt <= context.clock.now()
  if (isDue && isForRail(record)) await takeUp(context, record, 'begun')
}

/**
 * Takes the lease of a payment and moves it on, unless another worker was faster. A payment to a rail goes on after
 * this, and counts at once. One that is `begun` was not interrupted, and its host is not told that it is resumed.
 */
async function takeUp(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  how: 'begun' | 'resumed' = 'resumed',
): Promise<TakenUp> {
  const leased = takeLease(context, record, how)
  const work = leased.then(async (own) => typeof own === 'object' && advancePayment(context, own, undefined, 'later'))
  if (isForRail(record)) {
    context.deliveries.follow(record.value, work)
    context.ongoing.keep(work)
  } else await work
  const own = await leased
  return typeof own === 'object' ? 'taken' : own
}

/** Credits what is due, and returns how many refusals it has deleted for that. */
async function recoverMoney(
  context: Context,
  now: number,
): Promise<{ readonly receipts: readonly TakenUp[]; readonly refusals: number }> {
  const due = recordsOfKind(await context.storage.due('receipt', now, BATCH), 'receipt')
  const money = due.filter((record) => !isRefusal(record))
  // Peers cause as many refusals as they like. They are left to sweep(), unless money may be waiting behind them.
  const refusals = due.length === BATCH ? await forgetRecords(context, due.filter(isRefusal)) : 0
  return { receipts: await recoverReceipts(context, money), refusals }
}

/** If nobody listens they are left: events recorded by an earlier configuration wait for a process that does. */
async function recoverEvents(context: Context): Promise<readonly TakenUp[]> {
  if (context.deliverEvent === undefined) return []
  const due = recordsOfKind(await context.storage.due('event', context.clock.now(), BATCH), 'event')
  const subjects = due.map(({ value }) => subjectOf(value.id))
  const told = [...new Set(subjects)].map(
    async (id) => [id, await deliverEvents(context, id, { onlyDue: true })] as const,
  )
  const outcomes = new Map(await Promise.all(told))
  return subjects.flatMap((id) => outcomes.get(id) ?? [])
}

async function takeLease(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  how: 'begun' | 'resumed',
): Promise<StoredRecord<'outgoing-payment'> | Exclude<TakenUp, 'taken'>> {
  const dueAt = context.clock.now() + context.limits.leaseSeconds * 1000
  try {
    if ((await context.storage.commit([{ ...record, action: 'replace', dueAt }])) !== 'committed') return 'lost'
    const { id, state, attempts } = record.value
    const at = context.clock.now()
    if (how === 'resumed') context.emit({ type: 'payment_resumed', at, outgoingPayment: id, state, attempts })
    return { ...record, version: record.version + 1, dueAt }
  } catch (cause) {
    // One that was not claimed must not hold up the others; if it was claimed after all, it is due again after its lease.
    tellFault(context, 'a payment could not be claimed', cause)
    return 'failed'
  }
}
