import type { Context } from '../ports/context.ts'
import type { Price } from '../ports/pricing.ts'
import { type Amount, type Asset, amountOf, amountToWire, isSameAsset, MAX_AMOUNT_VALUE } from '../protocol/amount.ts'
import type { RailTerms } from '../protocol/delivery.ts'
import {
  type AssetExchange,
  arrivingFor,
  isWithinTolerance,
  leavingFor,
  minimumSend,
  ONE_TO_ONE,
  parseRate,
  priceFixedReceive,
  priceFixedSend,
  type RailRate,
  type Terms,
} from '../protocol/price.ts'
import { answerInTime } from './in-time.ts'
import type { RailWay } from './rail/remote-receiver.ts'

/** What is asked: a fixed debit, or a fixed amount at the receiver. */
export type FixedAmount = { readonly debit: Amount } | { readonly receive: Amount }

/** The frozen amounts of a payment, or why there are none. `minSendAmount` is the smallest debit that reaches the receiver. */
export type PricedPayment =
  | {
      readonly ok: true
      readonly debitAmount: Amount
      readonly receiveAmount: Amount
      readonly fee: Amount
      /** For a receiver on another server. */
      readonly rail?: RailTerms
    }
  | {
      readonly ok: false
      readonly reason: 'wrong_asset' | 'zero' | 'over_remainder' | 'no_exchange' | 'unfair_way' | 'too_large'
    }
  | { readonly ok: false; readonly reason: 'receives_nothing'; readonly minSendAmount?: Amount }

/**
 * Prices a payment: a fixed debit is kept exactly and what arrives is rounded down; a fixed receive is kept exactly
 * and the debit is the smallest that reaches it. Over a rail the wallet's price leads to the asset in which money leaves,
 * and the rail's rate from there to the receiver; each step rounds once. That rate is what others say, the receiver among
 * them: it may be worse than what the wallet itself would give by the tolerance of its choice, and no more.
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
    /** How a receiver on another server is reached. */
    readonly way?: RailWay | undefined
  },
): Promise<PricedPayment> {
  const { walletAddress, from, to, fixed, remainder, way } = request
  const [given, asset] = 'debit' in fixed ? [fixed.debit, from] : [fixed.receive, to]
  if (!isSameAsset(given, asset)) return { ok: false, reason: 'wrong_asset' }
  if (given.value === 0n) return { ok: false, reason: 'zero' }
  const [terms, own] = await Promise.all([
    termsOf(context, { walletAddress, from, to: way?.asset ?? to }),
    way && ownExchange(context, { walletAddress, from: way.asset, to }),
  ])
  if (terms === undefined) return { ok: false, reason: 'no_exchange' }
  const tolerance = context.policies.exchangeToleranceBasisPoints
  if (way && own && !isWithinTolerance(way.rate, own, tolerance)) return { ok: false, reason: 'unfair_way' }
  const leg: Leg = { terms, rate: way?.rate ?? ONE_TO_ONE }
  const priced = 'debit' in fixed ? sendExactly(leg, fixed.debit.value) : receiveExactly(leg, fixed.receive.value)
  if (!priced.ok) return priced
  const { debit, fee, leaving, receive } = priced
  if (remainder !== undefined && receive > remainder) return { ok: false, reason: 'over_remainder' }
  return {
    ok: true,
    debitAmount: amountOf(from, debit),
    receiveAmount: amountOf(to, receive),
    fee: amountOf(from, fee),
    ...(way && {
      rail: {
        method: way.method,
        account: way.account,
        sendAmount: amountToWire(amountOf(way.asset, leaving)),
        isFixedReceive: !('debit' in fixed),
        ...(terms.fixed > 0n && { fixedFee: terms.fixed.toString() }),
        ...(own === undefined && { isUnpriced: true }),
      },
    }),
  }
}

/** From which asset to which somebody pays. */
export interface PriceRequest {
  readonly walletAddress: string
  readonly from: Asset
  readonly to: Asset
}

/**
 * What the wallet's pricing says: its rate, checked, and all of it as `given`, for whoever takes its fee. Throws if it does
 * not answer; `undefined` if it does not exchange the two.
 */
