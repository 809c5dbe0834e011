import type { WireAmount } from '../protocol/amount.ts'
import type { OperationId } from '../protocol/operations.ts'
import type { OutgoingPaymentState } from '../protocol/outgoing-payment.ts'

/**
 * An event about money. Delivered at least once and in order per payment, `credit_refused` alone: `onEvent` is called again by
 * `recover()` until it resolves; one that takes longer than 10 seconds counts as rejected. `id` is the same each time. `at` is
 * in milliseconds since 1970.
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
      readonly sentAmount: WireAmount
      /** What the ledger, the payment method or the receiver's server came to, in at most 256 characters. */
      readonly reason?: string
    }
  /** The ledger does not credit money that a rail has taken for an incoming payment: the wallet has it, and its payee not. */
  | {
      readonly type: 'credit_refused'
      readonly id: string
      readonly at: number
      readonly incomingPayment: string
      readonly receipt: string
      readonly amount: WireAmount
      readonly reason: string
    }

/**
 * An event about the service, best effort: delivered once, never again. No event ever carries a secret. Moments (`at`,
 * `retryAt`) are in milliseconds since 1970.
 * @spec D2 @spec T-6
 */
export type ServiceEvent =
  /**
   * One per request. `condition` names why it was refused. `client` is who has proved by a signature to have sent it: a
   * canonical wallet address, or `jwk:` and the thumbprint of a key.
   */
  | {
      readonly type: 'request'
      readonly at: number
      readonly operation: OperationId | undefined
      readonly status: number
      readonly client?: string
      readonly condition?: string
      /** What the operator should know beyond the answer that the client got. */
      readonly detail?: string
    }
  /** Something unexpected. `cause` is what was thrown. Of the ledger: `call` is which call, `callId` the id (or account) that it named. */
  | {
      readonly type: 'fault'
      readonly at: number
      readonly operation: OperationId | undefined
      readonly message: string
      readonly cause: unknown
      readonly call?: 'account' | 'hold' | 'settle' | 'release' | 'credit'
      readonly callId?: string
    }
  /** A signature was read by the reader for the malformed headers of two deployed clients. */
  | {
      readonly type: 'legacy_signature_syntax'
      readonly at: number
      readonly syntax: 'php' | 'rust'
      readonly keyId: string
    }
  /** A client presented a known kid with other key material. */
  | { readonly type: 'key_substituted'; readonly at: number; readonly client: string; readonly keyId: string }
  /**
   * A payment could not be moved on and is left for `recover()`, which takes it up again from `retryAt` on. `reason` is what
   * the ledger, the payment method or the receiver's server came to last, in at most 256 characters.
   */
  | {
      readonly type: 'payment_stalled'
      readonly at: number
      readonly outgoingPayment: string
      readonly step: OutgoingPaymentState
      readonly attempts: number
      readonly retryAt: number
      readonly reason: string
    }
  /** `recover()` takes a payment up whose lease has lapsed. `attempts`: how often its step was left without an answer. */
  | {
      readonly type: 'payment_resumed'
      readonly at: number
      readonly outgoingPayment: string
      readonly step: OutgoingPaymentState
      readonly attempts: number
    }
  /** What a rail may have delivered will never be known to it. Told again once an hour, until `outgoingPayments` is told how it ended. */
  | {
      readonly type: 'delivery_unknown'
      readonly at: number
      readonly outgoingPayment: string
      /** The account of the rail that it left through. */
      readonly railAccount: string
      /** What is known to have left and arrived, and what may have beside that. */
      readonly sent: WireAmount
      readonly received: WireAmount
      readonly unknownSent: WireAmount
      readonly unknownReceived: WireAmount
    }
  /** A rail could not use one of its accounts: its limit is reached, or nobody answers there. */
  | {
      readonly type: 'rail_unavailable'
      readonly at: number
      readonly account: string
      readonly reason: 'sending_limit' | 'receiving_limit' | 'unreachable' | 'unauthorized'
      readonly detail?: string
    }
  /** `recover()` had something to do: how many payments, receipts and events it took up. `isFull`: it resolves with 100 or more, call it again. */
  | {
      readonly type: 'recovered'
      readonly at: number
      readonly payments: number
      readonly receipts: number
      readonly events: number
      readonly isFull: boolean
    }
  /** `sweep()` had something to do: how many records of each kind it expired or deleted. `isFull`: it resolves with 100 or more, call it again. */
  | {
      readonly type: 'swept'
      readonly at: number
      readonly records: Readonly<Record<string, number>>
      readonly isFull: boolean
    }

/** Everything that the library tells its host. */
export type OpenPaymentsEvent = MoneyEvent | ServiceEvent

/** The host's sink for events. A rejection for a money event means "tell me again"; for others it is ignored. */
export type OnEvent = (event: OpenPaymentsEvent) => void | Promise<void>
