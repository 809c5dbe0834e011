import {
  type Amount,
  createOpenPayments,
  type HttpRequest,
  type KeyResolver,
  type OpenPayments,
  type OpenPaymentsEvent,
  type OpenPaymentsOptions,
  type WalletAddress,
} from 'open-payments-server'
import { type DoubleEntryLedger, memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'
import {
  createSigningKey,
  type InMemoryRequest,
  type SignedRequestOptions,
  type SigningKey,
  signedRequest,
} from 'open-payments-server/testing'
import { expect } from 'vitest'
import { webCryptography } from '../../src/runtime/web-crypto.ts'
import type { AnswerBody } from './answer-body.ts'
import { bodyText } from './body-text.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { lastSegment } from './last-segment.ts'
import { violations } from './open-api.ts'

export const AUTH = 'https://auth.wallet.example'
export const BASE = 'https://wallet.example'
export const ALICE = `${BASE}/alice`
export const BOB = `${BASE}/bob`
export const CAROL = `${BASE}/carol`
export const CLIENT = `${BASE}/client`
export const SECRET = 'a secret of the tests, long enough to be one'

export const cryptography = webCryptography()

/** An answer, its JSON body read. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The members of the answers that tests read; which of them are there depends on the answer. */
  readonly body: AnswerBody
  readonly text: string | undefined
}

/** A client: a key, and how the grant requests of its key name it. */
export interface Client {
  readonly key: SigningKey
  readonly client: unknown
}

export interface Sending extends Partial<Omit<SignedRequestOptions, 'method' | 'url'>> {
  readonly as?: Client
  readonly alter?: (request: InMemoryRequest) => HttpRequest
}

/** A wallet with three accounts and a client, on a clock that stands still. */
export interface TestWallet {
  readonly openPayments: OpenPayments
  readonly clock: FakeClock
  readonly events: OpenPaymentsEvent[]
  readonly storage: OpenPaymentsOptions['storage']
  readonly ledger: DoubleEntryLedger
  readonly directory: Map<string, WalletAddress>
  readonly client: Client
  /** Signs and sends; every answer is checked against the published documents. */
  send(method: string, url: string, sending?: Sending): Promise<Answer>
  /** Sends what is given, without signing. */
  sendRaw(request: HttpRequest): Promise<Answer>
}

const ACCOUNTS = [
  { account: 'alice', assetCode: 'USD', assetScale: 2, balance: 100_000n },
  { account: 'bob', assetCode: 'USD', assetScale: 2, balance: 0n },
  { account: 'carol', assetCode: 'EUR', assetScale: 4, balance: 0n },
] as const

/** Books with the three accounts of a wallet of tests. */
export const testLedger = (): DoubleEntryLedger => memoryLedger({ accounts: ACCOUNTS })

/** Knows no key but those of the directory. */
export const NO_NETWORK: KeyResolver = {
  keySet: async () => ({ ok: false, reason: 'unreachable' }),
  publicName: async () => undefined,
}

export async function testWallet(overrides: Partial<OpenPaymentsOptions> = {}): Promise<TestWallet> {
  const clock = fakeClock()
  const events: OpenPaymentsEvent[] = []
  const key = await createSigningKey(cryptography, 'client-key')
  // Whatever a test gives in its place must be the ledger that it looks at: a spread or a proxy of books has their balances.
  const ledger = (overrides.ledger ?? testLedger()) as DoubleEntryLedger
  const storage = overrides.storage ?? memoryStorage()
  const directory = new Map<string, WalletAddress>([
    [ALICE, { account: 'alice', assetCode: 'USD', assetScale: 2, publicName: 'Alice' }],
    [BOB, { account: 'bob', assetCode: 'USD', assetScale: 2 }],
    [CAROL, { account: 'carol', assetCode: 'EUR', assetScale: 4 }],
    [CLIENT, { account: 'bob', assetCode: 'USD', assetScale: 2, publicName: 'A Shop', keys: [key.jwk] }],
  ])
  const openPayments = createOpenPayments({
    authServer: AUTH,
    resourceServer: BASE,
    secrets: [SECRET],
    storage,
    ledger,
    walletAddresses: { find: async (url) => directory.get(url) },
    consent: {
      respond: async () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<p>consent</p>' }),
    },
    keyResolver: NO_NETWORK,
    cryptography,
    clock,
    onEvent: (event) => {
      events.push(event)
    },
    ...overrides,
  })
  const client: Client = { key, client: CLIENT }

  const sendRaw = async (request: HttpRequest): Promise<Answer> => {
    const before = events.length
    const response = await openPayments.handle(request)
    const event = events.slice(before).find((one) => one.type === 'request' && one.status === response.status)
    const text = bodyText(response)
    const isJson = response.headers['content-type'] === 'application/json'
    const body = isJson && text !== undefined ? JSON.parse(text) : undefined
    if (event?.type === 'request' && event.operation !== undefined) {
      const found = violations(event.operation, response.status, body)
      // Not an expectation for each of so many answers: it costs more than what it looks at.
      if (found.length > 0) expect(found).toEqual([])
    }
    if (response.status >= 400 && isJson) {
      expect(body.error).toEqual(expect.objectContaining({ code: expect.any(String), description: expect.any(String) }))
    }
    return { status: response.status, headers: response.headers, body, text }
  }

  return {
    openPayments,
    clock,
    events,
    storage,
    ledger,
    directory,
    client,
    sendRaw,
    send: async (
      method,
      url,
      { as = client, alter = (request: InMemoryRequest): HttpRequest => request, ...sending } = {},
    ) =>
      sendRaw(
        alter(
          await signedRequest({
            method,
            url,
            key: as.key,
            cryptography,
            created: Math.floor(clock.now() / 1000),
            ...sending,
          }),
        ),
      ),
  }
}

