import type { Clock } from '../ports/clock.ts'
import type { SendOutbound } from '../ports/outbound-requests.ts'
import { type Dial, type ResolveHost, sendGuarded } from './guarded-request.ts'
import { type TokenBucketOptions, tokenBuckets } from './token-buckets.ts'

/** What it takes to send requests to strangers' servers. */
export interface OutboundRequestsOptions {
  readonly clock: Clock
  /** Whether http and any port are admitted on loopback names. */
  readonly loopbackHttp: boolean
  readonly network: { readonly resolveHost: ResolveHost; readonly dial: Dial }
}

/** Requests that may go to one host on strangers' word, at once and again per 10 seconds: no load worth borrowing this server for. */
const STRANGERS: TokenBucketOptions = { capacity: 100, refillMilliseconds: 10_000, maximumKeys: 1000 }

/** The same for a host that has answered as what it was taken for: what a large wallet's payments need. */
const KNOWN: TokenBucketOptions = { ...STRANGERS, capacity: 2000 }

/**
 * Sends requests guarded against server-side request forgery, within a budget per host. The budgets are apart: what
 * strangers make this server ask of a host shuts out nobody who is known there.
 * @spec T-1 @spec T-2 @spec T-3 @spec T-4 @spec T-5
 */
export function outboundRequests({ clock, loopbackHttp, network }: OutboundRequestsOptions): SendOutbound {
  const takeAsStranger = tokenBuckets(clock, STRANGERS)
  const takeAsKnown = tokenBuckets(clock, KNOWN)
  return (request, { isKnown, signal }) => {
    const take = isKnown ? takeAsKnown : takeAsStranger
    return sendGuarded({ clock, loopbackHttp, admits: (host) => take(host) === 0, ...network }, request, signal)
  }
}
