import type { StoredRecord } from '../../ports/storage.ts'
import { isRailPayment, type RailPayment } from '../../protocol/outgoing-payment.ts'

/** A payment to a receiver on another server, as it was read or written last. */
export type RailRecord = StoredRecord<'outgoing-payment'> & { readonly value: RailPayment }

/** Whether a payment is to a receiver on another server. */
export function isRailRecord(record: StoredRecord<'outgoing-payment'>): record is RailRecord {
  return isRailPayment(record.value)
}
