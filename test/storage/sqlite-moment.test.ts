import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type OpenedSqlite, openSqlite, type SqliteHandle, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { claim, insertClaim, mustCommit } from '../../src/testing/storage-case.ts'

const folder = mkdtempSync(join(tmpdir(), 'sqlite-'))
const opened: OpenedSqlite[] = []

async function open(): Promise<OpenedSqlite> {
  const handle = await openSqlite(join(folder, 'moment.db'))
  opened.push(handle)
  return handle
}

afterAll(() => {
  for (const handle of opened) handle.close()
  rmSync(folder, { recursive: true })
})

/** A handle that tells of each row before it is read. */
function tellReads(handle: SqliteHandle, beforeRead: () => void): SqliteHandle {
  return {
    exec: (sql) => handle.exec(sql),
    prepare: (sql) => {
      const statement = handle.prepare(sql)
      return {
        run: (...parameters) => statement.run(...parameters),
        all: (...parameters) => statement.all(...parameters),
        get: (...parameters) => {
          beforeRead()
          return statement.get(...parameters)
        },
      }
    },
  }
}

describe('one get of SQLite', () => {
  it('sees all its records at one moment, where another connection commits between two of its reads', async () => {
    const other = await open()
    let reads = 0
    const storage = sqliteStorage(
      tellReads(await open(), () => {
        reads += 1
        if (reads === 2) other.exec('UPDATE op_replay_claim SET version = version + 1')
      }),
    )
    await mustCommit(storage, insertClaim('a'), insertClaim('b'))
    for (const version of [1, 2, 3]) {
      reads = 0
      const found = await storage.get([claim('a'), claim('b')])
      expect(found.map((record) => record?.version)).toEqual([version, version])
      expect(reads).toBe(2)
    }
  })
})
