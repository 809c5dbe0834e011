import type { Storage } from 'open-payments-server'
import { type DoubleEntryLedger, type SqliteHandle, sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { type OpenedSqlite, openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import type { WatchedCalls } from './watched-calls.ts'

/** Where a wallet keeps its records and its money: two files of SQLite, or one and the same. */
export interface SqlitePlace {
  readonly kind: 'sqlite'
  readonly storageFile: string
  readonly ledgerFile: string
}

/** What is open at such a place. */
export interface SqliteStores {
  readonly storage: Storage
  readonly ledger: DoubleEntryLedger
  /** The connection of the storage, and that of the ledger. */
  readonly records: OpenedSqlite
  readonly money: OpenedSqlite
  close(): void
}

/** Opens storage and ledger, on one connection where they share a file. */
export async function openSqliteStores(place: SqlitePlace, calls?: WatchedCalls): Promise<SqliteStores> {
  const records = await openSqlite(place.storageFile)
  const money = place.ledgerFile === place.storageFile ? records : await openSqlite(place.ledgerFile)
  const watched = (handle: SqliteHandle): SqliteHandle => (calls === undefined ? handle : watchHandle(handle, calls))
  const recordsHandle = watched(records)
  return {
    storage: sqliteStorage(recordsHandle),
    ledger: sqliteLedger(money === records ? recordsHandle : watched(money)),
    records,
    money,
    close: () => {
      records.close()
      if (money !== records) money.close()
    },
  }
}

/** Every statement of a connection is a call; a transaction is under way from BEGIN to COMMIT or ROLLBACK. */
function watchHandle(handle: SqliteHandle, calls: WatchedCalls): SqliteHandle {
  let isInTransaction = false
  const noteTransaction = (isNow: boolean): void => {
    if (isNow !== isInTransaction) calls.note('transaction', isNow ? 1 : -1)
    isInTransaction = isNow
  }
  return {
    exec: (sql) =>
      calls.duringNow('statement', () => {
        const result = handle.exec(sql)
        if (sql.startsWith('BEGIN')) noteTransaction(true)
        if (sql === 'COMMIT' || sql === 'ROLLBACK') noteTransaction(false)
        return result
      }),
    prepare: (sql) => {
      const statement = handle.prepare(sql)
      return {
        run: (...cells) => calls.duringNow('statement', () => statement.run(...cells)),
        get: (...cells) => calls.duringNow('statement', () => statement.get(...cells)),
        all: (...cells) => calls.duringNow('statement', () => statement.all(...cells)),
      }
    },
  }
}
