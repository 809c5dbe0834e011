import type { Amount, Asset } from '../protocol/amount.ts'
import type { IlpPaymentMethod } from '../protocol/payment-method.ts'
import type { Clock } from './clock.ts'
import type { Cryptography } from './cryptography.ts'
import type { ServiceEvent } from './events.ts'
import type { HttpRequest, HttpResponse } from './http-exchange.ts'

/** An incoming payment as a payment method sees it. `sharedSecret` is 256 bits, base64url, derived for this payment. */
export interface PayableIncomingPayment {
  /** Not for others on the way of the money: whoever knows it may read the secret. */
  readonly id: string
  /** What others call it by, always the same: 38 base64url characters from which only this server gets the id. */
  readonly address: string
  readonly walletAddress: string
  readonly sharedSecret: string
}

/** An incoming payment that money may come for. */
export interface OpenIncomingPayment extends PayableIncomingPayment {
  readonly asset: Asset
  /** What may still be paid in: zero where it takes no money any more, absent without bound. */
  readonly remainder?: bigint
}

/**
 * What a rail carries to a receiver, or why it does not. `asset` is that in which money leaves, `account` the one of the
 * rail that it leaves through, which stays the same for good. At least `received` of the receiver's smallest units arrive
 * for `sent` units that leave; both are above zero. `detail` says to the operator why there is no way, and holds no secret.
 */
export type RailQuote =
  | {
      readonly ok: true
      readonly account: string
      readonly asset: Asset
      readonly rate: { readonly sent: bigint; readonly received: bigint }
    }
  | { readonly ok: false; readonly reason: 'unreachable'; readonly detail?: string }

/** A delivery to a receiver on another server. */
export interface Delivery {
  /** The id of the outgoing payment: 32 hexadecimal digits. */
  readonly id: string
  /** How the receiver is paid, as its server said before anything left; the same in every call that follows. */
  readonly details: IlpPaymentMethod
  /** The account of the rail that the quote named. */
  readonly account: string
  /** The most that leaves, in the asset of the rail. */
  readonly sendAmount: Amount
  /** The least that arrives when all has left; no part of it goes below this rate. */
  readonly receiveAmount: Amount
  /** Whether it is over once `receiveAmount` has arrived; else once all has left. */
  readonly isFixedReceive: boolean
  /**
   * Nothing new may leave: the receiver takes no more, or may take no more, or it is too late. The rail only finds out what
   * became of what is in flight, and answers `ended` once it knows, or `delivered` where that was the last of it. It may be
   * asked to send on afterwards.
   */
  readonly isOver: boolean
}

/**
 * How far a delivery has come. What is in flight is counted apart: it may have arrived or not, and is never sent again as
 * new value. `sent` counts in the asset of the rail, `received` in the receiver's.
 */
export interface DeliveryProgress {
  readonly sent: bigint
  readonly received: bigint
  readonly inFlight: { readonly sent: bigint; readonly received: bigint }
  /** What the rail needs to find out later what became of it: text of its own, at most 16384 characters. No secrets. */
  readonly notes: string
}

/**
 * What became of a call of `deliver`.
 *
 * - `delivered`: all has arrived that was to, or all has left, but for what nothing would have arrived for. It settles
 *   whole, for the price of the quote. Nothing is in flight.
 * - `ended`: nothing more will leave, and nothing is in flight: `progress` is how far it came, maybe not at all.
 * - `later`: ask again. The rail has recorded what it must not forget. From an hour after the payment was ordered nothing
 *   new leaves: it ends with what has left, at once or when it is known what became of what is in flight. Where that is
 *   not known 25 hours after the order, this is `unknown`; so are a call that rejects, and one that does not answer.
 * - `pending`: the host says, through `outgoingPayments`, how it ended. Not asked again. In flight is what was recorded
 *   so, and all that is left where nothing was.
 * - `unknown`: what is in flight will never be known to the rail. Not asked again; it stays visible until the host decides.
 */
export type DeliveryResult =
  | { readonly outcome: 'delivered'; readonly progress: DeliveryProgress }
  | { readonly outcome: 'ended'; readonly progress: DeliveryProgress; readonly reason: string }
  | { readonly outcome: 'later'; readonly reason: string }
  | { readonly outcome: 'pending' }
  | { readonly outcome: 'unknown'; readonly progress: DeliveryProgress }

