import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import type { StorageName } from './host-names.ts'
import { connectPostgres } from './postgres.ts'

/** Stores one row, durably before it resolves. */
export type StoreRow = (id: string, body: string) => Promise<void>

const TABLE = 'CREATE TABLE floor (id TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL)'

/** The least that a durable row costs where the library would store its own. */
export async function storeRows(storage: StorageName, place: string): Promise<StoreRow> {
  if (storage === 'sqlite') return storeInSqlite(place)
  if (storage === 'postgres') return storeInPostgres(place)
  const rows = new Map<string, string>()
  return async (id, body) => {
    rows.set(id, body)
  }
}

interface Row {
  readonly id: string
  readonly body: string
}

/** Stores rows of one turn of the event loop together, as the library does. */
function storeTogether(storeAll: (rows: readonly Row[]) => void | Promise<void>): StoreRow {
  let waiting: { readonly row: Row; done(): void; fail(error: unknown): void }[] = []
  const flush = async (): Promise<void> => {
    const all = waiting
    waiting = []
    try {
      await storeAll(all.map(({ row }) => row))
      for (const { done } of all) done()
    } catch (error) {
      for (const { fail } of all) fail(error)
    }
  }
  return (id, body) =>
    new Promise((done, fail) => {
      waiting.push({ row: { id, body }, done, fail })
      if (waiting.length === 1) setImmediate(flush)
    })
}

async function storeInSqlite(place: string): Promise<StoreRow> {
  const database = await openSqlite(place)
  sqliteStorage(database) // The settings of the connection are those of the library.
  database.exec(TABLE)
  const insert = database.prepare('INSERT INTO floor (id, body) VALUES (?, ?)')
  return storeTogether((rows) => {
    database.exec('BEGIN IMMEDIATE')
    for (const { id, body } of rows) insert.run(id, body)
    database.exec('COMMIT')
  })
}

async function storeInPostgres(place: string): Promise<StoreRow> {
  const pool = await connectPostgres(place)
  await pool.query(TABLE)
  const text = 'INSERT INTO floor (id, body) SELECT id, body FROM json_populate_recordset(NULL::floor, $1)'
  return storeTogether(async (rows) => {
    await pool.query({ name: 'floor', text, values: [JSON.stringify(rows)] })
  })
}