export async function askPrice(
  context: Context,
  { walletAddress, from, to }: PriceRequest,
): Promise<(AssetExchange & { readonly given: Price }) | undefined> {
  const price = await answerInTime(context, 'the pricing', () =>
    context.pricing.price({ walletAddress, from: bareAsset(from), to: bareAsset(to) }),
  )
  if (price === undefined || price === null) return undefined
  const rate = typeof price.rate === 'string' ? parseRate(price.rate) : undefined
  if (rate === undefined) throw new TypeError('Pricing.price gave no rate that is a positive decimal, as a string')
  return { from, to, rate, given: price }
}

/**
 * What the wallet itself would give for the exchange on the way, without its fee, which is for its own part of it. An asset is
 * worth itself, even in another scale unless the wallet says otherwise. `undefined` if the wallet has no price.
 */
async function ownExchange(context: Context, request: PriceRequest): Promise<AssetExchange | undefined> {
  const { from, to } = request
  const even = { from, to, rate: { numerator: 1n, denominator: 1n } }
  if (isSameAsset(from, to)) return even
  return (await askPrice(context, request)) ?? (from.assetCode === to.assetCode ? even : undefined)
}

const PRICE_MEMBERS: readonly string[] = ['rate', 'fee'] satisfies (keyof Price)[]
const FEE_MEMBERS: readonly string[] = ['basisPoints', 'fixed'] satisfies (keyof NonNullable<Price['fee']>)[]

/** Without this, a misspelt fee would silently be none. */
function refuseMisspelt(name: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((member) => !known.includes(member))
  if (unknown !== undefined) throw new TypeError(`Pricing.price gave ${unknown}, which is not a member of a ${name}`)
}

async function termsOf(context: Context, request: PriceRequest): Promise<Terms | undefined> {
  const price = await askPrice(context, request)
  if (price === undefined) return undefined
  const { from, to, rate, given } = price
  refuseMisspelt('price', given, PRICE_MEMBERS)
  const fee = given.fee ?? {}
  // No list, promise or number has members to misspell, nor any that is a fee.
  if (Object.prototype.toString.call(fee) !== '[object Object]')
    throw new TypeError('Pricing.price gave a fee that is not an object')
  refuseMisspelt('fee', fee, FEE_MEMBERS)
  const { basisPoints = 0, fixed = 0n } = fee
  if (!Number.isInteger(basisPoints) || basisPoints < 0 || basisPoints >= 10_000)
    throw new TypeError('Pricing.price gave a fee whose basisPoints are not an integer from 0 to 9999')
  if (typeof fixed !== 'bigint' || fixed < 0n)
    throw new TypeError('Pricing.price gave a fee whose fixed part is not a bigint of zero or more')
  return { from, to, rate, basisPoints, fixed }
}

// Amounts are assets too, and their values are no business of the pricing.
function bareAsset({ assetCode, assetScale }: Asset): Asset {
  return { assetCode, assetScale }
}

/** The wallet's price up to where money leaves, and how much of that arrives; inside the ledger all of it does. */
interface Leg {
  readonly terms: Terms
  readonly rate: RailRate
}

type PricedLeg =
  | {
      readonly ok: true
      readonly debit: bigint
      readonly fee: bigint
      readonly leaving: bigint
      readonly receive: bigint
    }
  | Extract<PricedPayment, { readonly ok: false }>

function sendExactly({ terms, rate }: Leg, debit: bigint): PricedLeg {
  const priced = priceFixedSend(debit, terms)
  const receive = priced === undefined ? 0n : arrivingFor(priced.receive, rate)
  if (receive > MAX_AMOUNT_VALUE) return { ok: false, reason: 'too_large' }
  if (priced === undefined || receive === 0n) {
    const minimum = minimumSend(terms, rate)
    if (minimum !== undefined && debit >= minimum) return { ok: false, reason: 'too_large' }
    return {
      ok: false,
      reason: 'receives_nothing',
      ...(minimum !== undefined && { minSendAmount: amountOf(terms.from, minimum) }),
    }
  }
  return { ok: true, debit, fee: priced.fee, leaving: priced.receive, receive }
}

function receiveExactly({ terms, rate }: Leg, receive: bigint): PricedLeg {
  const leaving = leavingFor(receive, rate)
  const priced = leaving > MAX_AMOUNT_VALUE ? undefined : priceFixedReceive(leaving, terms)
  if (priced === undefined) return { ok: false, reason: 'too_large' }
  return { ok: true, ...priced, leaving, receive }
}
