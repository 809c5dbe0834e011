import { createHash, randomBytes } from 'node:crypto'
import type { JsonWebKey, WalletAddress } from 'open-payments-server'
import type { Pool } from 'pg'
import { COST, hashPassword, isPassword } from './passwords.ts'

/** In addition to the ledger's tables, which have the accounts. A session's token is kept in its browser only. */
export const peopleSchema = `
  CREATE TABLE person (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, password_hash text NOT NULL);
  CREATE TABLE session (
    token_hash text PRIMARY KEY, person bigint NOT NULL REFERENCES person, expires_at timestamptz NOT NULL);
  CREATE TABLE wallet_address (
    url text PRIMARY KEY, account text NOT NULL REFERENCES account, person bigint NOT NULL REFERENCES person,
    public_name text NOT NULL, is_active boolean NOT NULL DEFAULT true, keys jsonb NOT NULL DEFAULT '[]');
  CREATE INDEX ON wallet_address (person)`

/** Somebody who is logged in: `session` is the same in every request of one login, and in no other. */
export interface LoggedIn {
  readonly session: string
  readonly name: string
  readonly walletAddresses: readonly string[]
}

/** The customers of a wallet. */
export interface People {
  /** Opens an account for somebody new. */
  add(person: NewPerson): Promise<void>
  /** The token of a new session; `undefined` if the name or the password is wrong. */
  logIn(name: string, password: string): Promise<string | undefined>
  find(token: string): Promise<LoggedIn | undefined>
  logOut(token: string): Promise<void>
  findWalletAddress(url: string): Promise<WalletAddress | undefined>
  /** Deletes expired sessions; resolves with how many. */
  sweep(): Promise<number>
}

/** A customer and their first account, which opens with a balance in the smallest unit. */
export interface NewPerson {
  readonly name: string
  readonly password: string
  readonly walletAddress: string
  readonly balance: bigint
  /** The keys with which this wallet address signs as a client. */
  readonly keys?: readonly JsonWebKey[]
}

const SESSION_MINUTES = 30
const FIND = `SELECT name, array_agg(url) AS "walletAddresses" FROM session JOIN person ON id = person
  JOIN wallet_address USING (person) WHERE token_hash = $1 AND expires_at > now() GROUP BY name`
const FIND_WALLET_ADDRESS = `SELECT account, asset_code AS "assetCode", asset_scale AS "assetScale",
  public_name AS "publicName", is_active AS "isActive", keys FROM wallet_address JOIN account ON id = account WHERE url = $1`

/** The people in a database. */
export function createPeople(pool: Pool, cost: typeof COST = COST): People {
  const nobody = hashPassword(randomBytes(32).toString('base64'), cost)
  return {
    async add({ name, password, walletAddress, balance, keys = [] }) {
      const add = `WITH p AS (INSERT INTO person (name, password_hash) VALUES ($1, $2) RETURNING id),
          a AS (INSERT INTO account (id, asset_code, asset_scale, balance) VALUES ($3, 'USD', 2, $4) RETURNING id)
        INSERT INTO wallet_address (url, account, person, public_name, keys) SELECT $5, a.id, p.id, $1, $6 FROM a, p`
      const account = randomBytes(16).toString('hex')
      await pool.query(add, [
        name,
        await hashPassword(password, cost),
        account,
        balance,
        walletAddress,
        JSON.stringify(keys),
      ])
    },
    async logIn(name, password) {
      const found = await pool.query('SELECT id, password_hash FROM person WHERE name = $1', [name])
      const [person] = found.rows
      // As much work for an unknown name, so that the time does not tell. Limit guesses before this, per name and per source.
      if (!(await isPassword(password, person?.password_hash ?? (await nobody)))) return undefined
      const token = randomBytes(32).toString('base64url')
      const insert = `INSERT INTO session VALUES ($1, $2, now() + $3 * interval '1 minute')`
      await pool.query(insert, [hashToken(token), person.id, SESSION_MINUTES])
      return token
    },
    async find(token) {
      const session = hashToken(token)
      const [found] = (await pool.query(FIND, [session])).rows
      return found && { session, ...found }
    },
    async logOut(token) {
      await pool.query('DELETE FROM session WHERE token_hash = $1', [hashToken(token)])
    },
    findWalletAddress: async (url) => (await pool.query(FIND_WALLET_ADDRESS, [url])).rows[0],
    sweep: async () => (await pool.query('DELETE FROM session WHERE expires_at <= now()')).rowCount ?? 0,
  }
}

/** A token is random, so one round of hashing is enough: nobody can guess it from its hash. A password needs scrypt. */
function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
