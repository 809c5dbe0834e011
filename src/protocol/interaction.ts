/** The state of an interaction; each transition happens once. Expiry is a moment, not a state. */
export type InteractionState = 'created' | 'opened' | 'approved' | 'denied'

/** An interaction as it is stored. `id` is the SHA-256 of the reference in the redirect URL. @spec INT-1 */
export interface Interaction {
  readonly id: string
  readonly grantId: string
  readonly state: InteractionState
  /** Milliseconds since 1970, like `expiresAt`. */
  readonly createdAt: number
  readonly expiresAt: number
  /** The name in the client's wallet address document when the grant was requested. @spec INT-2 */
  readonly clientName?: string
  /** SHA-256 of the browser session that opened it. @spec INT-10 */
  readonly sessionHash?: string
  /** SHA-256 of the consent data that was shown last. @spec INT-12 */
  readonly consentHash?: string
}
