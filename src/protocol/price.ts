import { type Asset, MAX_AMOUNT_VALUE } from './amount.ts'

/** An exact rate: major units of the receiver's asset per major unit of the payer's. Both parts are above zero. */
export interface Rate {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Both sides of an exchange, and its rate. */
export interface AssetExchange {
  readonly from: Asset
  readonly to: Asset
  readonly rate: Rate
}

/** What a payment costs, exactly. */
export interface ExactPrice extends AssetExchange {
  /** The part of the debit that the wallet keeps, in hundredths of a percent: an integer from 0 to 9999. */
  readonly basisPoints: number
  /** What the wallet keeps in addition, in the smallest unit of `from`; not negative. */
  readonly fixed: bigint
}

/** The longest text of a rate, in characters. */
export const MAX_RATE_LENGTH = 40
const DECIMAL = /^\d+(?:\.(\d+))?$/

/**
 * Reads a rate such as `0.92`: plain digits, at most 40 characters, above zero. `undefined` if the text is not a rate.
 * @spec QUO-8
 */
export function parseRate(text: string): Rate | undefined {
  const match = text.length <= MAX_RATE_LENGTH ? DECIMAL.exec(text) : null
  if (match === null) return undefined
  const [, fraction = ''] = match
  const numerator = BigInt(text.replace('.', ''))
  return numerator > 0n ? { numerator, denominator: 10n ** BigInt(fraction.length) } : undefined
}

/** Division of integers that are not negative, rounded up. */
export function ceilDivide(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

function feeOf(debit: bigint, price: ExactPrice): bigint {
  return ceilDivide(debit * BigInt(price.basisPoints), 10_000n) + price.fixed
}

/**
 * The rate between the smallest units of the two assets, so that exchange and change of scale are one step that rounds
 * once.
 * @spec AMT-4
 */
function unitRate({ from, to, rate }: AssetExchange): Rate {
  return {
    numerator: rate.numerator * 10n ** BigInt(to.assetScale),
    denominator: rate.denominator * 10n ** BigInt(from.assetScale),
  }
}

/**
 * What a receiver gets for a debit, and the fee in it: the fee rounds up, the receive amount down. Zero if the debit
 * is too small; `undefined` if the fee exceeds the debit or the result does not fit an amount.
 * @spec QUO-8 @spec AMT-4
 */
export function priceFixedSend(
  debit: bigint,
  price: ExactPrice,
): { readonly receive: bigint; readonly fee: bigint } | undefined {
  const fee = feeOf(debit, price)
  if (fee > debit) return undefined
  const { numerator, denominator } = unitRate(price)
  const receive = ((debit - fee) * numerator) / denominator
  return receive <= MAX_AMOUNT_VALUE ? { receive, fee } : undefined
}

/**
 * The smallest debit that gives a receiver at least `receive`, and the fee in it: the debit rounds up. `undefined` if
 * it does not fit an amount.
 * @spec QUO-8 @spec AMT-4
 */
export function priceFixedReceive(
  receive: bigint,
  price: ExactPrice,
): { readonly debit: bigint; readonly fee: bigint } | undefined {
  const { numerator, denominator } = unitRate(price)
  const withoutFee = ceilDivide(receive * denominator, numerator)
  // The debit less its proportional fee rounded up is debit * (10000 - basisPoints) / 10000 rounded down.
  const debit = ceilDivide((withoutFee + price.fixed) * 10_000n, 10_000n - BigInt(price.basisPoints))
  return debit <= MAX_AMOUNT_VALUE ? { debit, fee: feeOf(debit, price) } : undefined
}

/** What a rail carries: at least `received` units arrive for `sent` units that leave. Both are above zero. */
export interface RailRate {
  readonly sent: bigint
  readonly received: bigint
}

/** Inside the ledger, everything that leaves arrives. */
export const ONE_TO_ONE: RailRate = { sent: 1n, received: 1n }

/** The least that arrives for what leaves, rounded down. @spec QUO-8 */
export function arrivingFor(sent: bigint, rate: RailRate): bigint {
  return (sent * rate.received) / rate.sent
}

/** What must leave for something to arrive, rounded up. @spec QUO-8 */
export function leavingFor(received: bigint, rate: RailRate): bigint {
  return ceilDivide(received * rate.sent, rate.received)
}

/**
 * What a debit without its fee is worth to the receiver, in its smallest unit: converted in one step, and so without what
 * each unit on the way rounds off. Rounded up. @spec LIM-1
 */
export function worthOf(debit: bigint, exchange: AssetExchange, rail: RailRate): bigint {
  const { numerator, denominator } = unitRate(exchange)
  return ceilDivide(debit * numerator * rail.received, denominator * rail.sent)
}

/**
 * Whether money is worth more than what arrives by over a hundredth of that: only tiny payments lose so much to rounding. What
 * others lose is left out, so that a payment of the quoted amount fits a limit of that amount, and its halves do. @spec LIM-1
 */
export function isNotable(worth: bigint, arriving: bigint): boolean {
  return worth * 100n > arriving * 101n
}

/**
 * Whether a rail gives at least what an exchange gives, less a tolerance in hundredths of a percent: an integer from 0 to
 * 9999. Compared exactly. @spec QUO-8
 */
export function isWithinTolerance(rail: RailRate, exchange: AssetExchange, toleranceBasisPoints: number): boolean {
  const { numerator, denominator } = unitRate(exchange)
  const kept = 10_000n - BigInt(toleranceBasisPoints)
  return rail.received * denominator * 10_000n >= rail.sent * numerator * kept
}

/** The most that is believed where so much is expected to arrive: a quarter more, and a unit that rounding has hidden. @spec T-47 */
export function mostBelieved(expected: bigint): bigint {
  return (expected * 5n) / 4n + 1n
}

/** Whether no more is to arrive over a rail than is believed, by an exchange, of what leaves. @spec T-47 */
export function isBelieved(arriving: bigint, leaving: bigint, exchange: AssetExchange): boolean {
  const { numerator, denominator } = unitRate(exchange)
  return arriving <= mostBelieved(ceilDivide(leaving * numerator, denominator))
}

/** A rail measures its rate anew for each amount, by counting the whole units that arrive: at least this many. */
const MEASURED_UNITS = 1000n

/**
 * The smallest debit of which anything arrives; over a rail, the smallest of which something would still arrive if the
 * rail measured its rate one unit lower next time. `undefined` if there is none.
 * @spec QUO-4
 */
export function minimumSend(price: ExactPrice, { sent, received }: RailRate): bigint | undefined {
  const isExact = sent === received
  const least = isExact ? ONE_TO_ONE : { sent: sent * (MEASURED_UNITS + 1n), received: received * MEASURED_UNITS }
  return priceFixedReceive(leavingFor(1n, least), price)?.debit
}

/**
 * What a payment costs if only `sent` of its `sendAmount` has left: the proportional parts of the debit without its fee and
 * of the fee without its fixed part, each rounded up, and the whole fixed part. The whole debit if everything has left, and
 * nothing if nothing has.
 * @spec OUT-9
 */
export function priceOfPart(
  price: { readonly debit: bigint; readonly fee: bigint; readonly fixedFee: bigint; readonly sendAmount: bigint },
  sent: bigint,
): { readonly debit: bigint; readonly fee: bigint } {
  if (sent === 0n) return { debit: 0n, fee: 0n }
  const partOf = (amount: bigint): bigint => ceilDivide(amount * sent, price.sendAmount)
  const fee = price.fixedFee + partOf(price.fee - price.fixedFee)
  return { debit: partOf(price.debit - price.fee) + fee, fee }
}
