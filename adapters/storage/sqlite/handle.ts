import { refuseUnknown, requireObject } from '../../../src/errors/check-option.ts'
import { ConfigurationError } from '../../../src/index.ts'
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

function rowOf(found: unknown): Row | undefined {
  if (Array.isArray(found)) return found
  return typeof found === 'object' && found !== null ? Object.values(found) : undefined
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

/** How a connection is used. */
export interface SqliteOptions {
  /**
   * How long a write waits for another process that is writing; this blocks the event loop. Default 5. Once it has waited in
   * vain, further writes on this connection wait a tenth of a second each, until the storage, or the ledger, that waited in vain
   * has written.
   */
  readonly busyTimeoutSeconds?: number
}

const LONGEST_WAIT_SECONDS = 86_400

/** To what size the log is cut once it was longer: it grows while a reader keeps a moment of the past. */
const MOST_LOG_BYTES = 64 * 1024 * 1024

/**
 * Sets a connection up to wait for other processes and to survive a power loss after each commit. Where SQLite cannot
 * keep a write-ahead log it does not report that. A commit is then the removal of a journal, which only EXTRA makes
 * durable; with a write-ahead log, EXTRA is the same as FULL. Returns how long a write waits, in milliseconds.
 */
export function configureHandle(handle: SqliteHandle, options: SqliteOptions): number {
  requireObject('SQLite: the options', options)
  refuseUnknown('SQLite', options, ['busyTimeoutSeconds'])
  const { busyTimeoutSeconds = 5 } = options
  if (typeof handle !== 'object' || handle === null || typeof handle.prepare !== 'function')
    throw new ConfigurationError(
      'SQLite: the first argument must be an open connection, such as `await openSqlite(path)`, not a path or a promise',
    )
  if (
    typeof busyTimeoutSeconds !== 'number' ||
    !(busyTimeoutSeconds >= 0 && busyTimeoutSeconds <= LONGEST_WAIT_SECONDS)
  )
    throw new ConfigurationError(`SQLite: busyTimeoutSeconds must be from 0 to ${LONGEST_WAIT_SECONDS}`)
  const busyMilliseconds = Math.round(busyTimeoutSeconds * 1000)
  if (handle.transactionSync !== undefined) return busyMilliseconds
  waitFor(handle, busyMilliseconds)
  refuseEncoding(handle)
  keepLog(handle)
  handle.exec('PRAGMA synchronous = EXTRA')
  handle.exec(`PRAGMA journal_size_limit = ${MOST_LOG_BYTES}`)
  return busyMilliseconds
}

/** In KiB, as SQLite takes it: its own default, and what `enlargeCache` makes of it. */
const DEFAULT_CACHE = -2000
const LARGER_CACHE = -32_000

/**
 * Lets a connection keep 32 MB of pages in memory instead of the 2 MB of SQLite's default, which do not hold even the upper
 * levels of the indexes of a few million records. Whatever else the host has set stays.
 */
export function enlargeCache(handle: SqliteHandle): void {
  if (handle.transactionSync !== undefined) return
  const [size] = createRunner(handle).first('PRAGMA cache_size', []) ?? []
  if (Number(size) === DEFAULT_CACHE) handle.exec(`PRAGMA cache_size = ${LARGER_CACHE}`)
}

/**
 * Refuses UTF-16, in which SQLite returns some texts only in part (a signed request, for instance) and confuses some
 * ids.
 */
function refuseEncoding(handle: SqliteHandle): void {
  const [encoding] = createRunner(handle).first('PRAGMA encoding', []) ?? []
  if (encoding === 'UTF-8') return
  throw new ConfigurationError(
    `SQLite: the encoding of the database must be UTF-8, and is ${encoding}: give a new file, or make this one anew with \`sqlite3 old.db .dump | sqlite3 new.db\``,
  )
}

const MOST_TRIES = 10

/**
 * Switches to a write-ahead log. If two processes do so with a fresh file, SQLite lets one fail at once, whatever the
 * timeout. Opening a transaction does wait; after that the other process is done.
 */
function keepLog(handle: SqliteHandle): void {
  for (let tries = 1; ; tries++) {
    try {
      handle.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (tries === MOST_TRIES) throw error
    }
    inTransaction(handle, () => undefined)
  }
}
