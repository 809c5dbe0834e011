/**
 * For Express 4 and 5.
 *
 * @module open-payments-server/express
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenPayments } from '../src/index.ts'
import { createNodeRequestHandler } from './node/request-handler.ts'
import { readNow } from './read-now.ts'
import { requireOpenPayments } from './require-open-payments.ts'

/** What Express adds to a request of Node: the target before a mount point removed its prefix. */
export interface ExpressRequest extends IncomingMessage {
  readonly originalUrl: string
  /** The client's address; behind proxies, as determined by the application's `trust proxy` setting. */
  readonly ip?: string | undefined
}

/** What the middleware needs to know about the host. */
export interface ExpressOptions {
  /**
   * The address that a request came from, for the limits per source: `(request) => request.ip` if `trust proxy` matches the
   * proxies in front. Default: none, and so no such limits, because all requests through one proxy would count as one
   * source.
   */
  source?(request: ExpressRequest): string | undefined
}

/**
 * Middleware for Express 4 and 5. Passes on what is not for Open Payments; a request for which that cannot be determined,
 * because the wallet's directory fails, is answered here. If `source` throws, or the answer cannot be written, that error is
 * passed to `next`.
 *
 * Mount it at the root of an application, where every wallet address reaches it. Under a prefix that the configured base
 * URLs share, such as `/op`, it answers only the wallet addresses below that: `https://wallet.example/op/alice`, and never
 * `https://wallet.example/alice`.
 *
 * Mount it before body parsers: signatures cover the raw bytes. Behind parsers that keep them in `rawBody` it works too:
 * `express.json({ verify: (req, _res, bytes) => Object.assign(req, { rawBody: bytes }) })`, and likewise
 * `express.urlencoded`. But there a read that a client pipelines behind a change may be carried out before it.
 *
 * Throws a `ConfigurationError` if `openPayments` is missing, or is a promise that was not awaited, or if an option is
 * unknown or no function.
 */
export function openPaymentsMiddleware(
  openPayments: Pick<OpenPayments, 'handle' | 'owns'>,
  options: ExpressOptions = {},
): (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void) => void {
  requireOpenPayments(openPayments, 'openPaymentsMiddleware', options, ['source'])
  const { source } = options
  const handleRequest = createNodeRequestHandler(openPayments)
  return (request, response, next) => {
    const takeSource = readNow(() => source?.(request))
    const handle = async (): Promise<void> => handleRequest(request, response, request.originalUrl, takeSource())
    const owned = openPayments.owns(request.method ?? 'GET', request.originalUrl).catch(() => true)
    owned.then((isOwned) => (isOwned ? handle().catch(next) : next()))
  }
}
