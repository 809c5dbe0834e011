import { hash } from 'node:crypto'
import type { Asset, Credit, Hold, Ledger, LedgerAccount, LedgerRefusal, LedgerResult } from 'open-payments-server'
import { type Client, CreateTransferStatus, type Transfer, TransferFlags } from 'tigerbeetle-node'

/** An asset: its ledger in TigerBeetle, and the wallet's accounts there: without flags, as clearing goes both ways. */
export type Book = Asset & { readonly ledger: number; readonly clearing: bigint; readonly fees: bigint }

/** Finds an account, which in TigerBeetle has the flag `debits_must_not_exceed_credits`, and the wallet's record of it.
 * Close it in that record; do not set TigerBeetle's own `closed` while money is held: it would refuse to post it. */
export type Find = (account: string) => Promise<{ readonly id: bigint; readonly account: LedgerAccount } | undefined>

const OK = { ok: true } as const
const CONFLICT = { ok: false, reason: 'conflict' } as const
const REFUSALS: readonly LedgerRefusal[] = ['insufficient_funds', 'account_closed', 'not_allowed']
const NOWHERE = { debit_account_id: 2n ** 128n - 2n, credit_account_id: 2n ** 128n - 3n, ledger: 1 } // no accounts
const REST = { pending_id: 0n, user_data_128: 0n, user_data_64: 0n, user_data_32: 0, timeout: 0, flags: 0 }

const digest = (...parts: readonly unknown[]) => BigInt(`0x${hash('sha256', JSON.stringify(parts)).slice(0, 32)}`)
// The library's id is the transfer's, except for 0 and 2^128 - 1, which TigerBeetle does not accept.
const idOf = (id: string): bigint => (/^(?:0+|f+)$/.test(id) ? digest('id', id) : BigInt(`0x${id}`))
function transferOf(id: bigint, from: bigint, to: bigint, amount: bigint, ledger: number, code: number): Transfer {
  return { ...REST, id, debit_account_id: from, credit_account_id: to, amount, ledger, code, timestamp: 0n }
}

/** What a status says about a refusal. Each of these uses the id up: nothing is ever made under it again. */
function refusalOf(status: string, type: 'hold' | 'credit'): LedgerRefusal | undefined {
  if (status === 'exceeds_credits') return 'insufficient_funds'
  if (/_account_(?:not_found|already_closed)$/.test(status)) return 'account_closed'
  // Used up before by a call that is about to store its reason, or had no time to: nobody was told another one.
  if (status === 'id_already_failed') return type === 'hold' ? 'insufficient_funds' : 'account_closed'
  return undefined
}

/** A ledger in TigerBeetle, with a book for each asset of the wallet. The first of them keeps the refusals. */
export function tigerBeetleLedger(client: Client, find: Find, ...books: readonly [Book, ...Book[]]): Ledger {
  const bookOf = (a?: Asset) => books.find((b) => b.assetCode === a?.assetCode && b.assetScale === a.assetScale)
  // A linked chain is made whole or not at all; if not, the status of the transfer that failed says why.
  async function send(...chain: Transfer[]): Promise<string> {
    const statuses = (await client.createTransfers(chain)).map(({ status }) => CreateTransferStatus[status])
    return statuses.find((status) => status !== 'linked_event_failed') ?? 'no status'
  }

  async function moveOnce(type: 'hold' | 'credit', move: Hold | Credit): Promise<LedgerResult> {
    const { id, account, amount, counterparty } = move
    const [found, book] = [await find(account), bookOf(amount)]
    const { canSend = false, canReceive = false } = found?.account ?? {}
    const isFit = book !== undefined && book === bookOf(found?.account) && (type === 'hold' ? canSend : canReceive)
    const refusal = !canSend && !canReceive ? 'account_closed' : isFit ? undefined : 'not_allowed'
    const sum = `${amount.value}/${amount.assetScale}/${amount.assetCode}`
    const asked = digest(type, account, sum, Object.entries(counterparty).sort())
    const [customer, clearing, ledger] = [found?.id ?? 0n, book?.clearing ?? 0n, book?.ledger ?? 0]
    const hold = { ...transferOf(idOf(id), customer, clearing, amount.value, ledger, 1), flags: TransferFlags.pending }
    const credit = transferOf(idOf(id), clearing, customer, amount.value, ledger, 2)
    // What the wallet itself refuses is sent between accounts that do not exist, so that its id is used up, too.
    const status = await send({ ...(type === 'hold' ? hold : credit), user_data_128: asked, ...(refusal && NOWHERE) })
    if (status === 'created' || status === 'exists') return OK
    // A transfer of zero stores the refusal; the first one that is made answers every call.
    const record = transferOf(digest('refusal', id), books[0].fees, books[0].clearing, 0n, books[0].ledger, 4)
    const why = refusalOf(status, type) && (refusal ?? refusalOf(status, type))
    if (why) await send({ ...record, user_data_128: asked, user_data_32: 1 + REFUSALS.indexOf(why) })
    const [kept] = await client.lookupTransfers([idOf(id), record.id])
    if (kept === undefined) throw new Error(`TigerBeetle: ${status}`)
    const reason = kept.user_data_128 === asked ? REFUSALS[kept.user_data_32 - 1] : 'conflict'
    return reason ? { ok: false, reason } : OK
  }

  // A pending transfer ends at most once, under whatever id; so once a try has used its ids up, another is safe.
  async function endOnce(chainOf: (attempt: number) => readonly Transfer[]) {
    for (let attempt = 0; ; attempt++) {
      const status = await send(...chainOf(attempt))
      if (status === 'created' || status === 'exists') return OK
      if (/^(?:exists_with|pending_transfer|exceeds_pending)_/.test(status)) return CONFLICT
      if (status !== 'id_already_failed') throw new Error(`TigerBeetle: ${status}`)
    }
  }

  return {
    account: async (account) => (await find(account))?.account,
    hold: (hold) => moveOnce('hold', hold),
    credit: (credit) => moveOnce('credit', credit),
    settle: async ({ id, amount, fee }) => {
      const book = bookOf(amount)
      if (book === undefined || book !== bookOf(fee) || fee.value > amount.value) return CONFLICT
      // The fee comes first and stores what was settled, so that a repeat can be told from a different settlement.
      const kept = { user_data_128: idOf(id), user_data_64: amount.value, flags: TransferFlags.linked }
      const post = { pending_id: idOf(id), flags: TransferFlags.post_pending_transfer }
      return endOnce((attempt) => [
        { ...transferOf(digest('fee', id, attempt), book.clearing, book.fees, fee.value, book.ledger, 3), ...kept },
        { ...transferOf(digest('post', id, attempt), 0n, 0n, amount.value, book.ledger, 0), ...post },
      ])
    },
    release: ({ id }) => {
      const end = { pending_id: idOf(id), flags: TransferFlags.void_pending_transfer }
      return endOnce((attempt) => [{ ...transferOf(digest('void', id, attempt), 0n, 0n, 0n, 0, 0), ...end }])
    },
  }
}
