/** Proof that a signature was used: `id` is the SHA-256 of the key's thumbprint and of the signature base or nonce. @spec SIG-25 */
export interface ReplayClaim {
  readonly id: string
  readonly expiresAt: number
}
