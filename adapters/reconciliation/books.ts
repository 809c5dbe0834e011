import type { MaybePromise } from '../../src/index.ts'

/** What was added to an account under the id of a hold or a credit, or taken where it is negative. */
export interface BookedLine {
  /** The id of the `credit`, or of the hold that was settled. */
  readonly id: string
  /**
   * The account as `WalletAddresses` names it. For the wallet's own two, `clearing` or `fees`, then the code and the scale of
   * the asset: `clearing:USD:2`.
   */
  readonly account: string
  /** In the smallest unit of the account's asset; below zero if the money leaves the account. */
  readonly amount: bigint
  /** When it was booked, in milliseconds since 1970. */
  readonly at: number
}

/** A hold that is neither settled nor released. */
export interface OpenHold {
  readonly id: string
  /** When it was made, in milliseconds since 1970. */
  readonly at: number
}

/** What a ledger has, at one moment. */
export interface Books {
  /** Those of holds and credits. What the wallet has booked by itself may be left out; else it is reported unless noted. */
  readonly lines: readonly BookedLine[]
  readonly openHolds: readonly OpenHold[]
}

/**
 * Reads the ledger, at one moment, with all that was booked before the call: every open hold, the lines since a time
 * (milliseconds since 1970; 0 for all of them), and all lines of some ids, however old. It may answer older lines, too.
 */
export type ReadBooks = (since: number, ids: readonly string[]) => MaybePromise<Books>

/**
 * Requires what can be compared. A time that is no number would be young for ever, so that what is wrong with its line would
 * never be told.
 */
export function requireBooks(books: Books): Books {
  if (!Array.isArray(books?.lines) || !Array.isArray(books.openHolds))
    throw new TypeError('readBooks must answer { lines, openHolds }')
  for (const [index, { id, account, amount, at }] of books.lines.entries()) {
    if (typeof id !== 'string' || typeof account !== 'string' || typeof amount !== 'bigint' || !Number.isFinite(at))
      throw new TypeError(
        `readBooks: lines[${index}] must have an id, an account, an amount (bigint) and a time (number)`,
      )
  }
  for (const [index, { id, at }] of books.openHolds.entries()) {
    if (typeof id !== 'string' || !Number.isFinite(at))
      throw new TypeError(`readBooks: openHolds[${index}] must have an id and a time (number)`)
  }
  return books
}
