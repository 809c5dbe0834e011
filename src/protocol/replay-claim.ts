/**
 * Proof that a signature was used: `id` is the SHA-256 of the key's thumbprint and of the signature base or nonce, for a base
 * with the time that it names before it.
 * @spec SIG-25
 */
export interface ReplayClaim {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}
