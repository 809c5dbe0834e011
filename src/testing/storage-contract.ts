import type { StorageCase } from './storage-case.ts'
import { COMMIT_CASES } from './storage-commit-cases.ts'
import { READ_CASES } from './storage-read-cases.ts'

export type { StorageCase } from './storage-case.ts'

/**
 * Everything that the `Storage` port promises, as cases for any test runner. Each case makes a fresh, empty store:
 *
 * `for (const { name, run } of storageContract()) test(name, () => run(makeStorage))`
 */
export function storageContract(): readonly StorageCase[] {
  return [...READ_CASES, ...COMMIT_CASES]
}
