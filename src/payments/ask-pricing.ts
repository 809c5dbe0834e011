import type { Context } from '../ports/context.ts'
import type { Price, PriceRequest } from '../ports/pricing.ts'
import type { Asset } from '../protocol/amount.ts'
import { type AssetExchange, type ExactPrice, MAX_RATE_LENGTH, parseRate } from '../protocol/price.ts'
import { shownValue } from '../protocol/shown-value.ts'
import { askHostInTime } from './answer-deadline.ts'

/** What the wallet's pricing answers, checked: its rate and its fee. Throws and resolves as `askRate` does. */
export async function askPrice(context: Context, question: PriceRequest): Promise<ExactPrice | undefined> {
  const asked = await askRate(context, question)
  if (asked === undefined) return undefined
  const { from, to, rate, given } = asked
  refuseMisspelt('price', given, PRICE_MEMBERS)
  const fee = given.fee ?? {}
  // A list, a promise or a number has no misspelt member, but is no fee either.
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

const PRICE_MEMBERS: readonly string[] = ['rate', 'fee'] satisfies (keyof Price)[]
const FEE_MEMBERS: readonly string[] = ['basisPoints', 'fixed'] satisfies (keyof NonNullable<Price['fee']>)[]

/** Without this check, a misspelt fee would silently be no fee. */
function refuseMisspelt(name: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((member) => !known.includes(member))
  if (unknown !== undefined) throw new TypeError(`Pricing.price gave ${unknown}, which is not a member of a ${name}`)
}

/**
 * For an exchange that is charged no fee: the rate alone is checked; the whole answer is `given`. Throws if the pricing does
 * not answer; `undefined` if it does not exchange the two assets.
 */
export async function askRate(
  context: Context,
  { walletAddress, from, to }: PriceRequest,
): Promise<(AssetExchange & { readonly given: Price }) | undefined> {
  const given = await askHostInTime(context, 'the pricing', () =>
    context.pricing.price({ walletAddress, from: bareAsset(from), to: bareAsset(to) }),
  )
  if (given === undefined || given === null) return undefined
  const rate = typeof given.rate === 'string' ? parseRate(given.rate) : undefined
  if (rate === undefined)
    throw new TypeError(
      `Pricing.price gave the rate ${shownValue(given.rate)}, not a string with a decimal above zero, of at most ${MAX_RATE_LENGTH} characters and without an exponent, from ${nameOf(from)} to ${nameOf(to)}`,
    )
  return { from, to, rate, given }
}

function nameOf({ assetCode, assetScale }: Asset): string {
  return `${assetCode} of scale ${assetScale}`
}

// An `Amount` is an `Asset` too: its value must not reach the pricing.
function bareAsset({ assetCode, assetScale }: Asset): Asset {
  return { assetCode, assetScale }
}
