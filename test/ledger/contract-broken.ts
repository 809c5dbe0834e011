import type { DoubleEntryLedger } from '../../adapters/ledger/memory.ts'
import type { Ledger } from '../../src/ports/ledger.ts'

/** A ledger with one fault, and the cases of the contract that must find it. */
export interface BrokenLedger {
  /** What it does, after "finds a ledger that". */
  readonly does: string
  readonly breaks: readonly string[]
  /** What it rejects with by itself, where that is how it is found. */
  readonly rejects?: string
  /** It gives no answer at all, which is for the runner of the tests to find: the suite has no clock. */
  readonly isSilent?: boolean
  /** The calls of a sound ledger that are wrong in this one. */
  breakLedger(ledger: DoubleEntryLedger): Partial<Ledger>
}

/** An id that nobody uses. */
export function randomId(): string {
  return crypto.randomUUID().replaceAll('-', '')
}
