/**
 * A consent page that is ready to use.
 *
 * @module open-payments-server/consent
 */

import { requireFunction, requireOptionsOf } from '../../src/errors/check-option.ts'
import { ConfigurationError } from '../../src/index.ts'
import type {
  Consent,
  ConsentData,
  ConsentExchange,
  DecidedInteraction,
  ResourceOwner,
} from '../../src/ports/consent.ts'
import type { HttpRequest, HttpResponse } from '../../src/ports/http-exchange.ts'
import { toBase64, toUtf8 } from '../../src/protocol/bytes.ts'
import { parseQuery } from '../../src/protocol/url.ts'
import { isLoopbackHost } from '../../src/protocol/wallet-address.ts'
import { NOTICES, type Notice, REFUSALS } from './notices.ts'
import { type Frame, renderNotice, renderQuestion } from './page.ts'
import { STYLE } from './style.ts'

/** The person who is logged in at the wallet. */
export interface AuthenticatedUser extends ResourceOwner {
  /** Shown at the top of the page; nothing is if it is absent or `null`. */
  readonly name?: string | null | undefined
}

/** What `consentPage` needs from a wallet. */
export interface ConsentPageOptions {
  /**
   * Reads the wallet's own login from a request. `{ redirect }` sends the browser to the wallet's login, by an absolute or
   * a relative URL; the login must bring it back to the interaction URL (`request.target`). `undefined` or `null` answers
   * 401. Called for every GET and POST of the page; if it rejects, nothing is shown or decided, and the page says with status
   * 500 that something is broken.
   */
  readonly authenticate: (
    request: HttpRequest,
  ) => Promise<AuthenticatedUser | { readonly redirect: string } | null | undefined>
  /** The wallet's name, as its customers know it. */
  readonly walletName: string
  /**
   * Where the wallet's own pages begin: an absolute http or https URL. Every consent page links there, so that nobody is
   * stranded on a page that asks nothing. Default: no link.
   */
  readonly homeUrl?: string | undefined
}

/** The largest form: a decision and an anti-CSRF value. */
const FORM_BYTES = 8192

async function digestStyle(): Promise<string> {
  return toBase64(new Uint8Array(await crypto.subtle.digest('SHA-256', toUtf8(STYLE))))
}

/** Schemes that the finish redirect needs besides https: http on the person's own machine, or the scheme of an app. */
function finishScheme(finishHost: string | undefined): readonly string[] {
  if (finishHost === undefined) return []
  if (/^[a-z][a-z0-9+.-]*:$/.test(finishHost)) return [finishHost]
  const url = `http://${finishHost}`
  return URL.canParse(url) && isLoopbackHost(new URL(url).hostname) ? ['http:'] : []
}

/**
 * Chromium applies `form-action` to every redirect that follows the post of the form: to the client's finish URL, to
 * wherever that redirects, and to a login at another origin. So it names the schemes, not the hosts.
 */
async function securityPolicy(consent?: ConsentData): Promise<string> {
  const formAction = consent ? ["'self'", 'https:', ...finishScheme(consent.finishHost)].join(' ') : `'none'`
  return `default-src 'none'; style-src 'sha256-${await digestStyle()}'; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`
}

async function respondPage(status: number, body: string, consent?: ConsentData): Promise<HttpResponse> {
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': await securityPolicy(consent),
      'x-content-type-options': 'nosniff',
      // Nor does a fragment that names a text scroll to it.
      'document-policy': 'force-load-at-top',
    },
    body,
  }
}

function respondNotice(frame: Frame, notice: Notice): Promise<HttpResponse> {
  return respondPage(notice.status, renderNotice(frame, notice))
}

function redirectTo(location: string): HttpResponse {
  return { status: 303, headers: { location } }
}

/**
 * A redirect to a URL of the wallet, written as a browser would: characters beyond ASCII are percent-encoded, since a
 * header cannot hold them. `source`: who made the URL, for the error message.
 */
function redirectToUrl(url: string, source: string): HttpResponse {
  if (typeof url !== 'string' || url === '') throw new TypeError(`${source} must be a URL, as a string`)
  const ascii = url.replaceAll(/[^\0-\x7f]+/g, encodeURI)
  return redirectTo(ascii !== url && URL.canParse(url) ? new URL(url).href : ascii)
}

/** The person's answer, as submitted by the form. */
interface Answer {
  readonly decision: 'approve' | 'deny'
  readonly csrf: string
}

