import type { Context } from '../../ports/context.ts'
import type { TransferOutcome, TransferTerms } from '../../ports/payment-method.ts'
import type { Key, StoredRecord } from '../../ports/storage.ts'
import { type Amount, amountOf, isSameAsset } from '../../protocol/amount.ts'
import { railAccountId } from '../../protocol/rail-account.ts'
import { type Receipt, reportedReceiptId } from '../../protocol/receipt.ts'
import { recordsOfKind } from '../../records/read-record.ts'

/** A transfer that was reported before, and the answer to another report of it. */
export interface KnownTransfer {
  readonly receipt: Receipt
  readonly answer: TransferOutcome
}

/**
 * What arrived by a transfer that was taken before, including the part above the remainder; `undefined` if it was not
 * taken, or was taken on other terms.
 * @spec INC-5
 */
export async function findReceived(
  context: Context,
  method: string,
  terms: TransferTerms,
): Promise<Amount | undefined> {
  const known = knownTransfer(method, terms, await context.storage.get(receiptKeys(terms)))
  return known?.answer === 'received' ? totalOf(known.receipt) : undefined
}

/** The receipt of a transfer, and the one there is if the wallet reported it itself. */
export function receiptKeys({ id }: TransferTerms): readonly Key[] {
  return [id, reportedReceiptId(id)].map((receipt) => ({ kind: 'receipt', id: receipt }))
}

/** What is known of a transfer by those of the records found that are its receipts; its own counts before a report's. */
export function knownTransfer(
  method: string,
  terms: TransferTerms,
  found: readonly (StoredRecord | undefined)[],
): KnownTransfer | undefined {
  const receipts = recordsOfKind(found, 'receipt').map(({ value }) => value)
  const own = receipts.find(({ id }) => id === terms.id)
  if (own !== undefined) return { receipt: own, answer: answerOwn(method, terms, own) }
  const [reported] = receipts
  return reported && { receipt: reported, answer: answerReported(terms, reported) }
}

/**
 * Two reports are of the same transfer if the same amount came through the same rail account for the same incoming
 * payment. Its value in the payee's asset stays what it was when it was taken, whatever the rate is now. A report with
 * the same id on other terms is not answered `refused`: the original was taken, and its sender must not send the value
 * again.
 */
function answerOwn(method: string, terms: TransferTerms, receipt: Receipt): TransferOutcome {
  // The receipt of a refusal has no such amount, nor has a receipt that did not come by a rail.
  if (receipt.railAmount === undefined) return 'refused'
  const isSame =
    receipt.incomingPaymentId === terms.incomingPayment &&
    receipt.railAccountId === railAccountId(method, terms.account) &&
    receipt.railAmount === terms.accountAmount.value
  return isSame ? 'received' : 'taken_otherwise'
}

/**
 * The wallet has reported this transfer itself, by its id, which its ledger has as a credit: it was taken before the storage
 * was restored to an older state. Its sender, which heard no answer then, learns it now; nothing is counted again. What was
 * credited may be less than what came. If it is more, another packet is meant; in another asset, nobody can tell.
 * @spec INC-5
 */
function answerReported({ incomingPayment, accountAmount }: TransferTerms, reported: Receipt): TransferOutcome {
  const total = totalOf(reported)
  const isLess = isSameAsset(accountAmount, total) && accountAmount.value < total.value
  return reported.incomingPaymentId === incomingPayment && !isLess ? 'received' : 'taken_otherwise'
}

/** What arrived, including the part above the remainder. */
function totalOf({ amount, excess = 0n }: Receipt): Amount {
  return amountOf(amount, amount.value + excess)
}
