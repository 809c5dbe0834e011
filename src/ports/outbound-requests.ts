/** A request to a server that this one has no reason to trust. */
export interface OutboundRequest {
  /** In upper case. */
  readonly method: string
  readonly url: string
  /** Names in lower case. `host`, `accept-encoding` and `user-agent` are set by who sends. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/**
 * What came of a request. `document` is the JSON of an answer with status 200, and `undefined` where that is no JSON
 * within the limits, or the status another one. `unreachable`: there is no answer, or it took too long; what the other
 * side did is not known. `invalid`: this server connects to no such URL, and did not.
 */
export type OutboundAnswer =
  | { readonly ok: true; readonly status: number; readonly document: unknown }
  | { readonly ok: false; readonly reason: 'unreachable' | 'invalid' }

/** On whose word a request is sent, and how long. */
export interface OutboundOptions {
  /** Whether the other side is known to be what it is taken for: strangers' words may cause fewer requests. @spec T-5 */
  readonly isKnown: boolean
  /** Ends it early: it answers `unreachable` then. */
  readonly signal?: AbortSignal
}

/**
 * Sends a request once, and never again: one resolution, every address checked, no redirect, bounded in size and time
 * and in number per host, and per address where strangers cause it. Never rejects.
 * @spec T-1 @spec T-2 @spec T-3 @spec T-4 @spec T-5
 */
export type SendOutbound = (request: OutboundRequest, options: OutboundOptions) => Promise<OutboundAnswer>
