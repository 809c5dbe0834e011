import type { LedgerCase } from './ledger-case.ts'
import { CREDIT_CASES } from './ledger-credit-cases.ts'
import { END_CASES } from './ledger-end-cases.ts'
import { EXACT_CASES } from './ledger-exact-cases.ts'
import { FAILURE_CASES } from './ledger-failure-cases.ts'
import { HOLD_CASES } from './ledger-hold-cases.ts'
import { PERMISSION_CASES } from './ledger-permission-cases.ts'
import { RACE_CASES } from './ledger-race-cases.ts'
import { RAIL_CASES } from './ledger-rail-cases.ts'
import { REPEAT_CASES } from './ledger-repeat-cases.ts'

/**
 * What the `Ledger` port promises, as cases for any test runner:
 *
 * `for (const { name, run } of ledgerContract()) test(name, () => run(makeLedger))`
 *
 * Every case makes a ledger of its own, which must be empty: the names of accounts and the ids of calls are the same in all
 * of them. A case that needs an optional member of `LedgerUnderTest` names it in `needs`, and passes unseen without it: let
 * your runner skip it then. No case sees whether an answer is durable, whether a hold expires later, whether ids are ever
 * pruned, or what a process that dies inside a call leaves behind. What is kept in one process and should be in the
 * database is seen if the calls go to several ledgers `inTurns`.
 */
export function ledgerContract(): readonly LedgerCase[] {
  return [
    ...HOLD_CASES,
    ...END_CASES,
    ...CREDIT_CASES,
    ...RAIL_CASES,
    ...EXACT_CASES,
    ...PERMISSION_CASES,
    ...REPEAT_CASES,
    ...FAILURE_CASES,
    ...RACE_CASES,
  ]
}
