import type { Asset } from '../protocol/amount.ts'

/**
 * What a payment costs. `rate`: major units of the receiver's asset per major unit of the payer's, an exact decimal
 * such as `0.92`. `fee`: `basisPoints` of the debit, rounded up, plus `fixed` in the payer's smallest units;
 * both none by default. Where the fee is taken, any other member is a fault, so that no fee is lost to a misspelling.
 */
export interface Price {
  readonly rate: string
  readonly fee?: { readonly basisPoints?: number; readonly fixed?: bigint }
}

/** The wallet's prices. The default is one to one within an asset, no fee, and no way across assets. */
export interface Pricing {
  /**
   * The price of a payment from one asset to another; `undefined` or `null` if the wallet does not exchange them. Also asked
   * what the exchange that others make on the way to a receiver on another server is worth: then only its rate counts, and
   * without one a grant that limits only what is received pays no such receiver. Not asked for that within one asset, which
   * is worth itself; nor is a price needed between two scales of one asset code, which count as equal if there is none.
   */
  price(request: {
    readonly walletAddress: string
    readonly from: Asset
    readonly to: Asset
  }): Promise<Price | null | undefined>
}
