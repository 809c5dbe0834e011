import type { Ledger, Storage } from 'open-payments-server'
import { postgresStorage } from 'open-payments-server/storage/postgres'
import pg from 'pg'
import postgres from 'postgres'
import { postgresLedger } from '../../../examples/postgres-ledger.ts'
import type { WatchedCalls } from './watched-calls.ts'

/** A schema of a PostgreSQL server, reached over its socket; the storage goes through one of the two drivers. */
export interface PostgresPlace {
  readonly kind: 'postgres'
  readonly socketFolder: string
  readonly schema: string
  readonly driver: 'pg' | 'postgres'
}

/** What is open at such a place. */
export interface PostgresStores {
  readonly storage: Storage
  readonly ledger: Ledger
  readonly pool: pg.Pool
  close(): Promise<void>
}

const LOGIN = { user: 'postgres', password: 'postgres', database: 'postgres' } as const

/** A pool for one schema; its connections can be told by the name of the application. */
export function openPool({ socketFolder, schema }: PostgresPlace, application: string): pg.Pool {
  const options = `-c search_path=${schema}`
  const pool = new pg.Pool({ ...LOGIN, host: socketFolder, options, application_name: application, max: 6 })
  // A connection that is lost concerns whoever waits for an answer, and nobody else.
  pool.on('error', () => undefined)
  return pool
}

/** Opens storage and ledger; the tables of the ledger are there. */
export async function openPostgresStores(place: PostgresPlace, calls?: WatchedCalls): Promise<PostgresStores> {
  const { socketFolder, schema, driver } = place
  const application = calls === undefined ? `reader of ${schema}` : schema
  const pool = openPool(place, application)
  if (calls !== undefined) watchPool(pool, calls)
  const connection = { search_path: schema, application_name: application }
  const sql =
    driver === 'pg' ? undefined : postgres({ ...LOGIN, host: socketFolder, max: 6, connection, fetch_types: false })
  return {
    storage: await postgresStorage(sql ?? pool),
    ledger: postgresLedger(pool),
    pool,
    close: async () => {
      await pool.end()
      await sql?.end({ timeout: 1 })
    },
  }
}

/** Every statement is a call. One that has been sent is on its way, whatever becomes of this process. */
function watchPool(pool: pg.Pool, calls: WatchedCalls): void {
  pool.on('connect', (client) => {
    const query: unknown = client.query
    if (typeof query !== 'function') throw new TypeError('a connection without queries')
    const watched = (...given: readonly unknown[]): unknown => {
      calls.begin('statement')
      const callback = given.at(-1)
      if (typeof callback === 'function') {
        const answered = (...answer: readonly unknown[]): unknown => {
          calls.end('statement')
          return Reflect.apply(callback, undefined, answer)
        }
        return Reflect.apply(query, client, [...given.slice(0, -1), answered])
      }
      const sent: unknown = Reflect.apply(query, client, given)
      return sent instanceof Promise ? sent.finally(() => calls.end('statement')) : sent
    }
    Object.assign(client, { query: watched })
  })
}
