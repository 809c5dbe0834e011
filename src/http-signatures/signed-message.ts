import type { Dictionary } from 'structured-headers'

/** The message that is verified: a request, with its header lines and bytes as they were received. */
export interface SignedMessage {
  /** The method in upper case. */
  readonly method: string
  /**
   * Every absolute URL that counts as `@target-uri`, made of the configured base URL and the raw request target. The
   * first is canonical; only the root path has a second one, without its slash.
   * @spec SIG-29 @spec SIG-31
   */
  readonly targetUris: readonly string[]
  /** Every line of a field in order; `name` is in lower case. Empty if there is none. */
  headerLines(name: string): readonly string[]
  /** The raw bytes; empty if there is no body. */
  readonly body: Uint8Array
  /**
   * Caches, filled by the first component that needs them, so that no text is parsed again for each covered part of it:
   * the query parameters (the same for each URL) by their encoded names, `undefined` for one that occurs twice; and the
   * fields that `sf`, `key` or `bs` converts.
   * @spec SIG-35 @spec T-36
   */
  queryParams?: ReadonlyMap<string, string | undefined>
  converted?: ConvertedFields
}

/** What `sf`, `key` and `bs` have converted of a message so far. */
export interface ConvertedFields {
  /** The total length of the texts read and the values written, in characters. */
  length: number
  readonly dictionaries: Map<string, Dictionary>
}
