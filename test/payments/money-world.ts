import {
  createOpenPayments,
  type HttpRequest,
  type MoneyEvent,
  type OpenPayments,
  type OpenPaymentsEvent,
  type OpenPaymentsOptions,
  type RecordKind,
  type Storage,
  type StoredRecord,
} from 'open-payments-server'
import { type DoubleEntryLedger, memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { type InMemoryRequest, type SignedRequestOptions, signedRequest } from 'open-payments-server/testing'
import { expect } from 'vitest'
import type { AnswerBody } from '../support/answer-body.ts'
import { bodyText } from '../support/body-text.ts'
import { keyed } from '../support/keyed.ts'
import { lastSegment } from '../support/last-segment.ts'
import { NO_PAGE } from '../support/no-page.ts'
import { violations } from '../support/open-api.ts'
import {
  ALICE,
  AUTH,
  BASE,
  BOB,
  cryptography,
  grantAtOnce,
  NO_NETWORK,
  SECRET,
  spendingToken,
  type TestWallet,
  testWallet,
  usd,
} from '../support/test-wallet.ts'
import { type FaultyPorts, faultyPorts } from './faulty-ports.ts'

/** A store that a test can read from end to end. */
export interface OpenStorage extends Storage {
  all<K extends RecordKind>(kind: K): Promise<readonly StoredRecord<K>[]>
}

function openStorage(): OpenStorage {
  const base = memoryStorage()
  const ids = new Map<RecordKind, Set<string>>()
  return {
    ...base,
    commit: (changes) => {
      for (const change of changes) {
        if (change.action === 'insert') ids.set(change.kind, (ids.get(change.kind) ?? new Set()).add(change.value.id))
      }
      return base.commit(changes)
    },
    all: async <K extends RecordKind>(kind: K) => {
      const records = await base.get([...(ids.get(kind) ?? [])].map((id) => ({ kind, id })))
      return records.filter((record) => record !== undefined) as unknown as readonly StoredRecord<K>[]
    },
  }
}

/** A server process: its ports may fail, and it may end at any call of one of them. */
export interface Process {
  readonly openPayments: OpenPayments
  readonly ports: FaultyPorts
}

/** A storage and a ledger that outlive processes, and a wallet on them whose own process never fails. */
export interface World {
  readonly wallet: TestWallet
  readonly storage: OpenStorage
  readonly ledger: DoubleEntryLedger
  /** What the hosts of all processes were told about money, in order. */
  told(): readonly MoneyEvent[]
  /** Another process on the same storage and ledger, maybe with ports of its own that end with it. */
  start(overrides?: Partial<OpenPaymentsOptions> | ((ports: FaultyPorts) => Partial<OpenPaymentsOptions>)): Process
}

export const OPENING = 100_000n
export const LEASE = 30_000
export const HOUR = 3_600_000

/** When a payment expires that has an hour. */
export function inAnHour({ wallet }: Pick<World, 'wallet'>): string {
  return new Date(wallet.clock.now() + HOUR).toISOString()
}

export async function moneyWorld(overrides: Partial<OpenPaymentsOptions> = {}): Promise<World> {
  const storage = openStorage()
  const ledger = memoryLedger({
    accounts: [
      { account: 'alice', assetCode: 'USD', assetScale: 2, balance: OPENING },
      { account: 'bob', assetCode: 'USD', assetScale: 2 },
      { account: 'carol', assetCode: 'EUR', assetScale: 4 },
    ],
  })
  // Tokens that outlive the hours for which recovery may wait.
  const settings = { ...overrides.settings, lifetimes: { accessTokenSeconds: 1e7, ...overrides.settings?.lifetimes } }
  const wallet = await testWallet({ storage, ledger, ...overrides, settings })
  return {
    wallet,
    storage,
    ledger,
    told: () => wallet.events.filter((event) => 'id' in event),
    start: processesOn(wallet, storage, ledger, { ...overrides, settings }),
  }
}

/** How another process of a wallet is started, on the storage and the ledger that all of them have. */
export function processesOn(
  wallet: TestWallet,
  storage: Storage,
  ledger: DoubleEntryLedger,
  options: Partial<OpenPaymentsOptions>,
): World['start'] {
  return (more = {}) => {
    const ports = faultyPorts({ storage, ledger, clock: wallet.clock })
    const openPayments = createOpenPayments({
      authServer: AUTH,
      resourceServer: BASE,
      secrets: [SECRET],
      storage: ports.storage,
      ledger: ports.ledger,
      walletAddresses: { find: async (url) => wallet.directory.get(url) },
      consent: NO_PAGE,
      keyResolver: NO_NETWORK,
      cryptography,
      clock: wallet.clock,
      onEvent: (event) => {
        wallet.events.push(event)
      },
      ...options,
      ...(typeof more === 'function' ? more(ports) : more),
    })
    return { openPayments, ports }
  }
}

/** What the hosts of all processes were told of one type, in order. */
export function eventsOf<T extends OpenPaymentsEvent['type']>({ wallet }: World, type: T) {
  return wallet.events.filter((event): event is Extract<OpenPaymentsEvent, { type: T }> => event.type === type)
}

/** A payment that only has to be created. */
export interface PreparedPayment {
  readonly token: string
  readonly incomingId: string
  readonly incomingUrl: string
  readonly quoteUrl: string
  /** The body of the request that creates it. */
  readonly body: unknown
}

/** What a payment needs: a token that may spend, and one that may receive. */
export interface Tokens {
  readonly spending: string
  readonly receiving: string
}

export async function grantTokens(world: World, limits?: Readonly<Record<string, unknown>>): Promise<Tokens> {
  const granted = await grantAtOnce(world.wallet, [
    { type: 'incoming-payment', actions: ['create', 'read', 'list', 'complete'] },
  ])
  return { receiving: granted.body.access_token.value, spending: await spendingToken(world.wallet, limits) }
}

/** An incoming payment and a quote for it, ready to be paid. */
export async function preparePayment(
  world: World,
  tokens: Tokens,
  {
    amount = '10',
    incoming = { incomingAmount: usd('10') },
    from = 'quote',
    receiver,
  }: {
    readonly amount?: string
    readonly incoming?: Readonly<Record<string, unknown>>
    readonly from?: 'quote' | 'incoming payment'
    /** The URL of an incoming payment that exists. */
    readonly receiver?: string
  } = {},
): Promise<PreparedPayment> {
  const { wallet } = world
  const { spending, receiving } = tokens
  const incomingUrl = receiver ?? (await createIncoming(world, receiving, incoming))
  const quoteUrl = from === 'quote' ? await createQuote(world, spending, incomingUrl, amount) : ''
  await wallet.openPayments.drain()
  return {
    token: spending,
    incomingId: lastSegment(incomingUrl),
    incomingUrl,
    quoteUrl,
    body:
      from === 'quote'
        ? { walletAddress: ALICE, quoteId: quoteUrl }
        : { walletAddress: ALICE, incomingPayment: incomingUrl, debitAmount: usd(amount) },
  }
}

async function createIncoming(
  world: World,
  token: string,
  members: Readonly<Record<string, unknown>>,
): Promise<string> {
  const json = { walletAddress: BOB, ...members }
  const created = await world.wallet.send('POST', `${BASE}/incoming-payments`, { token, json })
  expect(created.status).toBe(201)
  return created.body.id
}

async function createQuote(world: World, token: string, receiver: string, amount: string): Promise<string> {
  const json = { walletAddress: ALICE, receiver, method: 'ilp', debitAmount: usd(amount) }
  const created = await world.wallet.send('POST', `${BASE}/quotes`, { token, json })
  expect(created.status).toBe(201)
  return created.body.id
}

/** An answer of a process. */
export interface ProcessAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AnswerBody
}

