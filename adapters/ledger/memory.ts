/**
 * A ledger for tests and trials.
 *
 * @module open-payments-server/ledger/memory
 */

import { ConfigurationError } from '../../src/index.ts'
import type { BookedAccount, Books, DoubleEntryLedger, LedgerEntry, NewAccount, Transfer } from './books.ts'
import { createDoubleEntryLedger, openAccount } from './double-entry.ts'

export type { Balance, DoubleEntryLedger, LedgerEntry, NewAccount } from './books.ts'

function memoryBooks(): Books {
  const accounts = new Map<string, BookedAccount>()
  const transfers = new Map<string, Transfer>()
  const entries: LedgerEntry[] = []
  return {
    account: (account) => accounts.get(account),
    accounts: () => [...accounts.values()],
    saveAccount: (account) => void accounts.set(account.account, account),
    transfer: (id) => transfers.get(id),
    saveTransfer: (transfer) => void transfers.set(transfer.id, transfer),
    entries: (account) => entries.filter((entry) => entry.account === account),
    saveEntry: (entry) => void entries.push(entry),
    transact: async (work) => work(),
  }
}

function checkAccount(name: string, { account, assetCode, assetScale, balance = 0n }: NewAccount): void {
  const demand = (holds: boolean, member: string): void => {
    if (!holds) throw new ConfigurationError(`${name}.${member}`)
  }
  demand(typeof account === 'string' && account !== '', 'account must be a string that is not empty')
  demand(typeof assetCode === 'string', 'assetCode must be a string')
  demand(Number.isInteger(assetScale) && assetScale >= 0 && assetScale <= 255, 'assetScale must be 0 to 255')
  demand(typeof balance === 'bigint', 'balance must be a bigint, such as 100n')
}

/**
 * A ledger in this process's memory, for tests and trials: it forgets everything when the process ends. Throws where
 * two of the accounts have one name, and a `ConfigurationError` where one is none.
 */
export function memoryLedger(options: { readonly accounts?: readonly NewAccount[] } = {}): DoubleEntryLedger {
  const { accounts = [], ...others } = options
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new ConfigurationError(`memoryLedger: ${unknown} is not an option`)
  if (!Array.isArray(accounts)) throw new ConfigurationError('memoryLedger: accounts must be a list')
  const books = memoryBooks()
  for (const [index, account] of accounts.entries()) {
    checkAccount(`memoryLedger: accounts[${index}]`, account)
    if (!openAccount(books, account)) throw new TypeError(`the account ${account.account} occurs twice`)
  }
  return createDoubleEntryLedger(books)
}
