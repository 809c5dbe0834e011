import type { Dictionary } from 'structured-headers'

/** What is verified: a request, with its lines and bytes as they were received. */
export interface SignedMessage {
  /** The method in upper case. */
  readonly method: string
  /**
   * Every absolute URL that counts as `@target-uri`, made of the configured base URL and the raw request target. The
   * first is canonical; there is a second one for the root path only, without its slash.
   * @spec SIG-29 @spec SIG-31
   */
  readonly targetUris: readonly string[]
  /** Every line of a field in order; `name` is in lower case. Empty if there is none. */
  headerLines(name: string): readonly string[]
  /** The raw bytes; empty if there is no body. */
  readonly body: Uint8Array
  /**
   * The parameters of its query (the same in each URL) by their encoded names, `undefined` for what occurs twice; and its
   * fields that `sf`, `key` or `bs` converts. Both are put here by whoever first needs a part of them, so that no text is
   * parsed again for each part that is covered.
   * @spec SIG-35 @spec T-36
   */
  queryParams?: ReadonlyMap<string, string | undefined>
  converted?: ConvertedFields
}

/** What `sf`, `key` and `bs` have read of a message so far. */
export interface ConvertedFields {
  /** Of all texts that were read, and of all values that were written, in characters. */
  length: number
  readonly dictionaries: Map<string, Dictionary>
}
