/**
 * A ledger in double entry on SQLite.
 *
 * @module open-payments-server/ledger/sqlite
 */

import { type Row, readBigint, readInteger, readText } from '../storage/sql/rows.ts'
import type { Migration } from '../storage/sql/schema.ts'
import { configureHandle, type SqliteOptions } from '../storage/sqlite/configure.ts'
import { createGroupCommit } from '../storage/sqlite/group-commit.ts'
import { createRunner, type SqliteHandle } from '../storage/sqlite/handle.ts'
import { migrate } from '../storage/sqlite/migrate.ts'
import type { BookedAccount, Books, DoubleEntryLedger, LedgerEntry, Transfer, TransferState } from './books.ts'
import { createDoubleEntryLedger } from './double-entry.ts'

export type { SqliteOptions } from '../storage/sqlite/configure.ts'
export type { SqliteHandle, SqliteStatement } from '../storage/sqlite/handle.ts'
export type { Balance, DoubleEntryLedger, LedgerEntry, NewAccount } from './books.ts'
export { readSqliteBooks } from './sqlite-books.ts'

const MIGRATIONS: readonly Migration[] = [
  [
    `CREATE TABLE ledger_account (
      account TEXT NOT NULL PRIMARY KEY,
      asset_code TEXT NOT NULL,
      asset_scale INTEGER NOT NULL,
      can_send INTEGER NOT NULL,
      can_receive INTEGER NOT NULL,
      balance TEXT NOT NULL,
      held TEXT NOT NULL
    )`,
    `CREATE TABLE ledger_transfer (
      id TEXT NOT NULL PRIMARY KEY,
      type TEXT NOT NULL,
      account TEXT NOT NULL,
      amount TEXT NOT NULL,
      asset_code TEXT NOT NULL,
      asset_scale INTEGER NOT NULL,
      counterparty TEXT NOT NULL,
      state TEXT NOT NULL,
      settled_amount TEXT,
      settled_fee TEXT
    )`,
    // SQLite numbers a new row one above the highest. As no entry is ever deleted, this is their order, whatever clocks
    // say.
    `CREATE TABLE ledger_entry (
      sequence INTEGER PRIMARY KEY,
      transfer TEXT NOT NULL,
      account TEXT NOT NULL,
      amount TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      UNIQUE (transfer, account)
    )`,
    'CREATE INDEX ledger_entry_account ON ledger_entry (account, sequence)',
  ],
  // For comparing open holds with payments: a hold that was just made may belong to an order that is still being
  // answered.
  ['ALTER TABLE ledger_transfer ADD COLUMN created_at BIGINT'],
]

/** The number of the last step that did more than add: a release that does not know it cannot use the tables. */
const READABLE_FROM = 1

const SAVE_ACCOUNT = `INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (account) DO UPDATE SET can_send = excluded.can_send, can_receive = excluded.can_receive,
    balance = excluded.balance, held = excluded.held`

const SAVE_TRANSFER = `INSERT INTO ledger_transfer
  (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET state = excluded.state, settled_amount = excluded.settled_amount,
    settled_fee = excluded.settled_fee`

const SAVE_ENTRY = 'INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES (?, ?, ?, ?)'

const ACCOUNTS = 'SELECT account, asset_code, asset_scale, can_send, can_receive, balance, held FROM ledger_account'

function readAccount(row: Row): BookedAccount {
  return {
    account: readText(row, 0),
    assetCode: readText(row, 1),
    assetScale: readInteger(row, 2),
    canSend: readInteger(row, 3) === 1,
    canReceive: readInteger(row, 4) === 1,
    balance: readBigint(row, 5),
    held: readBigint(row, 6),
  }
}

const STATES: readonly TransferState[] = [
  'held',
  'settled',
  'released',
  'credited',
  'insufficient_funds',
  'account_closed',
  'not_allowed',
]

const TRANSFER = `SELECT id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount,
  settled_fee FROM ledger_transfer WHERE id = ?`

function readTransfer(row: Row): Transfer {
  const state = STATES.find((candidate) => candidate === row[7])
  if (state === undefined) throw new TypeError('column state holds no state of a transfer')
  return {
    id: readText(row, 0),
    type: row[1] === 'hold' ? 'hold' : 'credit',
    account: readText(row, 2),
    amount: { value: readBigint(row, 3), assetCode: readText(row, 4), assetScale: readInteger(row, 5) },
    counterparty: readText(row, 6),
    state,
    ...(state === 'settled' && { settled: { amount: readBigint(row, 8), fee: readBigint(row, 9) } }),
  }
}

const ENTRIES = `SELECT transfer, account, amount, created_at FROM ledger_entry WHERE account = ?
  ORDER BY sequence`

function readEntry(row: Row): LedgerEntry {
  return {
    transfer: readText(row, 0),
    account: readText(row, 1),
    amount: readBigint(row, 2),
    at: readInteger(row, 3),
  }
}

function sqliteBooks(handle: SqliteHandle, busyMilliseconds: number): Books {
  const { run, first, all } = createRunner(handle)
  return {
    account(account) {
      const row = account.isWellFormed() ? first(`${ACCOUNTS} WHERE account = ?`, [account]) : undefined
      return row && readAccount(row)
    },
    accounts: () => all(ACCOUNTS, []).map(readAccount),
    saveAccount({ account, assetCode, assetScale, canSend, canReceive, balance, held }) {
      const cells = [Number(canSend), Number(canReceive), balance.toString(), held.toString()]
      run(SAVE_ACCOUNT, [account, assetCode, assetScale, ...cells])
    },
    transfer(id) {
      const row = first(TRANSFER, [id])
      return row && readTransfer(row)
    },
    saveTransfer({ id, type, account, amount, counterparty, state, settled }) {
      const { value, assetCode, assetScale } = amount
      const outcome = [state, settled?.amount.toString() ?? null, settled?.fee.toString() ?? null, Date.now()]
      run(SAVE_TRANSFER, [id, type, account, value.toString(), assetCode, assetScale, counterparty, ...outcome])
    },
    entries(account) {
      return account.isWellFormed() ? all(ENTRIES, [account]).map(readEntry) : []
    },
    saveEntry({ transfer, account, amount, at }) {
      run(SAVE_ENTRY, [transfer, account, amount.toString(), at])
    },
    transact: createGroupCommit(handle, busyMilliseconds),
  }
}

/**
 * A ledger in double entry on a SQLite connection that the host has open, in tables that begin with `ledger_`, and
 * `op_meta` for their version. They are created or brought up to date at once; it throws if that fails, and a
 * `ConfigurationError` if an argument is not valid or the encoding of the database is not UTF-8. It may share its connection
 * with `sqliteStorage`. Every answer is durable when it resolves, unless the database is in memory; several processes may use
 * one file.
 */
export function sqliteLedger(handle: SqliteHandle, options: SqliteOptions = {}): DoubleEntryLedger {
  const busyMilliseconds = configureHandle(handle, options)
  migrate(handle, 'ledger', MIGRATIONS, READABLE_FROM)
  return createDoubleEntryLedger(sqliteBooks(handle, busyMilliseconds))
}
