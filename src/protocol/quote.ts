import * as v from 'valibot'
import { Amount, amountToWire, type WireAmount } from './amount.ts'
import type { ClientId } from './client.ts'
import type { RailTerms } from './delivery.ts'
import { UrlText } from './url-text.ts'

/**
 * The state of a quote. A quote backs at most one payment: the commit of an order uses it, and it is open again only if the
 * ledger refuses the hold of a payment that no 201 has named.
 * @spec QUO-7
 */
export type QuoteState = 'open' | 'used'

/** What a payment costs and what it brings: fixed with its quote or its order, for good. @spec QUO-5 */
export interface FrozenAmounts {
  readonly debitAmount: Amount
  readonly receiveAmount: Amount
  /** The part of `debitAmount` that the wallet keeps. */
  readonly fee: Amount
  /** What the money is worth to the receiver, in its smallest unit, if that is notably more than `receiveAmount`. @spec LIM-1 */
  readonly receiveWorth?: bigint
  /** How a receiver on another server is paid; absent for one on this server. */
  readonly rail?: RailTerms
}

/** A quote as it is stored. */
export interface Quote extends FrozenAmounts {
  /** 44 hexadecimal digits, the last segment of its URL. */
  readonly id: string
  readonly walletAddress: string
  /** The account of the wallet address when the quote was made. @spec RS-13 */
  readonly account: string
  readonly client: ClientId
  readonly state: QuoteState
  /** Milliseconds since 1970, like `expiresAt`. */
  readonly createdAt: number
  readonly expiresAt: number
  /** The URL of an incoming payment. */
  readonly receiver: string
  /** The payment that uses this quote. */
  readonly outgoingPaymentId?: string
}

/** The body of `POST /quotes`: a receiver, and one amount or none. */
export interface CreateQuote {
  readonly walletAddress: string
  readonly receiver: string
  readonly method: 'ilp'
  readonly receiveAmount?: Amount
  readonly debitAmount?: Amount
}

/** Reads the body of `POST /quotes`: exactly one of its three alternatives. @spec QUO-1 */
export const CreateQuote: v.GenericSchema<unknown, CreateQuote> = v.pipe(
  v.strictObject({
    walletAddress: UrlText,
    receiver: UrlText,
    method: v.literal('ilp', 'must be ilp'),
    receiveAmount: v.exactOptional(Amount),
    debitAmount: v.exactOptional(Amount),
  }),
  v.check(
    (body) => body.receiveAmount === undefined || body.debitAmount === undefined,
    'give debitAmount or receiveAmount, not both',
  ),
)

/** A quote as it travels in JSON. */
export interface WireQuote {
  readonly id: string
  readonly walletAddress: string
  readonly receiver: string
  readonly receiveAmount: WireAmount
  readonly debitAmount: WireAmount
  readonly method: 'ilp'
  readonly expiresAt: string
  readonly createdAt: string
}

/** The JSON form of a quote; `url` is its identifier on this server. */
export function quoteToWire(quote: Quote, url: string): WireQuote {
  return {
    id: url,
    walletAddress: quote.walletAddress,
    receiver: quote.receiver,
    receiveAmount: amountToWire(quote.receiveAmount),
    debitAmount: amountToWire(quote.debitAmount),
    method: 'ilp',
    expiresAt: new Date(quote.expiresAt).toISOString(),
    createdAt: new Date(quote.createdAt).toISOString(),
  }
}
