import {
  requireFunction,
  requireMethods,
  requireMilliseconds,
  requireOptionsOf,
} from '../../src/errors/check-option.ts'
import { type Clock, ConfigurationError, type Ledger, type MaybePromise, type OpenPayments } from '../../src/index.ts'
import type { ReadBooks } from './books.ts'
import type { Received } from './received.ts'

/** Where the payments are that are compared, or told to a ledger. */
export interface PaymentSource {
  readonly openPayments: Pick<OpenPayments, 'audit'>
  /** The payers' wallet addresses. */
  readonly walletAddresses: readonly string[]
  /**
   * Reads what came from other wallets: `readReceived`, with the host's driver. Default: nothing came; right only for a wallet
   * that has no peers.
   */
  readonly readReceived?: () => MaybePromise<readonly Received[]>
}

/** What both comparisons need. */
export interface ReconciliationOptions extends PaymentSource {
  /** Reads the ledger. Called after the payments have been read. */
  readonly readBooks: ReadBooks
  /**
   * The ids that somebody has explained: of receipts whose money was made good, of what was booked by hand, and of what a
   * restore has forgotten. Default: none.
   */
  readonly noted?: readonly string[]
  /** The time. Default: the system's. */
  readonly clock?: Pick<Clock, 'now'>
}

/** The members of `PaymentSource`. */
export const SOURCE: readonly string[] = ['openPayments', 'walletAddresses', 'readReceived']
/** The members of `ReconciliationOptions`. */
export const SHARED: readonly string[] = [...SOURCE, 'readBooks', 'noted', 'clock']

/** Reports to plain JavaScript what is missing, misspelt or something else, before anything is read or booked. */
export function requireSource(name: string, options: PaymentSource, known: readonly string[]): void {
  requireOptionsOf(name, options, known)
  const { openPayments, walletAddresses, readReceived } = options
  requireMethods(`${name}: openPayments`, openPayments, ['audit'])
  requireTexts(`${name}: walletAddresses`, walletAddresses)
  if (readReceived !== undefined) requireFunction(`${name}: readReceived`, readReceived)
}

/** The same for what both comparisons need. */
export function requireOptions(name: string, options: ReconciliationOptions, known: readonly string[]): void {
  requireSource(name, options, known)
  const { readBooks, noted, clock } = options
  requireFunction(`${name}: readBooks`, readBooks)
  if (noted !== undefined) requireTexts(`${name}: noted`, noted)
  if (clock === undefined) return
  requireMethods(`${name}: clock`, clock, ['now'])
  requireMilliseconds(`${name}: clock.now()`, clock.now())
}

/** Requires a ledger. */
export function requireLedger(name: string, ledger: Ledger): void {
  requireMethods(`${name}: ledger`, ledger, ['account', 'hold', 'settle', 'release', 'credit'])
}

/** Requires a list of texts. */
export function requireTexts(name: string, value: unknown): void {
  if (!Array.isArray(value) || value.some((text) => typeof text !== 'string'))
    throw new ConfigurationError(`${name} must be a list of strings`)
}
