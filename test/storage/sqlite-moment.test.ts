import { describe, expect, it } from 'vitest'
import { createTable, type Table } from '../../adapters/storage/sql/statements.ts'
import { createRunner } from '../../adapters/storage/sqlite/handle.ts'
import { createReader, joinReads } from '../../adapters/storage/sqlite/joined-read.ts'
import { type SqliteHandle, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { RecordKind } from '../../src/ports/storage.ts'
import { sampleInserts } from '../../src/testing/sample-records.ts'
import { claim, insertClaim, mustCommit } from '../../src/testing/storage-case.ts'
import { useSqlite } from './sqlite-databases.ts'

const { open, newFile } = useSqlite()

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

const CLAIMS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']

describe('one get of SQLite', () => {
  it('is one statement for two records', async () => {
    let reads = 0
    const storage = sqliteStorage(
      tellReads(await open(), () => {
        reads += 1
      }),
    )
    reads = 0
    await storage.get([claim('a'), claim('b')])
    expect(reads).toBe(1)
  })

  it('makes the statement of some kinds once, however often they are read: what is made is kept for good', async () => {
    const handle = await open()
    sqliteStorage(handle)
    const made: RecordKind[] = []
    const tableOf = (kind: RecordKind): Table => {
      made.push(kind)
      return createTable(kind)
    }
    const read = createReader(createRunner(handle), tableOf, (readNow) => readNow())
    for (let round = 0; round < 3; round++) read([claim('a'), { kind: 'grant', id: 'a' }])
    expect(made).toEqual(['replay-claim', 'grant'])
  })

  it('asks for no more columns than a Durable Object gives, whatever the kinds', () => {
    const kinds = sampleInserts().map(({ kind }) => kind)
    const widths = kinds.flatMap((one) =>
      kinds.map((other) => joinReads([one, other], createTable).sql.split(' AS ').length - 1),
    )
    expect(Math.max(...widths)).toBeLessThanOrEqual(100)
    expect(Math.max(...widths)).toBeGreaterThan(50)
  })

  it('sees all its records at one moment, where another connection commits between two of its reads', async () => {
    const file = newFile()
    const other = await open(file)
    // However often: the reads of the start do not count.
    let reads = Number.NEGATIVE_INFINITY
    const storage = sqliteStorage(
      tellReads(await open(file), () => {
        reads += 1
        if (reads === 2) other.exec('UPDATE op_replay_claim SET version = version + 1')
      }),
    )
    await mustCommit(storage, ...CLAIMS.map((id) => insertClaim(id)))
    for (const version of [1, 2, 3]) {
      reads = 0
      const found = await storage.get(CLAIMS.map(claim))
      expect(found.map((record) => record?.version)).toEqual(CLAIMS.map(() => version))
      expect(reads).toBe(5)
    }
  })

  it('finds each record by its own key, in the order of the keys, and none by NULL', async () => {
    const storage = sqliteStorage(await open())
    const changes = sampleInserts()
    await mustCommit(storage, ...changes)
    const keys = changes.map(({ kind, value }) => ({ kind, id: value.id }))
    const asked = keys.flatMap((key) => [key, { ...key, id: 'none' }, { ...key, id: '\ud800' }])
    for (let count = 1; count <= asked.length; count++) {
      const found = await storage.get(asked.slice(-count))
      const wanted = asked.slice(-count).map(({ kind, id }) => (keys.some((key) => key.id === id) ? [kind, id] : []))
      expect(found.map((record) => (record === undefined ? [] : [record.kind, record.value.id]))).toEqual(wanted)
    }
  })
})
