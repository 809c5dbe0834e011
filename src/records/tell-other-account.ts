import type { Context } from '../ports/context.ts'
import { tellFault } from './tell-fault.ts'

/** A record that was made for the account that a wallet address had at the time. */
export interface MadeForAccount {
  readonly walletAddress?: string
  readonly account?: string
}

/**
 * Reports that a wallet address now has another account than the one that a record was made for: a mistake of the
 * wallet.
 * @spec RS-13 @spec INC-13 @spec T-52
 */
export function tellOtherAccount(context: Context, made: MadeForAccount, account: string): void {
  const cause = new Error(`${made.walletAddress}: account "${made.account}" before, "${account}" in the directory`)
  tellFault(context, 'a wallet address now has a different account', cause)
}
