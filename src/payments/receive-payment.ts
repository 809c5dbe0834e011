import { unavailable } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import { type Amount, amountOf, isSameAsset, MAX_AMOUNT_VALUE } from '../protocol/amount.ts'
import { isIdentifier, isLedgerId } from '../protocol/identifiers.ts'
import { acceptReceipt, assetOf, countReceipt, type IncomingPayment, isActive } from '../protocol/incoming-payment.ts'
import { type Receipt, reportedReceiptId } from '../protocol/receipt.ts'
import { type Attempt, decide } from '../records/decide.ts'
import { tellFault } from '../records/tell-fault.ts'
import { tellOtherAccount } from '../records/tell-other-account.ts'
import { completionChanges, keepIncoming, replaceIncoming } from './incoming-changes.ts'
import { deliverEvents } from './money-events.ts'
import { readReceipts } from './read-receipts.ts'
import { turnAtIncoming } from './turn-keys.ts'

/**
 * What became of a transfer that the wallet itself reported. `accepted` is counted, `excess` is not; both are in the
 * smallest unit of the payment's asset. If another transfer was faster, `accepted` may be zero. `conflict` is the only
 * refusal that does not tell whether the transfer was counted: its id is already known with different arguments.
 */
export type ReceivedPayment =
  | { readonly ok: true; readonly accepted: bigint; readonly excess: bigint }
  | { readonly ok: false; readonly reason: ReceiptRefusal | 'conflict' }

/**
 * Why reported money is not counted: the payment does not exist, is in another asset, is over, or cannot take that much
 * more.
 */
export type ReceiptRefusal = 'unknown' | 'wrong_asset' | 'completed' | 'expired' | 'over_remainder'

// Databases refuse a NUL, and store every unpaired surrogate as the same replacement character: two ids would become
// one.
const TRANSFER_ID = /^[^\0\p{Surrogate}]{1,256}$/u

/**
 * Counts a transfer that the wallet itself reports. The wallet already holds the money: the ledger is not called.
 * `transferId` is unique on this server and is counted once: the same call gets the same answer again, even a refusal,
 * so that money which was sent back is never counted later. With different arguments it gets `conflict`; only a
 * transfer that was answered `unknown`, `wrong_asset` or `completed` may be reported again with others. These three are not
 * recorded: once the payment is deleted, the last two become `unknown`, and nothing is counted all the same. The policy
 * `excessReceipt` decides what happens to money above the remainder. Rejects if the directory fails or names another
 * account than the payment was made for.
 * @spec INC-5 @spec INC-7 @spec INC-8 @spec INC-13
 */
export async function receivePayment(
  context: Context,
  id: string,
  reported: Amount,
  transferId: string,
): Promise<ReceivedPayment> {
  assertReceived(reported, transferId)
  // A copy: the host may use the same object for its next report while this one waits.
  const amount = amountOf(reported, reported.value)
  // The id may be text that a stranger typed, so a wrong one is no error; but a URL points to a mistake of the wallet
  // itself.
  if (/\//.test(id)) {
    const cause = new TypeError(`the id is the last segment of the URL, not ${JSON.stringify(id)}`)
    tellFault(context, 'a URL was reported as the id of an incoming payment', cause)
  }
  // Before taking the turn: the wallet's directory may be slow.
  await requirePayeeAccount(context, id, transferId)
  const { completes, ...received } = await context.inTurn(turnAtIncoming(id), () =>
    decide(context, () => countTransfer(context, id, amount, transferId)),
  )
  // Not awaited: the host may call this from its own event handler.
  if (completes !== undefined) context.ongoing.keep(deliverEvents(context, completes))
  return received
}

/** Refuses what a wallet in plain JavaScript may pass by mistake: an answer would be final. */
function assertReceived(amount: Amount, transferId: string): void {
  // A number, or the text that a database gives for one, would be compared as if it were an amount.
  const isAmount = typeof amount?.value === 'bigint'
  if (!isAmount || typeof amount.assetCode !== 'string' || typeof amount.assetScale !== 'number')
    throw new TypeError('a received amount must have a value (a bigint), an assetCode and an assetScale')
  if (amount.value <= 0n || amount.value > MAX_AMOUNT_VALUE)
    throw new RangeError('the value of a received amount must be a positive unsigned 64-bit integer')
  // A misspelt member gives undefined, which a pattern would read as the text "undefined": all transfers would share
  // one id.
  if (typeof transferId !== 'string') throw new TypeError('a transfer id must be a string')
  if (!TRANSFER_ID.test(transferId))
    throw new RangeError('a transfer id must be 1 to 256 characters, with no NUL and no unpaired surrogate')
}

/**
 * Throws "unavailable" if the transfer is new, its incoming payment still takes money, and that payment's wallet
 * address now has a different account: any answer would be final, and the directory may only be wrong for a while.
 * @spec INC-13
 */
