import type { Context } from '../ports/context.ts'
import { type Amount, type Asset, amountOf, isSameAsset } from '../protocol/amount.ts'
import { minimumSend, parseRate, priceFixedReceive, priceFixedSend, type Terms } from '../protocol/price.ts'
import { answerInTime } from './in-time.ts'

/** What is asked: a fixed debit, or a fixed amount at the receiver. */
export type FixedAmount = { readonly debit: Amount } | { readonly receive: Amount }

/** The frozen amounts of a payment, or why there are none. `minSendAmount` is the smallest debit that reaches the receiver. */
export type PricedPayment =
  | { readonly ok: true; readonly debitAmount: Amount; readonly receiveAmount: Amount; readonly fee: Amount }
  | { readonly ok: false; readonly reason: 'wrong_asset' | 'zero' | 'over_remainder' | 'no_exchange' | 'too_large' }
  | { readonly ok: false; readonly reason: 'receives_nothing'; readonly minSendAmount?: Amount }

/**
 * Prices a payment: a fixed debit is kept exactly and what arrives is rounded down; a fixed receive is kept exactly
 * and the debit is the smallest that reaches it.
 * @spec QUO-3 @spec QUO-4 @spec QUO-5 @spec QUO-8
 */
export async function pricePayment(
  context: Context,
  request: {
    readonly walletAddress: string
    readonly from: Asset
    readonly to: Asset
    /** What the receiver still takes; absent without bound. */
    readonly remainder?: bigint | undefined
    readonly fixed: FixedAmount
  },
): Promise<PricedPayment> {
  const { from, to, fixed, remainder } = request
  const [given, asset] = 'debit' in fixed ? [fixed.debit, from] : [fixed.receive, to]
  if (!isSameAsset(given, asset)) return { ok: false, reason: 'wrong_asset' }
  if (given.value === 0n) return { ok: false, reason: 'zero' }
  const terms = await termsOf(context, request)
  if (terms === undefined) return { ok: false, reason: 'no_exchange' }
  const priced = 'debit' in fixed ? sendExactly(terms, fixed.debit.value) : receiveExactly(terms, fixed.receive.value)
  if (priced.ok && remainder !== undefined && priced.receiveAmount.value > remainder)
    return { ok: false, reason: 'over_remainder' }
  return priced
}

async function termsOf(
  context: Context,
  request: { readonly walletAddress: string; readonly from: Asset; readonly to: Asset },
): Promise<Terms | undefined> {
  const { walletAddress, from, to } = request
  const price = await answerInTime(context, 'the pricing', () =>
    context.pricing.price({ walletAddress, from: bareAsset(from), to: bareAsset(to) }),
  )
  if (price === undefined) return undefined
  const rate = parseRate(price.rate)
  if (rate === undefined) throw new TypeError('Pricing.price gave a rate that is no positive decimal')
  const { basisPoints = 0, fixed = 0n } = price.fee ?? {}
  const isFee = Number.isInteger(basisPoints) && basisPoints >= 0 && basisPoints < 10_000 && fixed >= 0n
  if (!isFee)
    throw new TypeError('Pricing.price gave a fee that is no whole number of basis points below 10000 and fixed units')
  return { from, to, rate, basisPoints, fixed }
}

// Amounts are assets too, and their values are no business of the one who sets the price.
function bareAsset({ assetCode, assetScale }: Asset): Asset {
  return { assetCode, assetScale }
}

function sendExactly(terms: Terms, debit: bigint): PricedPayment {
  const priced = priceFixedSend(debit, terms)
  if (priced === undefined || priced.receive === 0n) {
    const minimum = minimumSend(terms)
    if (priced === undefined && minimum !== undefined && debit >= minimum) return { ok: false, reason: 'too_large' }
    return {
      ok: false,
      reason: 'receives_nothing',
      ...(minimum !== undefined && { minSendAmount: amountOf(terms.from, minimum) }),
    }
  }
  return frozen(terms, debit, priced.receive, priced.fee)
}

function receiveExactly(terms: Terms, receive: bigint): PricedPayment {
  const priced = priceFixedReceive(receive, terms)
  return priced === undefined ? { ok: false, reason: 'too_large' } : frozen(terms, priced.debit, receive, priced.fee)
}

function frozen(terms: Terms, debit: bigint, receive: bigint, fee: bigint): PricedPayment {
  return {
    ok: true,
    debitAmount: amountOf(terms.from, debit),
    receiveAmount: amountOf(terms.to, receive),
    fee: amountOf(terms.from, fee),
  }
}
