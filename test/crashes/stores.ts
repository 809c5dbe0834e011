import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { KillKind } from './kills.ts'
import { PROCESS_KILLS } from './kills.ts'
import type { Place } from './wallet-process/stores.ts'
import type { WalletProgram } from './wallet-program.ts'

/** A kind of store, and what can befall a wallet on it. */
export interface StoreKind {
  readonly store: string
  readonly kinds: readonly KillKind[]
  /** An empty place of this kind. */
  newPlace(program: WalletProgram, socketFolder: string): Place
}

function newFile({ folder }: WalletProgram): string {
  return join(folder, `${randomUUID()}.db`)
}

function newSchema(): string {
  return `crashes_${randomUUID().replaceAll('-', '')}`
}

/** Storage and ledger of the package in one file. */
export const SQLITE_IN_ONE_FILE: StoreKind = {
  store: 'SQLite in one file',
  kinds: PROCESS_KILLS,
  newPlace: (program) => {
    const file = newFile(program)
    return { kind: 'sqlite', storageFile: file, ledgerFile: file }
  },
}

/** Storage and ledger of the package, each in a file. */
export const SQLITE_IN_TWO_FILES: StoreKind = {
  store: 'SQLite in two files',
  kinds: PROCESS_KILLS,
  newPlace: (program) => ({ kind: 'sqlite', storageFile: newFile(program), ledgerFile: newFile(program) }),
}

/** The storage of the package and the ledger of the examples, through pools of `pg`. */
export const POSTGRES_THROUGH_PG: StoreKind = {
  store: 'PostgreSQL through pg',
  kinds: [...PROCESS_KILLS, 'connections cut'],
  newPlace: (_program, socketFolder) => ({ kind: 'postgres', socketFolder, schema: newSchema(), driver: 'pg' }),
}

/**
 * The storage through `postgres`. Its connections are not cut: up to 3.4.9 this driver never settles some of the
 * queries that were under way on one, whoever asks.
 */
export const POSTGRES_THROUGH_POSTGRES: StoreKind = {
  store: 'PostgreSQL through postgres',
  kinds: PROCESS_KILLS,
  newPlace: (_program, socketFolder) => ({ kind: 'postgres', socketFolder, schema: newSchema(), driver: 'postgres' }),
}
