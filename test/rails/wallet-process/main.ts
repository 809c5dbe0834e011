import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'
import {
  type Asset,
  createOpenPayments,
  type JsonWebKey,
  keepGoing,
  type OpenPayments,
  type OpenPaymentsEvent,
} from 'open-payments-server'
import { type IlpPeer, ilp } from 'open-payments-server/ilp'
import { toNodeListener } from 'open-payments-server/node'
import type { Report } from '../../crashes/wallet-child.ts'
import { movableClock } from '../../crashes/wallet-process/movable-clock.ts'
import type { SqlitePlace } from '../../crashes/wallet-process/sqlite-stores.ts'
import { openWatchedStores } from '../../crashes/wallet-process/stores.ts'
import { type Fuse, watchCalls } from '../../crashes/wallet-process/watched-calls.ts'
import { NO_PAGE } from '../../support/no-page.ts'
import {
  ASSETS,
  type AssetCode,
  directoryOf,
  ilpAddressOf,
  LEASE_SECONDS,
  limitsIn,
  type OfEach,
  otherOf,
  PRICING,
  peerTokenOf,
  secretOf,
  type WalletName,
} from './wallets.ts'

/** How the two wallets are connected. */
export interface RailTerms {
  /** The assets of the accounts that they have with each other. */
  readonly assets: readonly AssetCode[]
  /** The greatest packet, in major units of the account's asset. */
  readonly maxPacketUnits: number
  /** How much more may be sent than received, in major units, and less the other way; absent: without limit. */
  readonly limitUnits?: number
  /** Whether they promise each other that an identical packet has one effect, and can be asked for again. */
  readonly isIdempotent: boolean
}

/** How a process of a wallet is started: one argument, as JSON. */
export interface ProcessOptions {
  readonly wallet: WalletName
  readonly place: SqlitePlace
  /** The published URLs of both wallets, where the network between them listens. */
  readonly urls: OfEach<string>
  readonly rail: RailTerms
  /** Where the wallet's books say what was settled with the other one: a `Settled` in JSON. */
  readonly settledFile: string
  /** Public keys of the clients, by name. */
  readonly clients: Readonly<Record<string, JsonWebKey>>
  /** How far its clock is ahead, in milliseconds. */
  readonly aheadMilliseconds: number
  readonly traceFile: string
  /** Whether it recovers by itself, as a host has it do; else only where it is told to. */
  readonly keepsGoing: boolean
  /** Armed before anything else. */
  readonly fuse?: Fuse
}

/** What the other wallet has paid outside of the rail, less what it was paid, by asset. */
export type Settled = Readonly<Partial<Record<AssetCode, string>>>

/** What a process is told. */
export type Order =
  | { readonly set: 'ahead'; readonly milliseconds: number }
  | { readonly set: 'fuse'; readonly fuse?: Fuse; readonly number: number }
  /** Recover, and let everything run out. */
  | { readonly set: 'recover'; readonly number: number }
  /** Let everything run out that is under way. */
  | { readonly set: 'drain'; readonly number: number }
  /** List the payments that wait for a word of the host. */
  | { readonly set: 'list undecided'; readonly number: number }
  /** The host's word: what was in flight of a payment has arrived, or has not. */
  | { readonly set: 'decide'; readonly id: string; readonly hasArrived: boolean; readonly number: number }

const options: ProcessOptions = JSON.parse(process.argv[2] ?? '')
const { wallet, place, urls, rail, settledFile, clients, aheadMilliseconds, traceFile, keepsGoing, fuse } = options

// Whoever started this has ended, however that came about.
process.on('disconnect', () => process.exit())

const calls = watchCalls(traceFile)
calls.arm(fuse)
const clock = movableClock(aheadMilliseconds)
const base = urls[wallet]
const directory = directoryOf(base, clients)
const openPayments = createOpenPayments({
  authServer: `${base}/auth`,
  resourceServer: base,
  secrets: [secretOf(wallet)],
  ...(await openWatchedStores(place, calls)),
  walletAddresses: { find: async (url) => directory.get(url) },
  consent: NO_PAGE,
  pricing: PRICING,
  paymentMethods: [
    ilp({
      address: ilpAddressOf(wallet),
      peers: ASSETS.filter(({ assetCode }) => rail.assets.includes(assetCode)).map((asset) => ({
        address: ilpAddressOf(otherOf(wallet)),
        url: `${urls[otherOf(wallet)]}/ilp`,
        outgoingToken: peerTokenOf(wallet, asset.assetCode),
        incomingTokens: [peerTokenOf(otherOf(wallet), asset.assetCode)],
        asset,
        maxPacketAmount: BigInt(rail.maxPacketUnits) * 10n ** BigInt(asset.assetScale),
        isIdempotent: rail.isIdempotent,
        ...limitsOf(asset),
      })),
    }),
  ],
  clock,
  onEvent: tell,
  settings: {
    lifetimes: { accessTokenSeconds: 10_000_000, quoteSeconds: 86_400, signatureAgeSeconds: 3600 },
    limits: { leaseSeconds: LEASE_SECONDS },
    policies: { loopbackHttp: true },
  },
})

process.on('message', (order: Order) => {
  if (order.set === 'ahead') {
    clock.ahead = order.milliseconds
    return
  }
  const { number } = order
  carryOut(openPayments, order).then(
    (answer) => report({ done: number, ...(answer !== undefined && { answer }) }),
    (error) => report({ done: number, answer: { fault: String(error) } }),
  )
})
const server = createServer(toNodeListener(openPayments))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) report({ port: address.port })
})
// What a host does, with shorter pauses.
if (keepsGoing)
  keepGoing(openPayments, { ...clock, sleep: (milliseconds, signal) => clock.sleep(milliseconds / 10, signal) })

async function carryOut(served: OpenPayments, order: Exclude<Order, { set: 'ahead' }>): Promise<unknown> {
  switch (order.set) {
    case 'fuse':
      return calls.arm(order.fuse)
    case 'recover':
      await served.recover()
      return served.drain()
    case 'drain':
      return served.drain()
    case 'list undecided':
      return served.outgoingPayments.undecided()
    case 'decide':
      return order.hasArrived ? served.outgoingPayments.sent(order.id) : served.outgoingPayments.failed(order.id)
  }
}

/** None, or what the terms of the rail say and the wallet's books. */
function limitsOf(asset: Asset): Pick<IlpPeer, 'limits' | 'settled'> {
  if (rail.limitUnits === undefined) return {}
  const settled = (): bigint => {
    const books: Record<string, string | undefined> = JSON.parse(readFileSync(settledFile, 'utf8'))
    return BigInt(books[asset.assetCode] ?? 0)
  }
  return { limits: limitsIn(asset, rail.limitUnits), settled }
}

function report(what: Report): void {
  process.send?.(what)
}

/** What there is to tell of payments and of the rail; requests are many, and answered. */
function tell(event: OpenPaymentsEvent): void {
  if (event.type === 'request') return
  const about = 'outgoingPayment' in event ? event.outgoingPayment : undefined
  const subject = event.type === 'fault' ? `${event.message}: ${event.cause}` : about
  const told = event.type === 'rail_unavailable' ? `${event.type}: ${event.reason}` : event.type
  report({ told, ...(subject !== undefined && { subject }) })
}
