import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import { isIdentifier } from '../protocol/identifiers.ts'
import { recordsOfKind } from '../records/read-record.ts'

/**
 * Reads an incoming payment and those of these receipts that there are, in a single read, so that they agree: a receipt
 * that is still reserved is counted in the payment, and if a receipt has just completed the payment, it is found. An id
 * that no incoming payment can have is not looked up.
 */
export async function readReceipts(
  context: Context,
  incomingPaymentId: string,
  ...receiptIds: readonly string[]
): Promise<{
  readonly incoming: StoredRecord<'incoming-payment'> | undefined
  readonly receipts: readonly StoredRecord<'receipt'>[]
}> {
  const found = await context.storage.get([
    ...(isIdentifier(incomingPaymentId) ? [{ kind: 'incoming-payment', id: incomingPaymentId } as const] : []),
    ...receiptIds.map((id) => ({ kind: 'receipt', id }) as const),
  ])
  const [incoming] = recordsOfKind(found, 'incoming-payment')
  return { incoming, receipts: recordsOfKind(found, 'receipt') }
}
