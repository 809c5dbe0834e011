import { fetchKeyResolver, type KeyResolver } from 'open-payments-server'

/** For `keyResolver` of `createOpenPayments`: the default, which no longer knows the keys of some clients. */
export function refusingKeyResolver(
  isRefused: (walletAddress: string) => boolean,
  resolver: KeyResolver = fetchKeyResolver(),
): KeyResolver {
  return {
    keySet: async (walletAddress, ...asking) =>
      isRefused(walletAddress) ? { ok: false, reason: 'invalid' } : resolver.keySet(walletAddress, ...asking),
    publicName: async (...asking) => resolver.publicName(...asking),
  }
}
