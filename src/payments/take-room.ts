import type { Change, StoredRecord } from '../ports/storage.ts'
import { type NotPayable, reserveReceipt } from '../protocol/incoming-payment.ts'
import type { OutgoingPayment } from '../protocol/outgoing-payment.ts'
import type { Receipt } from '../protocol/receipt.ts'
import { asCommitted } from '../records/as-committed.ts'
import { keepIncoming, replaceIncoming } from './incoming-changes.ts'

/**
 * Room for a payment: a part of what the incoming payment can still take, reserved until the ledger has answered the
 * credit. The id of the receipt is that of the credit.
 */
export interface ReservedRoom {
  readonly incoming: StoredRecord<'incoming-payment'>
  readonly receipt: StoredRecord<'receipt'>
}

/** Room, as it is once the changes that reserve it are committed. */
export interface TakenRoom {
  readonly ok: true
  readonly room: ReservedRoom
  readonly changes: readonly Change[]
}

/** Room for a payment; or why there is none, with the changes that record it. */
export type Room = TakenRoom | { readonly ok: false; readonly reason: NotPayable; readonly changes: readonly Change[] }

/**
 * Takes room for the whole payment in its incoming payment. Whether there is room or not, the changes insert a receipt,
 * whose id can exist only once: so no worker gives up a payment for which another worker has reserved room, even if
 * both have read the same version of it.
 * @spec INC-8
 */
export function takeRoom(
  incoming: StoredRecord<'incoming-payment'>,
  payment: OutgoingPayment,
  creditId: string,
  now: number,
): Room {
  const reserved = reserveReceipt(incoming.value, payment.receiveAmount.value, now)
  const receipt: Receipt = {
    id: creditId,
    incomingPaymentId: incoming.value.id,
    state: reserved.ok ? 'reserved' : 'dropped',
    amount: payment.receiveAmount,
    createdAt: now,
    outgoingPaymentId: payment.id,
  }
  const insert = { action: 'insert', kind: 'receipt', value: receipt } satisfies Change
  if (!reserved.ok) return { ok: false, reason: reserved.reason, changes: [insert, ...keepIncoming(incoming)] }
  const replace = replaceIncoming(incoming, reserved.payment)
  return {
    ok: true,
    room: { incoming: asCommitted(replace), receipt: asCommitted(insert) },
    changes: [replace, insert],
  }
}
