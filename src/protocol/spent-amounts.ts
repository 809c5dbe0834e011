import {
  type Amount,
  type Asset,
  amountOf,
  amountToWire,
  isSameAsset,
  storedAmount,
  type WireAmount,
} from './amount.ts'

/** A payment that was charged to an entry; `place` is above those of all that the grant was charged before. @spec LIM-10 */
export interface LastCharge {
  readonly payment: string
  readonly place: number
}

/**
 * What a grant has spent through one access entry in one window: the debit and receive amounts of every payment
 * created in it that is reserved or settled. Failed payments are subtracted again. An entry with an interval also has
 * a sum for its whole life.
 * @spec LIM-10
 */
export interface Spending {
  /** `grant:entry:window`; the window is its start in milliseconds, or `life`. */
  readonly id: string
  /**
   * The payment that its entry was charged last; only in the sum for the whole life. One that failed counts, one that was
   * refused does not; absent if there is no other.
   * @spec D13 @spec LIM-10
   */
  readonly lastCharge?: LastCharge
  readonly debit: Amount
  /** One sum per asset of the receivers, at most 100; a zero only if there is no other. */
  readonly receive: readonly WireAmount[]
}

/** The body of `GET /outgoing-payment-grant`. */
export interface SpentAmounts {
  readonly spentDebitAmount: WireAmount | null
  readonly spentReceiveAmount: WireAmount | null
}

/** Receivers choose their assets, and each has a sum of its own. Without a bound the record could grow for ever. @spec T-37 */
const MOST_ASSETS = 100

/** Whether a window can hold a sum in this asset. @spec T-37 */
export function hasRoomForAsset({ receive }: Spending, asset: Asset): boolean {
  return receive.length < MOST_ASSETS || receive.some((amount) => isSameAsset(amount, asset))
}

/** What a window has received in one asset. */
export function receivedIn(spending: Spending, asset: Asset): bigint {
  const sum = spending.receive.find((amount) => isSameAsset(amount, asset))
  return sum === undefined ? 0n : storedAmount(sum.value)
}

/** Adds a payment to a window; negative values take it out again, and leave nothing of an asset that is no longer in it. */
export function chargeSpending(spending: Spending, debit: bigint, receiveAsset: Asset, receive: bigint): Spending {
  const others = spending.receive.filter((amount) => amount.value !== '0' && !isSameAsset(amount, receiveAsset))
  const total = receivedIn(spending, receiveAsset) + receive
  const isNeeded = total !== 0n || others.length === 0
  return {
    ...spending,
    debit: amountOf(spending.debit, spending.debit.value + debit),
    receive: isNeeded ? [...others, amountToWire(amountOf(receiveAsset, total))] : others,
  }
}

/** The spent amounts of a window; the receive amount is `null` if receivers in several assets were paid. @spec LIM-9 */
export function spentAmountsOf(spending: Spending): SpentAmounts {
  const received = spending.receive.filter((amount) => amount.value !== '0')
  const single = received.length > 1 ? null : (received[0] ?? spending.receive[0] ?? null)
  return { spentDebitAmount: amountToWire(spending.debit), spentReceiveAmount: single }
}
