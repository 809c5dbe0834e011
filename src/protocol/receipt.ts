import type { Amount } from './amount.ts'

/** The state of a receipt: `reserved` while it holds room in an incoming payment, then `credited` or `dropped`. */
export type ReceiptState = 'reserved' | 'credited' | 'dropped'

/**
 * The id of the receipt of a transfer that the wallet itself reports; the prefix keeps it apart from the ids of this server's
 * credits. It must never change: under another prefix, a transfer that was already counted would be counted again.
 */
export function reportedReceiptId(transferId: string): string {
  return `rail:${transferId}`
}

/** Money that reached an incoming payment. `id` is unique on this server and is applied once. @spec INC-5 */
export interface Receipt {
  readonly id: string
  /** The last segment of the URL of the incoming payment. */
  readonly incomingPaymentId: string
  readonly state: ReceiptState
  readonly amount: Amount
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** The payment on this server that it came from; absent for money from elsewhere. */
  readonly outgoingPaymentId?: string
  /** For money from elsewhere: the part above the remainder, which was not accepted. */
  readonly excess?: bigint
  /**
   * For a payment method: the payee's account in the wallet's ledger, which is credited; absent if the transfer was
   * refused. If it is present and the receipt is `dropped`, the ledger refused the credit, and the wallet has the
   * money.
   */
  readonly payeeAccount?: string
  /** For a payment method: the id of the record of the rail account that it came through, and the amount there. */
  readonly railAccountId?: string
  readonly railAmount?: bigint
}
