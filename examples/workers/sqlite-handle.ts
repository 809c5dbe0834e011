import type { SqliteHandle } from 'open-payments-server/storage/sqlite'

/** A Durable Object takes transactions only as functions; its own count of written rows includes those of indexes. */
export function sqliteHandle(storage: DurableObjectStorage): SqliteHandle {
  const { sql } = storage
  return {
    exec: (text) => sql.exec(text),
    prepare: (text) => ({
      run(...values) {
        sql.exec(text, ...values)
        return { changes: Number(sql.exec('SELECT changes() AS changes').one()['changes']) }
      },
      get: (...values) => sql.exec(text, ...values).toArray()[0],
      all: (...values) => sql.exec(text, ...values).toArray(),
    }),
    transactionSync: (work) => storage.transactionSync(work),
  }
}
