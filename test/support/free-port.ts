import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port that was free: what runs there must know it before it listens, because its wallet addresses hold it. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a port was asked for')
  return address.port
}
