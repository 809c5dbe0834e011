import type { Access } from './access.ts'
import type { ClientId } from './client.ts'
import type { PinnedKey } from './grant.ts'
import type { PublicKey } from './json-web-key.ts'

/** The state of an access token. Expiry is a moment, not a state: see `isUsableToken`. */
export type AccessTokenState = 'active' | 'rotated' | 'revoked'

/**
 * An access token as it is stored. Its value never is: `id` is made from the SHA-256 of that. It repeats what a resource
 * request needs to know of its grant, so that one read is enough to decide.
 * @spec TOK-1
 */
export interface AccessToken {
  readonly id: string
  /** The identifier in the management URI; the value is derived from it. @spec TOK-3 @spec TOK-10 */
  readonly manageId: string
  readonly secretId: string
  readonly state: AccessTokenState
  readonly grantId: string
  readonly client: ClientId
  readonly clientKey?: PublicKey
  readonly keys: readonly PinnedKey[]
  readonly access: readonly Access[]
  /** The wallet address whose owner gave its grant, and the account that it was given for. @spec RS-13 */
  readonly walletAddress?: string
  readonly account?: string
  /** Milliseconds since 1970, like every time here. */
  readonly issuedAt: number
  readonly expiresAt: number
  readonly rotatedAt?: number
  /** Record id of the token that replaced this one. */
  readonly successorId?: string
}

/** Whether the resource server accepts a token at this moment. @spec TOK-4 */
export function isUsableToken(token: AccessToken, now: number): boolean {
  return token.state === 'active' && now < token.expiresAt
}
