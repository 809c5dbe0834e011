import { once } from 'node:events'
import type { Server } from 'node:http'
import { keepGoing, type OpenPayments } from 'open-payments-server'

/** Ends in order on SIGTERM: no new requests, no new work, then what runs, then the storage. */
export async function endOnSignal(
  server: Server,
  openPayments: OpenPayments,
  close: () => Promise<void>,
): Promise<void> {
  const stop = keepGoing(openPayments)
  await once(process, 'SIGTERM')
  // A proxy that always has a next request would keep its connections, and so the server, open for ever.
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false
  })
  server.close()
  const closing = setInterval(() => server.closeIdleConnections(), 250) // those that were busy a moment ago
  setTimeout(() => server.closeAllConnections(), 20_000).unref() // what hangs
  await once(server, 'close') // requests that are being answered
  await stop()
  await openPayments.drain() // payments that go on: seconds; up to a minute where a peer is silent
  await close()
  clearInterval(closing) // until now it also kept the process alive, which no timer of the library does
}
