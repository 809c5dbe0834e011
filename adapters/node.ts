/**
 * For servers of `node:http`.
 *
 * @module open-payments-server/node
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenPayments } from '../src/index.ts'
import { createBatches } from './batches.ts'
import { createNodeRequestHandler, hasBody, isSafe } from './node/request-handler.ts'
import { readNow } from './read-now.ts'
import { requireOpenPayments } from './require-open-payments.ts'

/** What a server of `node:http` does with the requests that are not for Open Payments. */
export interface NodeListenerOptions {
  /** The wallet's own routes. Default: everything is answered here, unknown paths with 404. */
  readonly next?: (request: IncomingMessage, response: ServerResponse) => void
  /**
   * The address that a request came from, for the limits per source: `(request) => request.socket.remoteAddress` if clients
   * connect directly to this server; behind a proxy, what the proxy says. Default: none, and so no such limits, because all
   * requests through one proxy would count as one source.
   */
  source?(request: IncomingMessage): string | undefined
}

/**
 * A listener for `http.createServer` and `https.createServer`. With `next` it answers what `owns` says is its own and
 * passes on the rest; a request for which that cannot be determined, because the wallet's directory fails, is answered
 * here. If `source` throws, the connection is closed with that error. Also works with `http2` servers, though the types do
 * not say so.
 *
 * A request with 1000 header lines or more is answered with 431; do not set `server.maxHeadersCount` below that, because
 * Node 20 hides the lines above it. A pipelined request that changes something waits for the answers before it, and is not
 * carried out if one of them ends the connection; what follows it waits for its answer.
 *
 * Throws a `ConfigurationError` if `openPayments` is missing, or is a promise that was not awaited, or if an option is
 * unknown or no function.
 */
export function toNodeListener(
  openPayments: Pick<OpenPayments, 'handle' | 'owns'>,
  options: NodeListenerOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  requireOpenPayments(openPayments, 'toNodeListener', options, ['next', 'source'])
  const { next, source } = options
  const nextBatch = createBatches()
  const handleRequest = createNodeRequestHandler(openPayments)
  return async (request, response) => {
    const { method = 'GET', url = '/' } = request
    const takeSource = readNow(() => source?.(request))
    if (next !== undefined && !(await openPayments.owns(method, url).catch(() => true))) return next(request, response)
    try {
      const address = takeSource()
      // A change with a body waits for that anyway, and gets into step at its first read. A read must not overtake a change
      // without one.
      if (!hasBody(request) || isSafe(request)) await nextBatch()
      await handleRequest(request, response, url, address)
    } catch (error) {
      response.destroy(Object(error))
    }
  }
}
