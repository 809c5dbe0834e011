import { isOpenPaymentsError } from '../errors/open-payments-error.ts'
import type { Input } from '../http/endpoint.ts'
import { PAGE_PROTECTION } from '../http/render-error.ts'
import type { Result } from '../http/respond.ts'
import type { Consent, Interactions } from '../ports/consent.ts'
import type { HttpResponse } from '../ports/http-exchange.ts'

/** Only 303 is sure not to send the form on to wherever the browser goes next. @spec INT-8 */
const REDIRECTS: readonly number[] = [301, 302, 307, 308]

/**
 * `interact`: hands the browser to the wallet's consent screen, and adds to whatever it answers the headers that keep
 * the reference from leaking and the page from being framed.
 * @spec INT-1 @spec INT-8 @spec INT-9
 */
export async function interact(
  { exchange }: Input<undefined, undefined>,
  consent: Consent,
  interactions: Interactions,
): Promise<Result> {
  const { context, request, bytes, params } = exchange
  const reference = params['reference'] ?? ''
  const { response, ...failed } = await respondOrFail(consent, {
    request: {
      method: request.method,
      target: request.target,
      headerLines: (name) => request.headerLines(name),
      source: request.source,
      bytes: async (limit) => (bytes.length > limit ? undefined : bytes),
    },
    reference,
    url: `${context.authServer}/interact/${encodeURIComponent(reference)}`,
    interactions,
  })
  return {
    status: REDIRECTS.includes(response.status) ? 303 : response.status,
    headers: { ...withoutCors(response.headers), ...securityHeaders(response.headers) },
    ...(response.body !== undefined && { raw: response.body }),
    ...failed,
  }
}

/**
 * What the wallet's screen answers, or its page for a failure together with that failure. Rejects with it if there is no
 * page.
 */
async function respondOrFail(
  consent: Consent,
  exchange: Parameters<Consent['respond']>[0],
): Promise<{ readonly response: HttpResponse; readonly failure?: unknown }> {
  try {
    return { response: await consent.respond(exchange) }
  } catch (failure) {
    const response = await pageOfFailure(consent, failure)
    if (response === undefined) throw failure
    return { response, failure }
  }
}

/** The page that the wallet has for a failure; none if that fails too, or answers no response. */
async function pageOfFailure(consent: Consent, failure: unknown): Promise<HttpResponse | undefined> {
  const away = isOpenPaymentsError(failure) && failure.condition.status === 503 ? failure.condition : undefined
  try {
    const page = await consent.failed?.(away === undefined ? 500 : 503)
    // A host in JavaScript may answer anything.
    return page?.headers && { ...page, headers: { ...away?.headers, ...page.headers } }
  } catch {
    return undefined
  }
}

function securityHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const policy = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-security-policy')?.[1]
  return {
    'cache-control': 'no-store',
    ...PAGE_PROTECTION,
    // A second policy, which nothing in the wallet's own can loosen: within one policy, the first of two equal directives counts.
    'content-security-policy': [policy, PAGE_PROTECTION['content-security-policy']].filter(Boolean).join(', '),
  }
}

function withoutCors(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(entries.filter(([name]) => !name.startsWith('access-control-')))
}
