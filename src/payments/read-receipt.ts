import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import { isIdentifier } from '../protocol/identifiers.ts'
import { recordsOfKind } from '../records/read-record.ts'

/**
 * Reads an incoming payment and one of its receipts in a single read, so that they agree: a receipt that is still
 * reserved is counted in the payment, and if a receipt has just completed the payment, it is found. An id that no
 * incoming payment can have is not looked up.
 */
export async function readReceipt(
  context: Context,
  incomingPaymentId: string,
  receiptId: string,
): Promise<{
  readonly incoming: StoredRecord<'incoming-payment'> | undefined
  readonly receipt: StoredRecord<'receipt'> | undefined
}> {
  const found = await context.storage.get([
    ...(isIdentifier(incomingPaymentId) ? [{ kind: 'incoming-payment', id: incomingPaymentId } as const] : []),
    { kind: 'receipt', id: receiptId },
  ])
  const [incoming] = recordsOfKind(found, 'incoming-payment')
  const [receipt] = recordsOfKind(found, 'receipt')
  return { incoming, receipt }
}
