import type { Ledger, RecordKind, Storage, StoredRecord } from 'open-payments-server'
import { openPostgresBooks } from './postgres-books.ts'
import { openSqliteBooks } from './sqlite-books.ts'
import type { Place } from './wallet-process/stores.ts'

/** What is on an account of the ledger, those of the wallet itself included. */
export interface AccountBalance {
  readonly account: string
  readonly assetCode: string
  readonly total: bigint
  readonly held: bigint
}

/** A line of the ledger. */
export interface Line {
  readonly transfer: string
  readonly account: string
  readonly amount: bigint
}

/** Records and ledger of a wallet, kept open by somebody who is never killed. */
export interface Books {
  readonly storage: Storage
  readonly ledger: Ledger
  /** Every record of a kind. */
  records<K extends RecordKind>(kind: K): Promise<readonly StoredRecord<K>[]>
  /** All accounts as they were at one moment. */
  balances(): Promise<readonly AccountBalance[]>
  /** Every line but those of the openings. */
  lines(): Promise<readonly Line[]>
  setOpen(account: string, isOpen: boolean): Promise<void>
  close(): Promise<void>
}

/** Opens the books of a place, and the accounts in them. */
export async function openBooks(place: Place): Promise<Books> {
  return place.kind === 'sqlite' ? openSqliteBooks(place) : openPostgresBooks(place)
}

/** The table of a kind of record. */
export function tableOf(kind: RecordKind): string {
  return `op_${kind.replaceAll('-', '_')}`
}

/** Reads the records of a kind by their ids. */
export async function readRecords<K extends RecordKind>(
  storage: Storage,
  kind: K,
  ids: readonly string[],
): Promise<readonly StoredRecord<K>[]> {
  const found: StoredRecord[] = []
  for (let at = 0; at < ids.length; at += 100) {
    const page = await storage.get(ids.slice(at, at + 100).map((id) => ({ kind, id })))
    found.push(...page.filter((record) => record !== undefined))
  }
  return found.filter((record): record is StoredRecord<K> => record.kind === kind)
}
