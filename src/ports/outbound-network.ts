/** A connection to make: only to one of `addresses`, whatever the name in `url` resolves to by then. */
export interface PinnedConnection {
  readonly url: URL
  /** IP addresses of the host in `url`, all of them checked. */
  readonly addresses: readonly string[]
  readonly method: string
  /** Names in lower case. `host`, `accept-encoding` and `user-agent` are for `dial` to set. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Closes the connection when aborted. */
  readonly signal: AbortSignal
}

/** The answer of a connection. Its `body` is read at most once. */
export interface DialedReply {
  readonly status: number
  /** The header of that name; empty if there is none. */
  readonly contentType: string
  /** The header of that name; empty if there is none. */
  readonly contentEncoding: string
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * How a host reaches servers that it has no reason to trust. It need not check anything: which URLs and addresses may
 * be reached, for how long and how much is read is decided by its caller.
 */
export interface OutboundNetwork {
  /** All IP addresses of a host name, of both kinds. Rejects, or resolves with none, if they cannot be found. */
  resolveHost(hostname: string): Promise<readonly string[]>
  /**
   * Sends one request over a pinned connection, once; follows no redirect, and asks for an answer that is not compressed
   * (`accept-encoding: identity`). Resolves with the headers of the answer, and rejects if there is none.
   */
  dial(connection: PinnedConnection): Promise<DialedReply>
}
