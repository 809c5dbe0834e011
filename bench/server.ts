import process from 'node:process'
import {
  createOpenPayments,
  type Ledger,
  type OpenPayments,
  systemClock,
  type WalletAddress,
} from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { sodiumCryptography } from '../test/docs/sodium-cryptography.ts'
import { answerLines } from './answer-lines.ts'
import { approve } from './approve.ts'
import type { Question } from './child.ts'
import type { HostName, StorageName, VerifierName } from './host-names.ts'
import { listenOnFetch, listenOnNode } from './listen.ts'
import { openStorage } from './open-storage.ts'
import { AUTH, BASE, type ClientKey, PAYERS, type ServerHello } from './wallet.ts'

/** Where a server is mounted, and what it stores in. */
export interface ServerOptions {
  readonly host: HostName
  readonly storage: StorageName
  /** The file of SQLite, or a database of PostgreSQL. */
  readonly place: string
  readonly key: ClientKey
  readonly verifier?: VerifierName
  /** Whether the client has its grants before the server listens. */
  readonly hasGrants: boolean
  /** The ledger is in this SQLite file; otherwise in memory, where its lines grow with every payment. */
  readonly ledgerPlace?: string | undefined
}

const options: ServerOptions = JSON.parse(process.argv[2] ?? '{}')
const { key, host, place, verifier, hasGrants } = options
const { storage, close } = await openStorage(options.storage, place)
const asset = { assetCode: 'USD', assetScale: 2 }
const walletAddresses = new Map<string, WalletAddress>([
  [`${BASE}/shop`, { account: 'shop', ...asset, keys: [key.jwk] }],
  ...Array.from({ length: PAYERS }, (_, index) => [`${BASE}/p${index}`, { account: `p${index}`, ...asset }] as const),
])

const accounts = [...walletAddresses.values()].map(({ account }) => ({ account, ...asset, balance: 10n ** 15n }))
// The ledger is the wallet's own: in memory, it costs next to nothing here.
const ledger = options.ledgerPlace === undefined ? memoryLedger({ accounts }) : await fileLedger(options.ledgerPlace)

let ahead = 0
const clock = systemClock()
const openPayments = createOpenPayments({
  authServer: AUTH,
  resourceServer: BASE,
  secrets: ['a secret of the benchmark, long enough'],
  storage,
  ledger,
  walletAddresses: { find: async (url) => walletAddresses.get(url) },
  consent: {
    // The one person here approves whatever is shown, and the answer says where the browser goes next.
    respond: async ({ reference, interactions }) => {
      return { status: 200, headers: {}, body: await approve(interactions, reference) }
    },
  },
  ...(verifier === 'libsodium' && { cryptography: sodiumCryptography((await import('sodium-native')).default) }),
  clock: { ...clock, now: () => clock.now() + ahead },
  settings: {
    lifetimes: { accessTokenSeconds: 1_000_000, continuationWaitSeconds: 1, signatureAgeSeconds: 3600 },
    limits: { createdPerHour: 1_000_000_000 },
  },
})
// Nothing is loaded that a wallet would not load, unless it is used: the start is measured too.
const tokens = hasGrants
  ? await (await import('./grant-all.ts')).grantAll(openPayments, key, clock, (milliseconds) => {
      ahead += milliseconds
    })
  : undefined
const port = await listen(openPayments, host)
const hello: ServerHello = { port, ahead, ...(tokens && { tokens }) }
process.on('exit', () => close())
await answerLines(hello, async ({ sweepAfterDays }: Question) => {
  await openPayments.drain()
  if (sweepAfterDays === undefined) return
  ahead += sweepAfterDays * 24 * 3_600_000
  while ((await openPayments.sweep()) > 0) await openPayments.drain()
})

async function fileLedger(file: string): Promise<Ledger> {
  const { openSqlite } = await import('open-payments-server/storage/sqlite')
  const { sqliteLedger } = await import('open-payments-server/ledger/sqlite')
  const books = sqliteLedger(await openSqlite(file))
  for (const account of accounts) await books.createAccount(account)
  return books
}

async function listen(server: OpenPayments, at: HostName): Promise<number> {
  if (at === 'fetch') {
    if (!('Bun' in globalThis || 'Deno' in globalThis)) return listenOnFetch((request) => server.fetch(request))
    const { serveHandler } = await import('open-payments-server/bun')
    return listenOnFetch(serveHandler(server))
  }
  if (at === 'node') {
    const { toNodeListener } = await import('open-payments-server/node')
    return listenOnNode(toNodeListener(server))
  }
  const { default: express } = await import('express')
  const { openPaymentsMiddleware } = await import('open-payments-server/express')
  return listenOnNode(express().use(openPaymentsMiddleware(server)))
}
