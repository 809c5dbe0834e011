/**
 * Proof that a signature was used: `id` is the SHA-256 of the key's thumbprint and of the signature base or the nonce;
 * for a base, the time that the signature names (`created`) stands before it.
 * @spec SIG-25
 */
export interface ReplayClaim {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}
