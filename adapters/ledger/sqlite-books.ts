import type { Books } from '../reconciliation/books.ts'
import { readBigint, readInteger, readText } from '../storage/sql/rows.ts'
import { createRunner, type SqliteHandle } from '../storage/sqlite/handle.ts'

const BOOKED = `SELECT transfer, account, amount, created_at FROM ledger_entry WHERE transfer NOT LIKE 'opening:%'
  UNION ALL SELECT id, NULL, amount, created_at FROM ledger_transfer WHERE state = 'held'`

/**
 * Reads all that `sqliteLedger` has booked, for `reconcileAll` and `reconcileDay`: in one statement and so at one moment.
 * `handle`: the connection that the ledger was made with, or another one to the same file. Throws if SQLite does.
 */
export function readSqliteBooks(handle: SqliteHandle): Books {
  const rows = createRunner(handle).all(BOOKED, [])
  // A hold of a release that did not keep its time is old.
  const timeOf = (row: readonly unknown[]): number => (row[3] === null ? 0 : readInteger(row, 3))
  return {
    lines: rows
      .filter(([, account]) => account !== null)
      .map((row) => ({
        id: readText(row, 0),
        account: readText(row, 1),
        amount: readBigint(row, 2),
        at: timeOf(row),
      })),
    openHolds: rows.filter(([, account]) => account === null).map((row) => ({ id: readText(row, 0), at: timeOf(row) })),
  }
}
