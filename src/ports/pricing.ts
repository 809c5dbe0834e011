import type { Asset } from '../protocol/amount.ts'

/**
 * What a payment costs. `rate`: major units of the receiver's asset per major unit of the payer's, an exact decimal
 * such as `0.92`. `fee`: `basisPoints` of the debit, rounded up, plus `fixed` in the payer's smallest units.
 */
export interface Price {
  readonly rate: string
  readonly fee?: { readonly basisPoints?: number; readonly fixed?: bigint }
}

/** The wallet's prices. The default is one to one within an asset, no fee, and no way across assets. */
export interface Pricing {
  /**
   * The price of a payment from one asset to another; `undefined` or `null` where the wallet does not exchange them. Also
   * asked what the exchange on the way to a receiver on another server is worth, which others make: its rate alone counts
   * then, and without one a grant that limits only what is received pays no such receiver. Not asked for that within one
   * asset, which is worth itself; in another scale too, where there is no price.
   */
  price(request: {
    readonly walletAddress: string
    readonly from: Asset
    readonly to: Asset
  }): Promise<Price | null | undefined>
}
