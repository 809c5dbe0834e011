import { randomUUID } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from 'open-payments-server'
import { type Answer, send, type WireRequest } from '../crashes/client.ts'
import type { Fuse } from '../crashes/wallet-process/watched-calls.ts'
import type { WalletProgram } from '../crashes/wallet-program.ts'
import { type Random, randomFor } from '../fuzz/random.ts'
import { lastSegment } from '../support/last-segment.ts'
import { type BadNetwork, type Climate, openNetwork } from './bad-network.ts'
import { grantClient, type WalletClient } from './clients.ts'
import { openWalletBooks, type WalletBooks } from './wallet-books.ts'
import type { ProcessOptions, RailTerms } from './wallet-process/main.ts'
import { type AssetCode, type OfEach, otherOf, WALLETS, type WalletName } from './wallet-process/wallets.ts'
import { startServer, type WalletServer } from './wallet-server.ts'

/** How many payments clients may have under way at once: those that wait for their next try count, too. */
const MOST_UNDER_WAY = 150

/** How long a payment counts as under way. */
const LONGEST_MILLISECONDS = 20_000

/** Two wallets, a process of each that comes and goes, the network between them, and their clients. */
export interface World {
  readonly rail: RailTerms
  readonly network: BadNetwork
  readonly books: OfEach<WalletBooks>
  readonly clients: OfEach<WalletClient>
  /** The incoming payments by their addresses in Interledger, as their wallets have told clients. */
  readonly addresses: Map<string, string>
  /** What is wrong already: every fault that a process was told of. */
  readonly violations: string[]
  /** How often the processes were told of each event; a repeat counts again. */
  readonly told: Map<string, number>
  now(): number
  /** Moves all clocks on. */
  advance(milliseconds: number): void
  /** Writes into the books of both wallets that one has paid the other outside of the rail. */
  settle(payer: WalletName, assetCode: AssetCode, amount: bigint): void
  /** What a wallet's books say was settled. */
  settledOf(wallet: WalletName, assetCode: AssetCode): bigint
  /** Starts the process of a wallet. */
  start(wallet: WalletName, fuse?: Fuse): WalletServer
  /** The process of a wallet, where one runs. */
  server(wallet: WalletName): WalletServer | undefined
  /** Sends a client's request to the process of a wallet, and waits for one where there is none. */
  send(wallet: WalletName, request: WireRequest): Promise<Answer | undefined>
  /** Notes a payment as ordered; resolves once there are not too many under way. */
  noteOrder(url: string): Promise<void>
  close(): Promise<void>
}

/** What a world is like. */
export interface WorldTerms {
  readonly rail: RailTerms
  readonly climate: Climate
  readonly random: Random
  /** Whether processes recover by themselves. */
  readonly keepsGoing: boolean
}

