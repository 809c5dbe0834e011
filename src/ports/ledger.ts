import type { Amount, Asset } from '../protocol/amount.ts'

/** An account of the wallet's ledger; a closed one may neither send nor receive. */
export interface LedgerAccount extends Asset {
  readonly canSend: boolean
  readonly canReceive: boolean
}

/**
 * Who is at the other end of a movement: an account of this ledger, with the id of the incoming payment (the last segment
 * of its URL), or an address in the network of a payment method, such as an ILP address, which has up to 1,023 characters.
 */
export type Counterparty =
  | { readonly kind: 'local'; readonly account: string; readonly incomingPayment: string }
  | {
      readonly kind: 'rail'
      readonly method: string
      readonly address: string
      /**
       * In a hold: the payee's wallet address, in the form of this server's own. It is what the receiver's server claimed
       * at the order, and nothing proves it. Up to 2,048 characters. Absent if that named none.
       */
      readonly walletAddress?: string
    }

/**
 * Why a ledger refuses. A refusal is final: it had no effect, and the same id gets the same refusal again. `account_closed`:
 * the account is closed or unknown; `not_allowed`: it may not send, or not receive, or is in another asset, or a rule of the
 * wallet's own forbids the payment. The account is the call's own, not the counterparty's.
 */
export type LedgerRefusal = 'insufficient_funds' | 'account_closed' | 'not_allowed'

/**
 * The answer of a ledger. `conflict`: the id is known with different arguments; nothing happened.
 * A rejection or no answer at all means *unknown*, and the library asks again with the same id.
 */
export type LedgerResult = { readonly ok: true } | { readonly ok: false; readonly reason: LedgerRefusal | 'conflict' }

/** The answer of a ledger to `settle` or `release`, which only a conflict can prevent. */
export type SettlementResult = { readonly ok: true } | { readonly ok: false; readonly reason: 'conflict' }

/** Reserves money of an account, at least one unit. `id`: 32 hexadecimal digits, 128 bits. */
export interface Hold {
  readonly id: string
  readonly account: string
  readonly amount: Amount
  readonly counterparty: Counterparty
}

/**
 * Takes held money: `amount`, at least one unit, leaves the account; `fee` of it, which may be 0, stays with the wallet.
 * `id` and asset are the hold's.
 */
export interface Settlement {
  readonly id: string
  readonly amount: Amount
  readonly fee: Amount
}

/** Adds money to an account, at least one unit. `id`: 32 hexadecimal digits, 128 bits. */
export interface Credit {
  readonly id: string
  readonly account: string
  readonly amount: Amount
  readonly counterparty: Counterparty
}

/**
 * The wallet's ledger: the only place that holds money.
 *
 * The wallet guarantees, for every call: durable before it resolves; the same id with the same arguments gives the same
 * answer and one effect, a refusal included; the same id with different arguments gives `conflict` and no effect. The same
 * call may arrive again while the first one is still running. What is available changes with each call in one step: at no
 * moment is money free that a settlement takes, or gone that it leaves.
 *
 * The library guarantees: the arguments of a call are committed before it is made; a hold whose outcome is unknown is
 * never released before it has been requested again; every hold ends in exactly one of `settle` and `release`.
 *
 * In double entry: `settle` is payer -amount, fees +fee, clearing(asset) +(amount - fee); `credit` is clearing(asset)
 * -amount, payee +amount. Clearing may go below zero.
 */
export interface Ledger {
  /** Reads an account; `undefined` or `null` if there is none. */
  account(account: string): Promise<LedgerAccount | null | undefined>
  /**
   * Checks the available balance and reserves the amount in one step. A hold never expires by itself. An unknown
   * account, or one in another asset, is refused. Whether the payee may receive need not be checked: `credit` does that, and
   * after its refusal the hold is released.
   */
  hold(hold: Hold): Promise<LedgerResult>
  /**
   * Takes `amount` of a hold, once, and frees the rest; `amount` <= held, `fee` <= `amount`. Never refused: neither for lack
   * of funds, nor because the account has been closed since.
   */
  settle(settlement: Settlement): Promise<SettlementResult>
  /** Frees a hold; `conflict` after a settlement. */
  release(release: { readonly id: string }): Promise<SettlementResult>
  /** Pays an account out of clearing; not refused because the payer's account has been closed since the hold. */
  credit(credit: Credit): Promise<LedgerResult>
}
