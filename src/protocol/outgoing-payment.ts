import * as v from 'valibot'
import { Amount, amountToWire, type WireAmount } from './amount.ts'
import type { ClientId } from './client.ts'
import type { RailTerms, StoredDelivery } from './delivery.ts'
import { Metadata } from './metadata.ts'
import type { LastCharge } from './spent-amounts.ts'
import { UrlText } from './url-text.ts'

/**
 * The state of an outgoing payment.
 *
 * `created`: the intent is durable, the hold is not confirmed. `sending`: the money is held. `decided`: the outcome is
 * committed and the ledger is being told. `refused`: the ledger refused the hold; such a payment is never shown to
 * anyone.
 */
export type OutgoingPaymentState = 'created' | 'refused' | 'sending' | 'decided' | 'completed' | 'failed'

/** A state that a payment entered, and when, in milliseconds since 1970. */
export interface StateEntry {
  readonly state: OutgoingPaymentState
  readonly at: number
}

/**
 * What was decided about the held money. Committed before the ledger is told, unless the payee is local and was
 * credited.
 */
export type Decision =
  | { readonly action: 'settle'; readonly amount: bigint; readonly fee: bigint }
  | { readonly action: 'release'; readonly reason: string }

/** What a decision takes from the payer, in the smallest unit of the debit; zero if there is no decision. */
export function takenBy(decision: Decision | undefined): bigint {
  return decision?.action === 'settle' ? decision.amount : 0n
}

/** An outgoing payment as it is stored. It contains every argument of every ledger call that it will ever cause. */
export interface OutgoingPayment {
  /** 32 hexadecimal digits, the last segment of its URL. */
  readonly id: string
  readonly walletAddress: string
  readonly client: ClientId
  readonly state: OutgoingPaymentState
  /** Every state that it entered, in order; the last is `state`. */
  readonly states: readonly StateEntry[]
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly quoteId?: string
  /** The URL of an incoming payment. */
  readonly receiver: string
  readonly debitAmount: Amount
  readonly receiveAmount: Amount
  readonly fee: Amount
  /** What the grant was charged in the receiver's smallest unit, if that is not the receive amount. @spec LIM-1 */
  readonly receiveCharge?: bigint
  /** What was taken, once it is; one unit less if a failed payment has cost its whole debit. @spec OUT-8 */
  readonly sentAmount: Amount
  readonly metadata?: Metadata
  /** The payer's account in the wallet's ledger. */
  readonly account: string
  /** The incoming payment on this server that is being paid; absent for one on another server. */
  readonly incomingPaymentId?: string
  /** The payee's account in the wallet's ledger; absent for a receiver on another server. */
  readonly payeeAccount?: string
  /**
   * How a receiver on another server is paid, the address that it was to be paid to, and the payee's wallet address, if its
   * server named one at the order; absent for one on this server.
   */
  readonly rail?: RailTerms & {
    readonly address: string
    readonly walletAddress?: string
  }
  /** How far the delivery to another server has come; absent before it begins. */
  readonly delivery?: StoredDelivery
  readonly grantId: string
  /** The ids of the spending records that this payment was charged to; they never change. @spec LIM-2 */
  readonly spendingIds: readonly string[]
  /** The last charge of its access entry before this one, whatever became of it; absent for the first. @spec LIM-10 */
  readonly chargedAfter?: LastCharge
  readonly decision?: Decision
  /** How many times the payment was postponed without progress. */
  readonly attempts: number
  /** The record of the `Idempotency-Key` that the payment was ordered under; absent without one. @spec OUT-12 */
  readonly keyId?: string
}

/**
 * Why a payment has failed, or is about to: the decision says so if nothing was sent; otherwise the delivery does, which ended
 * before everything had arrived.
 */
export function failureReasonOf({ decision, delivery }: OutgoingPayment): string | undefined {
  return decision?.action === 'release' ? decision.reason : delivery?.reason
}

/** A payment to a receiver on this server. */
export type LocalPayment = OutgoingPayment & Required<Pick<OutgoingPayment, 'incomingPaymentId' | 'payeeAccount'>>

/** A payment to a receiver on another server. */
export type RailPayment = OutgoingPayment & Required<Pick<OutgoingPayment, 'rail'>>

/** Whether the receiver of a payment is on this server. */
export function isLocalPayment(payment: OutgoingPayment): payment is LocalPayment {
  return payment.incomingPaymentId !== undefined && payment.payeeAccount !== undefined
}

/** Whether the receiver of a payment is on another server. */
export function isRailPayment(payment: OutgoingPayment): payment is RailPayment {
  return payment.rail !== undefined
}

/** The payment in its next state, entered at `at`. */
export function enterState(payment: OutgoingPayment, state: OutgoingPaymentState, at: number): OutgoingPayment {
  return { ...payment, state, states: [...payment.states, { state, at }] }
}

/** The body of `POST /outgoing-payments`: from a quote, or straight from an incoming payment. */
export type CreateOutgoingPayment =
  | { readonly walletAddress: string; readonly quoteId: string; readonly metadata?: Metadata | null | undefined }
  | {
      readonly walletAddress: string
      readonly incomingPayment: string
      readonly debitAmount: Amount
      readonly metadata?: Metadata | null | undefined
    }

// The Python SDK sends null if there is no metadata.
const inBoth = { walletAddress: UrlText, metadata: v.nullish(Metadata) }
const FromQuote = v.strictObject({ ...inBoth, quoteId: UrlText })
const FromIncomingPayment = v.strictObject({ ...inBoth, incomingPayment: UrlText, debitAmount: Amount })
const NeitherOrBoth = v.custom<never>(() => false, 'give either quoteId, or incomingPayment and debitAmount')

/**
 * Reads the body of `POST /outgoing-payments`: exactly one of its two alternatives. The members that are present select
 * it, so that a client is told what is wrong with that one.
 * @spec OUT-1
 */
export const CreateOutgoingPayment: v.GenericSchema<unknown, CreateOutgoingPayment> = v.lazy((body) => {
  const members: object = Object(body)
  const hasQuote = Object.hasOwn(members, 'quoteId')
  if (hasQuote === Object.hasOwn(members, 'incomingPayment')) return NeitherOrBoth
  return hasQuote ? FromQuote : FromIncomingPayment
})

/** An outgoing payment as it travels in JSON. */
export interface WireOutgoingPayment {
  readonly id: string
  readonly walletAddress: string
  readonly quoteId?: string
  readonly failed: boolean
  readonly receiver: string
  readonly receiveAmount: WireAmount
  readonly debitAmount: WireAmount
  readonly sentAmount: WireAmount
  readonly metadata?: Metadata
  readonly createdAt: string
}

/** The JSON form of an outgoing payment; the URLs are its and its quote's identifiers on this server. @spec OUT-11 */
export function outgoingPaymentToWire(
  payment: OutgoingPayment,
  paymentUrl: string,
  quoteUrl?: string,
): WireOutgoingPayment {
  return {
    id: paymentUrl,
    walletAddress: payment.walletAddress,
    ...(quoteUrl !== undefined && { quoteId: quoteUrl }),
    failed: payment.state === 'failed',
    receiver: payment.receiver,
    receiveAmount: amountToWire(payment.receiveAmount),
    debitAmount: amountToWire(payment.debitAmount),
    sentAmount: amountToWire(payment.sentAmount),
    ...(payment.metadata && { metadata: payment.metadata }),
    createdAt: new Date(payment.createdAt).toISOString(),
  }
}
