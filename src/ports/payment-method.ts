import type { Amount, Asset } from '../protocol/amount.ts'
import type { IlpPaymentMethod } from '../protocol/payment-method.ts'
import type { Clock } from './clock.ts'
import type { Cryptography } from './cryptography.ts'
import type { ServiceEvent } from './events.ts'
import type { HttpRequest, HttpResponse } from './http-exchange.ts'

/** An incoming payment as a payment method sees it. `sharedSecret` is 256 bits, base64url, derived for this payment. */
export interface PayableIncomingPayment {
  /**
   * The last segment of its URL. Must not be shown to others on the money's path: anyone who knows it may read the secret.
   */
  readonly id: string
  /** What others call it: 46 base64url characters, always the same, from which only this server can derive the id. */
  readonly address: string
  readonly walletAddress: string
  readonly sharedSecret: string
}

/** An incoming payment that money may arrive for. */
export interface OpenIncomingPayment extends PayableIncomingPayment {
  readonly asset: Asset
  /** What may still be paid in: zero once it takes no more money, absent if there is no maximum. */
  readonly remainder?: bigint
}

/** What a rail is asked to carry. */
export interface RailQuoteRequest {
  readonly details: IlpPaymentMethod
  readonly from: Asset
  readonly to: Asset
  /** Roughly what is to be paid, in `from` or `to`: no more than a hint, absent if no amount is named. */
  readonly amount?: Amount
}

/**
 * What a rail carries to a receiver, or why it does not. `asset` is the one in which money leaves, `account` the rail account
 * that it leaves through, which stays the same for good. At least `received` of the receiver's smallest units arrive for
 * `sent` units that leave; both are above zero. If the rate is measured, another quote for the same way may be lower by a
 * thousandth: the smallest amount that clients are told allows for that. `detail` tells the operator why there is no route,
 * and holds no secret.
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
  /** The id of the outgoing payment: 32 hexadecimal digits, the last segment of its URL. */
  readonly id: string
  /** How the receiver is paid, as its server said before anything left; the same in every later call. */
  readonly details: IlpPaymentMethod
  /** The rail account that the quote named. */
  readonly account: string
  /** The most that may leave, in the rail's asset. */
  readonly sendAmount: Amount
  /** The least that arrives once all has left; no part of it is sent below this rate. */
  readonly receiveAmount: Amount
  /** The rate that was quoted. The two amounts are rounded; this is not. */
  readonly rate: { readonly sent: bigint; readonly received: bigint }
  /** Whether it is complete once `receiveAmount` has arrived; otherwise it is once all has left. */
  readonly isFixedReceive: boolean
  /**
   * Whether nothing new may leave: the receiver takes no more, or possibly takes no more, or it is too late. The rail then
   * only finds out what became of what is in flight, and answers `ended` once it knows, or `delivered` if that was the last
   * of it. A later call may ask it to send on.
   */
  readonly isOver: boolean
  /**
   * From then on nothing new may leave, in milliseconds since 1970: an hour after the order. A call that lasts until then finds
   * out what it can about what is in flight, and answers `later` if more was to be sent; the next one has `isOver`.
   */
  readonly sendUntil: number
}

/**
 * How far a delivery has come. What is in flight is counted separately: it may or may not have arrived, and is never sent
 * again as new value. `sent` is in the rail's asset, `received` in the receiver's.
 */
export interface DeliveryProgress {
  readonly sent: bigint
  readonly received: bigint
  readonly inFlight: { readonly sent: bigint; readonly received: bigint }
  /**
   * What the rail needs to find out later what became of what is in flight: text in a form of its own, at most 16384
   * characters. No secrets.
   */
  readonly notes: string
}

/**
 * What became of a call of `deliver`.
 *
 * - `delivered`: all that was to arrive has arrived, or all has left except a rest too small for anything to arrive. It
 *   settles in full, at the price of the quote. Nothing is in flight.
 * - `ended`: nothing more will leave, and nothing is in flight: `progress` is how far it came, which may be nowhere.
 * - `later`: ask again. The rail has recorded what it must not forget. From one hour after the payment was ordered nothing
 *   new leaves: it ends with what has left, at once or when the fate of what is in flight is known. If that is still not
 *   known 25 hours after the order, this counts as `unknown`. A call that rejects or does not answer is treated like `later`.
 * - `pending`: the host says, through `outgoingPayments`, how it ended. The rail is not asked again. In flight is what was
 *   recorded as such, or everything not yet sent if nothing was.
 * - `unknown`: the rail will never know what became of what is in flight. It is not asked again; the payment stays visible
 *   until the host decides.
 */
export type DeliveryResult =
  | { readonly outcome: 'delivered'; readonly progress: DeliveryProgress }
  | { readonly outcome: 'ended'; readonly progress: DeliveryProgress; readonly reason: string }
  | { readonly outcome: 'later'; readonly reason: string }
  | { readonly outcome: 'pending' }
  | { readonly outcome: 'unknown'; readonly progress: DeliveryProgress }

/**
 * Records how far a delivery has come, before more leaves. `most` is the most by which the rail account's sent amount may
 * exceed what it has received, this delivery included; beyond that nothing is recorded.
 *
 * When it resolves, half or more of the lease is left. While the storage is unavailable it may take as long as a lease
 * (`limits.leaseSeconds`): what depends on the time, such as when a packet expires and the rate that it leaves at, is
 * computed or checked again once it has resolved.
 */
