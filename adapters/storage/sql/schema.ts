import { type Row, readInteger } from './rows.ts'

/** One step of a schema: statements that are run once, in order, in one transaction. */
export type Migration = readonly string[]

/** What a database says about a schema in it. */
export interface SchemaState {
  /** How many of its steps were taken. */
  readonly version: number
  /** How many steps a release must know to work with it. */
  readonly readableFrom: number
}

/** Where the states of the schemas of a database are kept, a row for each. */
export const META_TABLE =
  'CREATE TABLE IF NOT EXISTS op_meta (name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, readable_from INTEGER NOT NULL)'

/** Reads `version` and `readable_from` of a row of that table. */
export function readSchemaState(row: Row): SchemaState {
  return { version: readInteger(row, 0), readableFrom: readInteger(row, 1) }
}

/**
 * Whether a schema has all the steps that this release knows. If a newer release has taken it further by steps that
 * only add, it is left as it is; throws if this release cannot work with it any more.
 */
export function isComplete(name: string, { version, readableFrom }: SchemaState, known: number): boolean {
  if (version > known && readableFrom > known) {
    throw new Error(
      `the ${name} schema of this database is version ${version}; this release knows ${known}: a newer release has changed it, use that one`,
    )
  }
  return version >= known
}

const LISTED: readonly string[] = ['op_grant', 'op_incoming_payment', 'op_outgoing_payment']

const amount = (name: string): string => `${name}_value TEXT NOT NULL,
    ${name}_asset_code TEXT NOT NULL,
    ${name}_asset_scale INTEGER NOT NULL`

/** The columns of the first release that a table has between its id and its marks. */
const TABLES: Readonly<Record<string, string>> = {
  op_grant: `state TEXT NOT NULL,
    finalisation TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    client TEXT NOT NULL,
    client_key TEXT,
    keys TEXT NOT NULL,
    access TEXT NOT NULL,
    wallet_address TEXT,
    account TEXT,
    subject INTEGER NOT NULL,
    secret_id TEXT NOT NULL,
    continuation_hash TEXT NOT NULL,
    continue_after BIGINT NOT NULL,
    finish TEXT,
    interact_ref_hash TEXT,
    wrong_references INTEGER NOT NULL,
    issued_at BIGINT,
    token_id TEXT,
    consent_hash TEXT,
    decided_at BIGINT`,
  op_interaction: `grant_id TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    client_name TEXT,
    session_hash TEXT,
    consent_hash TEXT`,
  op_access_token: `manage_id TEXT NOT NULL,
    secret_id TEXT NOT NULL,
    state TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    client TEXT NOT NULL,
    client_key TEXT,
    keys TEXT NOT NULL,
    access TEXT NOT NULL,
    wallet_address TEXT,
    account TEXT,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    rotated_at BIGINT,
    successor_id TEXT`,
  op_incoming_payment: `wallet_address TEXT NOT NULL,
    account TEXT NOT NULL,
    client TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    incoming_amount_value TEXT,
    incoming_amount_asset_code TEXT,
    incoming_amount_asset_scale INTEGER,
    ${amount('received')},
    ${amount('reserved')},
    metadata TEXT,
    secret_id TEXT NOT NULL`,
  op_quote: `wallet_address TEXT NOT NULL,
    account TEXT NOT NULL,
    client TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    receiver TEXT NOT NULL,
    ${amount('debit_amount')},
    ${amount('receive_amount')},
    ${amount('fee')},
    receive_worth TEXT,
    rail TEXT,
    outgoing_payment_id TEXT`,
  op_outgoing_payment: `wallet_address TEXT NOT NULL,
    client TEXT NOT NULL,
    state TEXT NOT NULL,
    states TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    quote_id TEXT,
    receiver TEXT NOT NULL,
    ${amount('debit_amount')},
    ${amount('receive_amount')},
    ${amount('fee')},
    receive_charge TEXT,
    ${amount('sent_amount')},
    metadata TEXT,
    account TEXT NOT NULL,
    incoming_payment_id TEXT,
    payee_account TEXT,
    rail TEXT,
    delivery TEXT,
    grant_id TEXT NOT NULL,
    spending_ids TEXT NOT NULL,
    charged_after TEXT,
    decision_action TEXT,
    decision_amount TEXT,
    decision_fee TEXT,
    decision_reason TEXT,
    attempts INTEGER NOT NULL,
    key_id TEXT`,
  op_spending: `last_charge TEXT,
    ${amount('debit')},
    receive TEXT NOT NULL`,
  op_receipt: `incoming_payment_id TEXT NOT NULL,
    state TEXT NOT NULL,
    ${amount('amount')},
    created_at BIGINT NOT NULL,
    outgoing_payment_id TEXT,
    excess TEXT,
    payee_account TEXT,
    rail_account_id TEXT,
    rail_amount TEXT`,
  op_rail_account: `asset_code TEXT NOT NULL,
    asset_scale INTEGER NOT NULL,
    sent TEXT NOT NULL,
    in_flight TEXT NOT NULL,
    received TEXT NOT NULL`,
  op_replay_claim: `expires_at BIGINT NOT NULL`,
  op_event: `event TEXT NOT NULL`,
  op_idempotency_key: `body_hash TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    answer TEXT NOT NULL,
    expires_at BIGINT NOT NULL`,
  op_signed_request: `public_key TEXT NOT NULL,
    signature TEXT NOT NULL,
    base TEXT NOT NULL,
    body TEXT NOT NULL,
    token_secret_id TEXT NOT NULL,
    token_manage_id TEXT NOT NULL`,
}

const createTable = ([table, columns]: readonly [string, string]): string => `CREATE TABLE ${table} (
    id TEXT NOT NULL PRIMARY KEY,
    ${columns},
    due_at BIGINT,
    schema_version INTEGER NOT NULL,${LISTED.includes(table) ? '\n    is_listed INTEGER NOT NULL,' : ''}
    version BIGINT NOT NULL
  )`

const listIndexes = (table: string): Migration => [
  `CREATE INDEX ${table}_list ON ${table} (wallet_address, created_at DESC, id DESC) WHERE is_listed = 1`,
  `CREATE INDEX ${table}_client ON ${table} (wallet_address, client, created_at DESC, id DESC) WHERE is_listed = 1`,
]

const dueIndex = (table: string): string =>
  `CREATE INDEX ${table}_due ON ${table} (due_at ASC, id ASC) WHERE due_at IS NOT NULL`

const initial: Migration = [
  ...Object.entries(TABLES).map(createTable),
  ...LISTED.flatMap(listIndexes),
  ...Object.keys(TABLES).map(dueIndex),
]

/**
 * The schema of the storage, step by step: one table per kind of record, amounts as decimal text because numeric
 * columns lose digits, times in milliseconds. A released step never changes, nor do the constants above that it is
 * built from; new steps are appended.
 *
 * A step only adds, so that a release can be rolled back: what earlier releases write and read must stay valid, so a
 * new column may be null or has a default.
 */
export const STORAGE_MIGRATIONS: readonly Migration[] = [initial]

/** The number of the last step that did more than add: a release that does not know this step cannot use the schema. */
export const STORAGE_READABLE_FROM = 1
