import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, describe, expect, it } from 'vitest'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { type OpenedSqlite, openSqlite, type SqliteHandle, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { inTurns } from '../../src/testing/in-turns.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { ODD_IDS } from './odd-ids.ts'

const folder = mkdtempSync(join(tmpdir(), 'storage-'))
const opened: OpenedSqlite[] = []
let files = 0

async function open(path: string): Promise<SqliteHandle> {
  const handle = await openSqlite(path)
  opened.push(handle)
  return handle
}

function newFile(): string {
  files += 1
  return join(folder, `${files}.db`)
}

afterAll(() => {
  for (const handle of opened) handle.close()
  rmSync(folder, { recursive: true })
})

/** Spreads the calls over two connections to one file, as two processes of one wallet would. */
async function onTwoHandles(): Promise<Storage> {
  const path = newFile()
  return inTurns([sqliteStorage(await open(path)), sqliteStorage(await open(path))])
}

const STORES: Readonly<Record<string, () => Promise<Storage>>> = {
  memory: async () => memoryStorage(),
  'SQLite in memory': async () => sqliteStorage(await open(':memory:')),
  'two connections to one SQLite file': onTwoHandles,
  libsql: async () => {
    const handle = new Libsql(newFile())
    opened.push(handle)
    return sqliteStorage(handle)
  },
}

describe.each(Object.entries(STORES))('the storage contract on %s', (_name, makeStorage) => {
  const cases = [...storageContract(), ODD_IDS]
  it.each(cases.map((oneCase) => [oneCase.name, oneCase] as const))('%s', (_case, { run }) =>
    expect(run(makeStorage)).resolves.toBeUndefined(),
  )
})