/** Opens two wallets with nothing but accounts and clients in them; no process runs yet. */
export async function openWorld(program: WalletProgram<ProcessOptions>, terms: WorldTerms): Promise<World> {
  const name = randomUUID()
  const { rail, climate, random, keepsGoing } = terms
  const network = await openNetwork(climate, randomFor(random.below(1_000_000), 1))
  const system = systemClock()
  let ahead = 0
  const now = (): number => system.now() + ahead
  const books = {
    north: await openWalletBooks(program.folder, 'north', name),
    south: await openWalletBooks(program.folder, 'south', name),
  }
  const grant = (wallet: WalletName): Promise<WalletClient> =>
    grantClient(wallet, network.urls[wallet], books[wallet], now, (milliseconds) => {
      ahead += milliseconds
    })
  const clients = { north: await grant('north'), south: await grant('south') }
  const violations: string[] = []
  const gone: string[] = []
  const told = new Map<string, number>()
  const underWay = new Set<string>()
  const ended = new Set<string>()
  const waiting: (() => void)[] = []
  const started: WalletServer[] = []
  const running = new Map<WalletName, WalletServer>()
  const ports = new Map<WalletName, number>()

  const hear = (type: string, subject: string | undefined): void => {
    told.set(type, (told.get(type) ?? 0) + 1)
    if (type === 'fault') violations.push(`a fault: ${subject}`)
    if (subject === undefined || !/^outgoing_payment\.(?:completed|failed)$|^delivery_unknown$/.test(type)) return
    ended.add(subject)
    underWay.delete(subject)
    wake(underWay.size < MOST_UNDER_WAY)
  }
  const wake = (isReady: boolean): void => {
    if (isReady) for (const resolve of waiting.splice(0)) resolve()
  }
  const until = async (isReady: () => boolean): Promise<void> => {
    while (!isReady()) {
      // A process that ended by itself is not started again.
      if (gone.length > 0) throw new Error(gone.join('\n'))
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
  // What a process was told as it was killed may be lost with it: nobody waits for that for ever.
  const forget = (id: string): void => {
    underWay.delete(id)
    wake(underWay.size < MOST_UNDER_WAY)
  }

  const settled = { north: new Map<AssetCode, bigint>(), south: new Map<AssetCode, bigint>() }
  const settledFileOf = (wallet: WalletName): string => join(program.folder, `${name}-${wallet}-settled.json`)
  const settledOf: World['settledOf'] = (wallet, assetCode) => settled[wallet].get(assetCode) ?? 0n
  const book = (wallet: WalletName, assetCode: AssetCode, amount: bigint): void => {
    settled[wallet].set(assetCode, settledOf(wallet, assetCode) + amount)
    const books = Object.fromEntries([...settled[wallet]].map(([asset, value]) => [asset, value.toString()]))
    // Whole or not at all, whenever it is read.
    writeFileSync(`${settledFileOf(wallet)}.new`, JSON.stringify(books))
    renameSync(`${settledFileOf(wallet)}.new`, settledFileOf(wallet))
  }
  const settle: World['settle'] = (payer, assetCode, amount) => {
    book(otherOf(payer), assetCode, amount)
    book(payer, assetCode, -amount)
  }
  settle('north', 'USD', 0n)

  const start: World['start'] = (wallet, fuse) => {
    const { signer } = clients[wallet]
    const options = {
      ...{ wallet, rail, urls: network.urls, place: books[wallet].place, aheadMilliseconds: ahead, keepsGoing },
      clients: { [signer.keyId]: signer.jwk },
      settledFile: settledFileOf(wallet),
      traceFile: join(program.folder, `trace-${name}-${started.length}`),
      ...(fuse && { fuse }),
    }
    const server = startServer(program, options, hear)
    started.push(server)
    running.set(wallet, server)
    server.port.then((port) => {
      if (port === undefined || running.get(wallet) !== server) return
      network.connect(wallet, port)
      ports.set(wallet, port)
      wake(true)
    })
    server.ended.then(() => {
      const fault = server.fault()
      if (fault !== undefined) {
        gone.push(`the process in the ${wallet}: ${fault}`)
        wake(true)
      }
      if (running.get(wallet) !== server) return
      running.delete(wallet)
      network.connect(wallet, undefined)
      ports.delete(wallet)
    })
    return server
  }
  return {
    addresses: new Map(),
    ...{ rail, network, books, clients, violations, told, now, start, settle, settledOf },
    advance: (milliseconds) => {
      ahead += milliseconds
      for (const server of running.values()) server.setAhead(ahead)
    },
    server: (wallet) => running.get(wallet),
    async send(wallet, request) {
      await until(() => ports.has(wallet))
      const port = ports.get(wallet) ?? 0
      return send(port, request)
    },
    async noteOrder(url) {
      const id = lastSegment(url)
      if (!ended.has(id)) {
        underWay.add(id)
        setTimeout(() => forget(id), LONGEST_MILLISECONDS).unref()
      }
      await until(() => underWay.size < MOST_UNDER_WAY)
    },
    async close() {
      await Promise.all(started.map((server) => server.kill()))
      await network.close()
      for (const wallet of WALLETS) await books[wallet].close()
    },
  }
}
