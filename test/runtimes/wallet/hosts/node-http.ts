import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { toNodeListener } from 'open-payments-server/node'
import type { Listen, Mounting } from '../mounting.ts'
import type { OwnAnswer } from '../own-routes.ts'

/** Listens with `node:http`: the port must be known before the listener can be made. */
export async function listenWith(
  listenerFor: (mounting: Mounting) => RequestListener,
  mountingAt: Parameters<Listen>[0],
) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const mounting = mountingAt(port)
  server.on('request', listenerFor(mounting))
  return { port, ...mounting }
}

/** Writes what the wallet itself answers. */
export function sendOwn(response: ServerResponse, { status, headers, body }: OwnAnswer): void {
  for (const [name, value] of headers) response.appendHeader(name, value)
  response.writeHead(status).end(body)
}

/** The adapter for `node:http`. */
export const nodeHttp: Listen = (mountingAt) =>
  listenWith(({ openPayments, own }) => {
    if (own === undefined) return toNodeListener(openPayments)
    const next = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { method = '', url: target = '', headers } = request
      sendOwn(response, own({ method, target, cookie: headers.cookie ?? '', body: await text(request) }))
    }
    return toNodeListener(openPayments, { next })
  }, mountingAt)
