import type { PublicKey } from '../protocol/json-web-key.ts'

/**
 * The answer of a key resolver: the client's present keys, or that its host could not be asked, or that it was not,
 * because the source has caused too many fetches.
 */
export type KeySetResult =
  | { readonly ok: true; readonly keys: readonly PublicKey[] }
  | { readonly ok: false; readonly reason: 'unreachable' | 'invalid' }
  | { readonly ok: false; readonly reason: 'rate_limited'; readonly retryAfterSeconds: number }

/** Who makes this server ask: a resolver that fetches bounds what strangers make it fetch. @spec T-5 */
export interface KeyAsker {
  /** Where the request came from that names this client, where the host tells. */
  readonly source?: string
  /** A stored grant or token is bound to this client: it is no stranger, whatever the resolver still remembers. */
  readonly isHolder?: boolean
}

/**
 * Finds the keys and the name of clients whose wallet addresses live on other servers. The default fetches them,
 * guarded against server-side request forgery; a host may answer from a registry instead.
 */
export interface KeyResolver {
  /**
   * The keys at `{walletAddress}/jwks.json`. A key set may be held for 60 seconds; `unknownKid` names a key that the
   * held set lacks, for which the resolver asks again, at most once per 10 seconds. Never rejects.
   * @spec KEY-6 @spec KEY-12 @spec T-5
   */
  keySet(walletAddress: string, unknownKid?: string, asker?: KeyAsker): Promise<KeySetResult>
  /**
   * `publicName` of the client's wallet address document; `undefined` where it has none or cannot be asked. `source`
   * is where the request came from that names this client, where the host tells. Never rejects.
   */
  publicName(walletAddress: string, source?: string): Promise<string | undefined>
}
