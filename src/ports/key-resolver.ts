import type { PublicKey } from '../protocol/json-web-key.ts'

/** The answer of a key resolver: the client's present keys, or that its host could not be asked. */
export type KeySetResult =
  | { readonly ok: true; readonly keys: readonly PublicKey[] }
  | { readonly ok: false; readonly reason: 'unreachable' | 'invalid' }

/**
 * Finds the keys and the name of clients whose wallet addresses live on other servers. The default fetches them,
 * guarded against server-side request forgery; a host may answer from a registry instead.
 */
export interface KeyResolver {
  /**
   * The keys at `{walletAddress}/jwks.json`. A key set may be held for 60 seconds; `unknownKid` names a key that the
   * held set lacks, for which the resolver asks again, at most once per 10 seconds. Never rejects.
   * @spec KEY-6 @spec KEY-12
   */
  keySet(walletAddress: string, unknownKid?: string): Promise<KeySetResult>
  /** `publicName` of the client's wallet address document; `undefined` where it has none or cannot be asked. Never rejects. */
  publicName(walletAddress: string): Promise<string | undefined>
}
