import { afterEach, describe, expect, it } from 'vitest'
import { type OpenedSqlite, openSqlite, type SqliteHandle, sqliteStorage } from '../../adapters/storage/sqlite.ts'

const opened: OpenedSqlite[] = []

afterEach(() => {
  for (const handle of opened.splice(0)) handle.close()
})

/** A connection to a fresh file whose log another process is just making: SQLite refuses to make it so many times. */
async function contendedHandle(refusals: number): Promise<SqliteHandle> {
  const handle = await openSqlite(':memory:')
  opened.push(handle)
  let left = refusals
  return {
    prepare: (sql) => handle.prepare(sql),
    exec(sql) {
      if (sql.includes('journal_mode') && left-- > 0) throw new Error('database is locked')
      return handle.exec(sql)
    },
  }
}

describe('a storage that starts on a file together with other processes', () => {
  it('waits until the log of the file is made', async () => {
    const storage = sqliteStorage(await contendedHandle(2))
    expect(await storage.commit([{ action: 'insert', kind: 'replay-claim', value: { id: 'a', expiresAt: 1 } }])).toBe(
      'committed',
    )
  })

  it('says what SQLite said where the log is never made', async () => {
    const handle = await contendedHandle(Number.POSITIVE_INFINITY)
    expect(() => sqliteStorage(handle)).toThrow('database is locked')
  })
})