/**
 * Writes down how far a delivery came, before more leaves. `most` is what the account of the rail may have sent more than it
 * has received, with this; beyond that nothing is written down.
 *
 * It resolves under a lease of which half or more is left. Where the storage is away it may take as long as a lease
 * (`limits.leaseSeconds`): what depends on the time, such as when a packet expires and the rate that it leaves at, is
 * computed or looked at again once it has resolved.
 */
export type RecordProgress = (progress: DeliveryProgress, most?: bigint) => Promise<'recorded' | 'over_limit'>

/** Money that a rail is about to take for an incoming payment of this server. */
export interface RailTransfer {
  /** 32 hexadecimal digits, one and the same whenever this transfer is told again. */
  readonly id: string
  readonly incomingPayment: string
  /** In the asset of the incoming payment. */
  readonly amount: Amount
  /** The part of it that its sender insists on; what exceeds the remainder beyond that is no fault of the sender. */
  readonly least: bigint
  /** The account of the rail that it comes through, what it is there, and what that may have received more than it sent, with this. */
  readonly account: string
  readonly accountAmount: Amount
  readonly most?: bigint
  /**
   * Until when it may be taken as new, in milliseconds: before its packet expires, with the time that the answer needs on its
   * way. It is judged when its commit starts, at each attempt: one that starts in time and ends late is taken all the same.
   */
  readonly notAfter: number
  /** The rail does not take it as new; only what was taken before counts. */
  readonly isRefused?: boolean
}

/**
 * `received`: durable, now or by an earlier call: the rail may claim the money, and the payee is credited, whatever
 * happens. Else nothing was taken. Every outcome but `received` and `rate_limited` is final for this transfer and, where
 * anything could change it, written down until its `notAfter` has passed at any clock that is less than a day wrong.
 * `rate_limited`: too many of its incoming payment were refused of late; nothing is written, so it may be taken yet, and must
 * not be told as final. `not_now`: another transfer may be taken once the wallet has mended something.
 */
export type TransferOutcome =
  | 'received'
  | 'refused'
  | 'not_payable'
  | 'not_now'
  | 'over_remainder'
  | 'over_limit'
  | 'rate_limited'

/** What an account of a rail has moved so far, in its asset. What is in flight counts as sent. */
export interface RailBalance {
  readonly sent: bigint
  readonly received: bigint
}

/** What a rail is given by the server that it carries money for. Each call rejects where storage or wallet fail. */
export interface RailServer {
  readonly clock: Clock
  readonly cryptography: Cryptography
  /** Tells the host, best effort; never throws. */
  emit(event: ServiceEvent): void
  /**
   * An incoming payment by its `address`, also one that takes no money any more: what came for it before may be told
   * again. `undefined` where there is none, and for any other text.
   */
  findPayable(address: string): Promise<OpenIncomingPayment | undefined>
  /** What an amount is worth in another asset at the wallet's price, rounded down; `undefined` where it does not exchange them. */
  exchange(amount: Amount, to: Asset, walletAddress: string): Promise<Amount | undefined>
  /** Makes a transfer durable, once per id. */
  receive(transfer: RailTransfer): Promise<TransferOutcome>
  /** What an account of this rail has moved. */
  balance(account: string): Promise<RailBalance>
}

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
  /**
   * What the rail would carry to a receiver, for a payer with an account in `from`. `amount` is about what is to be paid, in
   * `from` or `to`: no more than a hint, absent where nothing is said of it.
   */
  quote(request: {
    readonly details: IlpPaymentMethod
    readonly from: Asset
    readonly to: Asset
    readonly amount?: Amount
  }): Promise<RailQuote>
  /**
   * Sends, from where `progress` left off. `record` is awaited before anything leaves, with all that may have left when it
   * has: so that a crash sends nothing twice. Where `record` rejects, another worker has taken over, or may at any moment, the
   * storage having failed for as long as the lease lasted: nothing more is sent.
   * A call that records nothing for the length of a lease (`limits.leaseSeconds`) is waited for no longer. It must settle all
   * the same: a process begins no others while calls for 256 payments, or for 32 of the account that pays, have not.
   */
  deliver(delivery: Delivery, progress: DeliveryProgress, record: RecordProgress): Promise<DeliveryResult>
  /** Called once, by `createOpenPayments`, before any other call. */
  connect?(server: RailServer): void
  /** Where others reach the rail: `POST` to this path of the resource server's origin. Answered beside all other routes. */
  readonly endpoint?: {
    readonly path: string
    /** Answers; never rejects. */
    handle(request: HttpRequest): Promise<HttpResponse>
  }
}
