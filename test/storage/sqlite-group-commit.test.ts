import { describe, expect, it } from 'vitest'
import { createGroupCommit } from '../../adapters/storage/sqlite/group-commit.ts'
import { type SqliteHandle, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { claim, insertClaim, readVersions, replaceClaim } from '../../src/testing/storage-case.ts'
import { useSqlite } from './sqlite-databases.ts'

const databases = useSqlite()

async function open(): Promise<{
  readonly handle: SqliteHandle
  readonly executed: string[]
  readonly rows: () => unknown
}> {
  const handle = await databases.open()
  handle.exec('CREATE TABLE mine (n INTEGER PRIMARY KEY)')
  const executed: string[] = []
  return {
    executed,
    rows: () => handle.prepare('SELECT group_concat(n) AS found FROM (SELECT n FROM mine ORDER BY n)').get(),
    handle: {
      prepare: (sql) => handle.prepare(sql),
      exec: (sql) => {
        executed.push(sql)
        return handle.exec(sql)
      },
    },
  }
}

function insert(handle: SqliteHandle, n: number): number {
  handle.exec(`INSERT INTO mine VALUES (${n})`)
  return n
}

describe('works of one turn', () => {
  it('take one transaction without savepoints where all are kept', async () => {
    const { handle, executed, rows } = await open()
    const transact = createGroupCommit(handle, 0)
    expect(await Promise.all([1, 2, 3].map((n) => transact(() => insert(handle, n))))).toEqual([1, 2, 3])
    expect(executed.filter((sql) => !sql.startsWith('INSERT'))).toEqual(['BEGIN IMMEDIATE', 'COMMIT'])
    expect(rows()).toMatchObject({ found: '1,2,3' })
  })

  it('need no second transaction where one alone throws', async () => {
    const { handle, executed } = await open()
    const transact = createGroupCommit(handle, 0)
    const alone = transact(() => {
      throw new Error('this is not to stay')
    })
    await expect(alone).rejects.toThrow('this is not to stay')
    expect(executed).toEqual(['BEGIN IMMEDIATE', 'ROLLBACK'])
  })

  it('try a change that conflicts once', async () => {
    const { handle } = await open()
    const ran: string[] = []
    const storage = sqliteStorage({
      exec: (sql) => handle.exec(sql),
      prepare: (sql) => {
        const statement = handle.prepare(sql)
        const run: typeof statement.run = (...parameters) => {
          ran.push(sql.slice(0, 'UPDATE op_replay_claim'.length))
          return statement.run(...parameters)
        }
        return { run, get: (...parameters) => statement.get(...parameters), all: (...all) => statement.all(...all) }
      },
    })
    await storage.commit([insertClaim('a')])
    expect(await storage.commit([replaceClaim('a', 7, 1)])).toEqual({ conflicts: [0] })
    expect(ran.filter((sql) => sql === 'UPDATE op_replay_claim')).toHaveLength(1)
  })

  it('lose none of the others where two throw, and share one commit all the same', async () => {
    const { handle, executed, rows } = await open()
    const transact = createGroupCommit(handle, 0)
    const results = await Promise.allSettled([
      transact(() => insert(handle, 1)),
      transact(() => {
        insert(handle, 2)
        return insert(handle, 1)
      }),
      transact(() => {
        insert(handle, 3)
        throw new Error('this is not to stay')
      }),
      // What was undone is free again.
      transact(() => insert(handle, 2)),
      transact(() => insert(handle, 3)),
    ])
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'rejected'))).toEqual([
      1,
      'rejected',
      'rejected',
      2,
      3,
    ])
    expect(executed.filter((sql) => sql === 'COMMIT')).toHaveLength(1)
    expect(rows()).toMatchObject({ found: '1,2,3' })
  })

  it('are all told that the disk is full, after which SQLite has ended their transaction itself', async () => {
    const { handle, rows } = await open()
    handle.exec('CREATE TABLE large (b BLOB); PRAGMA max_page_count = 4')
    const transact = createGroupCommit(handle, 0)
    const results = await Promise.allSettled([
      transact(() => insert(handle, 1)),
      transact(() => handle.exec('INSERT INTO large VALUES (zeroblob(100000))')),
      transact(() => insert(handle, 2)),
    ])
    expect(results.map((result) => (result.status === 'rejected' ? result.reason.message : 'kept'))).toEqual(
      Array(3).fill('database or disk is full'),
    )
    expect(rows()).toMatchObject({ found: null })
  })

  it('are not committed, nor said to be in conflict, where SQLite cannot undo one that is', async () => {
    const { handle } = await open()
    const storage = sqliteStorage({
      prepare: (sql) => handle.prepare(sql),
      exec: (sql) => {
        if (sql.startsWith('ROLLBACK TO')) throw new Error('disk I/O error')
        return handle.exec(sql)
      },
    })
    expect(await storage.commit([insertClaim('a')])).toBe('committed')
    const results = await Promise.allSettled(['a', 'b'].map((id) => storage.commit([insertClaim(id)])))
    expect(results).toMatchObject([{ value: { conflicts: [0] } }, { status: 'rejected' }])
    expect(await readVersions(storage, claim('a'), claim('b'))).toEqual([1, undefined])
  })

  it('are in conflict with nothing that is not there, where the commit of all of them fails', async () => {
    const { handle } = await open()
    let isBroken = false
    const storage = sqliteStorage({
      prepare: (sql) => handle.prepare(sql),
      exec: (sql) => {
        if (isBroken && sql === 'COMMIT') throw new Error('disk I/O error')
        return handle.exec(sql)
      },
    })
    isBroken = true
    const results = await Promise.allSettled(['a', 'a'].map((id) => storage.commit([insertClaim(id)])))
    expect(results).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
    isBroken = false
    expect(await readVersions(storage, claim('a'))).toEqual([undefined])
  })

  it('are not applied again where the commit of all of them fails', async () => {
    const { handle, rows } = await open()
    let applied = 0
    const transact = createGroupCommit(
      {
        prepare: (sql) => handle.prepare(sql),
        exec: (sql) => {
          if (sql === 'COMMIT') throw new Error('disk I/O error')
          return handle.exec(sql)
        },
      },
      0,
    )
    const work = (n: number) => () => {
      applied += 1
      return insert(handle, n)
    }
    const results = await Promise.allSettled([transact(work(1)), transact(work(2))])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(applied).toBe(2)
    expect(rows()).toMatchObject({ found: null })
  })
})
