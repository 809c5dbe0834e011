import type { WireAmount } from '../protocol/amount.ts'
import type { OperationId } from '../protocol/operations.ts'
import type { OutgoingPaymentState } from '../protocol/outgoing-payment.ts'

/**
 * An event about money. Delivered at least once, and in order per payment, except that `credit_refused` is ordered with no
 * other: `recover()` calls `onEvent` again until it resolves; a call that takes longer than 10 seconds counts as rejected.
 * `id` is the event's own, the same each time. `incomingPayment` and `outgoingPayment` are ids, the last segments of URLs;
 * `walletAddress` is a URL. `at` is in milliseconds since 1970.
 */
export type MoneyEvent =
  | {
      readonly type: 'incoming_payment.created' | 'incoming_payment.completed' | 'incoming_payment.expired'
      readonly id: string
      readonly at: number
      readonly incomingPayment: string
      readonly walletAddress: string
      readonly receivedAmount: WireAmount
    }
  | {
      readonly type: 'outgoing_payment.created' | 'outgoing_payment.completed'
      readonly id: string
      readonly at: number
      readonly outgoingPayment: string
      readonly walletAddress: string
      readonly debitAmount: WireAmount
      readonly sentAmount: WireAmount
    }
  | {
      readonly type: 'outgoing_payment.failed'
      readonly id: string
      readonly at: number
      readonly outgoingPayment: string
      readonly walletAddress: string
      readonly debitAmount: WireAmount
      /** What was taken from the payer; one unit less if that was the whole debit. */
      readonly sentAmount: WireAmount
      /**
       * What the ledger, the payment method or the receiver's server answered, or how it failed, in at most 256
       * characters.
       */
      readonly reason?: string
    }
  /**
   * The ledger refuses to credit money that a rail has taken for an incoming payment: the wallet has it, the payee does
   * not.
   */
  | {
      readonly type: 'credit_refused'
      readonly id: string
      readonly at: number
      readonly incomingPayment: string
      /** The id of the receipt, which has no URL. */
      readonly receipt: string
      readonly amount: WireAmount
      readonly reason: string
    }

/**
 * An event about the service. Best effort: delivered once, never again. No event ever carries a secret. Times (`at`,
 * `retryAt`) are in milliseconds since 1970. `outgoingPayment` is the last segment of the payment's URL.
 * @spec D2 @spec T-6
 */
export type ServiceEvent =
  /**
   * One per request. `condition` names why it was refused. `client` is the sender, as proved by a signature: a canonical
   * wallet address, or `jwk:` and the thumbprint of a key; `grant` is the id of the grant whose token it presented, which
   * leads to the owner.
   */
  | {
      readonly type: 'request'
      readonly at: number
      readonly operation: OperationId | undefined
      readonly status: number
      readonly client?: string
      readonly grant?: string
      readonly condition?: string
      /** What the operator should know beyond the answer that the client got. */
      readonly detail?: string
    }
  /**
   * Something unexpected. `cause` is what was thrown. For the ledger, `call` says which call failed and `callId` the id
   * (or account) it was for.
   */
  | {
      readonly type: 'fault'
      readonly at: number
      readonly operation: OperationId | undefined
      readonly message: string
      readonly cause: unknown
      readonly call?: 'account' | 'hold' | 'settle' | 'release' | 'credit'
      readonly callId?: string
    }
  /** A signature was accepted in the malformed header syntax of one of two deployed clients. */
  | {
      readonly type: 'legacy_signature_syntax'
      readonly at: number
      readonly syntax: 'php' | 'rust'
      readonly keyId: string
    }
  /** A client presented a known kid with different key material. */
  | { readonly type: 'key_substituted'; readonly at: number; readonly client: string; readonly keyId: string }
  /**
   * A payment could not make progress and is left to `recover()`, which picks it up again from `retryAt` on. `reason` is what
   * the ledger, the payment method or the receiver's server last answered, or how it failed, in at most 256 characters.
   */
  | {
      readonly type: 'payment_stalled'
      readonly at: number
      readonly outgoingPayment: string
      readonly state: OutgoingPaymentState
      readonly attempts: number
      readonly retryAt: number
      readonly reason: string
    }
  /**
   * `recover()` picks up a payment that is due: it was interrupted, it had stalled, there was no place for it with its rail,
   * or it waits for the host's decision (then once an hour). `attempts`: how often its current step has gone without an
   * answer.
   */
  | {
      readonly type: 'payment_resumed'
      readonly at: number
      readonly outgoingPayment: string
      readonly state: OutgoingPaymentState
      readonly attempts: number
    }
  /**
   * A rail cannot find out what became of money that may have left. Repeated once an hour, until the host says through
   * `outgoingPayments` how it ended.
   */
  | {
      readonly type: 'delivery_unknown'
      readonly at: number
      readonly outgoingPayment: string
      /** The rail account that it left through. */
      readonly railAccount: string
      /** What is known to have left and arrived, and what else may have. */
      readonly sent: WireAmount
      readonly received: WireAmount
      readonly inFlightSent: WireAmount
      readonly inFlightReceived: WireAmount
    }
  /**
   * A rail could not use one of its accounts: its limit is reached, or the other side is unreachable or does not
   * authorize this server.
   */
  | {
      readonly type: 'rail_unavailable'
      readonly at: number
      readonly railAccount: string
      readonly reason: 'sending_limit' | 'receiving_limit' | 'unreachable' | 'unauthorized'
      readonly detail?: string
    }
  /**
   * `recover()` had something to do: how many payments, receipts and events it picked up. `isFull`: it resolves with 100
   * or more, so call it again.
   */
  | {
      readonly type: 'recovered'
      readonly at: number
      readonly payments: number
      readonly receipts: number
      readonly events: number
      readonly isFull: boolean
    }
  /**
   * `sweep()` had something to do: how many records of each kind it expired or deleted. `isFull`: it resolves with 100 or
   * more, so call it again.
   */
  | {
      readonly type: 'swept'
      readonly at: number
      readonly records: Readonly<Record<string, number>>
      readonly isFull: boolean
    }

/** Everything that the library tells its host. */
export type OpenPaymentsEvent = MoneyEvent | ServiceEvent

/**
 * The host's sink for events. If it throws or rejects for a money event, that means "send it again"; any other event is not
 * sent again, but printed on the error stream if it is a fault or needs a person.
 */
export type OnEvent = (event: OpenPaymentsEvent) => void | Promise<void>
