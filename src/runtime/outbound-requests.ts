import type { Clock } from '../ports/clock.ts'
import type { SendOutbound } from '../ports/outbound-requests.ts'
import { type OutboundNetwork, sendGuarded } from './guarded-request.ts'
import { knownBudget, strangersBudget } from './request-budget.ts'

/** What it takes to send requests to strangers' servers. */
export interface OutboundRequestsOptions {
  readonly clock: Clock
  /** Whether http and any port are admitted on loopback names. */
  readonly loopbackHttp: boolean
  readonly network: OutboundNetwork
}

/**
 * Sends requests guarded against server-side request forgery, within budgets: of strangers per host and per address, and of
 * who is known per host. They are apart: what strangers make this server ask of a host shuts out nobody who is known there.
 * @spec T-1 @spec T-2 @spec T-3 @spec T-4 @spec T-5
 */
export function outboundRequests({ clock, loopbackHttp, network }: OutboundRequestsOptions): SendOutbound {
  const ofStrangers = strangersBudget(clock)
  const ofKnown = knownBudget(clock)
  return (request, { isKnown, signal }) => {
    const budget = isKnown ? ofKnown : ofStrangers
    return sendGuarded({ clock, loopbackHttp, budget, network }, request, signal)
  }
}
