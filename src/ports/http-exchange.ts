import type { MaybePromise } from './maybe-promise.ts'

/**
 * A request as a host received it. Less than a Fetch `Request` on purpose: every line and every byte as they came,
 * and nothing that the library would have to trust but `source`.
 */
export interface HttpRequest {
  /** The method in upper case. */
  readonly method: string
  /** The raw origin-form target, `/path?query`, never decoded and never stripped of a mount prefix. */
  readonly target: string
  /** Every line of a header field as received, in order; `name` is in lower case. Empty where there is none. */
  headerLines(name: string): readonly string[]
  /**
   * The raw bytes of the body; empty where there is none, `undefined` where there are more than `limit`. A promise is
   * waited for under a deadline; what is there at once, such as nothing, need not be one. Rejects with a `ConfigurationError` where the host has parsed the body and not kept its bytes.
   */
  bytes(limit: number): MaybePromise<Uint8Array | undefined>
  /**
   * The address of whoever sent the request, where the host can tell: behind a proxy the socket's is the proxy's, and a
   * forwarded one is true only where a trusted proxy wrote it. What one source may cause is limited by it; absent, by
   * client alone. @spec T-5 @spec T-37
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
