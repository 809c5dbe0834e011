import type { Cell, Row } from '../sql/rows.ts'

/** A prepared statement with positional `?` parameters. */
export interface SqliteStatement {
  /** Runs it, and returns how many rows changed. */
  run(...parameters: Cell[]): { readonly changes: number | bigint }
  /** The first row, as an object by column name or as an array of its cells; `undefined` or `null` if there is none. */
  get(...parameters: Cell[]): unknown
  /** Every row. */
  all(...parameters: Cell[]): unknown[]
  /** If this method exists, calling it makes rows arrays, which are faster to make and to read. */
  setReturnArrays?(isOn: boolean): void
  /**
   * If this method exists, calling it makes integers `bigint`. It is called where `get` or `all` throws because a number cannot
   * hold an integer (`ERR_OUT_OF_RANGE`), so that one damaged row does not hide the others.
   */
  setReadBigInts?(isOn: boolean): void
}

/**
 * A connection to SQLite that a host has open: `DatabaseSync` of `node:sqlite`, `Database` of `bun:sqlite`, `libsql`
 * or better-sqlite3. The host leaves no transaction of its own open when it yields control.
 */
export interface SqliteHandle {
  /** Runs statements without parameters. */
  exec(sql: string): unknown
  /** Prepares one statement. */
  prepare(sql: string): SqliteStatement
  /**
   * For a connection that accepts no transaction in SQL, that of a Durable Object: runs `work` in one, and undoes it if that
   * throws. How durable a commit is then depends on the host: no PRAGMA is set.
   */
  transactionSync?<T>(work: () => T): T
}

/** Runs statements on a handle, each prepared once. */
export interface SqliteRunner {
  /** The number of rows that changed. */
  run(sql: string, parameters: readonly Cell[]): number
  /** The first row. */
  first(sql: string, parameters: readonly Cell[]): Row | undefined
  all(sql: string, parameters: readonly Cell[]): readonly Row[]
}

/** Prepares the statements of a handle on their first use and keeps them. */
export function createRunner(handle: SqliteHandle): SqliteRunner {
  const prepared = new Map<string, SqliteStatement>()
  const statement = (sql: string): SqliteStatement => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const fresh = handle.prepare(sql)
    fresh.setReturnArrays?.(true)
    prepared.set(sql, fresh)
    return fresh
  }
  return {
    run: (sql, parameters) => Number(statement(sql).run(...parameters).changes),
    first: (sql, parameters) => {
      const known = statement(sql)
      return rowOf(readWhole(known, () => known.get(...parameters)))
    },
    all: (sql, parameters) => {
      const known = statement(sql)
      return readWhole(known, () => known.all(...parameters))
        .map(rowOf)
        .filter((row) => row !== undefined)
    },
  }
}

/** Reads rows, if necessary with integers that no number can hold: whoever decodes such a row refuses it alone. */
function readWhole<T>(statement: SqliteStatement, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE'
    if (!isTooLarge || statement.setReadBigInts === undefined) throw error
    statement.setReadBigInts(true)
    return read()
  }
}

function rowOf(found: unknown): Row | undefined {
  if (Array.isArray(found)) return found
  return typeof found === 'object' && found !== null ? Object.values(found) : undefined
}

/** Whether SQLite has waited in vain for another process. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes('locked')
}

/**
 * Runs `work` in one transaction that holds the write lock from its start, so that what it read is still true when it
 * writes. `work` must be synchronous: nothing else may touch the handle meanwhile. A throw undoes all of it.
 */
export function inTransaction<T>(handle: SqliteHandle, work: () => T): T {
  return transact(handle, 'BEGIN IMMEDIATE', work)
}

/** Runs reads that all see one moment. They must be synchronous; nested calls see the same moment. */
export type AtOneMoment = <T>(read: () => T) => T

/** Reads at one moment, whatever other processes commit meanwhile. */
export function createMoments(handle: SqliteHandle): AtOneMoment {
  let isOpen = false
  return (read) => {
    // Nested: no savepoint is used, because it would also open inside a transaction of the host, and after some errors
    // only ROLLBACK ends it.
    if (isOpen) return read()
    isOpen = true
    try {
      return transact(handle, 'BEGIN', read)
    } finally {
      isOpen = false
    }
  }
}

function transact<T>(handle: SqliteHandle, begin: string, work: () => T): T {
  if (handle.transactionSync !== undefined) return handle.transactionSync(work)
  // Outside the `try`: this throws if the host left its own transaction open, and that one is not ours to undo.
  handle.exec(begin)
  try {
    const result = work()
    handle.exec('COMMIT')
    return result
  } catch (error) {
    undo(handle)
    throw error
  }
}

function undo(handle: SqliteHandle): void {
  try {
    handle.exec('ROLLBACK')
  } catch {
    // SQLite has rolled back by itself (a full disk, an I/O error); the error that counts is the first one.
  }
}

/** Makes the connection wait so long for the lock of another process, which blocks this one. */
export function waitFor(handle: SqliteHandle, milliseconds: number): void {
  handle.exec(`PRAGMA busy_timeout = ${milliseconds}`)
}
