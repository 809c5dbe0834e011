import type { Amount, Credit, Hold, Ledger, LedgerAccount, LedgerRefusal, LedgerResult } from 'open-payments-server'
import type { Pool, PoolClient } from 'pg'

/** `account` and `posting` are what a wallet already has; `transfer` is new: every hold and credit under its id. */
export const postgresLedgerSchema = `
  CREATE TABLE account ( -- with chargebacks, CHECK (held >= 0) instead: settle must succeed below zero, too
    id text PRIMARY KEY, asset_code text NOT NULL, asset_scale integer NOT NULL,
    balance numeric(39) NOT NULL, held numeric(39) NOT NULL DEFAULT 0, CHECK (held BETWEEN 0 AND balance),
    can_send boolean NOT NULL DEFAULT true, can_receive boolean NOT NULL DEFAULT true);
  CREATE TABLE transfer ( -- state: held, then settled or released; credited; refused
    id text PRIMARY KEY, type text NOT NULL, account text NOT NULL, amount numeric(39) NOT NULL CHECK (amount >= 0),
    asset text NOT NULL, counterparty jsonb NOT NULL, at timestamptz NOT NULL DEFAULT now(),
    state text, refusal text, settled numeric(39) NOT NULL DEFAULT 0, fee numeric(39) NOT NULL DEFAULT 0);
  CREATE TABLE posting ( -- fees and clearing are sums of lines: a balance row is one that all payments would wait for
    transfer text NOT NULL, account text NOT NULL, amount numeric(39) NOT NULL,
    at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (transfer, account))`

type Query = (sql: string, values: readonly unknown[]) => Promise<readonly { refusal: LedgerRefusal | null }[]>
const OK = { ok: true } as const
const CONFLICT = { ok: false, reason: 'conflict' } as const
const ACCOUNT = `SELECT asset_code AS "assetCode", asset_scale AS "assetScale", can_send AS "canSend",
  can_receive AS "canReceive" FROM account WHERE id = $1`
const assetOf = (amount?: Amount) => amount && `${amount.assetCode}:${amount.assetScale}`

/** A ledger in PostgreSQL, at any isolation level and in any number of processes; `synchronous_commit` stays on. */
export function postgresLedger(pool: Pool): Ledger {
  return {
    account: async (id) => (await pool.query<LedgerAccount>(ACCOUNT, [id])).rows[0],
    hold: (hold) => transact(pool, (query) => moveOnce(query, 'hold', hold)),
    credit: (credit) => transact(pool, (query) => moveOnce(query, 'credit', credit)),
    settle: ({ id, amount, fee }) => transact(pool, (query) => endOnce(query, 'settled', id, amount, fee)),
    release: ({ id }) => transact(pool, (query) => endOnce(query, 'released', id)),
  }
}

/** The first call with an id inserts its row, and the row answers every call with that id. */
async function moveOnce(query: Query, type: 'hold' | 'credit', move: Hold | Credit): Promise<LedgerResult> {
  const { id, account, amount } = move
  const call = [id, type, account, amount.value, assetOf(amount), move.counterparty]
  const insert = `INSERT INTO transfer (id, type, account, amount, asset, counterparty) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT DO NOTHING RETURNING id` // waits for the end of a transaction that has inserted this id
  if ((await query(insert, call)).length === 1) {
    const decide = `SELECT CASE WHEN NOT can_send AND NOT can_receive THEN 'account_closed'
      WHEN asset_code || ':' || asset_scale <> $2 OR NOT can_${type === 'hold' ? 'send' : 'receive'} THEN 'not_allowed'
      WHEN ${type === 'hold'} AND balance - held < $3 THEN 'insufficient_funds' END AS refusal
      FROM account WHERE id = $1 FOR UPDATE`
    const [{ refusal } = { refusal: 'account_closed' }] = await query(decide, [account, assetOf(amount), amount.value])
    const state = refusal !== null ? 'refused' : type === 'hold' ? 'held' : 'credited'
    await query('UPDATE transfer SET state = $2, refusal = $3 WHERE id = $1', [id, state, refusal])
    await book(query, id)
  }
  const same = 'id = $1 AND (type, account, amount, asset, counterparty) = ($2, $3, $4, $5, $6)'
  const [kept] = await query(`SELECT refusal FROM transfer WHERE ${same}`, call)
  return kept === undefined ? CONFLICT : kept.refusal === null ? OK : { ok: false, reason: kept.refusal }
}

/** Ends a hold once, if it is still held and the amounts fit; OK if it has ended in exactly this way. */
async function endOnce(query: Query, state: 'settled' | 'released', id: string, amount?: Amount, fee?: Amount) {
  const end = [id, state, amount?.value ?? 0n, fee?.value ?? 0n, assetOf(amount), assetOf(fee)]
  const sameAsset = 'asset = COALESCE($5, asset) AND asset = COALESCE($6, asset)'
  const update = `UPDATE transfer SET state = $2, settled = $3, fee = $4 WHERE id = $1 AND state = 'held'
    AND $3 <= amount AND $4 BETWEEN 0::numeric AND $3 AND ${sameAsset} RETURNING id`
  if ((await query(update, end)).length === 1) await book(query, id)
  const same = `id = $1 AND state = $2 AND settled = $3 AND fee = $4 AND ${sameAsset}`
  return (await query(`SELECT id FROM transfer WHERE ${same}`, end)).length === 1 ? OK : CONFLICT
}

/** Applies the new state of a transfer: to the account, and as lines that add up to zero. */
async function book(query: Query, id: string): Promise<void> {
  const effect = `WITH moved AS (SELECT account AS owner, asset, fee,
      CASE state WHEN 'credited' THEN amount ELSE -settled END AS change,
      CASE state WHEN 'held' THEN amount WHEN 'credited' THEN 0 ELSE -amount END AS reserved
      FROM transfer WHERE id = $1 AND state <> 'refused'),
    booked AS (UPDATE account SET balance = balance + change, held = held + reserved FROM moved WHERE id = owner)
    INSERT INTO posting SELECT $1, line.* FROM moved, LATERAL (VALUES (owner, change),
      ('fees:' || asset, fee), ('clearing:' || asset, -change - fee)) AS line (account, amount) WHERE line.amount <> 0`
  await query(effect, [id])
}

/** Runs a transaction, and again if it certainly did not happen: after a serialization failure or a deadlock. */
async function transact<T>(pool: Pool, work: (query: Query) => Promise<T>): Promise<T> {
  const ignore = (): void => undefined // a broken connection rejects its query; without a listener it ends the process
  const db = await new Promise<PoolClient>((resolve, reject) => {
    pool.connect((error, client) => (client === undefined ? reject(error) : resolve(client.on('error', ignore))))
  })
  try {
    await db.query('BEGIN')
    const answer = await work(async (sql, values) => (await db.query(sql, [...values])).rows)
    await db.query('COMMIT')
    db.off('error', ignore).release()
    return answer
  } catch (cause) {
    const undone = Object(cause).code !== '25006' && (await db.query('ROLLBACK').catch(() => undefined))
    db.off('error', ignore).release(!undone) // 25006: it can only read, perhaps for good
    if (!/^40(001|P01)$/.test(Object(cause).code)) throw cause
  }
  await new Promise((resolve) => setTimeout(resolve, 20 * Math.random())) // so as not to collide again
  return transact(pool, work)
}
