import type { Context } from '../../ports/context.ts'
import type { RailTransfer, TransferOutcome } from '../../ports/payment-method.ts'
import type { Change, StoredRecord } from '../../ports/storage.ts'
import type { WalletAddress } from '../../ports/wallet-addresses.ts'
import { amountOf, isSameAsset, MAX_AMOUNT_VALUE, mistakeInAsset } from '../../protocol/amount.ts'
import { isLedgerId } from '../../protocol/identifiers.ts'
import {
  acceptReceipt,
  assetOf,
  hasEnded,
  type IncomingPayment,
  isActive,
  reserve,
} from '../../protocol/incoming-payment.ts'
import { railAccountId } from '../../protocol/rail-account.ts'
import type { Receipt } from '../../protocol/receipt.ts'
import { startVersion } from '../../records/change.ts'
import { type Attempt, decide } from '../../records/decide.ts'
import { recordsOfKind } from '../../records/read-record.ts'
import { CLOCK_ERROR_MILLISECONDS } from '../../records/retention.ts'
import { tellOtherAccount } from '../../records/tell-other-account.ts'
import { checkLedgerAccount } from '../ask-ledger.ts'
import { replaceIncoming } from '../incoming-changes.ts'
import { leaseEnd } from '../lease.ts'
import { turnAtIncoming, turnAtRailAccount } from '../turn-keys.ts'
import { creditPayee } from './credit-receipt.ts'
import { type KnownTransfer, knownTransfer, receiptKeys } from './known-transfer.ts'
import { railAccountChange } from './rail-account.ts'

/**
 * Takes money that a rail is about to claim, once per transfer: one commit writes the receipt, the room in the incoming
 * payment and the rail account. The payee is credited afterwards, however long the ledger takes; that work is passed to
 * `keep`. Rejects if it cannot be determined whether the transfer was taken: then the rail must not tell its peer that
 * it was refused. Reporting the same transfer again finds out.
 *
 * A refusal is recorded if anything could change it later: the peer has been told no, and relies on that. So a transfer
 * that was refused for any reason is `refused` from then on, and not counted. Once its `notAfter` has passed on every
 * process's clock the refusal is forgotten, but not within a day: only somebody who gives the same transfer a later
 * `notAfter` could have it taken after that. The number of recorded refusals per payment is limited; one above the
 * limit is answered `rate_limited`, which is not a refusal: nothing is recorded, and the transfer is taken or refused
 * when it is reported again. A good transfer gets the same answer if too many tasks are already waiting for the records
 * that it writes.
 * @spec INC-5 @spec INC-7 @spec INC-8 @spec INC-13
 */
export async function receiveByRail(
  context: Context,
  method: string,
  transfer: RailTransfer,
  keep: (work: Promise<unknown>) => void,
): Promise<TransferOutcome> {
  assertTransfer(transfer)
  // The wallet is asked before anything is locked, and not at all for a known transfer.
  const payee = await findPayeeAccount(context, method, transfer)
  const take = (): Promise<Taken> => decide(context, () => takeTransfer(context, method, transfer, payee))
  const taken = await (typeof payee === 'string' ? take() : takeInTurn(context, method, transfer, take))
  if (typeof taken === 'string') return taken
  keep(creditPayee(context, taken))
  return 'received'
}

/** What became of a transfer, or the receipt if it was taken just now. */
type Taken = TransferOutcome | Receipt

/** A transfer is not queued if this many tasks that write its incoming payment are already running or waiting. */
const MOST_AT_INCOMING = 100
/** The same for its rail account, where the 256 deliveries of this process may wait too. */
const MOST_AT_RAIL_ACCOUNT = 512

/**
 * Waits for its turn at the two records. Only a transfer that may be taken does so: refusals cost their sender nothing,
 * so any number of them could keep money waiting. If too many tasks wait already, this transfer could expire before its
 * turn.
 */
async function takeInTurn(
  context: Context,
  method: string,
  { account, incomingPayment }: RailTransfer,
  take: () => Promise<Taken>,
): Promise<Taken> {
  const { inTurn } = context
  const atIncoming = turnAtIncoming(incomingPayment)
  const atRailAccount = turnAtRailAccount({ method, account })
  const isCrowded =
    inTurn.countOf(atIncoming) >= MOST_AT_INCOMING || inTurn.countOf(atRailAccount) >= MOST_AT_RAIL_ACCOUNT
  if (isCrowded) return 'rate_limited'
  return inTurn(atIncoming, () => inTurn(atRailAccount, take))
}

