import { type InMemoryRequest, signedRequest } from 'open-payments-server/testing'
import type { DoubleEntryLedger } from '../../../adapters/ledger/memory.ts'
import type { HttpResponse, OpenPaymentsEvent, ReceivedPayment, Storage } from '../../../src/index.ts'
import { bodyText } from '../../support/body-text.ts'
import {
  type Answer,
  AUTH,
  BASE,
  cryptography,
  SECRET,
  type Sending,
  type TestWallet,
  testWallet,
} from '../../support/test-wallet.ts'
import type { BundledProgram } from './bundled-program.ts'
import type { Place } from './places.ts'
import { callerOf } from './remote-process.ts'
import type { Report, SentRequest, ServerAnswer, ServerCall, ServerOptions } from './server-process.ts'

/** The event of an incoming payment that is completed. */
export type Completion = Extract<OpenPaymentsEvent, { readonly incomingPayment: string }>

/** Several servers of one wallet. */
export interface RaceWorld {
  /** Prepares the races and looks at what came of them. */
  readonly wallet: TestWallet
  readonly ledger: DoubleEntryLedger
  /** Hands requests to the servers in turn, all at once, and lets everything run out that they begin. */
  fire(requests: readonly InMemoryRequest[]): Promise<readonly Answer[]>
  /** The same with what rails report. */
  report(reports: readonly Report[]): Promise<readonly ReceivedPayment[]>
  /** What the servers have told their hosts of completed incoming payments. */
  completions(): Promise<readonly Completion[]>
  close(): Promise<void>
}

/** A server, in this process or in another. */
interface Server {
  handle(requests: readonly InMemoryRequest[]): Promise<readonly HttpResponse[]>
  receive(reports: readonly Report[]): Promise<readonly ReceivedPayment[]>
  /** Lets its work run out; resolves with what it has told its host. */
  drain(): Promise<readonly OpenPaymentsEvent[]>
  stop(): Promise<void>
}

// However busy the machine: these tests show who comes through, and not how soon.
const SETTINGS = { limits: { commitSeconds: 60, holdSeconds: 60, leaseSeconds: 300 } }

/** Signs a request of the wallet's client. */
export function sign(
  { client, clock }: TestWallet,
  method: string,
  url: string,
  sending: Sending,
): Promise<InMemoryRequest> {
  const created = Math.floor(clock.now() / 1000)
  return signedRequest({ method, url, key: client.key, cryptography, created, ...sending })
}

function worldOf(wallet: TestWallet, ledger: DoubleEntryLedger, servers: readonly Server[]): RaceWorld {
  const drain = async () => (await Promise.all(servers.map((server) => server.drain()))).flat()
  const spread = async <T, A>(
    all: readonly T[],
    take: (server: Server, share: readonly T[]) => Promise<readonly A[]>,
  ): Promise<readonly A[]> => {
    const shares = servers.map((_, at) => all.filter((_one, index) => index % servers.length === at))
    const answers = await Promise.all(servers.map((server, at) => take(server, shares[at] ?? [])))
    await drain()
    // In their order again.
    return all.map((_, index) => {
      const answer = answers[index % servers.length]?.[Math.floor(index / servers.length)]
      if (answer === undefined) throw new Error('a server has not answered')
      return answer
    })
  }
  return {
    wallet,
    ledger,
    fire: async (requests) => (await spread(requests, (server, share) => server.handle(share))).map(readAnswer),
    report: (reports) => spread(reports, (server, share) => server.receive(share)),
    completions: async () =>
      (await drain()).flatMap((event) => (event.type === 'incoming_payment.completed' ? [event] : [])),
    async close() {
      for (const server of servers) await server.stop()
    },
  }
}

function readAnswer(response: HttpResponse): Answer {
  const { status, headers } = response
  const text = bodyText(response)
  return { status, headers, text, body: text === undefined ? undefined : JSON.parse(text) }
}

async function preparingWallet(storage: Storage, ledger: DoubleEntryLedger): Promise<TestWallet> {
  await ledger.createAccount({ account: 'alice', assetCode: 'USD', assetScale: 2, balance: 100_000n })
  await ledger.createAccount({ account: 'bob', assetCode: 'USD', assetScale: 2 })
  return testWallet({ storage, ledger, settings: SETTINGS })
}

function serverHere({ openPayments, events }: TestWallet): Server {
  return {
    handle: (requests) => Promise.all(requests.map((request) => openPayments.handle(request))),
    receive: (reports) => Promise.all(reports.map((report) => openPayments.incomingPayments.received(...report))),
    drain: async () => {
      await openPayments.drain()
      return events
    },
    stop: async () => undefined,
  }
}

/** A server for each of some storages on one place, all of them in this process. */
export async function worldInProcess(storages: readonly Storage[], ledger: DoubleEntryLedger): Promise<RaceWorld> {
  const [first, ...others] = storages
  if (first === undefined) throw new TypeError('a world has a storage')
  const wallet = await preparingWallet(first, ledger)
  const { clock, directory } = wallet
  const walletAddresses = { find: async (url: string) => directory.get(url) }
  const twins = await Promise.all(
    others.map((storage) => testWallet({ storage, ledger, clock, walletAddresses, settings: SETTINGS })),
  )
  return worldOf(wallet, ledger, [wallet, ...twins].map(serverHere))
}

/** Where the processes of a wallet find its records and its money. */
export interface ProcessPlaces {
  readonly places: readonly Place[]
  readonly ledgerFile: string
}

/** A server for each place, each in a process of its own; `storage` and `ledger` are this process's view of them. */
export async function worldOfProcesses(
  program: BundledProgram,
  { places, ledgerFile }: ProcessPlaces,
  storage: Storage,
  ledger: DoubleEntryLedger,
): Promise<RaceWorld> {
  const wallet = await preparingWallet(storage, ledger)
  const start = (place: Place): Server => {
    const options: ServerOptions = {
      place,
      ledgerFile,
      authServer: AUTH,
      resourceServer: BASE,
      secrets: [SECRET],
      settings: SETTINGS,
      directory: [...wallet.directory],
    }
    const server = callerOf<ServerCall, ServerAnswer>(program.start(options))
    const now = () => wallet.clock.now()
    const ask = async <A extends ServerAnswer>(call: ServerCall): Promise<A> => (await server.ask(call)) as A
    return {
      handle: (requests) => ask({ requests: requests.map(sentRequest), now: now() }),
      receive: (reports) => ask({ reports, now: now() }),
      drain: () => ask('drain'),
      stop: () => server.stop(),
    }
  }
  const servers = places.map(start)
  // A process that is still starting would come too late to a race.
  await Promise.all(servers.map((server) => server.drain()))
  return worldOf(wallet, ledger, servers)
}

function sentRequest({ method, target, headers, body }: InMemoryRequest): SentRequest {
  return { method, target, headers, body }
}
