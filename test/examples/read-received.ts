import type { Pool } from 'pg'
import type { Received } from './reconcile.ts'

/** Reads from the tables of the PostgreSQL storage what came from other wallets, and was taken. */
export async function readReceived(pool: Pool): Promise<readonly Received[]> {
  const { rows } = await pool.query(
    `SELECT id, state, payee_account, amount_value, amount_asset_code, amount_asset_scale, created_at,
       rail_account_id
     FROM op_receipt WHERE payee_account IS NOT NULL`,
  )
  return rows.map((row) => ({
    id: row.id,
    state: row.state,
    payeeAccount: row.payee_account,
    amount: { value: row.amount_value, assetCode: row.amount_asset_code, assetScale: row.amount_asset_scale },
    createdAt: Number(row.created_at),
    railAccount: row.rail_account_id,
  }))
}
