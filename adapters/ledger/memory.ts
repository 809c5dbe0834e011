/**
 * A ledger for tests and trials.
 *
 * @module open-payments-server/ledger/memory
 */

import { requireObject, requireOptionsOf } from '../../src/errors/check-option.ts'
import { ConfigurationError } from '../../src/index.ts'
import type { BookedAccount, Books, DoubleEntryLedger, LedgerEntry, NewAccount, Transfer } from './books.ts'
import { createDoubleEntryLedger, mistakeInAccount, openAccount } from './double-entry.ts'

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
    // The rules of double entry throw before their first write or not at all, so nothing need be undone.
    transact: async (work) => work(),
  }
}

/**
 * A ledger in this process's memory, for tests and trials: it forgets everything when the process ends. Throws a
 * `ConfigurationError` if an option or one of the accounts is not valid, and a `TypeError` if two accounts have one name.
 */
export function memoryLedger(options: { readonly accounts?: readonly NewAccount[] } = {}): DoubleEntryLedger {
  requireOptionsOf('memoryLedger', options, ['accounts'])
  const { accounts = [] } = options
  if (!Array.isArray(accounts)) throw new ConfigurationError('memoryLedger: accounts must be a list')
  const books = memoryBooks()
  for (const [index, account] of accounts.entries()) {
    const name = `memoryLedger: accounts[${index}]`
    requireObject(name, account)
    // Other members are allowed: a wallet may pass its directory's entries with a balance added.
    const mistake = mistakeInAccount(account)
    if (mistake !== undefined) throw new ConfigurationError(`${name}.${mistake}`)
    if (!openAccount(books, account)) throw new TypeError(`the account ${account.account} occurs twice`)
  }
  return createDoubleEntryLedger(books)
}