export type RecordProgress = (progress: DeliveryProgress, most?: bigint) => Promise<'recorded' | 'over_limit'>

/** Money that a rail is about to take for an incoming payment of this server. */
export interface RailTransfer {
  /** 32 hexadecimal digits, the same whenever this transfer is reported again. */
  readonly id: string
  /** Its id, the last segment of its URL. */
  readonly incomingPayment: string
  /** In the asset of the incoming payment. */
  readonly amount: Amount
  /**
   * The part of it that its sender insists on; if only what lies above that exceeds the remainder, the sender is not at
   * fault.
   */
  readonly least: bigint
  /**
   * The rail account that it comes through, the amount there, and by how much that account may have received more than
   * it sent, this included.
   */
  readonly account: string
  readonly accountAmount: Amount
  readonly most?: bigint
  /**
   * Until when it may be taken as new, in milliseconds: before its packet expires, less the time that the answer needs to
   * travel back. Checked when its commit starts, at each attempt: one that starts in time and ends late still takes it.
   */
  readonly notAfter: number
  /** Whether the rail does not take it as new: it counts only if it was taken before. */
  readonly isRefused?: boolean
}

/**
 * What makes a transfer the same whenever it is reported: everything except its value in the payee's asset, since the price
 * may have changed by then.
 */
export type TransferTerms = Pick<RailTransfer, 'id' | 'incomingPayment' | 'account' | 'accountAmount'>

/**
 * `received`: durable, now or by an earlier call: the rail may claim the money, and the payee is credited, whatever happens.
 * Otherwise nothing was taken now. `taken_otherwise`: a transfer with this id was taken before, but on other terms: the rail
 * may claim no more, and must not report the transfer with this id as refused. `rate_limited`: too many transfers for its
 * incoming payment were refused recently, or too many wait to be taken; nothing is recorded, so it may still be taken, and
 * must not be reported as final. Every other outcome is final for this transfer and, if anything could change it, recorded
 * for a day at least, and until its `notAfter` has passed on any clock that is less than a day wrong. `not_now`: another
 * transfer may be taken once the wallet has fixed something.
 */
export type TransferOutcome =
  | 'received'
  | 'refused'
  | 'not_payable'
  | 'not_now'
  | 'over_remainder'
  | 'over_limit'
  | 'taken_otherwise'
  | 'rate_limited'

/** What an account of a rail has moved so far, in its asset. What is in flight counts as sent. */
export interface RailBalance {
  readonly sent: bigint
  readonly received: bigint
}

/** What the server gives to a rail that carries money for it. Each call rejects if the storage or the wallet fails. */
export interface RailServer {
  readonly clock: Clock
  readonly cryptography: Cryptography
  /** Tells the host, best effort; never throws. */
  emit(event: ServiceEvent): void
  /**
   * An incoming payment by its `address`, including one that takes no more money: what came for it before may be reported
   * again. `undefined` if there is none, and for any other text.
   */
  findPayable(address: string): Promise<OpenIncomingPayment | undefined>
  /**
   * What an amount is worth in another asset at the wallet's price, rounded down; `undefined` if the wallet does not
   * exchange them.
   */
  exchange(amount: Amount, to: Asset, walletAddress: string): Promise<Amount | undefined>
  /** What arrived by a transfer that was taken before, in the asset of the incoming payment; `undefined` if it was not. */
  findReceived(terms: TransferTerms): Promise<Amount | undefined>
  /**
   * Makes a transfer durable, once per id. One that the wallet has reported itself (`incomingPayments.received`) under this
   * id, after a restore, was taken before.
   */
  receive(transfer: RailTransfer): Promise<TransferOutcome>
  /** What an account of this rail has moved so far. */
  balance(account: string): Promise<RailBalance>
}

/**
 * A rail that carries money to and from other servers. Receivers on this server need none: they are paid inside the
 * ledger.
 */
export interface PaymentMethod {
  readonly type: 'ilp'
  /**
   * The details by which others pay an incoming payment; they go into its `methods`. Called before the payment is stored,
   * possibly for one that never is, and again whenever it is read: it has no effect and gives the same answer each time.
   */
  createDetails(incomingPayment: PayableIncomingPayment): Promise<IlpPaymentMethod>
  /** What the rail would carry to a receiver, for a payer with an account in `from`. */
  quote(request: RailQuoteRequest): Promise<RailQuote>
  /**
   * Sends, from where `progress` left off. `record` is awaited before anything leaves, with all that may then have left, so
   * that a crash sends nothing twice. If `record` rejects, another worker has taken over, or may at any moment because the
   * storage has failed for as long as the lease lasted: nothing more is sent.
   * A call that records nothing for the length of a lease (`limits.leaseSeconds`) is no longer waited for. It must settle all
   * the same: a process begins no others while calls for 256 payments, 32 of the account that pays or 24 of the grant, have
   * not settled.
   */
  deliver(delivery: Delivery, progress: DeliveryProgress, record: RecordProgress): Promise<DeliveryResult>
  /** Called once, by `createOpenPayments`, before any other call. */
  connect?(server: RailServer): void
  /** Where others reach the rail: `POST` to this path of the resource server's origin. Served alongside all other routes. */
  readonly endpoint?: {
    readonly path: string
    /** Answers a request; never rejects. */
    handle(request: HttpRequest): Promise<HttpResponse>
  }
}