/** A client that is known by its key alone. */
export async function directedClient(keyId = 'directed-key'): Promise<Client> {
  const key = await createSigningKey(cryptography, keyId)
  return { key, client: { jwk: key.jwk } }
}

/** Adds a client with a wallet address of its own on this server. */
export async function addClient(wallet: TestWallet, name: string): Promise<Client> {
  const key = await createSigningKey(cryptography, `${name}-key`)
  wallet.directory.set(`${BASE}/${name}`, { account: 'bob', assetCode: 'USD', assetScale: 2, keys: [key.jwk] })
  return { key, client: `${BASE}/${name}` }
}

/** A grant that needs nobody's consent. */
export async function grantAtOnce(
  wallet: TestWallet,
  access: readonly unknown[],
  as: Client = wallet.client,
): Promise<Answer> {
  return wallet.send('POST', `${AUTH}/`, { as, json: { access_token: { access }, client: as.client } })
}

export const FINISH = { method: 'redirect', uri: 'https://shop.example/done?order=7', nonce: 'the-nonce-of-the-client' }

/** Asks for a grant with consent; answers what the authorization server said. */
export async function requestConsent(
  wallet: TestWallet,
  access: readonly unknown[],
  members: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  return wallet.send('POST', `${AUTH}/`, {
    json: {
      access_token: { access },
      client: wallet.client.client,
      interact: { start: ['redirect'], finish: FINISH },
      ...members,
    },
  })
}

/** The last segment of an interaction's redirect. */
export function referenceOf(pending: Answer): string {
  return lastSegment(pending.body.interact.redirect)
}

/** The person who owns all accounts of the wallet, in one browser. */
export const OWNER = { session: 'session-1', walletAddresses: [ALICE, BOB, CAROL] } as const

/** Decides an interaction as the owner of its wallet address would; answers the finish redirect. */
export async function decideAs(
  wallet: TestWallet,
  pending: Answer,
  decision: 'approve' | 'deny' = 'approve',
): Promise<URL | undefined> {
  const reference = referenceOf(pending)
  const opened = await wallet.openPayments.interactions.find(reference, OWNER)
  if (!opened.ok) throw new Error(opened.reason)
  const decided = await wallet.openPayments.interactions[decision](reference, {
    ...OWNER,
    csrf: opened.csrf,
    access: 'all',
  })
  if (!decided.ok) throw new Error(decided.reason)
  return decided.redirect === undefined ? undefined : new URL(decided.redirect)
}

/** Continues a grant once its owner has decided. */
export async function continueWith(
  wallet: TestWallet,
  pending: Answer,
  interactRef: string | null | undefined,
): Promise<Answer> {
  wallet.clock.advance(5000)
  return wallet.send('POST', pending.body.continue.uri, {
    token: pending.body.continue.access_token.value,
    ...(interactRef != null && { json: { interact_ref: interactRef } }),
  })
}

/** A grant with consent, from request to token. */
export async function grantWithConsent(wallet: TestWallet, access: readonly unknown[]): Promise<Answer> {
  const pending = await requestConsent(wallet, access)
  const redirect = await decideAs(wallet, pending)
  return continueWith(wallet, pending, redirect?.searchParams.get('interact_ref'))
}

/** An amount in the asset of Alice and Bob. */
export function usd(value: string): {
  readonly value: string
  readonly assetCode: string
  readonly assetScale: number
} {
  return { value, assetCode: 'USD', assetScale: 2 }
}

/** What a rail reports in the asset of Alice and Bob. */
export function usdAmount(value: bigint): Amount {
  return { value, assetCode: 'USD', assetScale: 2 }
}

/** An incoming payment, and the token of its client. */
export async function incomingPayment(
  wallet: TestWallet,
  members: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly payment: AnswerBody; readonly token: string }> {
  const grant = await grantAtOnce(wallet, [
    { type: 'incoming-payment', actions: ['create', 'read', 'list', 'complete'] },
  ])
  const token: string = grant.body.access_token.value
  const created = await wallet.send('POST', `${BASE}/incoming-payments`, {
    token,
    json: { walletAddress: BOB, ...members },
  })
  expect(created.status).toBe(201)
  return { payment: created.body, token }
}

/** A token for outgoing payments of Alice within some limits. */
export async function spendingToken(wallet: TestWallet, limits?: Readonly<Record<string, unknown>>): Promise<string> {
  const access = {
    type: 'outgoing-payment',
    actions: ['create', 'read', 'list'],
    identifier: ALICE,
    ...(limits && { limits }),
  }
  const granted = await grantWithConsent(wallet, [access, { type: 'quote', actions: ['create', 'read'] }])
  expect(granted.status).toBe(200)
  return granted.body.access_token.value
}
