import pg from 'pg'
import postgres from 'postgres'
import { postgresStorage } from '../../../adapters/storage/postgres.ts'
import { openSqlite, sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import type { Storage } from '../../../src/ports/storage.ts'

/** Where records are: a file, or a schema of a database and the driver to reach it with. */
export type Place =
  | { readonly driver: 'sqlite'; readonly file: string }
  | { readonly driver: 'pg' | 'postgres'; readonly socket: string; readonly schema: string }

/** A storage, and how its connections are ended. */
export interface OpenedStorage {
  readonly storage: Storage
  close(): Promise<void>
}

const ACCESS = { user: 'postgres', password: 'postgres', database: 'postgres' }
const CONNECTIONS = 5

/** Opens a storage of its own on a place, as another process of the same wallet would. */
export async function openStorage(place: Place): Promise<OpenedStorage> {
  switch (place.driver) {
    case 'sqlite': {
      const handle = await openSqlite(place.file)
      return { storage: sqliteStorage(handle), close: async () => handle.close() }
    }
    case 'pg': {
      const options = `-c search_path=${place.schema}`
      const pool = new pg.Pool({ ...ACCESS, host: place.socket, max: CONNECTIONS, options })
      return { storage: await postgresStorage(pool), close: () => pool.end() }
    }
    case 'postgres': {
      const connection = { search_path: place.schema }
      const sql = postgres({ ...ACCESS, host: place.socket, max: CONNECTIONS, connection, onnotice: () => undefined })
      return { storage: await postgresStorage(sql), close: () => sql.end() }
    }
  }
}

/** Makes a schema for one world. */
export async function createSchema(socket: string, schema: string): Promise<void> {
  const client = new pg.Client({ ...ACCESS, host: socket })
  await client.connect()
  await client.query(`CREATE SCHEMA ${schema}`)
  await client.end()
}
