/**
 * A storage for one machine.
 *
 * @module open-payments-server/storage/sqlite
 */

import type { Storage } from '../../src/ports/storage.ts'
import { makeOnce } from './make-once.ts'
import { decodeRecords } from './sql/rows.ts'
import { STORAGE_MIGRATIONS, STORAGE_READABLE_FROM } from './sql/schema.ts'
import { createTable } from './sql/statements.ts'
import { createBatchReads } from './sqlite/batch-reads.ts'
import { createBinding } from './sqlite/changes.ts'
import { configureHandle, enlargeCache, type SqliteOptions } from './sqlite/configure.ts'
import { createGroupCommit } from './sqlite/group-commit.ts'
import { createMoments, createRunner, type SqliteHandle } from './sqlite/handle.ts'
import { createReader } from './sqlite/joined-read.ts'
import { migrate } from './sqlite/migrate.ts'

export type { SqliteOptions } from './sqlite/configure.ts'
export type { SqliteHandle, SqliteStatement } from './sqlite/handle.ts'
export { type OpenedSqlite, openSqlite } from './sqlite/open.ts'

/** Thrown to undo a commit if one of its changes does not fit. */
const CONFLICT = Object.freeze(new Error('a change does not fit'))

/**
 * A storage on a SQLite connection that the host has open, in tables whose names begin with `op_`; they are created or
 * brought up to date at once; it throws if that fails, and a `ConfigurationError` if an argument is not valid or the
 * encoding of the database is not UTF-8. Commits are durable (write-ahead log, `synchronous = EXTRA`), and simultaneous ones
 * share one fsync. Several processes may use one file. If the page cache of the connection is as large as SQLite makes it by
 * itself (`PRAGMA cache_size` is -2000), it becomes 32 MB.
 */
export function sqliteStorage(handle: SqliteHandle, options: SqliteOptions = {}): Storage {
  const busyMilliseconds = configureHandle(handle, options)
  enlargeCache(handle)
  migrate(handle, 'storage', STORAGE_MIGRATIONS, STORAGE_READABLE_FROM)
  const runner = createRunner(handle)
  const commitInBatch = createGroupCommit(handle, busyMilliseconds)
  const tableOf = makeOnce(createTable)
  const atOneMoment = createMoments(handle)
  const read = createReader(runner, tableOf, atOneMoment)
  const bindChange = createBinding(runner, tableOf)
  const readInBatch = createBatchReads(handle, atOneMoment)

  return {
    get: (keys) => readInBatch(() => read(keys)),
    list: (query) =>
      readInBatch(() => {
        const { layout, list } = tableOf(query.kind)
        const { sql, parameters } = list(query)
        return decodeRecords(query.kind, layout, runner.all(sql, parameters))
      }),
    async due(kind, now, limit, onUnreadable) {
      const { layout, due } = tableOf(kind)
      return decodeRecords(kind, layout, runner.all(due, [now, limit]), onUnreadable)
    },
    async commit(changes) {
      // Encoded before it is queued: a value that cannot be stored rejects only this commit, and later changes to the
      // value are not seen.
      const bound = changes.map(bindChange)
      let conflicts: readonly number[] = []
      try {
        await commitInBatch(() => {
          conflicts = bound.flatMap((makeChange, index) => (makeChange() ? [] : [index]))
          if (conflicts.length > 0) throw CONFLICT
        })
        return 'committed'
      } catch (error) {
        // Without conflicts, CONFLICT is another commit's: SQLite could not undo that one alone, so the whole batch is
        // undone.
        if (error !== CONFLICT || conflicts.length === 0) throw error
        return { conflicts }
      }
    },
  }
}
