import process from 'node:process'
import { sqliteLedger } from '../../../adapters/ledger/sqlite.ts'
import { openSqlite } from '../../../adapters/storage/sqlite.ts'
import {
  createOpenPayments,
  type HttpResponse,
  type OpenPayments,
  type OpenPaymentsEvent,
  type OpenPaymentsOptions,
  type ReceivedPayment,
  systemClock,
  type WalletAddress,
} from '../../../src/index.ts'
import { NO_PAGE } from '../../support/no-page.ts'
import { openStorage, type Place } from './places.ts'
import { answerCalls } from './remote-process.ts'

/** A signed request as it travels to a process. */
export interface SentRequest {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: Uint8Array
}

/** A transfer that a rail reports: incoming payment, amount, id of the transfer. */
export type Report = Parameters<OpenPayments['incomingPayments']['received']>

/** What a server is told: to take these requests or reports, all at once, at a moment, or to let its work run out. */
export type ServerCall =
  | { readonly requests: readonly SentRequest[]; readonly now: number }
  | { readonly reports: readonly Report[]; readonly now: number }
  | 'drain'

/** What it answers: to each request or report, and once its work has run out what it has told its host. */
export type ServerAnswer = readonly HttpResponse[] | readonly ReceivedPayment[] | readonly OpenPaymentsEvent[]

/** Another process of the same wallet. */
export interface ServerOptions extends Pick<OpenPaymentsOptions, 'authServer' | 'resourceServer' | 'secrets'> {
  readonly place: Place
  readonly ledgerFile: string
  readonly settings: NonNullable<OpenPaymentsOptions['settings']>
  readonly directory: readonly (readonly [string, WalletAddress])[]
}

const { place, ledgerFile, directory, ...options }: ServerOptions = JSON.parse(process.argv[2] ?? '')
const { storage } = await openStorage(place)
const walletAddresses = new Map(directory)
const system = systemClock()
/** How far the clock of the wallet that signs is ahead of this machine's. */
let ahead = 0
const told: OpenPaymentsEvent[] = []
const openPayments = createOpenPayments({
  ...options,
  storage,
  ledger: sqliteLedger(await openSqlite(ledgerFile)),
  walletAddresses: { find: async (url) => walletAddresses.get(url) },
  consent: NO_PAGE,
  clock: { ...system, now: () => system.now() + ahead },
  onEvent: (event) => {
    if (event.type === 'incoming_payment.completed') told.push(event)
  },
})

answerCalls(async (call: ServerCall): Promise<ServerAnswer> => {
  if (call === 'drain') {
    await openPayments.drain()
    return told
  }
  ahead = call.now - system.now()
  if ('reports' in call) {
    return Promise.all(call.reports.map((report) => openPayments.incomingPayments.received(...report)))
  }
  return Promise.all(call.requests.map(handle))
})

function handle({ method, target, headers, body }: SentRequest): Promise<HttpResponse> {
  const headerLines = (name: string): readonly string[] => headers[name] ?? []
  return openPayments.handle({ method, target, headerLines, bytes: async () => body })
}
