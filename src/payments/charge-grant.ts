import type { Context } from '../ports/context.ts'
import type { Change, Storage, StoredRecord } from '../ports/storage.ts'
import { coversWalletAddress, type OutgoingPaymentAccess } from '../protocol/access.ts'
import type { AccessToken } from '../protocol/access-token.ts'
import { type Amount, amountOf, isSameAsset, MAX_AMOUNT_VALUE, storedAmount } from '../protocol/amount.ts'
import type { RailTerms } from '../protocol/delivery.ts'
import { type EntryWindow, entryWindows, spendingIdsOf } from '../protocol/spending-windows.ts'
import { chargeSpending, type LastCharge, receivedIn, type Spending } from '../protocol/spent-amounts.ts'
import { expectSpending } from '../records/expected-reads.ts'
import { readRecords } from '../records/read-record.ts'

/** A payment as the limits of a grant see it. */
export interface Charge {
  readonly id: string
  readonly walletAddress: string
  readonly receiver: string
  readonly debitAmount: Amount
  readonly receiveAmount: Amount
  /** What the money is worth to the receiver, in its smallest unit, if that is notably more than the receive amount. */
  readonly receiveWorth?: bigint
  /** For a receiver on another server. */
  readonly rail?: Pick<RailTerms, 'isUnpriced' | 'isFixedReceive'>
}

/** The entry that pays, with the changes that reserve its budget; or why no entry does. */
export type ChargedGrant =
  | {
      readonly ok: true
      readonly changes: readonly Change[]
      readonly spendingIds: readonly string[]
      readonly chargedAfter?: LastCharge
      /** What the window of the charged entry has spent, this payment included. @spec D5 */
      readonly spent: Spending
      /** What the payment counts for in the receiver's smallest unit. */
      readonly receiveCharge: bigint
    }
  | { readonly ok: false; readonly reason: string }

/**
 * Charges a payment to the first entry that admits it. The changes expect the records at the versions that were read:
 * if two payments race for the rest of a budget, one of them conflicts and reads again. `uncommitted` are the changes
 * of the payments that are charged before this one in the same commit; it is charged on top of them.
 *
 * What was read ahead may be older than the key and the quote of the order, and count an earlier order that used them and is
 * undone since. So by that a payment is only admitted, to the first entry: no entry is passed over before all are read now.
 * @spec LIM-1 @spec LIM-8 @spec LIM-10
 */
export async function chargeGrant(
  context: Context,
  token: AccessToken,
  charge: Charge,
  now: number,
  { uncommitted, readAhead }: { readonly uncommitted: readonly Change[]; readonly readAhead?: Storage | undefined },
): Promise<ChargedGrant> {
  const all = entryWindows(token, now, context.policies.intervalCounting)
  expectSpending(context, token, spendingIdsOf(all))
  const windows = all.filter(({ access }) => coversWalletAddress(access, charge.walletAddress))
  const ids = spendingIdsOf(windows)
  const ahead = readAhead && chargeFirst(windows.slice(0, 1), await readSpending(readAhead, ids, uncommitted), charge)
  return ahead?.ok ? ahead : chargeFirst(windows, await readSpending(context.storage, ids, uncommitted), charge)
}

/** Charges a payment to the first of these entries that admits it. */
function chargeFirst(
  windows: readonly EntryWindow[],
  stored: readonly StoredRecord<'spending'>[],
  charge: Charge,
): ChargedGrant {
  const place = Math.max(0, ...stored.map(({ value }) => value.lastCharge?.place ?? 0)) + 1
  const recordOf = (id: string): StoredRecord<'spending'> =>
    stored.find(({ value }) => value.id === id) ?? unspent(id, charge.debitAmount)
  let charged: ChargedGrant = { ok: false, reason: 'no entry of the grant covers this wallet address' }
  for (const window of windows) {
    charged = chargeEntry(window, recordOf, charge, place)
    if (charged.ok) break
  }
  return charged
}

/**
 * The spending records that exist, as the uncommitted changes leave them. Version 0: the same commit is to insert it.
 */
async function readSpending(
  storage: Storage,
  ids: readonly string[],
  uncommitted: readonly Change[],
): Promise<readonly StoredRecord<'spending'>[]> {
  const charged = uncommitted.filter(isSpending).map(asRecord)
  const others = ids.filter((id) => !charged.some(({ value }) => value.id === id))
  return [...charged, ...(await readRecords(storage, 'spending', others))]
}

type SpendingChange = Extract<Change, { readonly kind: 'spending'; readonly value: Spending }>

function isSpending(change: Change): change is SpendingChange {
  return change.kind === 'spending' && 'value' in change
}

function asRecord(change: SpendingChange): StoredRecord<'spending'> {
  const { kind, value } = change
  return { kind, value, version: change.action === 'replace' ? change.version : 0 }
}

/** The spending record of an entry that has spent nothing yet. Version 0: it is still to be inserted. */
function unspent(id: string, asset: Amount): StoredRecord<'spending'> {
  return { kind: 'spending', version: 0, value: { id, debit: amountOf(asset, 0n), receive: [] } }
}

