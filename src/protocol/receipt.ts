import type { Amount } from './amount.ts'

/** Where a receipt stands: `reserved` room in an incoming payment, then `credited` or `dropped`. */
export type ReceiptState = 'reserved' | 'credited' | 'dropped'

/** Money that reached an incoming payment. `id` is unique on this server and is applied once. @spec INC-5 */
export interface Receipt {
  readonly id: string
  readonly incomingPaymentId: string
  readonly state: ReceiptState
  readonly amount: Amount
  readonly createdAt: number
  /** The payment on this server that it came from; absent for a rail of the wallet's own. */
  readonly outgoingPaymentId?: string
  /** For a rail of the wallet's own: what was reported above the remainder and not accepted. */
  readonly excess?: bigint
}
