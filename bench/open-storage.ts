import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import type { StorageName } from './host-names.ts'
import { connectPostgres } from './postgres.ts'

/** A storage, and how it is closed. */
export interface OpenedStorage {
  readonly storage: Storage
  close(): Promise<void>
}

/** Opens a storage as a wallet would: on a file, or on a database of PostgreSQL. */
export async function openStorage(name: StorageName, place: string): Promise<OpenedStorage> {
  if (name === 'sqlite') {
    const { openSqlite, sqliteStorage } = await import('open-payments-server/storage/sqlite')
    const database = await openSqlite(place)
    return { storage: sqliteStorage(database), close: async () => database.close() }
  }
  if (name === 'postgres') {
    const { postgresStorage } = await import('open-payments-server/storage/postgres')
    const pool = await connectPostgres(place)
    return { storage: await postgresStorage(pool), close: () => pool.end() }
  }
  return { storage: memoryStorage(), close: async () => undefined }
}
