import type { Asset } from '../protocol/amount.ts'

/**
 * What a payment costs. `rate`: major units of the receiver's asset per major unit of the payer's, an exact decimal such as
 * `0.92`, above zero, in at most 40 characters and without an exponent. `fee`: `basisPoints` of the debit, rounded up, plus
 * `fixed` in the payer's smallest units; both none by default. When a fee is charged, any other member is a fault, so that no
 * fee is lost to a misspelling.
 */
export interface Price {
  readonly rate: string
  readonly fee?: { readonly basisPoints?: number; readonly fixed?: bigint }
}

/** What is asked of the wallet's prices. */
export interface PriceRequest {
  readonly walletAddress: string
  readonly from: Asset
  readonly to: Asset
}

/** The wallet's prices. The default is one to one within an asset, no fee, and no exchange between assets. */
export interface Pricing {
  /**
   * The price of a payment from one asset to another; `undefined` or `null` if the wallet does not exchange them. For a
   * receiver on another server, also called to judge the exchange that others make on the way: then only the rate counts, and
   * without a price, a grant that limits only what is received cannot pay such a receiver. For that it is not called within
   * one asset, whose rate is one to one; and two scales of one asset code need no price, but count as equal if there is none.
   *
   * `walletAddress` is the payer's. For money that comes from another server in another asset than the payee's it is the
   * payee's, and the fee is not charged: the rate alone is what such an exchange brings.
   */
  price(request: PriceRequest): Promise<Price | null | undefined>
}
