import type { Context } from '../../ports/context.ts'
import type { RailTransfer, TransferOutcome, TransferTerms } from '../../ports/payment-method.ts'
import type { Change, StoredRecord } from '../../ports/storage.ts'
import type { WalletAddress } from '../../ports/wallet-addresses.ts'
import {
  type Amount,
  amountOf,
  isAssetCode,
  isAssetScale,
  isSameAsset,
  MAX_AMOUNT_VALUE,
} from '../../protocol/amount.ts'
import { isIdentifier } from '../../protocol/identifiers.ts'
import { acceptReceipt, assetOf, type IncomingPayment, isActive, reserve } from '../../protocol/incoming-payment.ts'
import { railAccountId } from '../../protocol/rail-account.ts'
import type { Receipt } from '../../protocol/receipt.ts'
import { type Attempt, decide } from '../../records/decide.ts'
import { readRecord, recordsOfKind } from '../../records/read-record.ts'
import { CLOCK_ERROR_MILLISECONDS } from '../../records/retention.ts'
import { tellOtherAccount } from '../../records/tell-other-account.ts'
import { checkLedgerAccount } from '../ask-ledger.ts'
import { replaceIncoming } from '../replace-incoming.ts'
import { turnAtIncoming, turnAtRailAccount } from '../turns.ts'
import { creditPayee } from './credit-receipt.ts'
import { railAccountChange } from './rail-account.ts'

/**
 * Takes money that a rail is about to claim, once per transfer: one commit has the receipt, the room in the incoming
 * payment and the account of the rail. The payee is credited afterwards, whatever the ledger does meanwhile; `keep` is
 * given that work. Rejects if it is unknown, or could not be found out, whether the transfer was taken: the rail must not
 * tell its peer that it was refused. The same transfer again finds out.
 *
 * A refusal is recorded if anything could change it later: the peer has been told no, and relies on that. So a transfer that
 * was refused for any reason is `refused` from then on, and never counted. Once it is too late for it on every clock nothing
 * can change that, and the refusal is forgotten. Only so many are recorded per payment; one above that is `rate_limited`,
 * which is not a refusal: nothing remembers it, and it is taken or refused when it is reported again. So is a good one behind
 * which too many others would wait.
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

/** What became of a transfer, or the receipt of one that was taken just now. */
type Taken = TransferOutcome | Receipt

/** So many who write one incoming payment wait for each other at most when a transfer comes for it. */
const MOST_AT_INCOMING = 100
/** The same at an account of a rail, where each of the 256 deliveries of this process may wait, too. */
const MOST_AT_RAIL_ACCOUNT = 512

/**
 * Only what may be taken writes the two records, and waits for others who do: a refusal costs its sender nothing, so that
 * any number of them could keep money waiting. If too many wait already, one more could expire before its turn.
 */
async function takeInTurn(
  context: Context,
  method: string,
  { account, incomingPayment }: RailTransfer,
  take: () => Promise<Taken>,
): Promise<Taken> {
  const { serialize } = context
  const atIncoming = turnAtIncoming(incomingPayment)
  const atRailAccount = turnAtRailAccount({ method, account })
  const isCrowded =
    serialize.countOf(atIncoming) >= MOST_AT_INCOMING || serialize.countOf(atRailAccount) >= MOST_AT_RAIL_ACCOUNT
  if (isCrowded) return 'rate_limited'
  return serialize(atIncoming, () => serialize(atRailAccount, take))
}

