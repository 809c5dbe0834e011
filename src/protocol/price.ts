import { type Asset, MAX_AMOUNT_VALUE } from './amount.ts'

/** An exact rate: major units of the receiver's asset per major unit of the payer's. Both parts are above zero. */
export interface Rate {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** What a payment costs, exactly. */
export interface Terms {
  readonly from: Asset
  readonly to: Asset
  readonly rate: Rate
  /** The part of the debit that the wallet keeps, in hundredths of a percent: an integer from 0 to 9999. */
  readonly basisPoints: number
  /** What the wallet keeps beside that, in the smallest unit of `from`; not negative. */
  readonly fixed: bigint
}

const MAX_RATE_LENGTH = 40
const DECIMAL = /^\d+(?:\.(\d+))?$/

/** Reads a rate such as `0.92`: plain digits, at most 40 characters, above zero. `undefined` where the text is none. @spec QUO-8 */
export function parseRate(text: string): Rate | undefined {
  const match = text.length <= MAX_RATE_LENGTH ? DECIMAL.exec(text) : null
  if (match === null) return undefined
  const [, fraction = ''] = match
  const numerator = BigInt(text.replace('.', ''))
  return numerator > 0n ? { numerator, denominator: 10n ** BigInt(fraction.length) } : undefined
}

/** Division of integers that are not negative, rounded up. */
function ceilDivide(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

function feeOf(debit: bigint, terms: Terms): bigint {
  return ceilDivide(debit * BigInt(terms.basisPoints), 10_000n) + terms.fixed
}

/**
 * The rate between the smallest units of the two assets, so that exchange and change of scale are one exact step, which
 * rounds once. @spec AMT-4
 */
function unitRate(terms: Terms): Rate {
  return {
    numerator: terms.rate.numerator * 10n ** BigInt(terms.to.assetScale),
    denominator: terms.rate.denominator * 10n ** BigInt(terms.from.assetScale),
  }
}

/**
 * What a receiver gets for a debit, and the fee in it: the fee rounds up, the receive amount down. Zero where the debit
 * is too small; `undefined` where the fee exceeds the debit or the result does not fit an amount.
 * @spec QUO-8 @spec AMT-4
 */
export function priceFixedSend(
  debit: bigint,
  terms: Terms,
): { readonly receive: bigint; readonly fee: bigint } | undefined {
  const fee = feeOf(debit, terms)
  if (fee > debit) return undefined
  const { numerator, denominator } = unitRate(terms)
  const receive = ((debit - fee) * numerator) / denominator
  return receive <= MAX_AMOUNT_VALUE ? { receive, fee } : undefined
}

/**
 * The smallest debit that gives a receiver at least `receive`, and the fee in it: the debit rounds up. `undefined` where
 * it does not fit an amount.
 * @spec QUO-8 @spec AMT-4
 */
export function priceFixedReceive(
  receive: bigint,
  terms: Terms,
): { readonly debit: bigint; readonly fee: bigint } | undefined {
  const { numerator, denominator } = unitRate(terms)
  const withoutFee = ceilDivide(receive * denominator, numerator)
  // The debit less its proportional fee rounded up is debit * (10000 - basisPoints) / 10000 rounded down.
  const debit = ceilDivide((withoutFee + terms.fixed) * 10_000n, 10_000n - BigInt(terms.basisPoints))
  return debit <= MAX_AMOUNT_VALUE ? { debit, fee: feeOf(debit, terms) } : undefined
}

/** The smallest debit of which anything arrives; `undefined` where there is none. @spec QUO-4 */
export function minimumSend(terms: Terms): bigint | undefined {
  return priceFixedReceive(1n, terms)?.debit
}
