import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { systemClock } from 'open-payments-server'
import type { Random } from '../fuzz/random.ts'
import { type Books, openBooks } from './books.ts'
import { type Answer, send, type WireRequest } from './client.ts'
import type { DatabaseServer } from './database-server.ts'
import { type DatabaseStrikes, databaseStrikes } from './database-strikes.ts'
import { type GrantedClient, grantClients } from './grants.ts'
import { type Notebook, openNotebook } from './notebook.ts'
import { LEASE_SECONDS } from './wallet-process/accounts.ts'
import type { Place } from './wallet-process/stores.ts'
import type { Fuse } from './wallet-process/watched-calls.ts'
import type { WalletProgram } from './wallet-program.ts'
import { startServer, type WalletServer } from './wallet-server.ts'

/** A wallet whose processes come and go on one database, and its clients. */
export interface World {
  readonly books: Books
  /** What can befall its database; absent where that is a file. */
  readonly database: DatabaseStrikes | undefined
  readonly clients: readonly GrantedClient[]
  readonly notebook: Notebook
  readonly toldFile: string
  now(): number
  /** Moves the clocks of all processes and of the clients on: leases lapse, those of living processes too. */
  advance(milliseconds: number): void
  /** Starts a process; with a pause it recovers by itself from its start on. */
  start(options?: { readonly recoverEveryMilliseconds?: number; readonly fuse?: Fuse }): WalletServer
  /** Those that run. */
  servers(): readonly WalletServer[]
  /** Sends a request to any process that listens, and waits for one where there is none. */
  send(request: WireRequest, random: Random): Promise<Answer | undefined>
  /** Resolves with the next process that is sent an order for a payment. */
  nextOrder(): Promise<WalletServer>
  close(): Promise<void>
}

interface Listening {
  readonly server: WalletServer
  readonly port: number
}

/** The lease of a worker in these processes, and a little more. */
export const LEASE_MILLISECONDS = LEASE_SECONDS * 1000 + 100

/** Opens an empty database with accounts and clients; no process runs yet. */
export async function openWorld(program: WalletProgram, place: Place, server?: DatabaseServer): Promise<World> {
  const name = randomUUID()
  const books = await openBooks(place)
  const system = systemClock()
  let ahead = 0
  const now = (): number => system.now() + ahead
  const { clients, publicKeys } = await grantClients(books, now, (milliseconds) => {
    ahead += milliseconds
  })
  const notebook = openNotebook()
  const started: WalletServer[] = []
  let listening: readonly Listening[] = []
  const waiting: (() => void)[] = []
  const orderWatchers: ((server: WalletServer) => void)[] = []
  const toldFile = join(program.folder, `told-${name}`)

  const start: World['start'] = (options = {}) => {
    const server = startServer(program, {
      place,
      clients: publicKeys,
      aheadMilliseconds: ahead,
      traceFile: join(program.folder, `trace-${name}-${started.length}`),
      toldFile,
      ...options,
    })
    started.push(server)
    server.port.then((port) => {
      if (port === undefined) return
      listening = [...listening, { server, port }]
      for (const wake of waiting.splice(0)) wake()
    })
    server.ended.then(() => {
      listening = listening.filter((one) => one.server !== server)
      const fault = server.fault()
      if (fault !== undefined) notebook.violations.push(fault)
    })
    return server
  }
  const database = place.kind === 'postgres' ? databaseStrikes(place, server) : undefined
  return {
    books,
    database,
    clients,
    notebook,
    toldFile,
    now,
    advance: (milliseconds) => {
      ahead += milliseconds
      for (const server of started) server.setAhead(ahead)
    },
    start,
    servers: () => started.filter(({ isRunning }) => isRunning()),
    async send(request, random) {
      while (listening.length === 0) await new Promise<void>((resolve) => waiting.push(resolve))
      const { server, port } = random.pick(listening)
      notebook.requests += 1
      const sent = send(port, request)
      if (request.method === 'POST' && request.target === '/outgoing-payments') {
        for (const told of orderWatchers.splice(0)) told(server)
      }
      const answer = await sent
      if (answer !== undefined) return answer
      // It is about to be known that this process has ended: nobody is sent there again.
      listening = listening.filter((one) => one.server !== server)
      notebook.unanswered += 1
      return undefined
    },
    nextOrder: () => new Promise((resolve) => orderWatchers.push(resolve)),
    async close() {
      await Promise.all(started.map((server) => server.kill()))
      await books.close()
      await database?.close()
    },
  }
}