/** Nothing is counted of a transfer that the rail refuses, so its amounts may be anything. */
function assertTransfer(transfer: RailTransfer): void {
  const { id, incomingPayment, account, amount, accountAmount, least, most = 0n, notAfter, isRefused } = transfer
  if (!isIdentifier(id)) throw new RangeError('the id of a transfer must be 32 lower-case hexadecimal digits')
  if (typeof incomingPayment !== 'string' || typeof account !== 'string')
    throw new TypeError('a transfer must name its incoming payment and its account')
  if (!Number.isSafeInteger(notAfter))
    throw new RangeError('notAfter of a transfer must be an integer, in milliseconds')
  if (isRefused === true) return
  // Comparisons with a value that is not a bigint could all be false.
  if (![amount.value, accountAmount.value, least, most].every((value) => typeof value === 'bigint'))
    throw new TypeError('the values of a transfer must be bigints')
  if (!isAssetCode(accountAmount.assetCode) || !isAssetScale(accountAmount.assetScale))
    throw new TypeError('accountAmount of a transfer must be in a valid asset')
  for (const { value } of [amount, accountAmount])
    if (value <= 0n || value > MAX_AMOUNT_VALUE)
      throw new RangeError('the value of a transfer must be a positive unsigned 64-bit integer')
  if (least < 0n || least > amount.value) throw new RangeError('least of a transfer must be from 0 to its amount')
}

interface Found {
  readonly incoming: StoredRecord<'incoming-payment'> | undefined
  readonly receipt: StoredRecord<'receipt'> | undefined
  readonly railAccount: StoredRecord<'rail-account'> | undefined
}

/** All as they were at one moment. */
async function readTransfer(context: Context, method: string, transfer: RailTransfer): Promise<Found> {
  const found = await context.storage.get([
    { kind: 'incoming-payment', id: transfer.incomingPayment },
    { kind: 'receipt', id: transfer.id },
    { kind: 'rail-account', id: railAccountId(method, transfer.account) },
  ])
  const [incoming] = recordsOfKind(found, 'incoming-payment')
  const [receipt] = recordsOfKind(found, 'receipt')
  const [railAccount] = recordsOfKind(found, 'rail-account')
  return { incoming, receipt, railAccount }
}

/** Who is credited, or why nobody is. */
type Payee =
  | { readonly account: string }
  | Extract<TransferOutcome, 'not_payable' | 'not_now' | 'over_remainder' | 'over_limit'>

/** The payee's account in the ledger; `not_payable` if it takes no money, or if the account is not needed. */
async function findPayeeAccount(context: Context, method: string, transfer: RailTransfer): Promise<Payee> {
  if (isTooLate(context, transfer)) return 'not_payable'
  const { incoming, receipt, railAccount } = await readTransfer(context, method, transfer)
  if (incoming === undefined || receipt !== undefined) return 'not_payable'
  if (!isActive(incoming.value, context.clock.now())) return 'not_payable'
  const payee = await findPayee(context, incoming.value)
  if (payee === undefined) return 'not_payable'
  const { account } = payee
  if (incoming.value.account !== account) {
    tellOtherAccount(context, incoming.value, account)
    return 'not_now'
  }
  // The directory still has the asset of the payment, by what `findPayee` says.
  const checked = await checkLedgerAccount(context, incoming.value.walletAddress, payee, 'canReceive')
  if (checked !== 'allowed') return 'not_payable'
  if (acceptedOf(context, incoming.value, transfer) === undefined) return 'over_remainder'
  return accountChange(method, transfer, railAccount) === 'over_limit' ? 'over_limit' : { account }
}

/** What the payment takes of it; `undefined` if that is nothing, or less than its sender insists on. */
function acceptedOf(context: Context, payment: IncomingPayment, { amount, least }: RailTransfer): bigint | undefined {
  // What is above the remainder is the wallet's.
  const accepted = acceptReceipt(payment, amount.value, context.policies.excessReceipt) ?? 0n
  return accepted === 0n || accepted < least ? undefined : accepted
}

function accountChange(
  method: string,
  { account, accountAmount, most }: RailTransfer,
  railAccount: StoredRecord<'rail-account'> | undefined,
): Change | 'over_limit' {
  const { assetCode, assetScale, value: received } = accountAmount
  return railAccountChange(railAccount, { method, account, assetCode, assetScale }, { received }, most)
}

