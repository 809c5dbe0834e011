import type { Context } from '../ports/context.ts'
import { shownValue } from '../protocol/shown-value.ts'
import { canonicalWalletAddress } from '../protocol/wallet-address.ts'

/**
 * The canonical URL of a wallet address that the wallet passes in. Throws a `TypeError` if the text is not one under this
 * server's own origin: nothing would be found for it, nor for another spelling, and that would look like proof that nothing
 * was granted or paid.
 */
export function requireWalletAddress({ policies, walletAddressServer }: Context, text: string): string {
  const walletAddress = typeof text === 'string' ? canonicalWalletAddress(text, policies) : undefined
  if (!walletAddress?.startsWith(`${walletAddressServer}/`))
    throw new TypeError(`${shownValue(text)} is not a wallet address under ${walletAddressServer}`)
  return walletAddress
}