/** Charges a payment to an entry, if the entry admits it. */
function chargeEntry(
  { access, windowId, lifeId }: EntryWindow,
  recordOf: (id: string) => StoredRecord<'spending'>,
  charge: Charge,
  place: number,
): ChargedGrant {
  if (windowId === undefined) return { ok: false, reason: 'no window of the interval is current' }
  const [inWindow, inLife] = [recordOf(windowId), recordOf(lifeId)]
  const records = windowId === lifeId ? [inLife] : [inWindow, inLife]
  const receiveCharge = receiveChargeBy(access, charge)
  const reason =
    refuseByAsset(records, charge) ??
    refuseByLimits(access, charge, receiveCharge, inWindow.value) ??
    refuseBySums(charge, receiveCharge, inWindow.value)
  if (reason !== undefined) return { ok: false, reason }
  const spentWith = ({ value }: StoredRecord<'spending'>): Spending => {
    const spent = chargeSpending(value, charge.debitAmount.value, charge.receiveAmount, receiveCharge)
    return value.id === lifeId ? { ...spent, lastCharge: { payment: charge.id, place } } : spent
  }
  const chargedAfter = inLife.value.lastCharge
  return {
    ok: true,
    changes: records.map((record) => spendingChange(record, spentWith(record))),
    spendingIds: records.map(({ value }) => value.id),
    ...(chargedAfter && { chargedAfter }),
    spent: spentWith(inWindow),
    receiveCharge,
  }
}

/**
 * What a payment counts for in the receiver's asset: what arrives or, under a limit of that, what the money is worth, without
 * the wallet's fee. Otherwise many tiny payments, each of which costs a whole unit of the payer or of a rail, would take much
 * more than the limit.
 * @spec LIM-1
 */
function receiveChargeBy({ limits }: OutgoingPaymentAccess, { receiveAmount, receiveWorth }: Charge): bigint {
  return limits?.receiveAmount === undefined ? receiveAmount.value : (receiveWorth ?? receiveAmount.value)
}

/** Why a payment in this asset cannot be added to what was spent. */
function refuseByAsset(records: readonly StoredRecord<'spending'>[], { debitAmount }: Charge): string | undefined {
  const isSame = records.every(({ value }) => isSameAsset(value.debit, debitAmount))
  return isSame ? undefined : 'the grant has spent another asset of this account'
}

/** Why the limits of an entry do not admit a payment; sums are bigints, so nothing overflows. @spec LIM-5 @spec LIM-6 @spec LIM-11 */
function refuseByLimits(
  access: OutgoingPaymentAccess,
  charge: Charge,
  receiveCharge: bigint,
  spending: Spending,
): string | undefined {
  const { limits } = access
  if (limits === undefined) return undefined
  if (limits.receiver !== undefined && limits.receiver !== charge.receiver) return 'the grant names another receiver'
  const { debitAmount, receiveAmount } = limits
  if (debitAmount !== undefined) {
    if (!isSameAsset(debitAmount, charge.debitAmount)) return 'the debit limit is in another asset'
    if (spending.debit.value + charge.debitAmount.value > storedAmount(debitAmount.value))
      return 'the debit limit of the grant is exceeded'
  }
  if (receiveAmount !== undefined) {
    if (!isSameAsset(receiveAmount, charge.receiveAmount)) return 'the receive limit is in another asset'
    const received = receivedIn(spending, charge.receiveAmount) + admittedReceive(charge, receiveCharge)
    if (received > storedAmount(receiveAmount.value)) return 'the receive limit of the grant is exceeded'
    // Only the receiver says what has arrived, and then nothing else would limit the debit.
    if (charge.rail?.isUnpriced)
      return 'the grant limits only what is received, and this wallet has no price for the asset of the receiver'
  }
  return undefined
}

/**
 * The part of the charge that must fit into the limit; the rest is rounding, and counts against the payments after this one,
 * so that a payment of exactly the limit is admitted. A fixed debit over a rail leaves as a whole, and the receiver's server
 * may keep all of it, whatever it says has arrived.
 * @spec LIM-1 @spec T-47
 */
function admittedReceive({ receiveAmount, rail }: Charge, receiveCharge: bigint): bigint {
  return rail?.isFixedReceive === false ? receiveCharge : receiveAmount.value
}

/**
 * Clients are told the sum that a window has spent as an amount, so it must fit into one even if there are no other
 * limits.
 * @spec AMT-1 @spec LIM-11
 */
function refuseBySums(
  { debitAmount, receiveAmount }: Charge,
  receiveCharge: bigint,
  spending: Spending,
): string | undefined {
  const debit = spending.debit.value + debitAmount.value
  const received = receivedIn(spending, receiveAmount) + receiveCharge
  if (debit <= MAX_AMOUNT_VALUE && received <= MAX_AMOUNT_VALUE) return undefined
  return 'the grant would have spent more than an amount can be'
}

function spendingChange(record: StoredRecord<'spending'>, value: Spending): Change {
  return record.version === 0 ? { action: 'insert', kind: 'spending', value } : { ...record, action: 'replace', value }
}