/** Whether it is not taken as new, and never will be. */
function isTooLate({ clock }: Context, { notAfter, isRefused }: RailTransfer): boolean {
  return isRefused === true || clock.now() > notAfter
}

/**
 * The wallet address of an incoming payment, possibly with another account; `undefined` if it is not active, or has
 * changed its asset.
 */
export async function findPayee(context: Context, payment: IncomingPayment): Promise<WalletAddress | undefined> {
  const payee = await context.walletAddresses.find(payment.walletAddress)
  if (payee === undefined || payee.isActive === false) return undefined
  // The asset of another account says nothing about this payment's own.
  return payment.account !== payee.account || isSameAsset(payee, assetOf(payment)) ? payee : undefined
}

async function takeTransfer(
  context: Context,
  method: string,
  transfer: RailTransfer,
  payee: Payee,
): Promise<Attempt<Taken>> {
  const { incoming, receipt, railAccount } = await readTransfer(context, method, transfer)
  if (receipt !== undefined) return { answer: answerAgain(method, transfer, receipt.value) }
  // Never payable again: it does not exist, or is in a final state.
  const isOver = incoming?.value.state === 'completed' || incoming?.value.state === 'expired'
  // Checked here, after everything that may have taken time: the wallet's answers, the queue, a conflict.
  const isLate = isTooLate(context, transfer)
  if (incoming === undefined || isOver) return { answer: isLate ? 'refused' : 'not_payable' }
  const now = context.clock.now()
  const refused: Receipt = {
    id: transfer.id,
    incomingPaymentId: transfer.incomingPayment,
    state: 'dropped',
    amount: amountOf(assetOf(incoming.value), 0n),
    createdAt: now,
    railAccountId: railAccountId(method, transfer.account),
  }
  const forgetAt = transfer.notAfter + CLOCK_ERROR_MILLISECONDS
  const refuse = (answer: TransferOutcome): Attempt<Taken> => {
    if (forgetAt <= now) return { answer }
    // Expired ones are counted separately: otherwise a stranger's refusals could keep a sender from learning the fate of its own.
    const refusals = `${now > transfer.notAfter ? 'expired' : 'refused'} ${transfer.incomingPayment}`
    if (context.chargeRefusal(refusals) > 0) return { answer: 'rate_limited' }
    return { changes: [{ action: 'insert', kind: 'receipt', value: refused, dueAt: forgetAt }], answer }
  }
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
  const dueAt = now + context.limits.leaseSeconds * 1000
  const room = replaceIncoming(incoming, reserve(incoming.value, accepted))
  return { changes: [{ action: 'insert', kind: 'receipt', value: taken, dueAt }, room, moved], answer: taken }
}

/**
 * What arrived by a transfer that was taken before, with what was above the remainder; `undefined` if it was not taken, or
 * on other terms.
 * @spec INC-5
 */
export async function findReceived(
  context: Context,
  method: string,
  terms: TransferTerms,
): Promise<Amount | undefined> {
  const receipt = (await readRecord(context.storage, 'receipt', terms.id))?.value
  if (receipt === undefined || answerAgain(method, terms, receipt) !== 'received') return undefined
  return amountOf(receipt.amount, receipt.amount.value + (receipt.excess ?? 0n))
}

/**
 * Two transfers are the same if the same amount came through the same rail account. What that is worth to the payee may be
 * different by now, but stays what it was when it was taken. A copy on other terms is not called refused: what it is a copy
 * of was taken, and whoever sent that must not send its value again.
 */
function answerAgain(method: string, terms: TransferTerms, receipt: Receipt): TransferOutcome {
  // That of a refusal has no amount, nor has one that came by no rail.
  if (receipt.railAmount === undefined) return 'refused'
  const isSame =
    receipt.incomingPaymentId === terms.incomingPayment &&
    receipt.railAccountId === railAccountId(method, terms.account) &&
    receipt.railAmount === terms.accountAmount.value
  return isSame ? 'received' : 'taken_otherwise'
}
