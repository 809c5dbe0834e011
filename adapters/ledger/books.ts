import type { Ledger, LedgerAccount, LedgerRefusal } from '../../src/ports/ledger.ts'
import type { Amount, Asset } from '../../src/protocol/amount.ts'

/** An account as the books keep it: `balance` includes what is `held`. */
export interface BookedAccount extends LedgerAccount {
  readonly account: string
  readonly balance: bigint
  readonly held: bigint
}

/** Where a transfer stands: a hold is `held`, then `settled` or `released`; a credit is `credited`; either may be refused. */
export type TransferState = 'held' | 'settled' | 'released' | 'credited' | LedgerRefusal

/** A hold or a credit under its id, refusals included. */
export interface Transfer {
  readonly id: string
  readonly type: 'hold' | 'credit'
  readonly account: string
  readonly amount: Amount
  /** The counterparty in canonical JSON. */
  readonly counterparty: string
  readonly state: TransferState
  /** What a settlement took, in the asset of `amount`. */
  readonly settled?: { readonly amount: bigint; readonly fee: bigint }
}

/** One line of the books: `amount` was added to the account, or taken where it is negative. */
export interface LedgerEntry {
  /** Id of the hold or credit, or `opening:` and the account. */
  readonly transfer: string
  readonly account: string
  readonly amount: bigint
  /** When it was booked, in milliseconds since 1970, by the clock of the process that booked it. */
  readonly at: number
}

/** The books that a ledger writes in, within one transaction at a time. */
export interface Books {
  account(account: string): BookedAccount | undefined
  accounts(): readonly BookedAccount[]
  saveAccount(account: BookedAccount): void
  transfer(id: string): Transfer | undefined
  saveTransfer(transfer: Transfer): void
  /** In the order in which they were saved. */
  entries(account: string): readonly LedgerEntry[]
  saveEntry(entry: LedgerEntry): void
  /** Runs synchronous work alone and all of it or none, and resolves when it is durable. */
  transact<T>(work: () => T): Promise<T>
}

/** An account to open. `assetCode`: 1 to 12 visible ASCII characters; `assetScale`: an integer from 0 to 255. */
export interface NewAccount extends Asset {
  /** Not empty, and neither `fees:…` nor `clearing:…`, which the ledger keeps for itself. */
  readonly account: string
  /** The opening balance, in the smallest unit, not below zero. Default 0. */
  readonly balance?: bigint
  /** Default true. */
  readonly canSend?: boolean
  /** Default true. */
  readonly canReceive?: boolean
}

/** What an account holds, in the smallest unit of its asset: `total` is `available` and `held` together. */
export interface Balance extends Asset {
  readonly total: bigint
  readonly held: bigint
  readonly available: bigint
}

/** A ledger in double entry, with what its operator needs beside the port. */
export interface DoubleEntryLedger extends Ledger {
  /**
   * Opens an account with its opening balance. `false`, and no effect, if it exists already in this asset; its balance and
   * permissions stay as they are. Rejects with a `TypeError` if it exists in another asset, and if a member is not valid.
   */
  createAccount(account: NewAccount): Promise<boolean>
  /**
   * Opens or closes an account for sending and receiving. What is held already can still be settled. Rejects if there is
   * no such account, or if it is one of the ledger's own.
   */
  setPermissions(
    account: string,
    permissions: { readonly canSend: boolean; readonly canReceive: boolean },
  ): Promise<void>
  /** The balance of any account, `fees:<asset>:<scale>` and `clearing:<asset>:<scale>` included. */
  balance(account: string): Promise<Balance | undefined>
  /** The sum over all accounts, fees and clearing included, for each asset. No payment ever changes it. */
  totals(): Promise<readonly Amount[]>
  /**
   * What moved on an account, in the order in which it was booked, also if the clock was set back meanwhile. Of an account
   * that does not exist: an empty list.
   */
  entries(account: string): Promise<readonly LedgerEntry[]>
}
