import { unexpected } from '../errors/conditions.ts'
import { isOpenPaymentsError } from '../errors/open-payments-error.ts'
import type { Context } from '../ports/context.ts'
import type { HttpResponse } from '../ports/http-exchange.ts'
import type { ServerRole } from './exchange.ts'
import { respond } from './respond.ts'

/**
 * Keeps what a browser shows out of frames, and keeps its URL, which may contain a reference, from being passed on to
 * others.
 * @spec INT-9
 */
export const PAGE_PROTECTION = {
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "frame-ancestors 'none'",
} as const

/** The only place where an error becomes a response. Anything that is not a refusal of ours becomes a 500 without detail. */
export function renderError(context: Context, role: ServerRole, error: unknown): HttpResponse {
  const { condition } = isOpenPaymentsError(error) ? error : unexpected()
  const code = role === 'auth-server' ? (condition.gnapCode ?? condition.code) : condition.code
  return respond({
    status: condition.status,
    body: {
      error: {
        code,
        description: condition.description,
        ...(role !== 'auth-server' && condition.details && { details: condition.details }),
      },
    },
    headers: { ...PAGE_PROTECTION, ...challenge(context, role, condition.status), ...condition.headers },
  })
}

/** @spec RS-3 */
function challenge(context: Context, role: ServerRole, status: number): Readonly<Record<string, string>> {
  if (role !== 'resource-server' || status !== 401) return {}
  const uri = context.policies.quoteAsUri ? `"${context.authServer}"` : context.authServer
  return { 'www-authenticate': `GNAP as_uri=${uri}` }
}
