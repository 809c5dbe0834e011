import { describe, expect, it } from 'vitest'
import { memoryLedger } from '../../adapters/ledger/memory.ts'
import { sqliteLedger } from '../../adapters/ledger/sqlite.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { inTurns } from '../../src/testing/in-turns.ts'
import type { LedgerUnderTest } from '../../src/testing/ledger-case.ts'
import { ledgerContract } from '../../src/testing/ledger-contract.ts'
import { useSqlite } from '../storage/sqlite-databases.ts'
import { failingCalls, failingHandle, nextFailure } from '../support/next-failure.ts'
import { walletOf } from './contract-wallet.ts'

const databases = useSqlite()
const failure = nextFailure()
const { newFile } = databases
const open = async (path?: string) => failingHandle(await databases.open(path), failure)

/** Spreads the calls over two connections to one file, as two processes of one wallet would. */
async function onTwoHandles(): Promise<LedgerUnderTest> {
  const path = newFile()
  return walletOf(inTurns([sqliteLedger(await open(path)), sqliteLedger(await open(path))]))
}

const LEDGERS: Readonly<Record<string, () => Promise<LedgerUnderTest>>> = {
  memory: async () => {
    const books = memoryLedger()
    return walletOf(books, failingCalls(books, failure))
  },
  'SQLite in memory': async () => walletOf(sqliteLedger(await open())),
  'SQLite in a file': async () => walletOf(sqliteLedger(await open(newFile()))),
  'two connections to one SQLite file': onTwoHandles,
  'a connection shared with the storage': async () => {
    const handle = await open(newFile())
    sqliteStorage(handle)
    return walletOf(sqliteLedger(handle))
  },
}

describe.each(Object.entries(LEDGERS))('the ledger contract on %s', (_name, openLedger) => {
  const makeLedger = async () => ({ ...(await openLedger()), failNext: failure.failNext })
  it.each(ledgerContract().map((contractCase) => [contractCase.name, contractCase] as const))('%s', (_case, { run }) =>
    expect(run(makeLedger)).resolves.toBeUndefined(),
  )
})
