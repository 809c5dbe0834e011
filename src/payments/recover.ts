import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { isRailPayment, type OutgoingPayment } from '../protocol/outgoing-payment.ts'
import { asCommitted } from '../records/as-committed.ts'
import { commitUncontested } from '../records/commit-uncontested.ts'
import { MOST_CHANGES } from '../records/most-changes.ts'
import { readRecord, recordsOfKind } from '../records/read-record.ts'
import { tellFault } from '../records/tell-fault.ts'
import { type TakenUp, tryCommit } from '../records/try-commit.ts'
import { advancePayment } from './advance-payment.ts'
import { forgetRecords } from './forget-records.ts'
import { leaseEnd } from './lease.ts'
import { createLedgerWaits, type LedgerWaits } from './ledger-waits.ts'
import { recoverReceipts } from './rail/credit-receipt.ts'
import { MOST_DELIVERIES } from './rail/deliveries.ts'
import { createEventRecovery } from './recover-events.ts'
import { BATCH, isRefusal } from './sweep.ts'
import { resolvedWith, type Tally, tallyOf } from './tally.ts'

/** The most due records of a kind that one call reads in search of some that it can take up. */
const MOST_READ = 1600

/** Postponed records fall due again one after the other, spread over this time. */
const POSTPONED_MILLISECONDS = 240_000

/** What may be left to another process or a later call. */
type Due = StoredRecord<'outgoing-payment'> | StoredRecord<'receipt'>

/**
 * Resumes what was interrupted: payments whose lease has lapsed, money that a rail has taken and that was not credited,
 * and money events that the host did not acknowledge. Safe to run in several processes at once: a payment or receipt is
 * claimed by a commit that only one of them wins. Records that would keep money waiting are moved out of its way: refusals
 * of transfers are deleted, and payments without a place at a payment method, or of an account for which the ledger does not
 * answer, are postponed if they are so many that they hide everything else.
 *
 * Resolves with how many records were taken up or moved out of the way, plus those that other workers took up at the
 * same moment; 100 or more means that there may be more. Failed commits do not count. If this call got nothing itself,
 * it resolves with 0: calling again at once would be of no use.
 *
 * Work that has to wait for other servers, for a ledger that does not answer, or for the host to receive events, is started
 * here and goes on after the call. A payment without a place at its rail is left to other processes or a later call, and so
 * is one of an account that the ledger keeps others of waiting for: they hold up nothing else.
 */
export function createRecovery(context: Context): () => Promise<number> {
  const waits = createLedgerWaits(context)
  context.deliveries.onPlace(({ id }) => context.ongoing.keep(takeUpWaiting(context, waits, id)))
  const tellEvents = createEventRecovery(context)
  return () => recoverAll(context, waits, tellEvents)
}

async function recoverAll(context: Context, waits: LedgerWaits, tellEvents: () => Promise<Tally>): Promise<number> {
  const now = context.clock.now()
  // If one kind of record cannot be read, the others go on.
  const settled = await Promise.allSettled([recoverPayments(context, waits, now), recoverMoney(context, waits, now)])
  const told = tellEvents()
  context.ongoing.keep(told)
  if (settled.some(({ status }) => status === 'rejected')) await told
  const payments = resultOf(settled[0])
  const receipts = resultOf(settled[1])
  // If there may be more money to move on, the next call must not wait for the host to receive events.
  const events = resolvedWith(payments, receipts) >= BATCH ? tallyOf([]) : await told
  const count = resolvedWith(payments, receipts, events)
  const taken = { payments: payments.taken, receipts: receipts.taken, events: events.taken }
  if (taken.payments + taken.receipts + taken.events > 0)
    context.emit({ type: 'recovered', at: context.clock.now(), ...taken, isFull: count >= BATCH })
  return count
}

/** The result of a part; throws what it was rejected with. */
function resultOf<T>(part: PromiseSettledResult<T>): T {
  if (part.status === 'rejected') throw part.reason
  return part.value
}

/**
 * Takes up the payments that have been due longest. It looks past those for a rail that has no place for them, and those of
 * an account that the ledger already keeps others of waiting for.
 */
async function recoverPayments(context: Context, waits: LedgerWaits, now: number): Promise<Tally> {
  const read = async (limit: number) =>
    recordsOfKind(await context.storage.due('outgoing-payment', now, limit), 'outgoing-payment')
  const choose = () => {
    const takePlace = context.deliveries.handOutPlaces()
    return (record: StoredRecord<'outgoing-payment'>) =>
      isForRail(record) ? takePlace(record.value) : !waits.hasAny(accountsToAsk(record.value))
  }
  return takeUpDue(context, read, choose, async (found) =>
    tallyOf(await Promise.all(found.map((record) => takeUp(context, waits, record)))),
  )
}

/** Whether the next step may take long because of another server. */
function isForRail({ value }: StoredRecord<'outgoing-payment'>): boolean {
  return isRailPayment(value) && value.state !== 'decided'
}

/** The accounts that the ledger is still asked about. */
function accountsToAsk({ state, account, payeeAccount }: OutgoingPayment): readonly string[] {
  return state === 'decided' || payeeAccount === undefined ? [account] : [account, payeeAccount]
}

/**
 * Takes up the records that have been due longest, of those that are chosen. If it finds no end of the others, it postpones
 * them. As many as a process has places (256) stay due, for another process or the next call.
 */
