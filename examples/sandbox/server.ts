import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import {
  type Clock,
  createOpenPayments,
  fetchKeyResolver,
  keepGoing,
  type OpenPayments,
  reportFaults,
} from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import type { Ilp } from 'open-payments-server/ilp'
import { toNodeListener } from 'open-payments-server/node'
import type { Configuration } from './configuration.ts'
import { type Database, openDatabase } from './database.ts'
import { storageWithLocalUrls } from './local-urls.ts'
import { CREDENTIALS, createLogins, type Logins } from './login.ts'
import { createRail, describePeers, type PeerDescription } from './peers.ts'
import { createRoutes, loginUrl } from './routes.ts'
import { openWallet, type Wallet } from './wallet.ts'

/** How to start a sandbox. */
export interface SandboxOptions {
  /** 0 picks a free one. */
  readonly port: number
  /** Default: a new one. A server that already listens keeps its port. */
  readonly server?: Server
  /** A SQLite file, or `:memory:`; `undefined` is the default file, or memory where there is no SQLite. */
  readonly database: string | undefined
  readonly configuration: Configuration
  /** Receives lines for the person who started it. */
  readonly warn: (line: string) => void
  /** Default: the system's. */
  readonly clock?: Clock
}

/** All that a program needs to act as a client, and as the person who approves. */
export interface SandboxDescription {
  readonly authServer: string
  readonly resourceServer: string
  readonly wallets: readonly {
    readonly walletAddress: string
    readonly assetCode: string
    readonly assetScale: number
    /** In the smallest unit. */
    readonly balance: string
  }[]
  /** `privateKeyPem` is PKCS#8. */
  readonly client: { readonly walletAddress: string; readonly keyId: string; readonly privateKeyPem: string }
  /** The fields of the login form and what to write into them. */
  readonly consent: { readonly credentials: Readonly<Record<string, string>> }
  readonly peers: readonly PeerDescription[]
}

/** A sandbox that answers. */
export interface Sandbox {
  readonly origin: string
  readonly openPayments: OpenPayments
  /** Whether it forgets everything at the end. */
  readonly isVolatile: boolean
  describe(): Promise<SandboxDescription>
  /** Ends what is running, then closes the port and the database. */
  stop(): Promise<void>
}

const CLOSE_SECONDS = 2

function createServers(
  origin: string,
  database: Database,
  wallet: Wallet,
  logins: Logins,
  configuration: Configuration,
  rail: Ilp | undefined,
  clock: Clock | undefined,
): OpenPayments {
  const { lifetimes = {}, loopbackKeys = true } = configuration
  const keyResolver = loopbackKeys ? undefined : fetchKeyResolver({ ...(clock && { clock }) })
  return createOpenPayments({
    authServer: `${origin}/auth`,
    resourceServer: origin,
    secrets: [wallet.secret],
    storage: storageWithLocalUrls(database.storage, origin),
    ledger: database.ledger,
    walletAddresses: { find: async (walletAddress) => wallet.find(walletAddress.slice(origin.length)) },
    pricing: wallet.pricing,
    ...(rail && { paymentMethods: [rail] }),
    // Not left out, though it is the default: only then are refused credits, as events about money, recorded and told.
    onEvent: reportFaults,
    consent: consentPage({
      walletName: 'Open Payments sandbox',
      homeUrl: `${origin}/`,
      authenticate: async (request) => {
        const session = logins.sessionOf(request.headerLines('cookie').join('; '))
        if (session === undefined) return { redirect: loginUrl(request.target) }
        return {
          session,
          walletAddresses: wallet.accounts.map(({ path }) => origin + path),
          name: CREDENTIALS['username'] ?? '',
        }
      },
    }),
    // The sandbox's own URLs are http on loopback, wherever clients' keys may be fetched from.
    ...(keyResolver && { keyResolver }),
    settings: { lifetimes, policies: { loopbackHttp: true } },
    ...(clock && { clock }),
  })
}

async function describe(
  origin: string,
  wallet: Wallet,
  database: Database,
  peers: readonly PeerDescription[],
): Promise<SandboxDescription> {
  const wallets = wallet.accounts.map(async ({ path, assetCode, assetScale }) => {
    const balance = await database.ledger.balance(path)
    return { walletAddress: origin + path, assetCode, assetScale, balance: String(balance?.total ?? 0n) }
  })
  const { path, keyId, privateKeyPem } = wallet.client
  return {
    authServer: `${origin}/auth`,
    resourceServer: origin,
    wallets: await Promise.all(wallets),
    client: { walletAddress: origin + path, keyId, privateKeyPem },
    consent: { credentials: CREDENTIALS },
    peers,
  }
}

/** Listens on this machine only, since everybody knows the sandbox's password; resolves with the port. */
export async function listen(server: Server, port: number): Promise<number> {
  if (!server.listening) {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

/** Closes the port; requests that are being answered get a moment to end. */
async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  const deadline = setTimeout(() => server.closeAllConnections(), CLOSE_SECONDS * 1000)
  // A connection on which requests keep coming is closed after its next answer.
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false
  })
  await closed
  clearTimeout(deadline)
}

/** Starts a sandbox; it answers when this resolves. */
export async function startSandbox({
  port,
  server = createServer(),
  database: path,
  configuration,
  warn,
  clock,
}: SandboxOptions): Promise<Sandbox> {
  const database = await openDatabase(path, warn)
  try {
    const wallet = await openWallet(database, configuration)
    const rail = createRail(configuration)
    const peers = (): Promise<readonly PeerDescription[]> => describePeers(rail, configuration)
    const actualPort = await listen(server, port)
    const origin = `http://localhost:${actualPort}`
    const logins = createLogins(actualPort)
    const openPayments = createServers(origin, database, wallet, logins, configuration, rail, clock)
    const { accounts } = wallet
    const routes = createRoutes({ origin, openPayments, ledger: database.ledger, accounts, peers, logins })
    server.on('request', toNodeListener(openPayments, { next: routes }))
    const stopWork = keepGoing(openPayments)
    return {
      origin,
      openPayments,
      isVolatile: database.isVolatile,
      describe: async () => describe(origin, wallet, database, await peers()),
      async stop() {
        await close(server)
        await stopWork()
        await openPayments.drain()
        database.close()
      },
    }
  } catch (error) {
    server.close()
    database.close()
    throw error
  }
}
