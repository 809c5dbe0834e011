import type { DoubleEntryLedger } from '../../adapters/ledger/memory.ts'
import type { Ledger } from '../../src/ports/ledger.ts'

/** A ledger with one fault, and the cases of the contract that must find it. */
export interface BrokenLedger {
  /** What it does, after "finds a ledger that". */
  readonly does: string
  readonly breaks: readonly string[]
  /** The calls of a sound ledger that are wrong in this one. */
  breakLedger(ledger: DoubleEntryLedger): Partial<Ledger>
}

/** An id that nobody uses. */
export function randomId(): string {
  return crypto.randomUUID().replaceAll('-', '')
}

/** Lets everybody else go on: what waits for it takes a while, like a call to a database. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
