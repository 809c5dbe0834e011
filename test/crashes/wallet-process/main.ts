import { appendFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import process from 'node:process'
import { createOpenPayments, type JsonWebKey, type OpenPayments, type OpenPaymentsEvent } from 'open-payments-server'
import { toNodeListener } from 'open-payments-server/node'
import { NO_PAGE } from '../../support/no-page.ts'
import type { Report } from '../wallet-child.ts'
import { AUTH, BASE, directoryOf, LEASE_SECONDS, PRICING, SECRET } from './accounts.ts'
import { movableClock } from './movable-clock.ts'
import { openWatchedStores, type Place } from './stores.ts'
import { type Fuse, type WatchedCalls, watchCalls } from './watched-calls.ts'

/** How a process of the wallet is started: one argument, as JSON. */
export interface ProcessOptions {
  readonly place: Place
  /** Public keys of the clients, by name. */
  readonly clients: Readonly<Record<string, JsonWebKey>>
  /** How far its clock is ahead, in milliseconds: so nobody has to wait for a lease. */
  readonly aheadMilliseconds: number
  /** The pause between two recoveries; absent: only when told to. */
  readonly recoverEveryMilliseconds?: number
  readonly traceFile: string
  /** What the host was told is appended here, a line for each event. */
  readonly toldFile: string
  /** Armed before anything else. */
  readonly fuse?: Fuse
}

/** What a process is told. */
export type Order =
  | { readonly set: 'ahead'; readonly milliseconds: number }
  | { readonly set: 'fuse'; readonly fuse?: Fuse; readonly number: number }
  /** Recover, and let everything run out. */
  | { readonly set: 'recover'; readonly number: number }

const { place, clients, aheadMilliseconds, recoverEveryMilliseconds, traceFile, toldFile, fuse }: ProcessOptions =
  JSON.parse(process.argv[2] ?? '')

// Whoever started this has ended, however that came about.
process.on('disconnect', () => process.exit())

const calls = watchCalls(traceFile)
calls.arm(fuse)
const clock = movableClock(aheadMilliseconds)
const directory = directoryOf(clients)
const openPayments = createOpenPayments({
  authServer: AUTH,
  resourceServer: BASE,
  secrets: [SECRET],
  ...(await openStores()),
  walletAddresses: { find: async (url) => directory.get(url) },
  consent: NO_PAGE,
  pricing: PRICING,
  clock,
  onEvent: (event) => writeDown(event, calls),
  settings: {
    lifetimes: { accessTokenSeconds: 10_000_000, quoteSeconds: 86_400, signatureAgeSeconds: 3600 },
    // However slow this machine is: what a payment does depends on no deadline.
    limits: { holdSeconds: 10, leaseSeconds: LEASE_SECONDS },
  },
})

process.on('message', (order: Order) => {
  if (order.set === 'ahead') {
    clock.ahead = order.milliseconds
  } else if (order.set === 'fuse') {
    calls.arm(order.fuse)
    report({ done: order.number })
  } else {
    recoverAll(openPayments).finally(() => report({ done: order.number }))
  }
})
const server = createServer(
  toNodeListener(openPayments, { next: (request, response) => railListener(request, response) }),
)
server.on('request', (request: IncomingMessage, response: ServerResponse) => {
  if (request.method !== 'POST' || request.url !== '/outgoing-payments') return
  calls.note('order', 1)
  response.on('close', () => calls.note('order', -1))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) report({ port: address.port })
})
if (recoverEveryMilliseconds !== undefined) keepRecovering(openPayments, recoverEveryMilliseconds)

/** A host whose database is away for a moment starts again. */
async function openStores(): ReturnType<typeof openWatchedStores> {
  for (let tries = 1; ; tries++) {
    try {
      return await openWatchedStores(place, calls)
    } catch (error) {
      if (place.kind === 'sqlite' || tries === 100) throw error
      await clock.sleep(50)
    }
  }
}

function report(what: Report): void {
  process.send?.(what)
}

/** A host that keeps what it is told before it acknowledges. */
async function writeDown(event: OpenPaymentsEvent, watched: WatchedCalls): Promise<void> {
  if (event.type === 'request') return
  const line = JSON.stringify(event, (name, value) => (name === 'cause' ? String(value) : value))
  if (event.type === 'fault') return appendFileSync(toldFile, `${line}\n`)
  await watched.during('event', async () => appendFileSync(toldFile, `${line}\n`))
}

async function recoverAll(wallet: OpenPayments): Promise<void> {
  await wallet.recover().catch(() => undefined)
  await wallet.drain()
}

/** What a host does on its timers. A store that fails is asked again. */
async function keepRecovering(wallet: OpenPayments, pauseMilliseconds: number): Promise<void> {
  for (;;) {
    await wallet.recover().catch(() => undefined)
    await wallet.sweep().catch(() => undefined)
    await clock.sleep(pauseMilliseconds)
  }
}

/** The wallet's own route: its rail reports what has arrived. */
async function railListener(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = ''
  for await (const chunk of request) text += chunk
  const { id, amount, transferId } = JSON.parse(text)
  const received = openPayments.incomingPayments.received(id, { ...amount, value: BigInt(amount.value) }, transferId)
  const [status, answer] = await received.then(
    (result) => [200, result],
    () => [503, {}],
  )
  response.writeHead(Number(status))
  response.end(JSON.stringify(answer, (_name, value) => (typeof value === 'bigint' ? `${value}` : value)))
}
