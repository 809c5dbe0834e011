import { join } from 'node:path'
import type { RecordKind, RecordTypes, Storage, StoredRecord } from 'open-payments-server'
import type { Balance, DoubleEntryLedger, LedgerEntry } from 'open-payments-server/ledger/sqlite'
import { readRecords, tableOf } from '../crashes/books.ts'
import { openSqliteStores, type SqlitePlace } from '../crashes/wallet-process/sqlite-stores.ts'
import { ACCOUNTS, type AccountName, ASSETS, type AssetCode, type WalletName } from './wallet-process/wallets.ts'

/** A line of the ledger. */
export type Line = Pick<LedgerEntry, 'transfer' | 'account' | 'amount'>

/** Records and ledger of one of the two wallets, kept open by somebody who is never killed. */
export interface WalletBooks {
  readonly place: SqlitePlace
  readonly storage: Storage
  readonly ledger: DoubleEntryLedger
  /** Every record of a kind. */
  records<K extends RecordKind>(kind: K): Promise<readonly StoredRecord<K>[]>
  /** Every value of a kind. */
  values<K extends RecordKind>(kind: K): Promise<readonly RecordTypes[K][]>
  /** By account, those of the wallet itself included. */
  balances(): Promise<ReadonlyMap<string, Balance>>
  /** Every line but those of the openings. */
  lines(): Promise<readonly Line[]>
  setOpen(account: AccountName, isOpen: boolean): Promise<void>
  close(): Promise<void>
}

/** The account of a wallet itself in an asset. */
export function internalAccount(kind: 'fees' | 'clearing', assetCode: AssetCode): string {
  return `${kind}:${assetCode}:${assetCode === 'USD' ? 2 : 4}`
}

const NAMES = [
  ...ACCOUNTS.map(({ account }) => account),
  ...ASSETS.flatMap(({ assetCode }) => [internalAccount('fees', assetCode), internalAccount('clearing', assetCode)]),
]

/** Opens the empty books of a wallet, storage and ledger in a file each, and its accounts. */
export async function openWalletBooks(folder: string, wallet: WalletName, name: string): Promise<WalletBooks> {
  const fileOf = (what: string): string => join(folder, `${name}-${wallet}-${what}.db`)
  const place: SqlitePlace = { kind: 'sqlite', storageFile: fileOf('records'), ledgerFile: fileOf('ledger') }
  const { storage, ledger, records: handle, close } = await openSqliteStores(place)
  for (const account of ACCOUNTS) await ledger.createAccount(account)
  const records: WalletBooks['records'] = async (kind) => {
    const rows = handle.prepare(`SELECT id FROM ${tableOf(kind)}`).all()
    const ids = rows.map((row) => String(Reflect.get(Object(row), 'id')))
    return readRecords(storage, kind, ids)
  }
  return {
    ...{ place, storage, ledger, records },
    values: async (kind) => (await records(kind)).map(({ value }) => value),
    async balances() {
      const found = await Promise.all(NAMES.map(async (account) => [account, await ledger.balance(account)] as const))
      return new Map(found.flatMap(([account, balance]) => (balance === undefined ? [] : [[account, balance]])))
    },
    async lines() {
      const entries = await Promise.all(NAMES.map((account) => ledger.entries(account)))
      return entries.flat().filter(({ transfer }) => !transfer.startsWith('opening:'))
    },
    setOpen: (account, isOpen) => ledger.setPermissions(account, { canSend: isOpen, canReceive: isOpen }),
    close: async () => close(),
  }
}
