import type { PublicKey } from '../protocol/json-web-key.ts'

/**
 * The answer of a key resolver: the client's current keys; or that its host could not be asked; or that it was not
 * asked, because the source has caused too many fetches. `detail` says what happened, for the operator: no client is told.
 */
export type KeySetResult =
  | { readonly ok: true; readonly keys: readonly PublicKey[] }
  | { readonly ok: false; readonly reason: 'unreachable' | 'invalid'; readonly detail?: string }
  | { readonly ok: false; readonly reason: 'rate_limited'; readonly retryAfterSeconds: number }

/** On whose behalf this server asks. A resolver that fetches limits what strangers can make it fetch. @spec T-5 */
export interface KeyAsker {
  /** Where the request that names this client came from, if the host tells. */
  readonly source?: string | undefined
  /** Whether a stored grant or token is bound to this client: then it counts as known, whatever the resolver remembers. */
  readonly isHolder?: boolean
}

/**
 * Finds the keys and the name of clients whose wallet addresses live on other servers. The default fetches them,
 * guarded against server-side request forgery; a host may answer from a registry instead. If a call to it rejects, or a
 * key set takes longer than 4 seconds, a `fault` says so; then the request whose signature needs the key set is answered
 * 503, and a client has no name. For a request that creates an incoming payment, a quote or an outgoing payment it shares
 * `holdSeconds` (3) with all else that is asked: so answer much sooner.
 */
export interface KeyResolver {
  /**
   * The keys at `{walletAddress}/jwks.json`; if there are none and the path is `/.well-known/pay`, which stands for no path,
   * those at `/jwks.json` of the host. A key set may be cached for 60 seconds; `unknownKid` names a key that the
   * cached set lacks, for which the resolver asks again, at most once per 10 seconds.
   * @spec KEY-6 @spec KEY-12 @spec T-5
   */
  keySet(walletAddress: string, unknownKid?: string, asker?: KeyAsker): Promise<KeySetResult>
  /**
   * `publicName` in the client's wallet address document; `undefined` if it has none or cannot be asked. A grant
   * request waits for it for a second.
   */
  publicName(walletAddress: string, asker?: Pick<KeyAsker, 'source'>): Promise<string | undefined>
}
