import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenPayments } from '../src/index.ts'
import { handleNodeRequest } from './node.ts'

/** What Express adds to a request of Node: the target before a mount point took its prefix away. */
export interface ExpressRequest extends IncomingMessage {
  readonly originalUrl: string
}

/**
 * Middleware for Express 4 and 5, for the root of an application or under a prefix that the configured base URLs
 * have too. Hands on what is not for Open Payments, and every fault, with `next`.
 *
 * Mount it before body parsers: signatures cover the raw bytes. Behind a parser that keeps them in `rawBody` it works
 * too: `express.json({ verify: (req, _res, bytes) => { req.rawBody = bytes } })`.
 */
export function openPaymentsMiddleware(
  openPayments: Pick<OpenPayments, 'handle' | 'owns'>,
): (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void) => void {
  return (request, response, next) => {
    openPayments.owns(request.method ?? 'GET', request.originalUrl).then((isOwned) => {
      if (!isOwned) return next()
      return handleNodeRequest(openPayments, request, response, request.originalUrl).catch(next)
    }, next)
  }
}
