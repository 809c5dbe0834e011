/** What a derived secret is for; part of its derivation, so that no two purposes ever share a value. */
export type SecretPurpose =
  | 'access-token'
  | 'continuation-token'
  | 'interaction-reference'
  | 'interaction-nonce'
  | 'shared-secret'
  | 'csrf'
  | 'client-key'
  | 'receiver-secret'
  | 'address-pad'

/**
 * Secrets that are derived and never stored: `HMAC-SHA-256(key, purpose || 0 || id)`. Records keep the id of the key that
 * made theirs, so that keys can be rotated.
 * @spec TOK-10
 */
export interface Secrets {
  /** The id of the key that signs now. */
  currentId(): Promise<string>
  /** The ids of all configured keys, the current one first. */
  ids(): Promise<readonly string[]>
  /** Derives a secret: 43 base64url characters, 256 bits. Rejects for a key that is no longer configured. */
  derive(secretId: string, purpose: SecretPurpose, id: string): Promise<string>
  /** The same as its 32 bytes. */
  deriveBytes(secretId: string, purpose: SecretPurpose, id: string): Promise<Uint8Array>
  /** SHA-256 of a text, in hexadecimal: how secrets are stored and looked up. @spec TOK-1 */
  digest(text: string): Promise<string>
  /** 32 random hexadecimal digits, 128 bits. @spec GRT-15 */
  randomId(): string
}
