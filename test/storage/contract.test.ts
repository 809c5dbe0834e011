import Libsql from 'libsql'
import { describe, expect, it } from 'vitest'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { inTransaction } from '../../adapters/storage/sqlite/handle.ts'
import { type SqliteHandle, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { inTurns } from '../../src/testing/in-turns.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { failingCommits, failingHandle, nextFailure } from '../support/next-failure.ts'
import { ODD_IDS } from './odd-ids.ts'
import { useSqlite } from './sqlite-databases.ts'

const { newFile, opened, ...databases } = useSqlite()
const failure = nextFailure()
const open = async (path?: string) => failingHandle(await databases.open(path), failure)

/** Spreads the calls over two connections to one file, as two processes of one wallet would. */
async function onTwoHandles(): Promise<Storage> {
  const path = newFile()
  return inTurns([sqliteStorage(await open(path)), sqliteStorage(await open(path))])
}

/** As in a Durable Object: the host begins and ends transactions, and refuses statements that do, and PRAGMA. */
async function onHostTransactions(): Promise<Storage> {
  const handle = await databases.open()
  const allowed = (sql: string): string => {
    if (/^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA)/.test(sql)) throw new Error(`not authorized: ${sql}`)
    return sql
  }
  const host: SqliteHandle = {
    exec: (sql) => handle.exec(allowed(sql)),
    prepare: (sql) => handle.prepare(allowed(sql)),
    transactionSync: (work) => inTransaction(handle, work),
  }
  return sqliteStorage(failingHandle(host, failure))
}

const STORES: Readonly<Record<string, () => Promise<Storage>>> = {
  memory: async () => failingCommits(memoryStorage(), failure),
  'SQLite in memory': async () => sqliteStorage(await open()),
  'two connections to one SQLite file': onTwoHandles,
  'SQLite whose host has the transactions': onHostTransactions,
  libsql: async () => {
    const handle = new Libsql(newFile())
    opened.push(handle)
    return sqliteStorage(failingHandle(handle, failure))
  },
}

describe.each(Object.entries(STORES))('the storage contract on %s', (_name, openStorage) => {
  const makeStorage = async () => ({ ...(await openStorage()), failNext: failure.failNext })
  const cases = [...storageContract(), ODD_IDS]
  it.each(cases.map((oneCase) => [oneCase.name, oneCase] as const))('%s', (_case, { run }) =>
    expect(run(makeStorage)).resolves.toBeUndefined(),
  )
})
