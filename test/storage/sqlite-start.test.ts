import { ConfigurationError } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { sqliteLedger } from '../../adapters/ledger/sqlite.ts'
import { STORAGE_MIGRATIONS, STORAGE_READABLE_FROM } from '../../adapters/storage/sql/schema.ts'
import { migrate } from '../../adapters/storage/sqlite/migrate.ts'
import { openSqlite, type SqliteHandle, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { useSqlite } from './sqlite-databases.ts'

const { open, newFile } = useSqlite()

/** A connection to a fresh file whose log another process is just making: SQLite refuses to make it so many times. */
async function contendedHandle(refusals: number): Promise<SqliteHandle> {
  const handle = await open()
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

  it('waits for the lock before it tries again, since SQLite refuses to make a log at once, whatever the timeout', async () => {
    const handle = await open()
    let isMade = false
    const storage = sqliteStorage({
      prepare: (sql) => handle.prepare(sql),
      exec(sql) {
        // Who gets the lock has waited until the other process was done.
        if (sql === 'BEGIN IMMEDIATE') isMade = true
        if (sql.includes('journal_mode') && !isMade) throw new Error('database is locked')
        return handle.exec(sql)
      },
    })
    expect(await storage.get([{ kind: 'replay-claim', id: 'a' }])).toEqual([undefined])
  })

  it('says what SQLite said where the log is never made', async () => {
    const handle = await contendedHandle(Number.POSITIVE_INFINITY)
    expect(() => sqliteStorage(handle)).toThrow('database is locked')
  })
})

describe('a start on a file that has all tables, while another process keeps the write lock', () => {
  it('does not wait for it: what is there can be read', async () => {
    const path = newFile()
    const alice = { account: 'alice', balance: 5n, assetCode: 'USD', assetScale: 2 }
    const other = await open(path)
    sqliteStorage(other)
    await sqliteLedger(other).createAccount(alice)
    other.exec('BEGIN IMMEDIATE')
    const handle = await open(path)
    const storage = sqliteStorage(handle, { busyTimeoutSeconds: 0 })
    const ledger = sqliteLedger(handle, { busyTimeoutSeconds: 0 })
    expect(await storage.get([{ kind: 'replay-claim', id: 'a' }])).toEqual([undefined])
    expect(await ledger.createAccount(alice)).toBe(false)
    await expect(ledger.createAccount({ ...alice, assetCode: 'EUR' })).rejects.toThrow('exists in another asset')
    await expect(ledger.createAccount({ ...alice, account: 'bob' })).rejects.toThrow('locked')
    expect((await ledger.balance('alice'))?.total).toBe(5n)
  })
})

it('leaves the schema as a newer release has made it, between the look at it and the lock', async () => {
  const path = newFile()
  const [handle, newer] = [await open(path), await open(path)]
  let isFirst = true
  const overtaken: SqliteHandle = {
    prepare: (sql) => handle.prepare(sql),
    exec(sql) {
      if (sql === 'BEGIN IMMEDIATE' && isFirst) {
        isFirst = false
        migrate(newer, 'storage', [...STORAGE_MIGRATIONS, ['CREATE TABLE op_more (id TEXT)']], STORAGE_READABLE_FROM)
      }
      return handle.exec(sql)
    },
  }
  migrate(overtaken, 'storage', STORAGE_MIGRATIONS, STORAGE_READABLE_FROM)
  const state = { version: STORAGE_MIGRATIONS.length + 1, readable_from: STORAGE_READABLE_FROM }
  expect(handle.prepare('SELECT version, readable_from FROM op_meta').all()).toMatchObject([state])
})

it('synchronises the folder of a file that can have no write-ahead log, whose journal could come back', async () => {
  const handle = await open(newFile())
  sqliteStorage({
    prepare: (sql) => handle.prepare(sql),
    // As SQLite does it on a file system without shared memory: it says no word.
    exec: (sql) => (sql.includes('journal_mode') ? undefined : handle.exec(sql)),
  })
  expect(handle.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'delete' })
  const EXTRA = 3
  expect(handle.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: EXTRA })
})

it.each([
  ['becomes 32 MB where it is as large as SQLite makes it', -2000, -32_000],
  ['stays as the host has set it', -4000, -4000],
  ['stays as the host has set it, in pages', 2000, 2000],
])('the page cache of a connection %s', async (_, before, after) => {
  const handle = await open(newFile())
  handle.exec(`PRAGMA cache_size = ${before}`)
  sqliteStorage(handle)
  expect(handle.prepare('PRAGMA cache_size').get()).toMatchObject({ cache_size: after })
})

describe.each([
  ['storage', sqliteStorage],
  ['ledger', sqliteLedger],
] as const)('a %s on a database whose encoding loses a part of some texts', (_, make) => {
  it.each(['UTF-16le', 'UTF-16be'])('refuses %s, says what to do, and leaves the file as it is', async (encoding) => {
    const handle = await open(newFile())
    handle.exec(`PRAGMA encoding = '${encoding}'`)
    handle.exec('CREATE TABLE mine (id TEXT)')
    expect(() => make(handle)).toThrow(ConfigurationError)
    expect(() => make(handle)).toThrow(
      `SQLite: the encoding of the database must be UTF-8, and is ${encoding}: give a new file, or make this one anew`,
    )
    expect(handle.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'delete' })
    expect(handle.prepare('SELECT name FROM sqlite_master').all()).toMatchObject([{ name: 'mine' }])
  })
})

describe('a file that cannot be opened', () => {
  it('is named, with the reason', async () => {
    const path = `${newFile()}/in-a-file-or-nowhere`
    await expect(openSqlite(path)).rejects.toThrow(`SQLite cannot open "${path}": `)
  })

  // SQLite would take an empty one for a database of its own, which it deletes at the end.
  it.each([
    ['', '""'],
    [undefined, 'undefined'],
    [7, '7'],
  ])('has a path: %s', async (path, shown) => {
    await expect(openSqlite(...([path] as unknown as [string]))).rejects.toThrow(
      new ConfigurationError(`openSqlite: the path must be that of a file, or ':memory:', not ${shown}`),
    )
  })

  it('has options that are an object', async () => {
    const handle = await open()
    expect(() => sqliteStorage(handle, ...([null] as unknown as []))).toThrow(
      new ConfigurationError('SQLite: the options must be an object, not null'),
    )
  })
})
