import type { OpenPayments } from '../src/index.ts'

/**
 * The `fetch` of `Bun.serve`. With `next` it answers what `owns` says is its own, and hands the rest to the wallet's
 * own routes.
 */
export function serveHandler(
  openPayments: Pick<OpenPayments, 'fetch' | 'owns'>,
  next?: (request: Request) => Response | Promise<Response>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname, search } = new URL(request.url)
    const isOwned = next === undefined || (await openPayments.owns(request.method, pathname + search).catch(() => true))
    return isOwned ? openPayments.fetch(request) : next(request)
  }
}
