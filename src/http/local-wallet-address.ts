import type { CheckedWalletAddress, Context } from '../ports/context.ts'
import type { WalletAddressKey } from '../ports/wallet-addresses.ts'
import { MAX_KEYS, type ParsedPublicKey } from '../protocol/json-web-key.ts'
import { canonicalWalletAddress } from '../protocol/wallet-address.ts'
import { tellFault } from '../records/tell-fault.ts'

/** A wallet address of this server as the directory has it, with its canonical URL. */
export interface LocalWalletAddress extends CheckedWalletAddress {
  readonly url: string
}

/** Finds a wallet address of this server by any spelling of its URL; `undefined` if there is none. @spec T-40 */
export async function findLocalWalletAddress(context: Context, text: string): Promise<LocalWalletAddress | undefined> {
  return findCanonicalWalletAddress(context, canonicalWalletAddress(text, context.policies))
}

/** The same for a URL in its canonical form; `undefined` in, `undefined` out. */
export async function findCanonicalWalletAddress(
  context: Context,
  url: string | undefined,
): Promise<LocalWalletAddress | undefined> {
  if (url === undefined || !isLocalWalletAddress(context, url)) return undefined
  const found = await context.walletAddresses.find(url, context.answerDueAt)
  return found && { ...found, url }
}

/** Whether a wallet address lives on this server, so that no request has to leave it. */
export function isLocalWalletAddress(context: Context, walletAddress: string): boolean {
  return walletAddress.startsWith(`${context.walletAddressServer}/`)
}

/**
 * The keys with which a wallet address of this server signs as a client: those of the wallet's directory, and this
 * server's own if it is a client of others by this address.
 */
export async function clientKeysOf(
  context: Context,
  { url, keys = [] }: LocalWalletAddress,
): Promise<readonly WalletAddressKey[]> {
  if (url !== context.policies.clientWalletAddress) return keys
  const own = await context.serverKeys.publicKeys()
  // A wallet may have copied them into its directory: as twins they would be no keys at all.
  const others = keys.filter((key) => !own.some(({ kid }) => kid === key?.kid))
  return [...others, ...own]
}

/**
 * Reports the keys of the wallet's directory that nobody can use: their owner cannot know that. One fault for all of them:
 * whoever reads the key set decides how often.
 */
export function tellUnusableKeys(context: Context, walletAddress: string, keys: readonly ParsedPublicKey[]): void {
  const reasons = new Set(keys.flatMap((parsed) => (parsed.ok ? [] : [parsed.reason])))
  if (keys.length > MAX_KEYS) reasons.add(`of ${keys.length} keys none is used: there may be ${MAX_KEYS}`)
  if (reasons.size === 0) return
  const message = `walletAddresses.find('${walletAddress}') gave keys that cannot be used: ${[...reasons].join('; ')}`
  tellFault(context, message, new TypeError(message))
}