/** Signs a request of the wallet's client. */
export async function signedBy(
  world: World,
  method: string,
  url: string,
  token?: string,
  json?: unknown,
  more: Partial<SignedRequestOptions> = {},
): Promise<InMemoryRequest> {
  const created = Math.floor(world.wallet.clock.now() / 1000)
  const { key } = world.wallet.client
  return signedRequest({
    method,
    url,
    key,
    cryptography,
    created,
    ...(token !== undefined && { token }),
    ...(json !== undefined && { json }),
    ...more,
  })
}

/** Hands a request to a process; `undefined` where it crashes before it answers. */
export async function ask(process: Process, request: HttpRequest): Promise<ProcessAnswer | undefined> {
  const answer = await Promise.race([process.openPayments.handle(request), process.ports.crashed])
  const text = answer && bodyText(answer)
  return answer && { ...answer, body: text === undefined ? undefined : JSON.parse(text) }
}

/** Creates a payment in a process and lets the work after the answer run out, unless the process crashes. */
export async function pay(
  world: World,
  process: Process,
  prepared: PreparedPayment,
  more: Partial<SignedRequestOptions> = {},
): Promise<ProcessAnswer | undefined> {
  const { token, body } = prepared
  const answer = await ask(process, await signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, body, more))
  if (answer?.status === 201) expect(violations('create-outgoing-payment', 201, answer.body)).toEqual([])
  await Promise.race([process.openPayments.drain(), process.ports.crashed])
  return answer
}

/** Gives an order under a key to a process that ends before it asks for the hold: whoever gets it again resumes it. */
export async function orderCutOff(world: World, prepared: PreparedPayment, key: string): Promise<void> {
  const process = world.start()
  process.ports.plan = ({ name }) => (name === 'hold' ? 'crashes before' : undefined)
  expect(await pay(world, process, prepared, keyed(key))).toBeUndefined()
}

const MOST_ROUNDS = 12

/** Recovers in a process that never fails, until nothing is due any more, however late. */
export async function recoverUntilQuiet({ storage, wallet }: World): Promise<void> {
  const { openPayments } = wallet
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const due = await Promise.all([
      storage.due('outgoing-payment', Number.MAX_SAFE_INTEGER, 100),
      storage.due('event', Number.MAX_SAFE_INTEGER, 100),
    ])
    const latest = Math.max(0, ...due.flat().map(({ dueAt = 0 }) => dueAt))
    if (latest === 0) return
    wallet.clock.advance(Math.max(0, latest - wallet.clock.now()))
    await openPayments.recover()
    await openPayments.drain()
  }
  throw new Error('recover() never came to an end')
}
