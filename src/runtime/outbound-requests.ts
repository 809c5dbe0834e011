import type { Clock } from '../ports/clock.ts'
import type { OutboundNetwork } from '../ports/outbound-network.ts'
import type { SendOutbound } from '../ports/outbound-requests.ts'
import { sendGuarded } from './guarded-request.ts'
import { knownBudget, strangersBudget } from './request-budget.ts'

/** What it takes to send requests to strangers' servers. */
export interface OutboundRequestsOptions {
  readonly clock: Clock
  /** Whether http and any port are admitted on loopback names. */
  readonly loopbackHttp: boolean
  readonly network: OutboundNetwork
}

/**
 * Sends requests guarded against server-side request forgery, within budgets per host and per address. Each standing
 * has its own: whatever strangers make this server ask a host shuts out nobody who is known there, and neither of these
 * can keep an ordered payment from its receiver.
 * @spec T-1 @spec T-2 @spec T-3 @spec T-4 @spec T-5
 */
export function outboundRequests({ clock, loopbackHttp, network }: OutboundRequestsOptions): SendOutbound {
  const ofStrangers = strangersBudget(clock)
  const others = { known: knownBudget(clock), ordered: knownBudget(clock) }
  return async (request, { standing, signal }) => {
    const guarded = { clock, loopbackHttp, network }
    if (standing === 'stranger') return sendGuarded({ ...guarded, budget: ofStrangers }, request, signal)
    const budget = others[standing]()
    const answer = await sendGuarded({ ...guarded, budget }, request, signal)
    if (answer.ok && answer.document !== undefined) budget.giveBack()
    return answer
  }
}
