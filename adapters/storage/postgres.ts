/**
 * A storage for any number of processes and machines.
 *
 * @module open-payments-server/storage/postgres
 */

import type { Storage } from '../../src/ports/storage.ts'
import { createBatches } from '../batches.ts'
import { makeOnce } from './make-once.ts'
import {
  type Connections,
  connectionsOf,
  type PostgresDatabase,
  type PostgresOptions,
  type Statement,
} from './postgres/database.ts'
import { migrate } from './postgres/migrate.ts'
import { retryUndone } from './postgres/retry.ts'
import { createCommits } from './postgres/shared-commits.ts'
import { createReader } from './postgres/shared-reads.ts'
import { decodeRecords } from './sql/rows.ts'
import { STORAGE_MIGRATIONS, STORAGE_READABLE_FROM } from './sql/schema.ts'
import { type BoundStatement, createTable } from './sql/statements.ts'

export type {
  PgClient,
  PgPool,
  PgStatement,
  PostgresDatabase,
  PostgresOptions,
  PostgresSql,
} from './postgres/database.ts'

/** A statement of the common SQL in PostgreSQL's form: its parameters are numbered, and text. */
function toStatement({ sql, parameters }: BoundStatement): Statement {
  let next = 1
  const text = sql.replaceAll('?', () => `$${next++}`)
  return { text, parameters: parameters.map((cell) => (cell === null ? null : String(cell))), isRepeated: true }
}

/**
 * A storage on PostgreSQL, through the host's open pool of `pg` or instance of `postgres`, in tables whose names begin
 * with `op_`. Resolves once they are up to date, and rejects if that fails, or if the encoding is not UTF8, the tables
 * lie in a schema that is not the first of the `search_path`, row level security applies to this role, or it lacks a right to
 * one of them; with a `ConfigurationError` if an argument is not valid.
 *
 * Every call is one statement and one round trip, at any isolation level; calls that are made at the same time share one. If
 * a commit conflicts, or the database refuses its values, those that shared its statement are made in further ones.
 * Several processes may use one database.
 *
 * A statement that the database has undone because of other transactions (a serialization failure, a deadlock) is tried
 * again. After any other error a commit rejects and is not repeated: its outcome may be unknown.
 */
export async function postgresStorage(database: PostgresDatabase, options: PostgresOptions = {}): Promise<Storage> {
  const connections = connectionsOf(database, options)
  await migrate(connections, 'storage', STORAGE_MIGRATIONS, STORAGE_READABLE_FROM)
  const tableOf = makeOnce(createTable)

  const nextBatch = createBatches()

  // Answers that arrive in one turn, each on its own connection, go on in step (see `gatherBatch`).
  const query: Connections['query'] = async (statement) => {
    try {
      return await retryUndone(() => connections.query(statement))
    } finally {
      await nextBatch()
    }
  }

  return {
    get: createReader(query, tableOf),
    async list(listed) {
      const rows = await query(toStatement(tableOf(listed.kind).list(listed)))
      return decodeRecords(listed.kind, tableOf(listed.kind).layout, rows)
    },
    async due(kind, now, limit, onUnreadable) {
      const rows = await query(toStatement({ sql: tableOf(kind).due, parameters: [now, limit] }))
      return decodeRecords(kind, tableOf(kind).layout, rows, onUnreadable)
    },
    commit: createCommits(query, tableOf),
  }
}
