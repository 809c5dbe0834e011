import type {
  Counterparty,
  Credit,
  Hold,
  LedgerRefusal,
  LedgerResult,
  Settlement,
  SettlementResult,
} from '../../src/ports/ledger.ts'
import { type Amount, amountOf, isSameAsset, mistakeInAsset } from '../../src/protocol/amount.ts'
import type { BookedAccount, Books, DoubleEntryLedger, NewAccount, Transfer, TransferState } from './books.ts'

const DONE: SettlementResult = { ok: true }
const CONFLICT: SettlementResult = { ok: false, reason: 'conflict' }

const INTERNAL = /^(?:fees|clearing):/

// Member by member, so that the order in the caller's object makes no difference. An absent one leaves nothing: the
// text is as it was before there was such a member.
function canonicalCounterparty(counterparty: Counterparty): string {
  if (counterparty.kind === 'local')
    return JSON.stringify(['local', counterparty.account, counterparty.incomingPayment])
  const { method, address, walletAddress } = counterparty
  return JSON.stringify(['rail', method, address, ...(walletAddress === undefined ? [] : [walletAddress])])
}

function isSameRequest(a: Transfer, b: Omit<Transfer, 'state'>): boolean {
  return (
    a.type === b.type &&
    a.account === b.account &&
    a.amount.value === b.amount.value &&
    isSameAsset(a.amount, b.amount) &&
    a.counterparty === b.counterparty
  )
}

function isRefusal(state: TransferState): state is LedgerRefusal {
  return state === 'insufficient_funds' || state === 'account_closed' || state === 'not_allowed'
}

/** The answer that a transfer got, for a repeat of its call. */
function answerOf({ state }: Transfer): LedgerResult {
  return isRefusal(state) ? { ok: false, reason: state } : DONE
}

function isClosed(account: BookedAccount): boolean {
  return !account.canSend && !account.canReceive
}

/** Adds `amount` to an account, frees `freed` of what is held there, and writes an entry unless `amount` is 0. */
function post(books: Books, transfer: string, booked: BookedAccount, amount: bigint, freed = 0n): void {
  books.saveAccount({ ...booked, balance: booked.balance + amount, held: booked.held - freed })
  if (amount !== 0n) books.saveEntry({ transfer, account: booked.account, amount, at: Date.now() })
}

/** The same for one of the ledger's own accounts, which exist from their first entry on. */
function postInternal(books: Books, transfer: string, kind: 'fees' | 'clearing', amount: Amount): void {
  const { value, assetCode, assetScale } = amount
  if (value === 0n) return
  const account = `${kind}:${assetCode}:${assetScale}`
  const empty = { account, assetCode, assetScale, canSend: false, canReceive: false, balance: 0n, held: 0n }
  post(books, transfer, books.account(account) ?? empty, value)
}

/** An account of the wallet; `undefined` for the ledger's own accounts, which nobody may pay from or to. */
function payableAccount(books: Books, account: string): BookedAccount | undefined {
  return INTERNAL.test(account) ? undefined : books.account(account)
}

/** What is wrong with an account that plain JavaScript wants to open, if anything. */
export function mistakeInAccount(opened: NewAccount): string | undefined {
  const { account, balance = 0n, canSend = true, canReceive = true } = opened
  if (typeof account !== 'string' || account === '') return 'account must be a string that is not empty'
  // UTF-8 has no form for a half: SQLite would put U+FFFD in its place, and take two names for one.
  if (!account.isWellFormed()) return 'account must hold no half of a surrogate pair'
  if (INTERNAL.test(account)) return 'account must not begin with fees: or clearing:'
  const mistake = mistakeInAsset(opened)
  if (mistake !== undefined) return mistake
  if (typeof balance !== 'bigint') return 'balance must be a bigint, such as 100n'
  if (balance < 0n) return 'balance must not be below zero'
  if (typeof canSend !== 'boolean') return 'canSend must be true or false'
  return typeof canReceive === 'boolean' ? undefined : 'canReceive must be true or false'
}

/** Whether an account is in the books already. Throws if it is in another asset, or if a member is not valid. */
function isOpened(books: Books, opened: NewAccount): boolean {
  const mistake = mistakeInAccount(opened)
  if (mistake !== undefined) throw new TypeError(`createAccount: ${mistake}`)
  const existing = books.account(opened.account)
  if (existing === undefined) return false
  if (isSameAsset(existing, opened)) return true
  throw new TypeError(`the account ${opened.account} exists in another asset`)
}

/** Opens an account in the books; see `DoubleEntryLedger.createAccount`. */
export function openAccount(books: Books, opened: NewAccount): boolean {
  if (isOpened(books, opened)) return false
  const { account, assetCode, assetScale, balance = 0n, canSend = true, canReceive = true } = opened
  const empty: BookedAccount = { account, assetCode, assetScale, canSend, canReceive, balance: 0n, held: 0n }
  post(books, `opening:${account}`, empty, balance)
  return true
}

