import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { isRailPayment, type OutgoingPayment } from '../protocol/outgoing-payment.ts'
import { asCommitted } from '../records/as-committed.ts'
import { MOST_CHANGES } from '../records/change.ts'
import { commitUncontested } from '../records/commit-uncontested.ts'
import { readDue, readRecord } from '../records/read-record.ts'
import { tellFault } from '../records/tell-fault.ts'
import type { TakenUp } from '../records/try-commit.ts'
import { advancePayment } from './advance-payment.ts'
import { type Claim, claimOnce, createClaims } from './claims.ts'
import { leaseEnd } from './lease.ts'
import { createLedgerWaits, type LedgerWaits } from './ledger-waits.ts'
import { creditReceipts } from './rail/credit-receipt.ts'
import { MOST_DELIVERIES } from './rail/deliveries.ts'
import { createEventRecovery } from './recover-events.ts'
import { BATCH, forgetRecords, isRefusal } from './sweep.ts'
import { resolvedWith, type Tally, tallyOf } from './tally.ts'

/** The most due records of a kind that one call reads in search of some that it can take up. */
const MOST_READ = 1600

/** Postponed records fall due again one after the other, spread over this time. */
const POSTPONED_MILLISECONDS = 240_000

/** What may be left to another process or a later call. */
type Due = StoredRecord<'outgoing-payment'> | StoredRecord<'receipt'>

/**
 * Makes `OpenPayments.recover`, which says what is resumed and what the number means. Safe to run in several processes at
 * once: a payment or receipt is claimed by a commit that only one of them wins. Whatever has to wait (for other servers, a
 * ledger that does not answer, the host's events) goes on after the call and holds up nothing else; records that would hide
 * others are moved out of the way.
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
  const parts = [recoverPayments(context, waits, now), recoverReceipts(context, waits, now)] as const
  const settled = await Promise.allSettled(parts)
  const telling = tellEvents()
  context.ongoing.keep(telling)
  if (settled.some(({ status }) => status === 'rejected')) await telling
  const [payments, receipts] = await Promise.all(parts)
  // If there may be more money to move on, the next call must not wait for the host to receive events.
  const events = resolvedWith(payments, receipts) >= BATCH ? tallyOf([]) : await telling
  const count = resolvedWith(payments, receipts, events)
  const taken = { payments: payments.taken, receipts: receipts.taken, events: events.taken }
  if (taken.payments + taken.receipts + taken.events > 0)
    context.emit({ type: 'recovered', at: context.clock.now(), ...taken, isFull: count >= BATCH })
  return count
}

/**
 * Takes up the payments that have been due longest. It looks past those for a rail that has no place for them, and those of
 * an account that the ledger already keeps others of waiting for.
 */
async function recoverPayments(context: Context, waits: LedgerWaits, now: number): Promise<Tally> {
  const read = (limit: number) => readDue(context.storage, 'outgoing-payment', now, limit)
  const choose = () => {
    const takePlace = context.deliveries.handOutPlaces()
    return (record: StoredRecord<'outgoing-payment'>) =>
      isForRail(record) ? takePlace(record.value) : !waits.hasAny(accountsToAsk(record.value))
  }
  const claim = createClaims(context)
  return takeUpDue(context, read, choose, async (found) =>
    tallyOf(await Promise.all(found.map((record) => takeUp(context, waits, claim, record)))),
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
 * Takes up the chosen records that have been due longest. If there seems to be no end of the others, all but the first 256
 * of those (as many as a process has places) are postponed; these stay due, for another process or the next call.
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
 * Postpones due records so that others come first, except those that another process has changed. Returns how many.
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
 * Claims a payment and moves it on, unless another worker was faster. For a rail payment this resolves once it is
 * claimed, and the payment holds its place from the start; for any other at the latest once the ledger takes too
 * long. A payment that is `begun` was never interrupted, so the host is not told that it was resumed.
 */
async function takeUp(
  context: Context,
  waits: LedgerWaits,
  claim: Claim,
  record: StoredRecord<'outgoing-payment'>,
  how: 'begun' | 'resumed' = 'resumed',
): Promise<TakenUp> {
  const claiming = claimPayment(context, claim, record, how)
  const { noting, lastAsked } = noteAsked(context, record.value)
  const work = claiming.then(
    async (claimed) => typeof claimed === 'object' && advancePayment(noting, claimed, { tells: 'later' }),
  )
  if (isForRail(record)) {
    context.deliveries.follow(record.value, work)
    context.ongoing.keep(work)
  } else await waits.wait(lastAsked, work)
  const claimed = await claiming
  return typeof claimed === 'object' ? 'taken' : claimed
}

async function claimPayment(
  context: Context,
  claim: Claim,
  record: StoredRecord<'outgoing-payment'>,
  how: 'begun' | 'resumed',
): Promise<StoredRecord<'outgoing-payment'> | Exclude<TakenUp, 'taken'>> {
  // If a commit that failed happened after all, the payment is due again after this lease.
  const write = await claim(() => ({ ...record, action: 'replace', dueAt: leaseEnd(context) }) satisfies Change)
  if (typeof write === 'string') return write
  const { id, state, attempts } = record.value
  const at = context.clock.now()
  if (how === 'resumed') context.emit({ type: 'payment_resumed', at, outgoingPayment: id, state, attempts })
  return asCommitted(write)
}

/** A context to move a payment on with; `lastAsked` returns the account that its ledger was last asked about. */
function noteAsked(context: Context, { account }: OutgoingPayment): { noting: Context; lastAsked: () => string } {
  const { ledger } = context
  let last = account
  const ask = <T>(of: string, call: () => T): T => {
    last = of
    return call()
  }
  const noting: Context = {
    ...context,
    ledger: {
      account: (id) => ledger.account(id),
      hold: (hold) => ask(hold.account, () => ledger.hold(hold)),
      credit: (credit) => ask(credit.account, () => ledger.credit(credit)),
      settle: (settlement) => ask(account, () => ledger.settle(settlement)),
      release: (release) => ask(account, () => ledger.release(release)),
    },
  }
  return { noting, lastAsked: () => last }
}

/** Credits the receipts that are due, and deletes refusals that may hide them. */
async function recoverReceipts(context: Context, waits: LedgerWaits, now: number): Promise<Tally> {
  const read = (limit: number) => readDue(context.storage, 'receipt', now, limit)
  const choose = () => (record: StoredRecord<'receipt'>) => !waits.hasAny([record.value.payeeAccount ?? ''])
  return takeUpDue(context, read, choose, async (found) => {
    const money = found.filter((record) => !isRefusal(record))
    // Peers can cause any number of refusals. These are left to sweep(), unless money may be waiting behind them.
    const refusals = found.length === BATCH ? await forgetRecords(context, found.filter(isRefusal)) : 0
    return tallyOf(await creditReceipts(context, waits, money), refusals)
  })
}

/**
 * Takes up a payment that waited for a place in this process, unless another worker has it by now. One that cannot be claimed is
 * left to `recover()`: if the storage fails for all that wait, it would wait until each of them has been tried again.
 */
async function takeUpWaiting(context: Context, waits: LedgerWaits, id: string): Promise<void> {
  const record = await readRecord(context.storage, 'outgoing-payment', id)
  const isDue = record?.dueAt !== undefined && record.dueAt <= context.clock.now()
  if (isDue && isForRail(record)) await takeUp(context, waits, claimOnce(context), record, 'begun')
}
