import type { LedgerCase } from './ledger-case.ts'
import { CREDIT_CASES } from './ledger-credit-cases.ts'
import { END_CASES } from './ledger-end-cases.ts'
import { HOLD_CASES } from './ledger-hold-cases.ts'
import { RACE_CASES } from './ledger-race-cases.ts'
import { REPEAT_CASES } from './ledger-repeat-cases.ts'

export type { LedgerCase, LedgerUnderTest } from './ledger-case.ts'

/**
 * Everything that the `Ledger` port promises, as cases for any test runner. Each case makes a fresh, empty ledger:
 *
 * `for (const { name, run } of ledgerContract()) test(name, () => run(makeLedger))`
 */
export function ledgerContract(): readonly LedgerCase[] {
  return [...HOLD_CASES, ...END_CASES, ...CREDIT_CASES, ...REPEAT_CASES, ...RACE_CASES]
}