async function takeUpDue<R extends Due>(
  context: Context,
  read: (limit: number) => Promise<readonly R[]>,
  choose: () => (record: R) => boolean,
  takeUpAll: (found: readonly R[]) => Promise<Tally>,
): Promise<Tally> {
  for (let limit = BATCH; ; limit *= 4) {
    const due = await read(limit)
    const isChosen = choose()
    const left = new Set(due.filter((record) => !isChosen(record)))
    const found = due.filter((record) => !left.has(record)).slice(0, BATCH)
    const isMore = found.length < BATCH && due.length === limit
    if (isMore && limit < MOST_READ) continue
    // Started before anything is awaited, so that another call meanwhile counts these places as taken.
    const taken = takeUpAll(found)
    const postponed = isMore ? await postponeAll(context, [...left].slice(MOST_DELIVERIES)) : 0
    const tally = await taken
    return { ...tally, cleared: tally.cleared + postponed }
  }
}

/**
 * Postpones due records so that others come first, except those that another process was faster with. Returns how
 * many.
 */
async function postponeAll(context: Context, records: readonly Due[]): Promise<number> {
  const from = leaseEnd(context)
  const changes = records.map((record, index): Change => {
    const dueAt = from + Math.floor((POSTPONED_MILLISECONDS * index) / records.length)
    return { ...record, action: 'replace', dueAt }
  })
  let count = 0
  try {
    for (let at = 0; at < changes.length; at += MOST_CHANGES)
      count += await commitUncontested(context, changes.slice(at, at + MOST_CHANGES))
  } catch (cause) {
    tellFault(context, 'payments could not be postponed', cause)
  }
  return count
}

/**
 * Takes the lease of a payment and moves it on, unless another worker was faster. For a rail payment this resolves once
 * the lease is taken, and the payment holds its place from the start; for any other at the latest once the ledger takes too
 * long. A payment that is `begun` was never interrupted, so the host is not told that it was resumed.
 */
async function takeUp(
  context: Context,
  waits: LedgerWaits,
  record: StoredRecord<'outgoing-payment'>,
  how: 'begun' | 'resumed' = 'resumed',
): Promise<TakenUp> {
  const leased = takeLease(context, record, how)
  const { own: noting, asked } = noteAsked(context, record.value)
  const work = leased.then(async (own) => typeof own === 'object' && advancePayment(noting, own, { tells: 'later' }))
  if (isForRail(record)) {
    context.deliveries.follow(record.value, work)
    context.ongoing.keep(work)
  } else await waits.wait(asked, work)
  const own = await leased
  return typeof own === 'object' ? 'taken' : own
}

async function takeLease(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  how: 'begun' | 'resumed',
): Promise<StoredRecord<'outgoing-payment'> | Exclude<TakenUp, 'taken'>> {
  const dueAt = leaseEnd(context)
  // A payment that could not be claimed must not hold up the others; if the commit happened after all, the payment is
  // due again after this lease.
  const claim = { ...record, action: 'replace', dueAt } satisfies Change
  const outcome = await tryCommit(context, [claim], 'a payment could not be claimed')
  if (outcome !== 'taken') return outcome
  const { id, state, attempts } = record.value
  const at = context.clock.now()
  if (how === 'resumed') context.emit({ type: 'payment_resumed', at, outgoingPayment: id, state, attempts })
  return asCommitted(claim)
}

/** A context with whose ledger a payment is moved on, and the account that this ledger was asked about last. */
function noteAsked(context: Context, { account }: OutgoingPayment): { own: Context; asked: () => string } {
  const { ledger } = context
  let last = account
  const ask = <T>(of: string, call: () => T): T => {
    last = of
    return call()
  }
  const own: Context = {
    ...context,
    ledger: {
      account: (id) => ledger.account(id),
      hold: (hold) => ask(hold.account, () => ledger.hold(hold)),
      credit: (credit) => ask(credit.account, () => ledger.credit(credit)),
      settle: (settlement) => ask(account, () => ledger.settle(settlement)),
      release: (release) => ask(account, () => ledger.release(release)),
    },
  }
  return { own, asked: () => last }
}

/** Credits the receipts that are due, and deletes refusals that may hide them. */
async function recoverMoney(context: Context, waits: LedgerWaits, now: number): Promise<Tally> {
  const read = async (limit: number) => recordsOfKind(await context.storage.due('receipt', now, limit), 'receipt')
  const choose = () => (record: StoredRecord<'receipt'>) => !waits.hasAny([record.value.payeeAccount ?? ''])
  return takeUpDue(context, read, choose, async (found) => {
    const money = found.filter((record) => !isRefusal(record))
    // Peers can cause any number of refusals. These are left to sweep(), unless money may be waiting behind them.
    const refusals = found.length === BATCH ? await forgetRecords(context, found.filter(isRefusal)) : 0
    return tallyOf(await recoverReceipts(context, waits, money), refusals)
  })
}

/** Takes up a payment that waited for a place in this process, unless another worker has it by now. */
async function takeUpWaiting(context: Context, waits: LedgerWaits, id: string): Promise<void> {
  const record = await readRecord(context.storage, 'outgoing-payment', id)
  const isDue = record?.dueAt !== undefined && record.dueAt <= context.clock.now()
  if (isDue && isForRail(record)) await takeUp(context, waits, record, 'begun')
}
