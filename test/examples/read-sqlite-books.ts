import type { SqliteHandle } from 'open-payments-server/ledger/sqlite'
import type { Books } from './reconcile.ts'

/** Reads what `sqliteLedger` has booked, in one statement and so at one moment. */
export function readSqliteBooks(handle: SqliteHandle): Books {
  const rows = handle
    .prepare(
      `SELECT transfer AS id, account, amount, created_at AS at FROM ledger_entry WHERE transfer NOT LIKE 'opening:%'
       UNION ALL SELECT id, NULL, amount, created_at FROM ledger_transfer WHERE state = 'held'`,
    )
    .all() as { id: string; account: string | null; amount: string; at: number | null }[]
  const read = rows.map(({ account, amount, at, id }) => ({ id, account, amount: BigInt(amount), at: Number(at) }))
  return {
    lines: read.flatMap(({ id, account, amount, at }) => (account === null ? [] : [{ id, account, amount, at }])),
    openHolds: read.filter(({ account }) => account === null),
  }
}
