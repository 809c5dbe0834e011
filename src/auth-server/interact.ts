import { isOpenPaymentsError } from '../errors/open-payments-error.ts'
import type { Input } from '../http/endpoint.ts'
import { PAGE_PROTECTION } from '../http/render-error.ts'
import type { Result } from '../http/respond.ts'
import type { Consent, ConsentExchange, Interactions } from '../ports/consent.ts'
import type { HttpResponse } from '../ports/http-exchange.ts'
import { isObject } from '../protocol/is-object.ts'

/** Replaced by 303, the only redirect that never makes the browser post the form again to the next URL. @spec INT-8 */
const REDIRECTS: readonly number[] = [301, 302, 307, 308]

/**
 * `interact`: passes the browser's request to the wallet's consent screen, and adds to its answer the headers that keep
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
 * What the wallet's screen answers or, if that fails, the wallet's page for a failure, together with the failure. An
 * answer that no host could send is a failure too. Rejects with the failure if there is no such page.
 */
async function respondOrFail(
  consent: Consent,
  exchange: ConsentExchange,
): Promise<{ readonly response: HttpResponse; readonly failure?: unknown }> {
  try {
    return { response: checkedAnswer('respond', await consent.respond(exchange)) }
  } catch (failure) {
    const response = await pageOfFailure(consent, failure)
    if (response === undefined) throw failure
    return { response, failure }
  }
}

/** The wallet's page for a failure; `undefined` if there is none, if that fails too, or if no host could send it. */
async function pageOfFailure(consent: Consent, failure: unknown): Promise<HttpResponse | undefined> {
  const away = isOpenPaymentsError(failure) && failure.condition.status === 503 ? failure.condition : undefined
  try {
    const page = checkedAnswer('failed', await consent.failed?.(away === undefined ? 500 : 503))
    return { ...page, headers: { ...away?.headers, ...page.headers } }
  } catch {
    return undefined
  }
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/
// What every host can send: for other control characters Node throws and Deno ends its process; above U+00FF there is
// no byte.
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** A copy of what the wallet's screen answers; throws a `TypeError` that says what is wrong with it, if anything is. */
function checkedAnswer(method: keyof Consent, answer: HttpResponse | undefined): HttpResponse {
  const demand = (holds: boolean, message: string): void => {
    if (!holds) throw new TypeError(`consent.${method}: ${message}`)
  }
  // A host in JavaScript may answer anything.
  if (!isObject(answer)) throw new TypeError(`consent.${method}: the answer must be an object with status and headers`)
  const { status, headers, body } = answer
  demand(Number.isInteger(status) && status >= 200 && status <= 599, 'status must be an integer from 200 to 599')
  // The entries of a Fetch `Headers` or a Map are not members, so they would all be lost.
  const isPlain = isObject(headers) && !(Symbol.iterator in headers)
  demand(isPlain, 'headers must be an object of strings')
  for (const [name, value] of Object.entries(headers)) {
    demand(HEADER_NAME.test(name), `${name} is not the name of a header`)
    const isValue = typeof value === 'string' && HEADER_VALUE.test(value)
    demand(isValue, `the header ${name} must be a string without control characters and without any above U+00FF`)
  }
  const isBody = body === undefined || typeof body === 'string' || body instanceof Uint8Array
  demand(isBody, 'body must be a string or a Uint8Array')
  return { status, headers, body }
}

function securityHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const policy = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-security-policy')?.[1]
  return {
    'cache-control': 'no-store',
    ...PAGE_PROTECTION,
    // Added as a second policy, which the wallet's own cannot loosen: within one policy, only the first of two equal
    // directives would count.
    'content-security-policy': [policy, PAGE_PROTECTION['content-security-policy']].filter(Boolean).join(', '),
  }
}

function withoutCors(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(entries.filter(([name]) => !name.startsWith('access-control-')))
}
