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
  /** What a settlement took, in the asset of the hold. `fee` is included in `amount`. */
  readonly settled?: { readonly amount: bigint; readonly fee: bigint }
}

/** One line of the books: `amount`, in the smallest unit, was added to the account, or taken if it is negative. */
export interface LedgerEntry {
  /** Id of the hold that was settled or of the credit; `opening:` and the account for an opening balance. */
  readonly transfer: string
  readonly account: string
  readonly amount: bigint
  /** When it was booked, in milliseconds since 1970, by the clock of the process that booked it. */
  readonly at: number
}

/** The books of a ledger, written in one transaction at a time. Saving an account or transfer again replaces it. */
export interface Books {
  account(account: string): BookedAccount | undefined
  accounts(): readonly BookedAccount[]
  saveAccount(account: BookedAccount): void
  transfer(id: string): Transfer | undefined
  saveTransfer(transfer: Transfer): void
  /** In the order in which they were saved. */
  entries(account: string): readonly LedgerEntry[]
  saveEntry(entry: LedgerEntry): void
  /**
   * Runs synchronous work as one transaction: nothing else writes meanwhile, and if it throws none of it is kept.
   * Resolves with its result once that is durable. Work may be undone and run again, so it must have no effect except
   * on the books.
   */
  transact<T>(work: () => T): Promise<T>
}

/** An account to open. `assetCode`: 1 to 12 visible ASCII characters; `assetScale`: an integer from 0 to 255. */
export interface NewAccount extends Asset {
  /** Not empty, without half a surrogate pair, and neither `fees:…` nor `clearing:…`, which the ledger keeps for itself. */
  readonly account: string
  /** The opening balance, in the smallest unit, not below zero. Default 0. */
  readonly balance?: bigint
  /** Whether it may be paid from. Default true. */
  readonly canSend?: boolean
  /** Whether it may be paid to. Default true. */
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
   * Opens an account. Its opening balance is one line without a counterpart in the books, and the only thing that changes
   * `totals`. `false`, and no effect, if it exists already in this asset: its balance and permissions stay as they are.
   * Rejects with a `TypeError` if it exists in another asset, and if a member is not valid.
   */
  createAccount(account: NewAccount): Promise<boolean>
  /**
   * Opens or closes an account for sending and receiving; one that may do neither is closed. What is held already can
   * still be settled. Rejects if there is no such account, or if it is one of the ledger's own.
   */
  setPermissions(
    account: string,
    permissions: { readonly canSend: boolean; readonly canReceive: boolean },
  ): Promise<void>
  /**
   * The balance of any account, `fees:<asset>:<scale>` and `clearing:<asset>:<scale>` included. `undefined` if there is no
   * such account, and of those two until something is booked there. Clearing may be below zero.
   */
  balance(account: string): Promise<Balance | undefined>
  /**
   * The sum over all accounts for each asset, fees and clearing included. No call of the `Ledger` port ever changes it.
   */
  totals(): Promise<readonly Amount[]>
  /**
   * What moved on an account, in the order of booking, even if the clock was set back meanwhile: credits, settlements
   * and the opening balance, but no holds that are open or were released. Empty for an unknown account.
   */
  entries(account: string): Promise<readonly LedgerEntry[]>
}
