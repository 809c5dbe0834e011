import type { Amount } from '../protocol/amount.ts'
import type { IlpPaymentMethod } from '../protocol/payment-method.ts'

/** An incoming payment as a payment method sees it. `sharedSecret` is 256 bits, base64url, derived for this payment. */
export interface PayableIncomingPayment {
  readonly id: string
  readonly walletAddress: string
  readonly sharedSecret: string
}

/** What a rail would deliver for what. */
export type QuoteResult =
  | { readonly ok: true; readonly debitAmount: Amount; readonly receiveAmount: Amount }
  | { readonly ok: false; readonly reason: 'unreachable' | 'amount_too_small' }

/** A delivery to a receiver on another server. */
export interface Delivery {
  readonly id: string
  readonly receiver: string
  readonly debitAmount: Amount
  readonly receiveAmount: Amount
}

/** What a rail knows of a delivery; `unknown` is never settled nor released, it stays visible. */
export type DeliveryResult =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'partial'; readonly debited: bigint; readonly received: bigint }
  | { readonly outcome: 'pending' }
  | { readonly outcome: 'unknown' }

/**
 * A rail that carries money to and from other servers. Receivers on this server need none: they are paid inside the
 * ledger.
 */
export interface PaymentMethod {
  readonly type: 'ilp'
  /**
   * The details by which others pay an incoming payment; they go into its `methods`. Asked for before the payment is
   * stored, maybe for one that never is, and again whenever it is read: it has no effect and answers the same each time.
   */
  createDetails(incomingPayment: PayableIncomingPayment): Promise<IlpPaymentMethod>
  /** What the rail would deliver for one of the two amounts, of which exactly one is given. */
  quote(request: {
    readonly receiver: string
    readonly debitAmount?: Amount
    readonly receiveAmount?: Amount
  }): Promise<QuoteResult>
  /** Sends. `record` is awaited before each chunk with the upper bound in flight, so that a crash sends nothing twice. */
  deliver(
    delivery: Delivery,
    progress: { readonly debited: bigint; readonly received: bigint },
    record: (inFlight: { readonly debited: bigint; readonly received: bigint }) => Promise<void>,
  ): Promise<DeliveryResult>
}
