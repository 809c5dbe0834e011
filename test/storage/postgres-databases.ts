import { randomUUID } from 'node:crypto'
import { Pool, type PoolClient, type PoolConfig } from 'pg'
import postgres from 'postgres'
import { afterAll, expect, inject } from 'vitest'
import type { PgClient, PgPool, PgStatement, PostgresDatabase, PostgresSql } from '../../adapters/storage/postgres.ts'
import { layoutOf } from '../../adapters/storage/sql/layout.ts'
import { sampleInserts } from '../../src/testing/sample-records.ts'

/** Settings of a session, by their names. */
export type Settings = Readonly<Record<string, string>>

/** Opens connections to the server of the tests and closes them at the end of the file. */
export interface Databases {
  /** Makes a schema that nobody else knows. */
  newSchema(): Promise<string>
  openPool(schema: string, settings?: Settings, more?: PoolConfig): Pool
  openSql(
    schema: string,
    settings?: Settings,
    more?: postgres.Options<Record<string, postgres.PostgresType>>,
  ): postgres.Sql
  /** Runs statements in a schema as its owner. */
  run(schema: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Resolves with the process of the server that waits for a lock; by default sessions are named after their schema. */
  waitingIn(application: string): Promise<number>
  /**
   * Runs statements in a transaction that stays open until `act` waits for it, in a process of the server that `end` is
   * told, and `end` has run; then commits, unless `end` has ended it. Resolves with what `act` comes to.
   */
  whileLocked<T>(
    schema: string,
    text: string,
    act: () => Promise<T>,
    end?: (client: PoolClient, waiting: number) => Promise<unknown>,
  ): Promise<T>
}

/** The statements that empty the tables of a storage: making them anew takes longer than most tests. */
export const EMPTY_TABLES = [...new Set(sampleInserts().map(({ kind }) => layoutOf(kind).table))]
  .map((table) => `DELETE FROM ${table}`)
  .join(';')

const ACCESS = { user: 'postgres', password: 'postgres', database: 'postgres' }

/** To be called once at the top of a file of tests. */
export function useDatabases(): Databases {
  const closings: (() => Promise<void>)[] = []
  afterAll(async () => {
    await Promise.all(closings.map((close) => close()))
  })

  const openPool: Databases['openPool'] = (schema, settings = {}, more = {}) => {
    const options = Object.entries({ search_path: schema, ...settings })
      .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
      .join(' ')
    const pool = new Pool({ host: inject('postgresSocket'), ...ACCESS, application_name: schema, options, ...more })
    // A test may end the server's side of an idle connection.
    pool.on('error', () => undefined)
    closings.push(() => pool.end())
    return pool
  }
  const owner = openPool('public')
  const run: Databases['run'] = async (schema, text) => {
    const client = await owner.connect()
    try {
      await client.query(`SET search_path = ${schema}`)
      const { rows } = await client.query(text)
      return rows
    } finally {
      client.release()
    }
  }
  const waitingIn: Databases['waitingIn'] = async (application) => {
    const text = `SELECT pid FROM pg_stat_activity WHERE application_name = '${application}' AND wait_event_type = 'Lock'`
    let pid: unknown
    const look = async (): Promise<unknown> => {
      pid = (await run('public', text))[0]?.['pid']
      return pid
    }
    await expect.poll(look, { interval: 2 }).toBeDefined()
    return Number(pid)
  }
  return {
    openPool,
    run,
    waitingIn,
    newSchema: async () => {
      const schema = `s_${randomUUID().replaceAll('-', '')}`
      await run('public', `CREATE SCHEMA ${schema}`)
      return schema
    },
    openSql: (schema, settings = {}, more = {}) => {
      const connection = { application_name: schema, search_path: schema, ...settings }
      const quiet = { onnotice: () => undefined }
      const sql = postgres({ host: inject('postgresSocket'), ...ACCESS, connection, ...quiet, ...more })
      // It would wait for ever for a connection that never came about.
      closings.push(() => sql.end({ timeout: 0 }))
      return sql
    },
    whileLocked: async (schema, text, act, end = async () => undefined) => {
      const client = await owner.connect()
      try {
        await client.query(`SET search_path = ${schema}; BEGIN; ${text}`)
        const acting = act()
        // Handled below; not unhandled meanwhile.
        acting.catch(() => undefined)
        await end(client, await waitingIn(schema))
        await client.query('COMMIT')
        return await acting
      } finally {
        client.release(true)
      }
    },
  }
}

/** Collects the errors of a pool's connections that have no listener: outside of a test each ends the process. */
export function unheardErrors(pool: Pool): readonly unknown[] {
  const unheard: unknown[] = []
  pool.on('connect', (client) => {
    const emit: unknown = client.emit
    if (typeof emit !== 'function') throw new TypeError('a connection without events')
    const watched = (event: string, ...values: readonly unknown[]): unknown =>
      event === 'error' && client.listenerCount('error') === 0
        ? unheard.push(...values)
        : Reflect.apply(emit, client, [event, ...values])
    Object.assign(client, { emit: watched })
  })
  return unheard
}

type Tell = (text: string, isPrepared: boolean) => void

/** Hands a database on, and tells of each statement before it is sent, and whether it is to stay prepared. */
export function watchStatements<D extends PostgresDatabase>(database: D, tell: Tell): PostgresDatabase {
  return 'unsafe' in database ? watchSql(database, tell) : watchPool(database, tell)
}

function watchPool(pool: PgPool, tell: Tell): PgPool {
  return withQuery(pool, (client, statement) => {
    tell(statement.text, statement.name !== undefined)
    return client.query(statement)
  })
}

/** Hands a pool on, whose connections run statements in another way. */
export function withQuery(
  pool: PgPool,
  query: (client: PgClient, statement: PgStatement) => ReturnType<PgClient['query']>,
): PgPool {
  const changed = (client: PgClient): PgClient => ({
    query: (statement) => query(client, statement),
    on: (event, listener) => client.on(event, listener),
    removeListener: (event, listener) => client.removeListener(event, listener),
    release: (isBroken) => client.release(isBroken),
  })
  return { connect: (callback) => pool.connect((error, client) => callback(error, client && changed(client))) }
}

function watchSql(sql: PostgresSql, tell: Tell): PostgresSql {
  return {
    unsafe: (text, parameters, options) => {
      tell(text, options?.prepare === true)
      return sql.unsafe(text, parameters, options)
    },
  }
}

/** Whether a statement is a commit. */
export function isCommit(text: string): boolean {
  return text.includes('op_conflicts')
}
