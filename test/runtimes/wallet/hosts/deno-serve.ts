import { serveHandler } from 'open-payments-server/deno'
import type { Listen, Mounting } from '../mounting.ts'
import { type FetchHandler, ownFetchHandler, plainFetch } from './fetch.ts'

/** What is used of Deno. */
interface DenoGlobal {
  serve(
    options: { readonly hostname: string; readonly port: number; readonly onListen: () => void },
    handler: FetchHandler,
  ): { readonly addr: { readonly port: number } }
}

function serve(handlerFor: (mounting: Mounting) => FetchHandler): Listen {
  return async (mountingAt) => {
    const { Deno: deno } = globalThis as unknown as { readonly Deno: DenoGlobal }
    let handler: FetchHandler = async () => new Response(null, { status: 503 })
    const options = { hostname: '127.0.0.1', port: 0, onListen: () => undefined }
    const { addr } = deno.serve(options, (request) => handler(request))
    const mounting = mountingAt(addr.port)
    handler = handlerFor(mounting)
    return { port: addr.port, ...mounting }
  }
}

/** The adapter for `Deno.serve`. */
export const denoServe = serve(({ openPayments, own }) =>
  serveHandler(openPayments, own === undefined ? {} : { next: ownFetchHandler(own) }),
)

/** `openPayments.fetch` in `Deno.serve`. */
export const fetchOnDeno = serve(plainFetch)
