import * as v from 'valibot'
import { shownValue } from './shown-value.ts'

/** An asset of the wallet: its code and the number of decimal places of its smallest unit. */
export interface Asset {
  readonly assetCode: string
  readonly assetScale: number
}

/**
 * An amount in the smallest unit of its asset: 1000 at scale 2 is ten units.
 * A `bigint` inside the library, a decimal string on the wire.
 */
export interface Amount extends Asset {
  readonly value: bigint
}

/** An amount as it travels in JSON. */
export interface WireAmount extends Asset {
  readonly value: string
}

/** The largest value that an amount can hold: an unsigned 64-bit integer. */
export const MAX_AMOUNT_VALUE = 18_446_744_073_709_551_615n

// BigInt('') is 0n and BigInt('0x10') is 16n, so the text is checked before BigInt sees it.
const DECIMAL = /^(?:0|[1-9][0-9]{0,19})$/

/**
 * Reads the decimal string of an amount; `undefined` if it is not an unsigned 64-bit integer in plain digits.
 * @spec AMT-1
 */
export function parseAmountValue(text: string): bigint | undefined {
  if (!DECIMAL.test(text)) return undefined
  const value = BigInt(text)
  return value <= MAX_AMOUNT_VALUE ? value : undefined
}

const DIGITS = /^\d+$/

/**
 * Reads an amount that a record holds as decimal text; it may be a sum above the largest amount. Throws if the text is
 * damaged: `BigInt` alone would read some damaged texts as less than was sent or spent.
 * @spec T-26
 */
export function storedAmount(text: string): bigint {
  if (!DIGITS.test(text)) throw new TypeError(`a record holds no amount where it must: ${JSON.stringify(text)}`)
  return BigInt(text)
}

/** Whether a value is the code of an asset: 1 to 12 visible ASCII characters, compared exactly. @spec AMT-2 */
export function isAssetCode(value: unknown): boolean {
  return typeof value === 'string' && /^[!-~]{1,12}$/.test(value)
}

/** Whether a value is the scale of an asset: an integer from 0 to 255. @spec AMT-2 */
export function isAssetScale(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
}

/** What is wrong with an asset from plain JavaScript, if anything. */
export function mistakeInAsset({ assetCode, assetScale }: Asset): string | undefined {
  if (!isAssetCode(assetCode))
    return `assetCode must be a string of 1 to 12 visible ASCII characters, not ${shownValue(assetCode)}`
  return isAssetScale(assetScale)
    ? undefined
    : `assetScale must be an integer from 0 to 255, not ${shownValue(assetScale)}`
}

/** Reads an amount from JSON; members that the specification does not name are dropped. @internal @spec AMT-6 */
export const Amount: v.GenericSchema<WireAmount, Amount> = v.pipe(
  v.object({
    value: v.pipe(
      v.string(),
      v.check(
        (text) => parseAmountValue(text) !== undefined,
        `must be whole smallest units in plain digits, at most ${MAX_AMOUNT_VALUE}`,
      ),
    ),
    assetCode: v.pipe(
      v.string(),
      v.check((text) => isAssetCode(text), 'invalid assetCode'),
    ),
    assetScale: v.pipe(
      v.number(),
      v.check((scale) => isAssetScale(scale), 'invalid assetScale'),
    ),
  }),
  v.transform((wire) => amountOf(wire, BigInt(wire.value))),
)

/** The JSON form of an amount. @spec AMT-3 */
export function amountToWire(amount: Amount): WireAmount {
  return { value: amount.value.toString(), assetCode: amount.assetCode, assetScale: amount.assetScale }
}

/** Whether two assets are the same: same code, same scale. */
export function isSameAsset(a: Asset, b: Asset): boolean {
  return a.assetCode === b.assetCode && a.assetScale === b.assetScale
}

/** An amount of an asset. */
export function amountOf(asset: Asset, value: bigint): Amount {
  return { value, assetCode: asset.assetCode, assetScale: asset.assetScale }
}

function assertSameAsset(a: Asset, b: Asset): void {
  if (!isSameAsset(a, b))
    throw new TypeError(`amounts of ${a.assetCode}/${a.assetScale} and ${b.assetCode}/${b.assetScale} do not add up`)
}

/** The sum of two amounts of one asset; throws if the assets differ, which is a mistake of the caller. @spec AMT-5 */
export function addAmounts(a: Amount, b: Amount): Amount {
  assertSameAsset(a, b)
  return amountOf(a, a.value + b.value)
}

/** The difference of two amounts of one asset; throws if the assets differ, or if it would be negative. @spec AMT-5 */
export function subtractAmounts(a: Amount, b: Amount): Amount {
  assertSameAsset(a, b)
  if (b.value > a.value) throw new RangeError('an amount cannot be negative')
  return amountOf(a, a.value - b.value)
}

/** An amount for a person: `10.00 USD` for 1000 at scale 2. No rounding and no grouping. */
export function formatAmount(amount: Amount): string {
  const digits = amount.value.toString().padStart(amount.assetScale + 1, '0')
  const whole = digits.slice(0, digits.length - amount.assetScale)
  const fraction = digits.slice(digits.length - amount.assetScale)
  return `${whole}${fraction === '' ? '' : `.${fraction}`} ${amount.assetCode}`
}
