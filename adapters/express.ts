/**
 * For Express 4 and 5.
 *
 * @module open-payments-server/express
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenPayments } from '../src/index.ts'
import { handleNodeRequest } from './node/handle-node-request.ts'
import { requireOpenPayments } from './require-open-payments.ts'

/** What Express adds to a request of Node: the target before a mount point took its prefix away. */
export interface ExpressRequest extends IncomingMessage {
  readonly originalUrl: string
  /** The client's address, behind proxies as `trust proxy` of the application says. */
  readonly ip?: string | undefined
}

/** What the middleware is told of the host. */
export interface ExpressOptions {
  /**
   * The address that a request came from, for the limits per source: `(request) => request.ip` where `trust proxy` is
   * set to what stands in front. Default: none, and no such limits, because all that comes through one proxy would be
   * one source.
   */
  readonly source?: (request: ExpressRequest) => string | undefined
}

/**
 * Middleware for Express 4 and 5. Hands on what is not for Open Payments; a request of which that cannot be told, because
 * the wallet's directory fails, is answered here. Where `source` throws, and where the answer cannot be written, that error
 * is handed to `next`.
 *
 * Mount it at the root of an application, where every wallet address reaches it. Under a prefix that the configured base
 * URLs have too, such as `/op`, it answers only the wallet addresses below that: `https://wallet.example/op/alice`, and never
 * `https://wallet.example/alice`.
 *
 * Mount it before body parsers: signatures cover the raw bytes. Behind parsers that keep them in `rawBody` it works too:
 * `express.json({ verify: (req, _res, bytes) => { req.rawBody = bytes } })`, and `express.urlencoded` alike.
 *
 * Throws a `ConfigurationError` where `openPayments` is missing, or a promise that was not awaited.
 */
export function openPaymentsMiddleware(
  openPayments: Pick<OpenPayments, 'handle' | 'owns'>,
  { source }: ExpressOptions = {},
): (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void) => void {
  requireOpenPayments(openPayments)
  const handle = async (request: ExpressRequest, response: ServerResponse): Promise<void> =>
    handleNodeRequest(openPayments, request, response, request.originalUrl, source?.(request))
  return (request, response, next) => {
    const owned = openPayments.owns(request.method ?? 'GET', request.originalUrl).catch(() => true)
    owned.then((isOwned) => (isOwned ? handle(request, response).catch(next) : next()))
  }
}
