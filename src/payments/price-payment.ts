import type { Context } from '../ports/context.ts'
import type { PriceRequest } from '../ports/pricing.ts'
import { type Amount, type Asset, amountOf, amountToWire, isSameAsset, MAX_AMOUNT_VALUE } from '../protocol/amount.ts'
import {
  type AssetExchange,
  arrivingFor,
  type ExactPrice,
  isBelieved,
  isNotable,
  isWithinTolerance,
  leavingFor,
  minimumSend,
  ONE_TO_ONE,
  priceFixedReceive,
  priceFixedSend,
  type RailRate,
  worthOf,
} from '../protocol/price.ts'
import type { FrozenAmounts } from '../protocol/quote.ts'
import { askPrice, askRate } from './ask-pricing.ts'
import type { RailWay } from './rail/remote-receiver.ts'

/** What is requested: a fixed debit, or a fixed amount at the receiver. */
export type FixedAmount = { readonly debit: Amount } | { readonly receive: Amount }

/** The frozen amounts of a payment, or why there are none. `minSendAmount` is the smallest debit that reaches the receiver. */
export type PricedPayment =
  | { readonly ok: true; readonly amounts: FrozenAmounts }
  | {
      readonly ok: false
      readonly reason:
        | 'wrong_asset'
        | 'zero'
        | 'over_remainder'
        | 'no_exchange'
        | 'unfair_way'
        | 'unlikely_way'
        | 'too_large'
    }
  | { readonly ok: false; readonly reason: 'receives_nothing'; readonly minSendAmount?: Amount }

/**
 * Prices a payment: a fixed debit is kept exactly and what arrives is rounded down; a fixed receive is kept exactly and
 * the debit is the smallest that reaches it. Over a rail, the wallet's price converts into the asset in which money
 * leaves, and the rail's rate from there into the receiver's; each step rounds once. The rail's rate depends on what
 * others report, including the receiver: it may be worse than the wallet's own price only by the tolerance that the
 * wallet has configured, and better only by what is believed, since a grant is charged what is to arrive.
 * @spec QUO-3 @spec QUO-4 @spec QUO-5 @spec QUO-8
 */
export async function pricePayment(
  context: Context,
  request: {
    readonly walletAddress: string
    readonly from: Asset
    readonly to: Asset
    /** The most that the receiver still takes; absent if that is unlimited. */
    readonly most?: bigint | undefined
    readonly fixed: FixedAmount
    /** How a receiver on another server is reached. */
    readonly way?: RailWay | undefined
  },
): Promise<PricedPayment> {
  const { walletAddress, from, to, fixed, most, way } = request
  const [given, asset] = 'debit' in fixed ? [fixed.debit, from] : [fixed.receive, to]
  if (!isSameAsset(given, asset)) return { ok: false, reason: 'wrong_asset' }
  if (given.value === 0n) return { ok: false, reason: 'zero' }
  const [price, own] = await Promise.all([
    askPrice(context, { walletAddress, from, to: way?.asset ?? to }),
    way && ownExchange(context, { walletAddress, from: way.asset, to }),
  ])
  if (price === undefined) return { ok: false, reason: 'no_exchange' }
  const tolerance = context.policies.exchangeToleranceBasisPoints
  if (way && own && !isWithinTolerance(way.rate, own, tolerance)) return { ok: false, reason: 'unfair_way' }
  // Inside the ledger everything that leaves arrives.
  const rate = way?.rate ?? ONE_TO_ONE
  const priced = 'debit' in fixed ? sendExactly(given.value, price, rate) : receiveExactly(given.value, price, rate)
  if (!priced.ok) return priced
  const { debit, fee, leaving, receive } = priced
  if (way && own && !isBelieved(receive, leaving, own)) return { ok: false, reason: 'unlikely_way' }
  if (most !== undefined && receive > most) return { ok: false, reason: 'over_remainder' }
  const worth = worthOf(debit - fee, price, rate)
  const amounts: FrozenAmounts = {
    debitAmount: amountOf(from, debit),
    receiveAmount: amountOf(to, receive),
    fee: amountOf(from, fee),
    ...(isNotable(worth, receive) && { receiveWorth: worth }),
    ...(way && {
      rail: {
        method: way.method,
        account: way.account,
        sendAmount: amountToWire(amountOf(way.asset, leaving)),
        rate: { sent: way.rate.sent.toString(), received: way.rate.received.toString() },
        isFixedReceive: 'receive' in fixed,
        ...(price.fixed > 0n && { fixedFee: price.fixed.toString() }),
        ...(own === undefined && { isUnpriced: true }),
      },
    }),
  }
  return { ok: true, amounts }
}

/**
 * The wallet's own price for the exchange that the rail makes, without the wallet's fee, which is charged for its own
 * exchange only. Between two scales of one asset code the rate is one, unless the wallet has another. `undefined` if
 * the wallet has no price.
 */
async function ownExchange(context: Context, question: PriceRequest): Promise<AssetExchange | undefined> {
  const { from, to } = question
  const even = { from, to, rate: { numerator: 1n, denominator: 1n } }
  if (isSameAsset(from, to)) return even
  return (await askRate(context, question)) ?? (from.assetCode === to.assetCode ? even : undefined)
}

type PricedValues =
  | {
      readonly ok: true
      readonly debit: bigint
      readonly fee: bigint
      readonly leaving: bigint
      readonly receive: bigint
    }
  | Extract<PricedPayment, { readonly ok: false }>

function sendExactly(debit: bigint, price: ExactPrice, rate: RailRate): PricedValues {
  const priced = priceFixedSend(debit, price)
  const receive = priced === undefined ? 0n : arrivingFor(priced.receive, rate)
  if (receive > MAX_AMOUNT_VALUE) return { ok: false, reason: 'too_large' }
  if (priced === undefined || receive === 0n) {
    const minimum = minimumSend(price, rate)
    if (minimum === undefined) return { ok: false, reason: 'receives_nothing' }
    if (debit >= minimum) return { ok: false, reason: 'too_large' }
    // One unit more may already bring more than an amount can hold.
    const isPayable = sendExactly(minimum, price, rate).ok
    return { ok: false, reason: 'receives_nothing', ...(isPayable && { minSendAmount: amountOf(price.from, minimum) }) }
  }
  return { ok: true, debit, fee: priced.fee, leaving: priced.receive, receive }
}

function receiveExactly(receive: bigint, price: ExactPrice, rate: RailRate): PricedValues {
  const leaving = leavingFor(receive, rate)
  const priced = leaving > MAX_AMOUNT_VALUE ? undefined : priceFixedReceive(leaving, price)
  if (priced === undefined) return { ok: false, reason: 'too_large' }
  return { ok: true, ...priced, leaving, receive }
}
