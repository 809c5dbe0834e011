import type { Books } from 'open-payments-server/reconciliation'
import type { Pool } from 'pg'

/** Reads what `postgres-ledger.ts` has booked, in one statement and so at one moment: all, or since a moment and of some ids. */
export async function readPostgresBooks(pool: Pool, since = 0, ids: readonly string[] = []): Promise<Books> {
  const { rows } = await pool.query<{ id: string; account: string | null; amount: string; at: Date }>(
    `SELECT id, posting.account, posting.amount, posting.at FROM posting JOIN transfer ON transfer.id = posting.transfer
     WHERE posting.at >= to_timestamp($1 / 1000.0) OR posting.transfer = ANY ($2)
     UNION ALL SELECT id, NULL, amount, at FROM transfer WHERE state = 'held'`,
    [since, ids],
  )
  const read = rows.map(({ account, amount, at, id }) => ({ id, account, amount: BigInt(amount), at: at.getTime() }))
  return {
    lines: read.flatMap(({ id, account, amount, at }) => (account === null ? [] : [{ id, account, amount, at }])),
    openHolds: read.filter(({ account }) => account === null),
  }
}
