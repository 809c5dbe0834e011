import { refuseUnknown, requireObject } from '../../../src/errors/check-option.ts'
import { ConfigurationError } from '../../../src/index.ts'
import { createRunner, inTransaction, type SqliteHandle, waitFor } from './handle.ts'

/** How a connection is used. */
export interface SqliteOptions {
  /**
   * How long a write waits for another process that is writing; this blocks the event loop. Default 5; from 0 to 86400. Once
   * it has waited in vain, further writes on this connection wait a tenth of a second each, until the storage, or the ledger,
   * that waited in vain has written.
   */
  readonly busyTimeoutSeconds?: number | undefined
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
