import { ledgerContract } from '../../../src/testing/ledger-contract.ts'
import { storageContract } from '../../../src/testing/storage-contract.ts'
import { startLines } from '../line-process.ts'
import type { SqliteFile } from '../wallet/places.ts'

/** The names of all cases of both contracts, but for those that need a database which fails. */
export const CASES: readonly string[] = [...storageContract(), ...ledgerContract()]
  .filter(({ needs }) => needs === undefined)
  .map(({ name }) => name)

/** Runs both contracts in a process of its own, on files in a folder. Resolves with each case and what broke it, if it was. */
export async function runContracts(
  command: readonly string[],
  place: { readonly driver: SqliteFile['driver']; readonly folder: string },
): Promise<readonly unknown[]> {
  const contracts = startLines(command, place)
  try {
    const ends: unknown[] = []
    while (ends.length < CASES.length) ends.push(await contracts.read())
    return ends
  } finally {
    await contracts.stop()
  }
}
