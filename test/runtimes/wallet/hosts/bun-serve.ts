import { serveHandler } from 'open-payments-server/bun'
import type { Listen, Mounting } from '../mounting.ts'
import { type FetchHandler, ownFetchHandler, plainFetch } from './fetch.ts'

/** What is used of Bun. */
interface BunGlobal {
  serve(options: { readonly hostname: string; readonly port: number; readonly fetch: FetchHandler }): {
    readonly port: number
  }
}

function serve(handlerFor: (mounting: Mounting) => FetchHandler): Listen {
  return async (mountingAt) => {
    const { Bun: bun } = globalThis as unknown as { readonly Bun: BunGlobal }
    let handler: FetchHandler = async () => new Response(null, { status: 503 })
    const { port } = bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => handler(request) })
    const mounting = mountingAt(port)
    handler = handlerFor(mounting)
    return { port, ...mounting }
  }
}

/** The adapter for `Bun.serve`. */
export const bunServe = serve(({ openPayments, own }) =>
  serveHandler(openPayments, own === undefined ? {} : { next: ownFetchHandler(own) }),
)

/** `openPayments.fetch` in `Bun.serve`. */
export const fetchOnBun = serve(plainFetch)
