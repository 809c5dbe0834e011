import { unavailable } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import { type Amount, amountOf, isSameAsset, MAX_AMOUNT_VALUE } from '../protocol/amount.ts'
import { isIdentifier } from '../protocol/identifiers.ts'
import { acceptReceipt, assetOf, countReceipt, type IncomingPayment, isActive } from '../protocol/incoming-payment.ts'
import type { Receipt } from '../protocol/receipt.ts'
import { decide } from '../records/decide.ts'
import { tellFault } from '../records/tell-fault.ts'
import { tellOtherAccount } from '../records/tell-other-account.ts'
import { deliverEvents } from './notify.ts'
import { readReceipt } from './read-receipt.ts'
import { completionChanges, keepIncoming, replaceIncoming } from './replace-incoming.ts'
import { turnAtIncoming } from './turns.ts'

/**
 * What became of a transfer that the wallet itself reported. `accepted` is counted, `excess` is not; both are in the
 * smallest unit of the payment's asset. If another transfer was faster, `accepted` may be zero. Of the refusals,
 * `conflict` alone says nothing about the transfer itself: it is known with different arguments.
 */
export type ReceivedPayment =
  | { readonly ok: true; readonly accepted: bigint; readonly excess: bigint }
  | { readonly ok: false; readonly reason: ReceiptRefusal | 'conflict' }

/**
 * Why reported money is not counted: the payment does not exist, is in another asset, is over, or cannot take that much
 * more.
 */
export type ReceiptRefusal = 'unknown' | 'wrong_asset' | 'completed' | 'expired' | 'over_remainder'

// Databases refuse a NUL, and store each half of a surrogate pair as the same replacement: two transfers would be one.
const TRANSFER_ID = /^[^\0\p{Surrogate}]{1,256}$/u

/**
 * Counts a transfer that the wallet itself reports. The wallet already holds the money: the ledger is not called.
 * `transferId` is unique on this server and is counted once: the same call gets the same answer again, even a refusal,
 * so that money which was sent back is never counted later. With different arguments it gets `conflict`; only what was
 * `unknown`, `wrong_asset` or `completed` may be reported with others. What exceeds the remainder is treated by the
 * policy `excessReceipt`. Rejects if the directory fails or names another account than the payment was made for.
 * @spec INC-5 @spec INC-7 @spec INC-8 @spec INC-13
 */
export async function receivePayment(
  context: Context,
  id: string,
  amount: Amount,
  transferId: string,
): Promise<ReceivedPayment> {
  assertReceived(amount, transferId)
  // A stranger may have typed anything, so it is no error; but a URL is what the wallet itself has at hand.
  if (/\//.test(id)) {
    const cause = new TypeError(`the id is the last segment of the URL, not ${JSON.stringify(id)}`)
    tellFault(context, 'a URL was reported as the id of an incoming payment', cause)
  }
  // Before anything waits its turn: the wallet's directory may take its time.
  await requirePayeeAccount(context, id, receiptIdOf(transferId))
  const { completes, ...received } = await context.serialize(turnAtIncoming(id), () =>
    decide<ReceivedPayment & { readonly completes?: string }>(context, async () => {
      const { incoming: record, receipt: known } = await readReceipt(context, id, receiptIdOf(transferId))
      if (known !== undefined) return { answer: answerAgain(known.value, record?.value, id, amount) }
      if (record === undefined) return { answer: { ok: false, reason: 'unknown' } }
      if (!isSameAsset(amount, assetOf(record.value))) return { answer: { ok: false, reason: 'wrong_asset' } }
      const outcome = acceptedOf(context, record.value, amount.value)
      if (outcome === 'completed') return { answer: { ok: false, reason: outcome } }
      const isRefused = typeof outcome !== 'bigint'
      const accepted = isRefused ? 0n : outcome
      const receipt: Receipt = {
        id: receiptIdOf(transferId),
        incomingPaymentId: id,
        state: isRefused ? 'dropped' : 'credited',
        amount: amountOf(amount, accepted),
        createdAt: context.clock.now(),
        excess: amount.value - accepted,
      }
      const insert = { action: 'insert', kind: 'receipt', value: receipt } as const
      // Recorded, since room may come back when a payment that reserved it fails, and time on the clock of another process.
      if (isRefused) return { changes: [insert, ...keepIncoming(record)], answer: { ok: false, reason: outcome } }
      const value = countReceipt(record.value, accepted)
      const completion = completionChanges(context, record.value, value)
      return {
        changes: [replaceIncoming(record, value), insert, ...completion],
        answer: {
          ok: true,
          accepted,
          excess: amount.value - accepted,
          ...(completion.length > 0 && { completes: id }),
        },
      }
    }),
  )
  // Not awaited: the host may call this from its own event handler.
  if (completes !== undefined) context.ongoing.keep(deliverEvents(context, completes))
  return received
}

/**
 * The id of its receipt, which no credit of this server has. Stored receipts begin with `rail:`: with another prefix a
 * transfer that was counted would be counted again.
 */
function receiptIdOf(transferId: string): string {
  return `rail:${transferId}`
}

/** Refuses what a wallet in JavaScript may say by mistake: an answer to it would be final. */
function assertReceived(amount: Amount, transferId: string): void {
  // A number, or the text that a database gives for one, would be compared as if it were an amount.
  const isAmount = typeof amount?.value === 'bigint'
  if (!isAmount || typeof amount.assetCode !== 'string' || typeof amount.assetScale !== 'number')
    throw new TypeError('a received amount must have a value (a bigint), an assetCode and an assetScale')
  if (amount.value <= 0n || amount.value > MAX_AMOUNT_VALUE)
    throw new RangeError('the value of a received amount must be a positive unsigned 64-bit integer')
  // A misspelt member is undefined: a pattern would read that as text, and every transfer would be the same one.
  if (typeof transferId !== 'string') throw new TypeError('a transfer id must be a string')
  if (!TRANSFER_ID.test(transferId))
    throw new RangeError('a transfer id must be 1 to 256 characters, with no NUL and no unpaired surrogate')
}

/**
 * Throws "unavailable" if a transfer is new and the wallet address of its incoming payment, which still takes money, now has
 * a different account: an answer would be final, and the directory may be wrong for a while.
 * @spec INC-13
 */
async function requirePayeeAccount(context: Context, id: string, receiptId: string): Promise<void> {
  if (!isIdentifier(id)) return
  const { incoming, receipt } = await readReceipt(context, id, receiptId)
  if (incoming === undefined || receipt !== undefined || !isActive(incoming.value, context.clock.now())) return
  const { walletAddress } = incoming.value
  const payee = await context.walletAddresses.find(walletAddress)
  if (payee === undefined || incoming.value.account === payee.account) return
  tellOtherAccount(context, incoming.value, payee.account)
  throw unavailable('a wallet address now has a different account')
}

function answerAgain(
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

function acceptedOf(
  context: Context,
  payment: IncomingPayment,
  amount: bigint,
): bigint | 'completed' | 'expired' | 'over_remainder' {
  if (payment.state === 'completed') return 'completed'
  if (!isActive(payment, context.clock.now())) return 'expired'
  return acceptReceipt(payment, amount, context.policies.excessReceipt) ?? 'over_remainder'
}