/** Of a transfer that the rail itself refuses (`isRefused`) nothing is counted, so its amounts are not checked. */
function assertTransfer(transfer: RailTransfer): void {
  const { id, incomingPayment, account, amount, accountAmount, least, most = 0n, notAfter, isRefused } = transfer
  if (!isLedgerId(id)) throw new RangeError('the id of a transfer must be 32 lower-case hexadecimal digits')
  if (typeof incomingPayment !== 'string' || typeof account !== 'string')
    throw new TypeError('a transfer must name its incoming payment and its account')
  if (!Number.isSafeInteger(notAfter))
    throw new RangeError('notAfter of a transfer must be an integer, in milliseconds')
  if (isRefused === true) return
  // The comparisons below could all be false for a value that is not a bigint.
  if (![amount.value, accountAmount.value, least, most].every((value) => typeof value === 'bigint'))
    throw new TypeError('the values of a transfer must be bigints')
  if (mistakeInAsset(accountAmount) !== undefined)
    throw new TypeError('accountAmount of a transfer must be in a valid asset')
  for (const { value } of [amount, accountAmount])
    if (value <= 0n || value > MAX_AMOUNT_VALUE)
      throw new RangeError('the value of a transfer must be a positive unsigned 64-bit integer')
  if (least < 0n || least > amount.value) throw new RangeError('least of a transfer must be from 0 to its amount')
}

interface Found {
  readonly incoming: StoredRecord<'incoming-payment'> | undefined
  readonly known: KnownTransfer | undefined
  readonly railAccount: StoredRecord<'rail-account'> | undefined
}

/** Reads all records in one call, so that they agree with each other. */
async function readTransfer(context: Context, method: string, transfer: RailTransfer): Promise<Found> {
  const found = await context.storage.get([
    { kind: 'incoming-payment', id: transfer.incomingPayment },
    ...receiptKeys(transfer),
    { kind: 'rail-account', id: railAccountId(method, transfer.account) },
  ])
  const [incoming] = recordsOfKind(found, 'incoming-payment')
  const [railAccount] = recordsOfKind(found, 'rail-account')
  return { incoming, known: knownTransfer(method, transfer, found), railAccount }
}

/** Who is credited, or why nobody is. */
type Payee =
  | { readonly account: string }
  | Extract<TransferOutcome, 'not_payable' | 'not_now' | 'over_remainder' | 'over_limit'>

/**
 * The payee's account in the ledger, or why the transfer must be refused. Also `not_payable` where the answer will not
 * be used: `takeTransfer` recognises a known or late transfer by itself.
 */
async function findPayeeAccount(context: Context, method: string, transfer: RailTransfer): Promise<Payee> {
  if (isTooLate(context, transfer)) return 'not_payable'
  const { incoming, known, railAccount } = await readTransfer(context, method, transfer)
  if (incoming === undefined || known !== undefined) return 'not_payable'
  if (!isActive(incoming.value, context.clock.now())) return 'not_payable'
  const payee = await findPayee(context, incoming.value)
  if (payee === undefined) return 'not_payable'
  const { account } = payee
  if (incoming.value.account !== account) {
    tellOtherAccount(context, incoming.value, account)
    return 'not_now'
  }
  // `findPayee` has made sure that the directory still has the payment's asset.
  const checked = await checkLedgerAccount(context, incoming.value.walletAddress, payee, 'canReceive')
  if (checked !== 'allowed') return 'not_payable'
  if (acceptedOf(context, incoming.value, transfer) === undefined) return 'over_remainder'
  return accountChange(method, transfer, railAccount) === 'over_limit' ? 'over_limit' : { account }
}

/** How much of the transfer the payment takes; `undefined` if that is nothing, or less than its sender insists on. */
function acceptedOf(context: Context, payment: IncomingPayment, { amount, least }: RailTransfer): bigint | undefined {
  // Money above the remainder stays with the wallet.
  const accepted = acceptReceipt(payment, amount.value, context.policies.excessReceipt) ?? 0n
  return accepted === 0n || accepted < least ? undefined : accepted
}

