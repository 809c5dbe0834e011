import type { Change, OpenPaymentsOptions, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { expect } from 'vitest'
import type { AnswerBody } from '../support/answer-body.ts'
import { type FakeRail, fakeRail } from '../support/fake-rail.ts'
import { type FakeReceiver, type FakeRemoteReceivers, fakeRemoteReceivers } from '../support/fake-remote-receivers.ts'
import { lastSegment } from '../support/last-segment.ts'
import {
  ALICE,
  type Answer,
  AUTH,
  BASE,
  BOB,
  type Client,
  decideAs,
  type Sending,
  type TestWallet,
  testWallet,
  usd,
} from '../support/test-wallet.ts'

/** A wallet of which a test sees everything that a request left behind. */
export interface ObservedWallet extends TestWallet {
  /** Every change that was committed, but for replay claims and events. */
  readonly effects: readonly Change[]
}

const YEAR_SECONDS = 366 * 24 * 3600

/** Lifetimes so long that a test may move the clock through many windows with one token. */
export const LONG_LIFETIMES = { accessTokenSeconds: 20 * YEAR_SECONDS, incomingPaymentSeconds: 20 * YEAR_SECONDS }

function observed(storage: Storage, effects: Change[]): Storage {
  return {
    ...storage,
    commit: async (changes) => {
      const outcome = await storage.commit(changes)
      if (outcome === 'committed')
        effects.push(...changes.filter(({ kind }) => kind !== 'replay-claim' && kind !== 'event'))
      return outcome
    },
  }
}

export async function observedWallet(overrides: Partial<OpenPaymentsOptions> = {}): Promise<ObservedWallet> {
  const effects: Change[] = []
  const wallet = await testWallet({ ...overrides, storage: observed(overrides.storage ?? memoryStorage(), effects) })
  return { ...wallet, effects }
}

const ACCOUNTS = ['alice', 'bob', 'carol', 'fees:USD:2', 'clearing:USD:2', 'fees:EUR:4', 'clearing:EUR:4']

/** Everything that a refusal must leave as it was. */
async function stateOf(wallet: ObservedWallet): Promise<unknown> {
  await wallet.openPayments.drain()
  return {
    effects: wallet.effects.length,
    balances: await Promise.all(ACCOUNTS.map((account) => wallet.ledger.balance(account))),
  }
}

/** Status, code and description of a refusal of the resource server, and its reason where one code has several. */
export type Refusal = readonly [status: number, code: string, description: unknown, reason?: string]

export const MISSING_AUTHORIZATION: Refusal = [401, 'unauthorized', 'Missing or invalid authorization header value']
export const INVALID_TOKEN: Refusal = [401, 'invalid_token', 'Invalid Token']
export const INVALID_SIGNATURE: Refusal = [
  401,
  'invalid_signature',
  expect.stringMatching(/^Signature validation error: ./),
]
export const INSUFFICIENT_GRANT: Refusal = [403, 'insufficient_grant', 'Insufficient Grant']
export const limitExceeded = (reason: string): Refusal => [403, 'grant_limit_exceeded', 'unauthorized', reason]
export const OVER_DEBIT_LIMIT = limitExceeded('the debit limit of the grant is exceeded')
export const OVER_RECEIVE_LIMIT = limitExceeded('the receive limit of the grant is exceeded')
export const LIMITED_TO_ANOTHER_RECEIVER = limitExceeded('the grant names another receiver')
export const NON_POSITIVE_RECEIVE: Refusal = [400, 'non_positive_receive_amount', 'non-positive receive amount']
export const invalidReceiver = (reason: string): Refusal => [400, 'invalid_receiver', 'invalid receiver', reason]
export const ENDED_RECEIVER = invalidReceiver('the incoming payment is completed or expired')
export const UNKNOWN_RECEIVER = invalidReceiver('unknown incoming payment')
export const NO_RECEIVER = invalidReceiver('not the URL of an incoming payment')
export const ELSEWHERE_RECEIVER = invalidReceiver('only incoming payments on this server can be paid from here')
export const INACTIVE_RECEIVER = invalidReceiver('the wallet address of the receiver is not active')
export const CHANGED_RECEIVER = invalidReceiver('the wallet address of the receiver has changed its asset')
export const FILLED_RECEIVER = invalidReceiver('the incoming payment now takes less than the quoted amount')
export const NO_EXCHANGE = invalidReceiver('this wallet does not exchange the assets of payer and receiver')
export const invalidAmount = (reason: string): Refusal => [400, 'invalid_amount', 'invalid amount', reason]
export const NO_AMOUNT = invalidAmount('give an amount: the receiver names none')
export const WRONG_ASSET = invalidAmount(
  'debitAmount must be in the asset of the payer, receiveAmount in that of the receiver',
)
export const ZERO_AMOUNT = invalidAmount('the amount is zero, or nothing remains to be paid')
export const OVER_REMAINDER = invalidAmount('the receiver takes less than that')
export const TOO_LARGE = invalidAmount('the amount is too large')
export const invalidQuote = (reason: string): Refusal => [400, 'invalid_quote', 'invalid quote', reason]
export const UNKNOWN_QUOTE = invalidQuote('unknown quote')
export const USED_QUOTE = invalidQuote('the quote is used')
export const EXPIRED_QUOTE = invalidQuote('the quote has expired')
export const invalidExpiresAt = (reason: string): Refusal => [400, 'invalid_request', 'invalid expiresAt', reason]
export const invalidRequest = (description: unknown): Refusal => [400, 'invalid_request', description]
export const NO_QUOTE_NOR_RECEIVER = invalidRequest('give either quoteId, or incomingPayment and debitAmount')
export const UNKNOWN_WALLET_ADDRESS: Refusal = [404, 'unknown_wallet_address', 'unknown wallet address']
export const INACTIVE_WALLET_ADDRESS: Refusal = [400, 'inactive_wallet_address', 'inactive wallet address']
export const NOT_FOUND: Refusal = [404, 'not_found', expect.any(String)]
export const WRONG_STATE: Refusal = [409, 'wrong_state', 'wrong state']

/** What the operator is told of the last request. */
export function detailOf({ events }: TestWallet): string | undefined {
  const last = events.findLast(({ type }) => type === 'request')
  return last?.type === 'request' ? last.detail : undefined
}

/** Expects a refusal, and that it moved no money and wrote nothing. */
export async function expectRefusal(
  wallet: ObservedWallet,
  refusal: Refusal,
  request: () => Promise<Answer>,
): Promise<Answer> {
  const before = await stateOf(wallet)
  const answer = await request()
  const { code, description, details } = answer.body?.error ?? {}
  const [, , , reason] = refusal
  const said = reason === undefined ? [] : [details?.['reason']]
  expect([answer.status, code, description, ...said]).toEqual(refusal)
  expect(answer.headers['cache-control']).toBe('no-store')
  if (answer.status === 401) expect(answer.headers['www-authenticate']).toBe(`GNAP as_uri=${AUTH}`)
  expect(await stateOf(wallet)).toEqual(before)
  return answer
}

/** An answer that must be a success. */
export async function expectStatus(status: number, request: Promise<Answer>): Promise<Answer> {
  const answer = await request
  expect([answer.status, answer.status < 400 ? undefined : answer.body]).toEqual([status, undefined])
  return answer
}

/** A grant as its client asks for it; where it needs consent, its owner gives it and the client polls. */
export async function grantFor(
  wallet: TestWallet,
  access: readonly unknown[],
  as: Client = wallet.client,
): Promise<Answer> {
  const asked = await expectStatus(
    200,
    wallet.send('POST', `${AUTH}/`, {
      as,
      json: { client: as.client, access_token: { access }, interact: { start: ['redirect'] } },
    }),
  )
  if (asked.body.access_token !== undefined) return asked
  await decideAs(wallet, asked)
  wallet.clock.advance(5000)
  const token = asked.body.continue.access_token.value
  return expectStatus(200, wallet.send('POST', asked.body.continue.uri, { as, token }))
}

export async function tokenFor(
  wallet: TestWallet,
  access: readonly unknown[],
  as: Client = wallet.client,
): Promise<string> {
  return (await grantFor(wallet, access, as)).body.access_token.value
}

/** Rights on the outgoing payments of Alice, within limits, and on quotes. */
export function spendingAccess(limits?: object): readonly unknown[] {
  const actions = ['create', 'read', 'list']
  return [
    { type: 'outgoing-payment', actions, identifier: ALICE, ...(limits && { limits }) },
    { type: 'quote', actions: ['create', 'read'] },
  ]
}

export const RECEIVING_ACCESS = [{ type: 'incoming-payment', actions: ['create', 'read', 'list', 'complete'] }]

/** A wallet, and a token that may do everything with incoming payments. */
export async function receivingWallet(): Promise<{ readonly wallet: ObservedWallet; readonly token: string }> {
  const wallet = await observedWallet()
  return { wallet, token: await tokenFor(wallet, RECEIVING_ACCESS) }
}

/** Asks for an incoming payment of Bob. */
export function askIncoming(wallet: TestWallet, sending: Sending): Promise<Answer> {
  return wallet.send('POST', `${BASE}/incoming-payments`, { json: { walletAddress: BOB }, ...sending })
}

/** Creates an incoming payment of Bob. */
export async function createIncoming(
  wallet: TestWallet,
  token: string,
  members: Readonly<Record<string, unknown>> = {},
  as: Client = wallet.client,
): Promise<AnswerBody> {
  const json = { walletAddress: BOB, ...members }
  return (await expectStatus(201, wallet.send('POST', `${BASE}/incoming-payments`, { as, token, json }))).body
}

/** Asks for a quote for a payment of Alice. */
export async function askQuote(
  wallet: TestWallet,
  token: string,
  members: Readonly<Record<string, unknown>>,
  as: Client = wallet.client,
): Promise<Answer> {
  return wallet.send('POST', `${BASE}/quotes`, {
    as,
    token,
    json: { walletAddress: ALICE, method: 'ilp', ...members },
  })
}

/** Asks for a payment of Alice. */
export async function askPayment(
  wallet: TestWallet,
  token: string,
  members: Readonly<Record<string, unknown>>,
  as: Client = wallet.client,
): Promise<Answer> {
  return wallet.send('POST', `${BASE}/outgoing-payments`, { as, token, json: { walletAddress: ALICE, ...members } })
}

/** A wallet with an open incoming payment of Bob and a client that may pay it for Alice. */
export interface Shop {
  readonly wallet: ObservedWallet
  /** Create, read, list and complete on incoming payments. */
  readonly receiving: string
  /** Create, read and list on Alice's outgoing payments, create and read on quotes. */
  readonly spending: string
  /** An incoming payment of Bob without an amount. */
  readonly incoming: AnswerBody
}

export async function shop(
  options: {
    readonly limits?: Readonly<Record<string, unknown>>
    readonly incoming?: Readonly<Record<string, unknown>>
    readonly overrides?: Partial<OpenPaymentsOptions>
  } = {},
): Promise<Shop> {
  const wallet = await observedWallet(options.overrides)
  const receiving = await tokenFor(wallet, RECEIVING_ACCESS)
  const spending = await tokenFor(wallet, spendingAccess(options.limits))
  const incoming = await createIncoming(wallet, receiving, options.incoming)
  return { wallet, receiving, spending, incoming }
}

/** A shop whose wallet has a rail, and an incoming payment on another server. */
export interface RemoteShop extends Shop {
  readonly rail: FakeRail
  readonly remote: FakeRemoteReceivers
  readonly receiver: FakeReceiver
}

export async function remoteShop({
  receiver,
  ...options
}: Parameters<typeof shop>[0] & { readonly receiver?: Partial<FakeReceiver> } = {}): Promise<RemoteShop> {
  const rail = fakeRail()
  const remote = fakeRemoteReceivers()
  const added = remote.add(receiver)
  const overrides = { paymentMethods: [rail], remoteReceivers: remote, ...options.overrides }
  return { ...(await shop({ ...options, overrides })), rail, remote, receiver: added }
}

/** What the grant of a token says that it has spent. */
export async function spentOf(wallet: TestWallet, token: string): Promise<unknown> {
  const answer = await expectStatus(200, wallet.send('GET', `${BASE}/outgoing-payment-grant`, { token }))
  return answer.body
}

/** Both spent amounts in the asset of Alice and Bob, as they are where there are no fees. */
export function spent(value: string): unknown {
  return { spentDebitAmount: usd(value), spentReceiveAmount: usd(value) }
}

export const NOTHING_SPENT = { spentDebitAmount: null, spentReceiveAmount: null }

/** The last segment of a resource's URL. */
export function idOf(resource: { readonly id: string }): string {
  return lastSegment(resource.id)
}
