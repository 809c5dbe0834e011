import type { Access } from './access.ts'
import type { ClientId } from './client.ts'
import type { PublicKey } from './json-web-key.ts'

/** The state of a grant. A `finalised` grant never changes again. @spec CON-9 */
export type GrantState = 'pending' | 'approved' | 'issued' | 'finalised'

/** Why a grant was finalised. */
export type Finalisation = 'rejected' | 'revoked' | 'expired'

/** How the client asked to be told that the interaction finished. */
export interface Finish {
  readonly uri: string
  /** Forgotten once the finish redirect has been made. */
  readonly nonce?: string
  /** As the client sent it; absent means `sha-256`, and decides the encoding of the hash (decision D3). */
  readonly hashMethod?: string
}

/** A key that a client has used under a grant: the same kid may not return with different key material. @spec KEY-10 */
export interface PinnedKey {
  readonly kid: string
  /** RFC 7638 thumbprint. */
  readonly thumbprint: string
}

/** A grant as it is stored. Every secret that belongs to it is kept as a SHA-256 digest or derived again when needed. */
export interface Grant {
  /** 44 hexadecimal digits, the last segment of its continuation URL. */
  readonly id: string
  readonly state: GrantState
  readonly finalisation?: Finalisation
  /** Milliseconds since 1970, like every time here. */
  readonly createdAt: number
  /** When the grant expires if it has not been issued by then. @spec GRT-17 */
  readonly expiresAt: number
  readonly client: ClientId
  /** The key of a directed identity: there is no key set to fetch it from. */
  readonly clientKey?: PublicKey
  /** The keys that this client has used under this grant, first the first one that signed its request. @spec KEY-10 */
  readonly keys: readonly PinnedKey[]
  readonly access: readonly Access[]
  /** The wallet address whose owner must approve; absent for a grant without interaction. */
  readonly walletAddress?: string
  /** The account that the wallet address had when the client asked; absent together with it. @spec RS-13 */
  readonly account?: string
  /** Whether the client asked to learn that the resource owner controls `walletAddress`. */
  readonly subject: boolean
  /** Which of the server's secrets made this grant's derived values. */
  readonly secretId: string
  readonly continuationHash: string
  /** A continuation before this moment is refused as too early. @spec CON-3 */
  readonly continueAfter: number
  readonly finish?: Finish
  /** SHA-256 of the interaction reference, from approval on. @spec INT-14 */
  readonly interactRefHash?: string
  readonly wrongReferences: number
  readonly issuedAt?: number
  /** Record id of the access token that is usable, or was the last one usable. */
  readonly tokenId?: string
  /** Digest of what the resource owner was shown. @spec INT-12 */
  readonly consentHash?: string
  readonly decidedAt?: number
}

/** Whether its owner gave it: then it is kept for good, because payments may have been made under it. */
export function wasGiven({ issuedAt, walletAddress }: Grant): boolean {
  return issuedAt !== undefined && walletAddress !== undefined
}

/**
 * Ends a grant for good. If it was never issued, the requested access and the finish URL are dropped: nothing was done
 * under it, and anyone can leave many such grants behind.
 * @spec CON-9 @spec T-14 @spec T-37
 */
export function finaliseGrant(grant: Grant, finalisation: Finalisation): Grant {
  if (grant.state === 'finalised') throw new TypeError('a finalised grant does not change')
  const ended: Grant = { ...grant, state: 'finalised', finalisation }
  if (grant.issuedAt !== undefined) return ended
  const { finish: _, ...kept } = ended
  return { ...kept, access: [] }
}
