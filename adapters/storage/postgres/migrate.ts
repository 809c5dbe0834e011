import { RECORD_TABLES } from '../sql/layout.ts'
import { isComplete, META_TABLE, type Migration, readSchemaState, type SchemaState } from '../sql/schema.ts'
import type { Connections, Parameter } from './database.ts'
import { backOff, retryUndone, sqlState } from './retry.ts'

// Gives a row even if there is no schema of that name, or none that this role may see. Who bypasses row level security
// is spelled out, because other databases may lack `row_security_active`.
const READ_STATE = `SELECT version, readable_from, current_setting('server_encoding'), nspname, current_schema(),
    (SELECT min(relname) FROM pg_class AS hidden
      WHERE hidden.relnamespace = meta.relnamespace AND relname IN ('op_meta', '${RECORD_TABLES.join("', '")}') AND relrowsecurity
        AND (relforcerowsecurity OR NOT pg_has_role(relowner, 'USAGE'))
        AND NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls))),
    (SELECT min(relname) FROM pg_class AS barred
      WHERE barred.relnamespace = meta.relnamespace AND relname IN ('${RECORD_TABLES.join("', '")}')
        AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
          AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')))
  FROM pg_class AS meta JOIN pg_namespace ON pg_namespace.oid = relnamespace LEFT JOIN op_meta ON name = $1
  WHERE meta.oid = to_regclass('op_meta')`

/** Refuses a database that would refuse records later, or where they could belong to another wallet or be hidden. */
function refuseUnfit([encoding, found, current, hidden, barred]: readonly Parameter[]): void {
  if (encoding !== 'UTF8') {
    throw new Error(`the server_encoding of this database is ${encoding}: make one with ENCODING 'UTF8'`)
  }
  if (found !== current) {
    throw new Error(
      `search_path begins with the schema ${current}, but finds op_meta in ${found}, which may be another wallet's: set search_path to the schema of this wallet alone`,
    )
  }
  if (hidden !== null) {
    throw new Error(
      `row level security applies to ${hidden}, and would hide records from this role: give the role BYPASSRLS, or ALTER TABLE ${hidden} DISABLE ROW LEVEL SECURITY if nothing else serves this schema to others`,
    )
  }
  if (barred !== null) {
    throw new Error(
      `this role lacks a right to ${barred}: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${current} to it`,
    )
  }
}

/** Reads how far a schema has been brought; `undefined` if there is none at all. */
async function readState({ query }: Connections, name: string): Promise<SchemaState | undefined> {
  try {
    const [row] = await retryUndone(() => query({ text: READ_STATE, parameters: [name], isRepeated: false }))
    if (row === undefined) return undefined
    refuseUnfit(row.slice(2))
    return row[0] === null ? undefined : readSchemaState(row)
  } catch (error) {
    if (sqlState(error) === '42P01') return undefined
    throw error
  }
}

/** The column type for text that is compared by bytes, whatever the database's own collation is. */
async function bytewiseText({ query }: Connections): Promise<string> {
  const [row] = await query({ text: 'SELECT version()', parameters: [], isRepeated: false })
  // CockroachDB compares by bytes by default, and does not know the collation "C".
  return row?.[0]?.startsWith('CockroachDB') ? ' TEXT' : ' TEXT COLLATE "C"'
}

/**
 * The common schema in this database's dialect. Tables that exist are kept: some databases may keep half of a
 * transaction that creates tables.
 */
function toDialect(sql: string, text: string): string {
  return sql
    .replace(/^(CREATE TABLE|CREATE INDEX|ALTER TABLE \w+ ADD COLUMN) (?!IF)/, '$1 IF NOT EXISTS ')
    .replaceAll(' TEXT', text)
}

function begin(name: string): readonly string[] {
  return [META_TABLE, `INSERT INTO op_meta VALUES ('${name}', 0, 0) ON CONFLICT (name) DO NOTHING`]
}

/** Less than the second after which PostgreSQL looks for a deadlock, so that the step gives way and not a commit. */
const LOCK_MILLISECONDS = 500

/** Takes a step, in one transaction that holds the row of the schema from its first statement on. */
function takeStep(name: string, version: number, step: Migration, readableFrom: number): readonly string[] {
  const at = `WHERE name = '${name}' AND version = ${version}`
  return [
    // If another process has taken the step, the statement fails here, by casting a text that is not an integer.
    `WITH held AS (UPDATE op_meta SET version = version ${at} RETURNING 1)
      SELECT CAST(CAST(NULLIF(count(*), 1) AS VARCHAR) || ' rows: op_meta has moved on' AS INTEGER) FROM held`,
    // Limited, because all readers of a table queue behind a step that waits for it. Not set earlier: only other steps
    // wait for the row above.
    `SET LOCAL lock_timeout = '${LOCK_MILLISECONDS}ms'`,
    ...step,
    `UPDATE op_meta SET version = ${version + 1}, readable_from = ${readableFrom} ${at}`,
  ]
}

// The errors if several processes create the same tables at once: a name or catalogue row that exists already, a
// serialization failure, a deadlock, and a step that another process has taken.
const RACED: ReadonlySet<string | undefined> = new Set(['23505', '42P07', '42710', '40001', '40P01', '22P02'])

const MOST_RACES = 20

/** A step has waited too long for a table. */
const HELD_UP = '55P03'

/** About a minute in all, with pauses of up to eight seconds. */
const MOST_TRIES = 12

/** Pauses, so that whatever has queued behind a step goes first; rejects once the step was held up too often. */
async function standBack(tries: number, name: string, version: number, cause: unknown): Promise<void> {
  if (tries < MOST_TRIES) return backOff(tries, 250)
  const message = `the ${name} schema of this database cannot be brought to version ${version}: another transaction, such as a backup or another start, has held one of its tables for a minute; start again after it (pg_locks and pg_blocking_pids name it)`
  throw new Error(message, { cause })
}

/**
 * Brings the schema `name` to the newest of `migrations`, step by step, once, however many processes start at the same
 * time. `readableFrom` is the number of the last step that did more than add. If nothing is to be done, it only reads.
 * If a newer release has taken the schema further, it is left as it is. Rejects if this release cannot work with that,
 * or if another transaction does not release a table that must change.
 */
export async function migrate(
  connections: Connections,
  name: string,
  migrations: readonly Migration[],
  readableFrom: number,
): Promise<void> {
  let races = 0
  let tries = 0
  for (;;) {
    const state = await readState(connections, name)
    if (state !== undefined && isComplete(name, state, migrations.length)) return
    const text = await bytewiseText(connections)
    const statements =
      state === undefined ? begin(name) : takeStep(name, state.version, migrations[state.version] ?? [], readableFrom)
    try {
      await connections.script(statements.map((sql) => toDialect(sql, text)).join(';\n'))
    } catch (error) {
      if (sqlState(error) === HELD_UP) {
        tries += 1
        await standBack(tries, name, (state?.version ?? 0) + 1, error)
        continue
      }
      races += 1
      if (!RACED.has(sqlState(error)) || races === MOST_RACES) throw error
      await backOff(races)
    }
  }
}
