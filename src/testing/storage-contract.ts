import type { StorageCase } from './storage-case.ts'
import { COMMIT_CASES } from './storage-commit-cases.ts'
import { FAILURE_CASES } from './storage-failure-cases.ts'
import { ID_CASES } from './storage-id-cases.ts'
import { PAYMENT_CASES } from './storage-payment-cases.ts'
import { RACE_CASES } from './storage-race-cases.ts'
import { RAIL_CASES } from './storage-rail-cases.ts'
import { READ_CASES } from './storage-read-cases.ts'
import { READER_CASES } from './storage-reader-cases.ts'
import { RECEIPT_CASES } from './storage-receipt-cases.ts'
import { TEXT_CASES } from './storage-text-cases.ts'
import { TOKEN_CASES } from './storage-token-cases.ts'
import { VALUE_CASES } from './storage-value-cases.ts'

/**
 * What the `Storage` port promises, as cases for any test runner. Each case makes a fresh, empty store:
 *
 * `for (const { name, run } of storageContract()) test(name, () => run(makeStorage))`
 *
 * No case sees whether a commit is durable, or whether every call settles.
 */
export function storageContract(): readonly StorageCase[] {
  return [
    ...VALUE_CASES,
    ...TEXT_CASES,
    ...ID_CASES,
    ...READ_CASES,
    ...COMMIT_CASES,
    ...RACE_CASES,
    ...PAYMENT_CASES,
    ...RECEIPT_CASES,
    ...RAIL_CASES,
    ...TOKEN_CASES,
    ...READER_CASES,
    ...FAILURE_CASES,
  ]
}