async function requirePayeeAccount(context: Context, id: string, transferId: string): Promise<void> {
  if (!isIdentifier(id)) return
  const { incoming, receipt } = await readReported(context, id, transferId)
  if (incoming === undefined || receipt !== undefined || !isActive(incoming.value, context.clock.now())) return
  const { walletAddress } = incoming.value
  const payee = await context.walletAddresses.find(walletAddress)
  if (payee === undefined || incoming.value.account === payee.account) return
  tellOtherAccount(context, incoming.value, payee.account)
  throw unavailable('a wallet address now has a different account')
}

/** What is committed for a transfer, counted or not; `completes` is the id of the incoming payment if that completes it. */
async function countTransfer(
  context: Context,
  id: string,
  amount: Amount,
  transferId: string,
): Promise<Attempt<ReceivedPayment & { readonly completes?: string }>> {
  const { incoming: record, receipt: known } = await readReported(context, id, transferId)
  if (known !== undefined) return { answer: answerKnown(known, record?.value, id, amount) }
  if (record === undefined) return { answer: { ok: false, reason: 'unknown' } }
  if (!isSameAsset(amount, assetOf(record.value))) return { answer: { ok: false, reason: 'wrong_asset' } }
  // Read once: a refusal must not be recorded at another moment than the one it was decided for.
  const now = context.clock.now()
  const outcome = acceptedOrRefusal(context, record.value, amount.value, now)
  if (outcome === 'completed') return { answer: { ok: false, reason: outcome } }
  const isRefused = typeof outcome !== 'bigint'
  const accepted = isRefused ? 0n : outcome
  const excess = amount.value - accepted
  const receipt: Receipt = {
    id: reportedReceiptId(transferId),
    incomingPaymentId: id,
    state: isRefused ? 'dropped' : 'credited',
    amount: amountOf(amount, accepted),
    createdAt: outcome === 'expired' ? afterExpiry(record.value, now) : now,
    excess,
  }
  const insert = { action: 'insert', kind: 'receipt', value: receipt } as const
  // Recorded, since a repeat must not be accepted later: room returns if a payment that reserved it fails, and to a
  // process whose clock is behind, an expired payment still looks open.
  if (isRefused) return { changes: [insert, ...keepIncoming(record)], answer: { ok: false, reason: outcome } }
  const value = countReceipt(record.value, accepted)
  const completion = completionChanges(context, record.value, value)
  return {
    changes: [replaceIncoming(record, value), insert, ...completion],
    answer: { ok: true, accepted, excess, ...(completion.length > 0 && { completes: id }) },
  }
}

/**
 * Reads an incoming payment and the receipt of a transfer with this id, in a single read. That is also the receipt of a
 * credit which this server has made under the id: after a restore a wallet may report a line of its ledger that the storage
 * has not forgotten, or knows again.
 */
async function readReported(
  context: Context,
  id: string,
  transferId: string,
): Promise<{
  readonly incoming: StoredRecord<'incoming-payment'> | undefined
  readonly receipt: Receipt | undefined
}> {
  const ids = [reportedReceiptId(transferId), ...(isLedgerId(transferId) ? [transferId] : [])]
  const { incoming, receipts } = await readReceipts(context, id, ...ids)
  const receipt = receipts.map(({ value }) => value).find((one) => one.id !== transferId || one.state !== 'dropped')
  return { incoming, receipt }
}

/** The answer to a transfer that was reported before, or another one under its id. */
function answerKnown(
  receipt: Receipt,
  payment: IncomingPayment | undefined,
  id: string,
  amount: Amount,
): ReceivedPayment {
  const excess = receipt.excess ?? 0n
  const isSame = isSameAsset(receipt.amount, amount) && receipt.amount.value + excess === amount.value
  if (receipt.incomingPaymentId !== id || !isSame) return { ok: false, reason: 'conflict' }
  if (receipt.state === 'dropped') {
    const wasInTime = payment !== undefined && isActive({ ...payment, state: 'pending' }, receipt.createdAt)
    return { ok: false, reason: wasInTime ? 'over_remainder' : 'expired' }
  }
  return { ok: true, accepted: receipt.amount.value, excess }
}

/**
 * When a transfer that came too late is recorded: a repeat learns from this that it was too late. Another process may
 * have ended the payment while this one's clock is still behind its expiry.
 */
function afterExpiry({ expiresAt }: IncomingPayment, now: number): number {
  return expiresAt === undefined ? now : Math.max(now, expiresAt + 1)
}

/** How much of a reported amount is counted, or why none of it is. */
function acceptedOrRefusal(
  context: Context,
  payment: IncomingPayment,
  amount: bigint,
  now: number,
): bigint | 'completed' | 'expired' | 'over_remainder' {
  if (payment.state === 'completed') return 'completed'
  if (!isActive(payment, now)) return 'expired'
  return acceptReceipt(payment, amount, context.policies.excessReceipt) ?? 'over_remainder'
}
