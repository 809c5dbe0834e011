import type { Context } from '../ports/context.ts'
import { tellFault } from './tell-fault.ts'

/** What was made for the account that a wallet address had then. */
export interface MadeForAccount {
  readonly walletAddress?: string
  readonly account?: string
}

/**
 * Tells the wallet that a wallet address has another account than something was made for: its own mistake.
 * @spec RS-13 @spec INC-13 @spec T-52
 */
export function tellOtherAccount(context: Context, made: MadeForAccount, account: string): void {
  const cause = new Error(`${made.walletAddress}: account "${made.account}" before, "${account}" in the directory`)
  tellFault(context, 'a wallet address now has a different account', cause)
}
