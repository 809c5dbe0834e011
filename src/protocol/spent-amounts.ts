import {
  type Amount,
  type Asset,
  amountOf,
  amountToWire,
  isSameAsset,
  storedAmount,
  type WireAmount,
} from './amount.ts'

/**
 * A payment that was charged to an access entry; `place` is greater than that of every earlier charge of the grant.
 * @spec LIM-10
 */
export interface LastCharge {
  readonly payment: string
  readonly place: number
}

/**
 * What a grant has spent through one access entry in one window: the debit and receive amounts of every payment created
 * in it that is reserved or settled. What a failed payment did not use is subtracted again. An entry with an interval
 * also has a record for its whole life.
 * @spec LIM-10
 */
export interface Spending {
  /** `grant:entry:window`; the window is its start in milliseconds, or `life`. */
  readonly id: string
  /**
   * The last charge of the entry; only in the record for its whole life. A failed payment counts, a refused one does
   * not; absent if there is none.
   * @spec D13 @spec LIM-10
   */
  readonly lastCharge?: LastCharge
  readonly debit: Amount
  /** One sum per receiver asset, for 100 at most; a sum of zero stays only if there is no other. */
  readonly receive: readonly WireAmount[]
}

/** The body of `GET /outgoing-payment-grant`. */
export interface SpentAmounts {
  readonly spentDebitAmount: WireAmount | null
  readonly spentReceiveAmount: WireAmount | null
}

/**
 * Receivers choose their assets, and each asset has its own sum. Without a bound the record could grow for ever. Of further
 * assets nothing is counted, since no limit needs it: under a limit of what is received, there is only one.
 * @spec T-37
 */
const MOST_ASSETS = 100

/** What a window has received in one asset. */
export function receivedIn(spending: Spending, asset: Asset): bigint {
  const sum = spending.receive.find((amount) => isSameAsset(amount, asset))
  return sum === undefined ? 0n : storedAmount(sum.value)
}

/**
 * Adds a payment to a spending record; negative values subtract it, and an asset whose sum becomes zero is removed. A payment
 * whose asset found no room may fail, too: then the sum is too low, but never below zero.
 */
export function chargeSpending(spending: Spending, debit: bigint, receiveAsset: Asset, receive: bigint): Spending {
  const others = spending.receive.filter((amount) => amount.value !== '0' && !isSameAsset(amount, receiveAsset))
  const sum = receivedIn(spending, receiveAsset) + receive
  const total = sum > 0n ? sum : 0n
  const isNeeded = total > 0n ? others.length < MOST_ASSETS : others.length === 0
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
