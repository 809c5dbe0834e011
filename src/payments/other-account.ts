import type { Context } from '../ports/context.ts'
import { tellFault } from '../records/tell-fault.ts'

/** What was made for an account; a record of an older release does not say for which. */
export interface MadeForAccount {
  readonly account?: string
}

/** Whether an account is another one than something was made for. @spec RS-13 @spec INC-13 @spec T-52 */
export function isOtherAccount(made: MadeForAccount, account: string): boolean {
  return made.account !== undefined && made.account !== account
}

/** Tells the wallet that a wallet address has another account than something was made for: its own mistake. */
export function tellOtherAccount(context: Context, walletAddress: string, made: MadeForAccount, account: string): void {
  const cause = new Error(`${walletAddress}: account "${made.account}" before, "${account}" in the directory`)
  tellFault(context, 'a wallet address has another account by now', cause)
}
