import type { StoredRecord } from '../ports/storage.ts'
import { isLocalPayment, isRailPayment, type LocalPayment, type RailPayment } from '../protocol/outgoing-payment.ts'

/** A payment to a receiver on another server, as it was read or written last. */
export type RailRecord = StoredRecord<'outgoing-payment'> & { readonly value: RailPayment }

/** Whether a payment is to a receiver on another server. */
export function isRailRecord(record: StoredRecord<'outgoing-payment'>): record is RailRecord {
  return isRailPayment(record.value)
}

/** A payment to a receiver on this server, as it was read or written last. */
export type LocalRecord = StoredRecord<'outgoing-payment'> & { readonly value: LocalPayment }

/** Whether a payment is to a receiver on this server. */
export function isLocalRecord(record: StoredRecord<'outgoing-payment'>): record is LocalRecord {
  return isLocalPayment(record.value)
}

/** A payment that was stored before, as it is read again: none is ever deleted. */
export function requireKept(record: StoredRecord<'outgoing-payment'> | undefined): StoredRecord<'outgoing-payment'> {
  if (record === undefined) throw new Error('an outgoing payment has vanished')
  return record
}
