import type { ReceiverAsker } from './remote-receivers.ts'

/** A request to a server that this one has no reason to trust. */
export interface OutboundRequest {
  /** In upper case. */
  readonly method: string
  readonly url: string
  /** Names in lower case. `host`, `accept-encoding` and `user-agent` are set by the sender. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/**
 * What came of a request. `document` is the JSON of an answer with status 200; it is `undefined` if the body is not JSON
 * within the limits, or the status is another one. `unreachable`: there is no answer, or it took too long; what the other
 * side did is not known. `invalid`: this server does not connect to such a URL, and did not. `detail` says what happened, for
 * the operator alone: told to strangers, it would let them explore the network of this server.
 */
export type OutboundAnswer =
  | { readonly ok: true; readonly status: number; readonly document: unknown }
  | { readonly ok: false; readonly reason: 'unreachable' | 'invalid'; readonly detail: string }

/**
 * On whose word a request is sent. `stranger`: nothing says that the other side is what it claims to be; `known`: it has been
 * that before; `ordered`: it had been that when a payment was ordered, which this request is for. @spec T-5
 */
export type OutboundStanding = 'stranger' | 'known' | 'ordered'

/** On whose word a request is sent, and for how long. */
export interface OutboundOptions {
  readonly standing: OutboundStanding
  /** Ends it early, with the answer `unreachable`. */
  readonly signal?: AbortSignal
}

/**
 * Sends a request once, and never again: one resolution, every address checked, no redirect, bounded in size and time
 * and in number per host and address. Never rejects.
 * @spec T-1 @spec T-2 @spec T-3 @spec T-4 @spec T-5
 */
export type SendOutbound = (request: OutboundRequest, options: OutboundOptions) => Promise<OutboundAnswer>

/**
 * Charges one lookup to the client and the source that it is for, at a server that `isKnown` or is not. Answers 0, or how
 * many seconds it is until both allow one; then neither was charged. @spec T-5
 */
export type ChargeLookup = (asker: ReceiverAsker, isKnown: boolean) => number
