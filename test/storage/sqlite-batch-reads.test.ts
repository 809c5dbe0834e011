import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { inTransaction } from '../../adapters/storage/sqlite/handle.ts'
import { openSqlite, type SqliteHandle, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { claim, insertClaim, mustCommit } from '../../src/testing/storage-case.ts'

const folder = mkdtempSync(join(tmpdir(), 'sqlite-batch-reads-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Watched {
  readonly storage: Storage
  readonly handle: SqliteHandle
  readonly executed: string[]
  spoil(id: string): void
}

/** A storage with three records, and what is run on its connection from now on, without statements that are prepared. */
async function watched(): Promise<Watched> {
  const handle = await openSqlite(':memory:')
  const executed: string[] = []
  const exec = (sql: string): unknown => {
    executed.push(sql)
    return handle.exec(sql)
  }
  const storage = sqliteStorage({ exec, prepare: (sql) => handle.prepare(sql) })
  await mustCommit(storage, insertClaim('a'), insertClaim('b'), insertClaim('c'))
  executed.length = 0
  return {
    storage,
    handle,
    executed,
    spoil: (id) => handle.exec(`UPDATE op_replay_claim SET version = 'x' WHERE id = '${id}'`),
  }
}

const idsOf = (found: Awaited<ReturnType<Storage['get']>>): unknown[] => found.map((record) => record?.value.id)

describe('reads of SQLite', () => {
  it('that are asked for in one turn share a transaction, also where one of them is several statements', async () => {
    const { storage, executed } = await watched()
    const [first, second, due] = await Promise.all([
      storage.get([claim('a')]),
      storage.get([claim('c'), claim('none'), claim('b'), claim('a')]),
      storage.get([claim('b')]),
    ])
    expect([first, second, due].map(idsOf)).toEqual([['a'], ['c', undefined, 'b', 'a'], ['b']])
    expect(executed).toEqual(['BEGIN', 'COMMIT'])
  })

  it('share a transaction where they are two, and are answered in their order', async () => {
    const { storage, executed } = await watched()
    const answered: unknown[] = []
    await Promise.all(['b', 'a'].map(async (id) => answered.push(...idsOf(await storage.get([claim(id)])))))
    expect(answered).toEqual(['b', 'a'])
    expect(executed).toEqual(['BEGIN', 'COMMIT'])
  })

  it('share a transaction with a list', async () => {
    const { storage, executed } = await watched()
    const list = { kind: 'grant', walletAddress: 'https://wallet.example/a', direction: 'older', limit: 1 } as const
    expect(await Promise.all([storage.list(list), storage.get([claim('none')])])).toEqual([[], [undefined]])
    expect(executed).toEqual(['BEGIN', 'COMMIT'])
  })

  it('share no transaction and wait for no turn where the host has the transactions, and nor does a commit', async () => {
    const { handle } = await watched()
    let transactions = 0
    const storage = sqliteStorage({
      exec: (sql) => handle.exec(sql),
      prepare: (sql) => handle.prepare(sql),
      transactionSync: (work) => {
        transactions += 1
        return inTransaction(handle, work)
      },
    })
    let isNextTurn = false
    setImmediate(() => {
      isNextTurn = true
    })
    const found = await Promise.all(['a', 'b'].map((id) => storage.get([claim(id)])))
    expect([found.map(idsOf), transactions, isNextTurn]).toEqual([[['a'], ['b']], 0, false])
    expect([await storage.commit([insertClaim('d')]), transactions, isNextTurn]).toEqual(['committed', 1, false])
  })

  it('have no transaction where there is one alone, and one statement', async () => {
    const { storage, executed } = await watched()
    expect(idsOf(await storage.get([claim('a'), claim('b')]))).toEqual(['a', 'b'])
    expect(executed).toEqual([])
  })

  it('fail for those alone who want the record that cannot be read, and leave no transaction open', async () => {
    const { storage, spoil } = await watched()
    spoil('b')
    const wanted = [['a'], ['b'], ['a', 'c', 'b'], ['c']]
    const results = await Promise.allSettled(wanted.map((ids) => storage.get(ids.map(claim))))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(await storage.commit([insertClaim('d')])).toBe('committed')
  })

  it('leave a transaction alone that the host has left open, also where one of them fails', async () => {
    const { storage, handle, spoil } = await watched()
    spoil('b')
    handle.exec('CREATE TABLE mine (balance INTEGER)')
    handle.exec('INSERT INTO mine VALUES (100)')
    handle.exec('BEGIN')
    handle.exec('UPDATE mine SET balance = 90')
    const results = await Promise.allSettled([storage.get([claim('a')]), storage.get([claim('b')])])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    handle.exec('COMMIT')
    expect(handle.prepare('SELECT balance FROM mine').all()).toMatchObject([{ balance: 90 }])
  })

  it('tell which record it is that cannot be read, to whoever has to mend it', async () => {
    const { storage, spoil } = await watched()
    spoil('b')
    await expect(storage.get([claim('a'), claim('b')])).rejects.toThrow(
      'the row b of op_replay_claim holds no replay-claim',
    )
  })

  it('of what is due leave a record out that cannot be read where somebody is told of it, and fail where not', async () => {
    const { storage, spoil } = await watched()
    await mustCommit(storage, insertClaim('d', { dueAt: 1 }), insertClaim('e', { dueAt: 2 }))
    spoil('d')
    const told: unknown[] = []
    expect(idsOf(await storage.due('replay-claim', 2, 10, (cause) => told.push(cause)))).toEqual(['e'])
    expect(told).toMatchObject([
      { message: 'the row d of op_replay_claim holds no replay-claim: version holds no integer' },
    ])
    await expect(storage.due('replay-claim', 2, 10)).rejects.toThrow('the row d of op_replay_claim')
  })

  it('leave no transaction open where a page of the file is damaged', async () => {
    const file = join(folder, 'damaged.db')
    const ids = Array.from({ length: 300 }, (_, at) => `claim ${at} ${'x'.repeat(80)}`)
    const before = await openSqlite(file)
    await mustCommit(sqliteStorage(before), ...ids.map((id) => insertClaim(id)))
    before.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const root = before.prepare(`SELECT rootpage AS page FROM sqlite_master WHERE name = 'op_replay_claim'`).get()
    before.close()
    const page = Number(Object.values(root as object)[0])
    const descriptor = openSync(file, 'r+')
    writeSync(descriptor, new Uint8Array(4096).fill(255), 0, 4096, (page - 1) * 4096)
    closeSync(descriptor)

    const handle = await openSqlite(file)
    const storage = sqliteStorage(handle)
    const results = await Promise.allSettled(ids.slice(0, 3).map((id) => storage.get([claim(id)])))
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    // It would throw in a transaction.
    handle.exec('BEGIN')
    handle.exec('COMMIT')
    handle.close()
  })

  it('wait once, and not each by itself, for a process that keeps the file locked', async () => {
    const file = join(folder, 'locked.db')
    const handle = await openSqlite(file)
    let reads = 0
    const counting: SqliteHandle = {
      exec: (sql) => handle.exec(sql),
      prepare: (sql) => {
        const statement = handle.prepare(sql)
        const get: typeof statement.get = (...parameters) => {
          reads += 1
          return statement.get(...parameters)
        }
        return {
          run: (...parameters) => statement.run(...parameters),
          all: (...parameters) => statement.all(...parameters),
          get,
          // As node:sqlite has it: a lock must not look like an integer that is too large, and be read again.
          setReadBigInts: (isOn) => statement.setReadBigInts?.(isOn),
        }
      },
    }
    const storage = sqliteStorage(counting, { busyTimeoutSeconds: 0.01 })
    // With a write-ahead log nobody who reads has to wait.
    handle.exec('PRAGMA journal_mode = DELETE')
    const other = await openSqlite(file)
    other.exec('BEGIN EXCLUSIVE')
    reads = 0
    const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((id) => storage.get([claim(id)])))
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 'rejected'))
    expect(reads).toBe(1)
    other.exec('COMMIT')
    expect(await storage.get([claim('a')])).toEqual([undefined])
    handle.close()
    other.close()
  })

  it('are answered where a test of the host has put timers of its own in place, and taken them away', async () => {
    const { storage } = await watched()
    vi.useFakeTimers({ toFake: ['setImmediate'] })
    const asked = Promise.all([storage.get([claim('a')]), storage.commit([insertClaim('e')])])
    vi.useRealTimers()
    expect(await asked).toMatchObject([[{ version: 1 }], 'committed'])
    expect(await storage.get([claim('e')])).toMatchObject([{ version: 1 }])
  })
})