async function readAnswer(request: HttpRequest): Promise<Answer | Notice> {
  const [type = ''] = (request.headerLines('content-type')[0] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded') return NOTICES.wrongType
  const bytes = await request.bytes(FORM_BYTES)
  if (bytes === undefined) return NOTICES.tooLarge
  const form = parseQuery(new TextDecoder().decode(bytes))
  const [decision, ...others] = form.getAll('decision')
  if (others.length > 0 || (decision !== 'approve' && decision !== 'deny')) return NOTICES.noDecision
  return { decision, csrf: form.get('csrf') ?? '' }
}

type Decisions = Map<string, Promise<DecidedInteraction>>

/**
 * Takes a decision, or waits for the identical one if it is already being taken: after a double click a browser shows
 * only the answer to the second request, and that must contain the redirect back to the client.
 */
function takeOnce(
  underWay: Decisions,
  key: string,
  take: () => Promise<DecidedInteraction>,
): Promise<DecidedInteraction> {
  const known = underWay.get(key)
  if (known !== undefined) return known
  const taken = take().finally(() => underWay.delete(key))
  underWay.set(key, taken)
  return taken
}

async function answerInteraction(
  underWay: Decisions,
  frame: Frame,
  { request, reference, interactions }: ConsentExchange,
  user: AuthenticatedUser,
): Promise<HttpResponse> {
  const answer = await readAnswer(request)
  if ('status' in answer) return respondNotice(frame, answer)
  const { session, walletAddresses } = user
  const { decision, csrf } = answer
  const key = JSON.stringify([reference, decision, csrf, session, walletAddresses])
  const decided = await takeOnce(underWay, key, () =>
    interactions[decision](reference, { session, walletAddresses, csrf, access: 'all' }),
  )
  if (!decided.ok) return respondNotice(frame, REFUSALS[decided.reason])
  if (decided.redirect !== undefined) return redirectTo(decided.redirect)
  return respondNotice(frame, decision === 'approve' ? NOTICES.approved : NOTICES.denied)
}

async function showInteraction(
  frame: Frame,
  { reference, url, interactions }: ConsentExchange,
  user: AuthenticatedUser,
): Promise<HttpResponse> {
  const { session, walletAddresses } = user
  const opened = await interactions.find(reference, { session, walletAddresses })
  if (!opened.ok) return respondNotice(frame, REFUSALS[opened.reason])
  const { consent, csrf } = opened
  return respondPage(200, renderQuestion(frame, consent, { url, csrf }), consent)
}

function isWebUrl(text: unknown): boolean {
  return typeof text === 'string' && /^https?:\/\//.test(text) && URL.canParse(text)
}

const NO_PERSON = 'consentPage: authenticate must answer { session, walletAddresses }, { redirect } or undefined'

function checkOptions(options: ConsentPageOptions): void {
  const demand = (holds: boolean, message: string): void => {
    if (!holds) throw new ConfigurationError(`consentPage: ${message}`)
  }
  requireOptionsOf('consentPage', options, ['authenticate', 'walletName', 'homeUrl'])
  const { authenticate, walletName, homeUrl } = options
  requireFunction('consentPage: authenticate', authenticate)
  demand(typeof walletName === 'string' && walletName !== '', 'walletName must be a non-empty string')
  demand(homeUrl === undefined || isWebUrl(homeUrl), 'homeUrl must be an absolute http or https URL')
}

/**
 * A consent page that needs no script. It shows who asks, for what, within which limits, and where the browser goes next,
 * all from the server's own records. The decision is submitted by a form: its hidden field `csrf` and its button `decision`
 * (`approve` or `deny`) are all that a program needs to submit it too.
 * Throws a `ConfigurationError` that names an option which is missing, unknown or of the wrong type.
 * @spec INT-9 @spec INT-10 @spec INT-11
 */
export function consentPage(options: ConsentPageOptions): Consent {
  checkOptions(options)
  const { authenticate, walletName, homeUrl } = options
  const underWay: Decisions = new Map()
  return {
    async respond(exchange) {
      const user = await authenticate(exchange.request)
      if (user === undefined || user === null) return respondNotice({ walletName, homeUrl }, NOTICES.unauthenticated)
      if (typeof user !== 'object') throw new TypeError(NO_PERSON)
      if ('redirect' in user) return redirectToUrl(user.redirect, 'consentPage: the redirect of authenticate')
      const frame = { walletName, homeUrl, userName: user.name ?? undefined }
      return exchange.request.method === 'POST'
        ? answerInteraction(underWay, frame, exchange, user)
        : showInteraction(frame, exchange, user)
    },
    failed: (status) => respondNotice({ walletName, homeUrl }, status === 503 ? NOTICES.away : NOTICES.broken),
  }
}

/**
 * Sends the browser to the wallet's own screen, which then calls `openPayments.interactions`. `url` makes the screen's
 * address, an absolute or a relative URL, from the reference of the interaction, which is already encoded for a URL, because
 * anyone may have written it. Throws a `ConfigurationError` if `url` is not a function, or another option is given.
 */
export function consentRedirect(options: { readonly url: (reference: string) => string }): Consent {
  requireOptionsOf('consentRedirect', options, ['url'])
  const { url } = options
  requireFunction('consentRedirect: url', url)
  return {
    respond: async ({ reference }) =>
      redirectToUrl(url(encodeURIComponent(reference)), 'consentRedirect: what url answers'),
  }
}
