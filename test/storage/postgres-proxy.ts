import { once } from 'node:events'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { inject } from 'vitest'

/** A server on a port of its own. */
export interface Listener {
  readonly host: string
  readonly port: number
  close(): Promise<void>
}

/** What stands between a client and the server of the tests, and can come between them. */
export interface PostgresProxy extends Listener {
  /** How often the server has answered what clients sent: round trips. */
  readonly roundTrips: () => number
  /** Withholds the server's next answer that says it is done, once it has come, and resets the connection. */
  loseNextReply(): void
  /** Cuts the connection instead of passing on what its client sends next. */
  cutNextRequest(): void
}

const SOCKET = '.s.PGSQL.5432'

/** `ReadyForQuery` outside a transaction: what the server did before is committed. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

/** Starts a proxy on a port of its own. */
export async function startProxy(): Promise<PostgresProxy> {
  const sockets = new Set<Socket>()
  let isReplyLost = false
  let isRequestCut = false
  let roundTrips = 0

  const server = createServer((client) => {
    const upstream = createConnection(join(inject('postgresSocket'), SOCKET))
    const cut = (): void => {
      client.destroy()
      upstream.destroy()
    }
    let isAsking = false
    client.on('data', (chunk) => {
      isAsking = true
      if (!isRequestCut) return void upstream.write(chunk)
      isRequestCut = false
      cut()
    })
    upstream.on('data', (chunk) => {
      if (isAsking) roundTrips += 1
      isAsking = false
      if (!isReplyLost || !chunk.subarray(-READY.length).equals(READY)) return void client.write(chunk)
      isReplyLost = false
      client.resetAndDestroy()
      upstream.destroy()
    })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', cut)
      socket.on('close', () => {
        sockets.delete(socket)
        cut()
      })
    }
  })
  return {
    ...(await listen(server, sockets)),
    roundTrips: () => roundTrips,
    loseNextReply: () => {
      isReplyLost = true
    },
    cutNextRequest: () => {
      isRequestCut = true
    },
  }
}

/** Starts a server that accepts connections and never says a word. */
export function startSilentServer(): Promise<Listener> {
  const sockets = new Set<Socket>()
  return listen(
    createServer((socket) => void sockets.add(socket)),
    sockets,
  )
}

/** What a server says of itself in one packet: it takes the connection, is ready, and an administrator ends it. */
const READY_AND_ENDED = Buffer.from(
  'R\0\0\0\x08\0\0\0\0Z\0\0\0\x05IE\0\0\0\x22SFATAL\0C57P01\0Mended by test\0\0',
  'latin1',
)

/** Starts a server that ends each connection as soon as it is ready for queries, in the same packet. */
export function startEndingServer(): Promise<Listener> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(READY_AND_ENDED))
  })
  return listen(server, sockets)
}

async function listen(server: Server, sockets: ReadonlySet<Socket>): Promise<Listener> {
  const host = '127.0.0.1'
  server.listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  return {
    host,
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