/** Books a hold or a credit once: `book` does it and returns its state. A repeat gets the same answer. */
function transferOnce(
  books: Books,
  type: Transfer['type'],
  { id, account, amount, counterparty }: Hold | Credit,
  book: (payable: BookedAccount | undefined) => TransferState,
): LedgerResult {
  const request = { id, type, account, amount, counterparty: canonicalCounterparty(counterparty) }
  const known = books.transfer(id)
  if (known !== undefined) return isSameRequest(known, request) ? answerOf(known) : CONFLICT
  const transfer: Transfer = { ...request, state: book(payableAccount(books, account)) }
  books.saveTransfer(transfer)
  return answerOf(transfer)
}

function hold(books: Books, request: Hold): LedgerResult {
  const { amount } = request
  return transferOnce(books, 'hold', request, (payer) => {
    if (payer === undefined || isClosed(payer)) return 'account_closed'
    if (!payer.canSend || !isSameAsset(payer, amount) || amount.value < 0n) return 'not_allowed'
    if (payer.balance - payer.held < amount.value) return 'insufficient_funds'
    books.saveAccount({ ...payer, held: payer.held + amount.value })
    return 'held'
  })
}

function credit(books: Books, request: Credit): LedgerResult {
  const { id, amount } = request
  return transferOnce(books, 'credit', request, (payee) => {
    if (payee === undefined || isClosed(payee)) return 'account_closed'
    if (!payee.canReceive || !isSameAsset(payee, amount) || amount.value < 0n) return 'not_allowed'
    postInternal(books, id, 'clearing', amountOf(amount, -amount.value))
    post(books, id, payee, amount.value)
    return 'credited'
  })
}

function settle(books: Books, { id, amount, fee }: Settlement): SettlementResult {
  const held = books.transfer(id)
  if (held === undefined || !isSameAsset(held.amount, amount) || !isSameAsset(held.amount, fee)) return CONFLICT
  if (held.state === 'settled')
    return held.settled?.amount === amount.value && held.settled.fee === fee.value ? DONE : CONFLICT
  if (held.state !== 'held' || amount.value > held.amount.value || fee.value > amount.value || fee.value < 0n)
    return CONFLICT
  const payer = books.account(held.account)
  if (payer === undefined) throw new Error(`the account of hold ${id} is gone`)
  post(books, id, payer, -amount.value, held.amount.value)
  postInternal(books, id, 'fees', fee)
  postInternal(books, id, 'clearing', amountOf(amount, amount.value - fee.value))
  books.saveTransfer({ ...held, state: 'settled', settled: { amount: amount.value, fee: fee.value } })
  return DONE
}

function release(books: Books, id: string): SettlementResult {
  const held = books.transfer(id)
  if (held?.state === 'released') return DONE
  if (held?.state !== 'held') return CONFLICT
  const payer = books.account(held.account)
  if (payer === undefined) throw new Error(`the account of hold ${id} is gone`)
  post(books, id, payer, 0n, held.amount.value)
  books.saveTransfer({ ...held, state: 'released' })
  return DONE
}

function sumByAsset(accounts: readonly BookedAccount[]): readonly Amount[] {
  const totals: Amount[] = []
  for (const account of accounts) {
    const index = totals.findIndex((total) => isSameAsset(total, account))
    const total = totals[index]
    if (total === undefined) totals.push(amountOf(account, account.balance))
    else totals[index] = amountOf(account, total.value + account.balance)
  }
  return totals
}

/** A ledger over any books: the rules of double entry, independent of where the books are kept. */
export function createDoubleEntryLedger(books: Books): DoubleEntryLedger {
  return {
    async account(account) {
      const found = payableAccount(books, account)
      if (found === undefined) return undefined
      const { assetCode, assetScale, canSend, canReceive } = found
      return { assetCode, assetScale, canSend, canReceive }
    },
    hold: (request) => books.transact(() => hold(books, request)),
    settle: (request) => books.transact(() => settle(books, request)),
    release: ({ id }) => books.transact(() => release(books, id)),
    credit: (request) => books.transact(() => credit(books, request)),
    // Hosts call it at every start, for accounts that are there: no start waits for the write lock of another process.
    createAccount: async (account) => !isOpened(books, account) && books.transact(() => openAccount(books, account)),
    setPermissions: (account, { canSend, canReceive }) =>
      books.transact(() => {
        const found = payableAccount(books, account)
        if (found === undefined) throw new Error(`there is no account ${account}`)
        books.saveAccount({ ...found, canSend, canReceive })
      }),
    async balance(account) {
      const found = books.account(account)
      if (found === undefined) return undefined
      const { assetCode, assetScale, balance, held } = found
      return { assetCode, assetScale, total: balance, held, available: balance - held }
    },
    async totals() {
      return sumByAsset(books.accounts())
    },
    async entries(account) {
      return books.entries(account)
    },
  }
}
