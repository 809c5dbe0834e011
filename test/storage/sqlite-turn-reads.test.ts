import { describe, expect, it } from 'vitest'
import { openSqlite, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { claim, insertClaim, mustCommit } from '../../src/testing/storage-case.ts'

/** A storage with three records, and what is run on its connection from now on, without statements that are prepared. */
async function watched(): Promise<{ storage: Storage; executed: string[]; spoil(id: string): void }> {
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
    const [begin, inner, end, last] = ['SAVEPOINT op_read', 'SAVEPOINT op_read', 'RELEASE op_read', 'RELEASE op_read']
    expect(executed).toEqual([begin, inner, end, last])
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
})
