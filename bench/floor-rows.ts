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

async function storeInSqlite(place: string): Promise<StoreRow> {
  const database = await openSqlite(place)
  sqliteStorage(database) // The settings of the connection are those of the library.
  database.exec(TABLE)
  const insert = database.prepare('INSERT INTO floor (id, body) VALUES (?, ?)')
  let queue: { readonly id: string; readonly body: string; readonly done: () => void }[] = []
  const flush = (): void => {
    const tasks = queue
    queue = []
    database.exec('BEGIN IMMEDIATE')
    for (const { id, body } of tasks) insert.run(id, body)
    database.exec('COMMIT')
    for (const { done } of tasks) done()
  }
  return (id, body) =>
    new Promise((done) => {
      queue.push({ id, body, done })
      if (queue.length === 1) setImmediate(flush)
    })
}

async function storeInPostgres(place: string): Promise<StoreRow> {
  const pool = await connectPostgres(place)
  await pool.query(TABLE)
  return async (id, body) => {
    await pool.query({ name: 'floor', text: 'INSERT INTO floor (id, body) VALUES ($1, $2)', values: [id, body] })
  }
}
