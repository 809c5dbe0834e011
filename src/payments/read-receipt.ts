import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import { isIdentifier } from '../protocol/identifiers.ts'
import { recordsOfKind } from '../records/read-record.ts'

/**
 * Reads an incoming payment and a receipt of it at one moment: a receipt that is still reserved is counted in it, and if
 * one has just completed it, that receipt is found. An id that no incoming payment can have is not asked for.
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
