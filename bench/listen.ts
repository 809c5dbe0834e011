import type { RequestListener } from 'node:http'
import process from 'node:process'

type FetchHandler = (request: Request) => Response | Promise<Response>

declare const Bun:
  | { serve(options: { hostname: string; port: number; fetch: FetchHandler }): { readonly port: number } }
  | undefined
declare const Deno:
  | {
      serve(
        options: { hostname: string; port: number; onListen: () => void },
        handler: FetchHandler,
      ): { readonly addr: { readonly port: number } }
    }
  | undefined

/** Serves with `node:http` on a port of the system's choice. */
export async function listenOnNode(listener: RequestListener): Promise<number> {
  // An `import` of it reads every export, and so loads what WebSockets need: 45 ms on Node 24, before anybody's own code.
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Serves a Fetch handler with what the runtime has: `Bun.serve`, `Deno.serve`, or on Node the server of Hono. */
export async function listenOnFetch(handler: FetchHandler): Promise<number> {
  const options = { hostname: '127.0.0.1', port: 0 }
  if (typeof Bun !== 'undefined') return Bun.serve({ ...options, fetch: handler }).port
  if (typeof Deno !== 'undefined') return Deno.serve({ ...options, onListen: () => undefined }, handler).addr.port
  const { getRequestListener } = await import('@hono/node-server')
  return listenOnNode(getRequestListener(handler))
}