function accountChange(
  method: string,
  { account, accountAmount, most }: RailTransfer,
  railAccount: StoredRecord<'rail-account'> | undefined,
): Change | 'over_limit' {
  const name = { method, account, ...accountAmount }
  return railAccountChange(railAccount, name, { received: accountAmount.value }, most)
}

/** Whether a transfer can no longer be taken, if it was not taken before. */
function isTooLate({ clock }: Context, { notAfter, isRefused }: RailTransfer): boolean {
  return isRefused === true || clock.now() > notAfter
}

/**
 * The wallet address of an incoming payment, possibly with another account; `undefined` if it is not active, or has
 * changed its asset.
 */
export async function findPayee(context: Context, payment: IncomingPayment): Promise<WalletAddress | undefined> {
  const payee = await context.walletAddresses.find(payment.walletAddress)
  if (!payee?.isActive) return undefined
  // If the account is another one, its asset says nothing about the asset of this payment's account.
  return payment.account !== payee.account || isSameAsset(payee, assetOf(payment)) ? payee : undefined
}

async function takeTransfer(
  context: Context,
  method: string,
  transfer: RailTransfer,
  payee: Payee,
): Promise<Attempt<Taken>> {
  const { incoming, known, railAccount } = await readTransfer(context, method, transfer)
  if (known !== undefined) return { answer: known.answer }
  // Checked here, after everything that may have taken time: the wallet's answers, the wait for the turn, a conflict.
  const isLate = isTooLate(context, transfer)
  // Final: with no payment, or one in a final state, no later transfer can be taken, so no refusal need be recorded.
  if (incoming === undefined || hasEnded(incoming.value)) return { answer: isLate ? 'refused' : 'not_payable' }
  const now = context.clock.now()
  const refused: Receipt = {
    id: transfer.id,
    incomingPaymentId: transfer.incomingPayment,
    state: 'dropped',
    amount: amountOf(assetOf(incoming.value), 0n),
    createdAt: now,
    railAccountId: railAccountId(method, transfer.account),
  }
  const refuse = (answer: TransferOutcome): Attempt<Taken> => recordRefusal(context, transfer, refused, answer)
  if (isLate) return refuse('refused')
  if (!isSameAsset(transfer.amount, assetOf(incoming.value)))
    throw new TypeError('a transfer is in another asset than its incoming payment')
  if (!isActive(incoming.value, now)) return refuse('not_payable')
  if (typeof payee === 'string') return refuse(payee)
  const accepted = acceptedOf(context, incoming.value, transfer)
  if (accepted === undefined) return refuse('over_remainder')
  const moved = accountChange(method, transfer, railAccount)
  if (moved === 'over_limit') return refuse('over_limit')
  const excess = transfer.amount.value - accepted
  const taken: Receipt = {
    ...refused,
    state: 'reserved',
    amount: amountOf(transfer.amount, accepted),
    ...(excess > 0n && { excess }),
    payeeAccount: payee.account,
    railAmount: transfer.accountAmount.value,
  }
  const dueAt = leaseEnd(context, now)
  const room = replaceIncoming(incoming, reserve(incoming.value, accepted))
  return { changes: [{ action: 'insert', kind: 'receipt', value: taken, dueAt }, room, moved], answer: taken }
}

/** A refusal, with what is committed so that it stays one: its receipt, for as long as anything could change it. */
function recordRefusal(
  context: Context,
  { notAfter, incomingPayment }: RailTransfer,
  refused: Receipt,
  answer: TransferOutcome,
): Attempt<Taken> {
  // Late ones are counted separately: otherwise a stranger's refusals could keep a sender from learning the fate of its own.
  const refusals = `${refused.createdAt > notAfter ? 'expired' : 'refused'} ${incomingPayment}`
  if (context.chargeRefusal(refusals) > 0) return { answer: 'rate_limited' }
  // Not sooner than a day from now, however long ago `notAfter` was: the rail has it from whoever brought this, and the
  // same transfer may come again with a later one.
  const forgetAt = Math.max(notAfter, refused.createdAt) + CLOCK_ERROR_MILLISECONDS
  const version = startVersion(context)
  return { changes: [{ action: 'insert', kind: 'receipt', version, value: refused, dueAt: forgetAt }], answer }
}
