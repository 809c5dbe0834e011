import type { Amount, Credit, Hold, Ledger, LedgerAccount, LedgerRefusal, LedgerResult } from 'open-payments-server'

/** An account, with its money in the smallest unit of its asset. */
export interface Account extends LedgerAccount {
  balance: bigint
  held: bigint
}

/** A hold or a credit: what was asked for, what the answer was, and for a hold, how it ended. */
interface Transfer {
  readonly call: string
  readonly answer: LedgerResult
  readonly amount: Amount
  readonly account: Account | undefined
  end?: string
}

const OK = { ok: true } as const
const CONFLICT = { ok: false, reason: 'conflict' } as const

/**
 * The rules of a ledger in as little code as possible, for reading. It is in memory, where a call that awaits nothing
 * is a transaction by itself; in yours, everything that a call reads and writes here must be one transaction, durable
 * before the call resolves. `books` gets what belongs to no customer: fees and clearing.
 */
export function smallestLedger(accounts: Map<string, Account>, books: Map<string, bigint>): Ledger {
  const transfers = new Map<string, Transfer>()

  /** The first call under an id decides. Its answer, a refusal too, is what every other call with that id gets. */
  const moveOnce = (
    type: 'hold' | 'credit',
    { id, account: name, amount, counterparty }: Hold | Credit,
  ): LedgerResult => {
    const call = textOf([type, name, amount, counterparty])
    const known = transfers.get(id)
    if (known !== undefined) return known.call === call ? known.answer : CONFLICT
    const account = accounts.get(name)
    const reason = refusalOf(type, account, amount)
    const answer: LedgerResult = reason === undefined ? OK : { ok: false, reason }
    transfers.set(id, { call, answer, amount, account })
    if (account === undefined || reason !== undefined) return answer
    if (type === 'hold') account.held += amount.value
    else {
      account.balance += amount.value
      book('clearing', amount, -amount.value)
    }
    return answer
  }

  /** A hold ends once. The same end again gets the same answer, any other is a conflict. */
  const endOnce = (id: string, end: string, taken: bigint, fee: bigint): typeof OK | typeof CONFLICT => {
    const hold = transfers.get(id)
    if (hold?.account === undefined || !hold.answer.ok || !hold.call.startsWith('["hold"')) return CONFLICT
    if (hold.end !== undefined) return hold.end === end ? OK : CONFLICT
    if (taken > hold.amount.value || fee > taken || fee < 0n) return CONFLICT
    hold.end = end
    hold.account.held -= hold.amount.value
    hold.account.balance -= taken
    book('fees', hold.amount, fee)
    book('clearing', hold.amount, taken - fee)
    return OK
  }

  const book = (kind: string, { assetCode, assetScale }: Amount, change: bigint): void => {
    const name = `${kind}:${assetCode}:${assetScale}`
    books.set(name, (books.get(name) ?? 0n) + change)
  }

  return {
    account: async (name) => {
      const found = accounts.get(name)
      if (found === undefined) return undefined
      const { assetCode, assetScale, canSend, canReceive } = found
      return { assetCode, assetScale, canSend, canReceive }
    },
    hold: async (hold) => moveOnce('hold', hold),
    credit: async (credit) => moveOnce('credit', credit),
    release: async ({ id }) => endOnce(id, 'released', 0n, 0n),
    settle: async ({ id, amount, fee }) => {
      const held = transfers.get(id)?.amount
      const isOneAsset = [amount, fee].every((one) => held !== undefined && assetOf(one) === assetOf(held))
      return isOneAsset ? endOnce(id, textOf([amount.value, fee.value]), amount.value, fee.value) : CONFLICT
    },
  }
}

function refusalOf(type: 'hold' | 'credit', account: Account | undefined, amount: Amount): LedgerRefusal | undefined {
  if (account === undefined || !(account.canSend || account.canReceive)) return 'account_closed'
  const isAllowed = type === 'hold' ? account.canSend : account.canReceive
  if (!isAllowed || assetOf(account) !== assetOf(amount)) return 'not_allowed'
  return type === 'hold' && account.balance - account.held < amount.value ? 'insufficient_funds' : undefined
}

const assetOf = ({ assetCode, assetScale }: Omit<Amount, 'value'>): string => `${assetCode}:${assetScale}`

/** The same text for the same values, whatever the order of their members. */
function textOf(values: readonly unknown[]): string {
  return JSON.stringify(values, (_name, value) => {
    if (typeof value === 'bigint') return String(value)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  })
}
