import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'

/** Servers that are closed after each test. */
export function testServers(): {
  readonly listen: (listener: RequestListener, options?: ServerOptions) => Promise<number>
} {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })
  return {
    async listen(listener, options = {}) {
      const server = createServer(options, listener).listen(0, '127.0.0.1')
      servers.push(server)
      await once(server, 'listening')
      return (server.address() as AddressInfo).port
    },
  }
}
