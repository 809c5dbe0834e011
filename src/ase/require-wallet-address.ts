import type { Context } from '../ports/context.ts'
import { canonicalWalletAddress } from '../protocol/wallet-address.ts'

/**
 * The canonical URL of a wallet address that the wallet names. Throws a `TypeError` where the text is none: under another
 * spelling there is nothing, which would look like a proof that nothing was given or paid.
 */
export function requireWalletAddress({ policies }: Context, text: string): string {
  const walletAddress = canonicalWalletAddress(text, policies)
  if (walletAddress === undefined) throw new TypeError(`${text} is not a wallet address`)
  return walletAddress
}
