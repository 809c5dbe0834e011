import type { OpenPayments } from '../src/index.ts'
import { targetOfUrl } from '../src/protocol/request-target.ts'
import { createBatches } from './batches.ts'
import { readNow } from './read-now.ts'
import { requireOpenPayments } from './require-open-payments.ts'

/** What the handler needs to know about the host. */
export interface ServeOptions<Peer extends readonly unknown[] = readonly unknown[]> {
  /** The wallet's own routes. Default: everything is answered here, unknown paths with 404. */
  readonly next?: (request: Request) => Response | Promise<Response>
  /**
   * The address that a request came from, for the limits per source; it is called with what the host passes to a handler. If
   * clients connect directly to this server, on Bun
   * `(request, server: Bun.Server<undefined>) => server.requestIP(request)?.address`, and on Deno
   * `(_, peer: Deno.ServeHandlerInfo<Deno.NetAddr>) => peer.remoteAddr.hostname`.
   * Behind a proxy: what the proxy says. Default: none, and so no such limits, because all requests through one proxy would
   * count as one source.
   */
  source?(request: Request, ...peer: Peer): string | undefined
}

/**
 * A handler for `Deno.serve`, and the `fetch` of `Bun.serve`. With `next` it answers what `owns` says is its own and passes
 * on the rest; a request for which that cannot be determined, because the wallet's directory fails, is answered here. If
 * `source` throws, the handler rejects with that error, which Bun and Deno answer with 500. Throws a
 * `ConfigurationError` if `openPayments` is missing, or is a promise that was not awaited, or if an option is unknown or no
 * function.
 */
export function serveHandler<Peer extends readonly unknown[]>(
  openPayments: Pick<OpenPayments, 'fetch' | 'owns'>,
  options: ServeOptions<Peer> = {},
): (request: Request, ...peer: Peer) => Promise<Response> {
  requireOpenPayments(openPayments, 'serveHandler', options, ['next', 'source'])
  const { next, source } = options
  const nextBatch = createBatches()
  return async (request, ...peer) => {
    const takeSource = readNow(() => source?.(request, ...peer))
    if (next !== undefined && !(await openPayments.owns(request.method, targetOfUrl(request)).catch(() => true)))
      return next(request)
    const address = takeSource()
    if (request.body === null) await nextBatch()
    return openPayments.fetch(request, { source: address })
  }
}
