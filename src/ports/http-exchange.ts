import type { MaybePromise } from './maybe-promise.ts'

/**
 * A request as the host received it. Deliberately less than a Fetch `Request`: every line and every byte as received,
 * and nothing that the library has to take on trust except `source`.
 */
export interface HttpRequest {
  /** The method in upper case. */
  readonly method: string
  /** The raw origin-form target, `/path?query`, never decoded and never stripped of a mount prefix. */
  readonly target: string
  /** Every line of a header field as received, in order; `name` is in lower case. Empty if there is none. */
  headerLines(name: string): readonly string[]
  /**
   * The raw bytes of the body; empty if there is none, `undefined` if there are more than `limit`. A promise is awaited under
   * a deadline; a value that is available at once, such as an empty body, need not be one. Rejects with a
   * `ConfigurationError` if the host has parsed the body without keeping its bytes.
   */
  bytes(limit: number): MaybePromise<Uint8Array | undefined>
  /**
   * The address that the request came from, if the host can tell: behind a proxy the socket's address is the proxy's, and a
   * forwarded address can be trusted only if your own proxy wrote it. Limits per source use it; if it is absent, there are
   * only limits per client. @spec T-5 @spec T-37
   */
  readonly source?: string | undefined
}

/** A response for a host to write out. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Default: no body at all. */
  readonly body?: string | Uint8Array | undefined
}
