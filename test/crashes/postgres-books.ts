import { postgresLedgerSchema } from '../../examples/postgres-ledger.ts'
import { type Books, readRecords, tableOf } from './books.ts'
import { insist } from './database-strikes.ts'
import { ACCOUNTS } from './wallet-process/accounts.ts'
import { openPool, openPostgresStores, type PostgresPlace } from './wallet-process/postgres-stores.ts'

const INTERNAL = `account LIKE 'fees:%' OR account LIKE 'clearing:%'`

const BALANCES = `SELECT id AS account, asset_code, balance::text AS total, held::text FROM account
  UNION ALL SELECT account, split_part(account, ':', 2), sum(amount)::text, '0' FROM posting WHERE ${INTERNAL}
  GROUP BY account`

/** The books of a wallet on PostgreSQL, with the ledger of the examples; the schema is made. */
export async function openPostgresBooks(place: PostgresPlace): Promise<Books> {
  const { schema } = place
  const founder = openPool(place, `founder of ${schema}`)
  await founder.query(`CREATE SCHEMA ${schema}; ${postgresLedgerSchema}`)
  const insert = 'INSERT INTO account (id, asset_code, asset_scale, balance) VALUES ($1, $2, $3, $4)'
  for (const { account, assetCode, assetScale, balance } of ACCOUNTS) {
    await founder.query(insert, [account, assetCode, assetScale, balance])
  }
  await founder.end()
  const { storage, ledger, pool, close } = await openPostgresStores(place)
  return {
    storage,
    ledger,
    records: (kind) =>
      insist(async () => {
        const { rows } = await pool.query<{ readonly id: string }>(`SELECT id FROM ${tableOf(kind)}`)
        return readRecords(
          storage,
          kind,
          rows.map(({ id }) => id),
        )
      }),
    balances: async () => {
      const { rows } = await insist(() => pool.query(BALANCES))
      return rows.map(({ account, asset_code, total, held }) => ({
        account,
        assetCode: asset_code,
        total: BigInt(total),
        held: BigInt(held),
      }))
    },
    lines: async () => {
      const { rows } = await insist(() => pool.query('SELECT transfer, account, amount::text FROM posting'))
      return rows.map(({ transfer, account, amount }) => ({ transfer, account, amount: BigInt(amount) }))
    },
    setOpen: async (account, isOpen) => {
      await pool.query('UPDATE account SET can_send = $2, can_receive = $2 WHERE id = $1', [account, isOpen])
    },
    close,
  }
}
