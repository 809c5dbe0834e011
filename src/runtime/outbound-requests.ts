import type { SendOutbound } from '../ports/outbound-requests.ts'
import { type GuardedRequests, sendGuarded } from './guarded-request.ts'
import { knownBudget, strangersBudget } from './request-budget.ts'

/**
 * Sends requests guarded against server-side request forgery, within budgets per host and per address. Each standing
 * has its own: whatever strangers make this server ask a host shuts out nobody who is known there, and neither of these
 * can keep an ordered payment from its receiver.
 * @spec T-1 @spec T-2 @spec T-3 @spec T-4 @spec T-5
 */
export function outboundRequests(guarded: Omit<GuardedRequests, 'budget'>): SendOutbound {
  const { clock } = guarded
  const ofStrangers = strangersBudget(clock)
  const others = { known: knownBudget(clock), ordered: knownBudget(clock) }
  return async (request, { standing, signal }) => {
    if (standing === 'stranger') return sendGuarded({ ...guarded, budget: ofStrangers }, request, signal)
    const budget = others[standing]()
    const answer = await sendGuarded({ ...guarded, budget }, request, signal)
    if (answer.ok && answer.document !== undefined) budget.giveBack()
    return answer
  }
}
