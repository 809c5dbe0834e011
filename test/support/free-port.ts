import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A port that is free: what runs there must know it before it listens, because its wallet addresses hold it. It is below
 * all that a system gives to those who ask for any port (from 32,768 on Linux), so that none of them gets it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768)
    const server = createServer()
    const isFree = once(server, 'listening').then(
      () => true,
      () => false,
    )
    server.listen(port)
    if (await isFree) {
      server.close()
      await once(server, 'close')
      return port
    }
  }
}
