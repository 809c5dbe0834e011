import type { Ledger, Storage } from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { postgresStorage } from 'open-payments-server/storage/postgres'
import { openSqlite, type SqliteHandle, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { ACCOUNTS } from './accounts.ts'

/** A path at which no SQLite file is yet, and the driver that opens it. */
export interface SqliteFile {
  readonly driver: 'sqlite' | 'bun:sqlite'
  readonly file: string
}

/** Where the records are, and the driver that leads there. */
export type Place =
  | { readonly driver: 'memory' }
  | SqliteFile
  | { readonly driver: 'pg' | 'postgres'; readonly socket: string; readonly schema: string }

const ACCESS = { user: 'postgres', password: 'postgres', database: 'postgres' }
const CONNECTIONS = 2

/** Opens the records and the money of a wallet. The money is in the same SQLite file, or else in memory. */
export async function openPlace(place: Place): Promise<{ readonly storage: Storage; readonly ledger: Ledger }> {
  switch (place.driver) {
    case 'memory':
      return { storage: memoryStorage(), ledger: memoryLedger({ accounts: ACCOUNTS }) }
    case 'sqlite':
    case 'bun:sqlite':
      return onSqlite(await openHandle(place))
    case 'pg': {
      const { default: pg } = await import('pg')
      const options = `-c search_path=${place.schema}`
      const pool = new pg.Pool({ ...ACCESS, host: place.socket, max: CONNECTIONS, options })
      return { storage: await postgresStorage(pool), ledger: memoryLedger({ accounts: ACCOUNTS }) }
    }
    case 'postgres': {
      const { default: postgres } = await import('postgres')
      const connection = { search_path: place.schema }
      const quiet = { onnotice: () => undefined }
      const sql = postgres({ ...ACCESS, host: place.socket, max: CONNECTIONS, connection, ...quiet })
      return { storage: await postgresStorage(sql), ledger: memoryLedger({ accounts: ACCOUNTS }) }
    }
  }
}

/** Opens the file with its driver. */
export async function openHandle({ driver, file }: SqliteFile): Promise<SqliteHandle> {
  if (driver === 'sqlite') return openSqlite(file)
  // By a name that is put together: the other runtimes have no such module, and neither has the compiler.
  const { Database } = await import(['bun', 'sqlite'].join(':'))
  return new Database(file)
}

async function onSqlite(handle: SqliteHandle): Promise<{ readonly storage: Storage; readonly ledger: Ledger }> {
  const ledger = sqliteLedger(handle)
  for (const account of ACCOUNTS) await ledger.createAccount(account)
  return { storage: sqliteStorage(handle), ledger }
}
