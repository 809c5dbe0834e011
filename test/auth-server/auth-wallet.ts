import type { HttpRequest, OpenPaymentsOptions, StoredRecord } from 'open-payments-server'
import { alterRequest, type InMemoryRequest, signedRequest } from 'open-payments-server/testing'
import { expect } from 'vitest'
import { bodyText } from '../support/body-text.ts'
import { recordedStorage } from '../support/recorded-storage.ts'
import {
  ALICE,
  type Answer,
  AUTH,
  BASE,
  BOB,
  CLIENT,
  type Client,
  cryptography,
  decideAs,
  FINISH,
  type Sending,
  type TestWallet,
  testWallet,
} from '../support/test-wallet.ts'

export const OUTGOING = { type: 'outgoing-payment', actions: ['create', 'read'], identifier: ALICE } as const
export const INCOMING = { type: 'incoming-payment', actions: ['create', 'read', 'list'], identifier: BOB } as const
export const INTERACT = { start: ['redirect'], finish: FINISH } as const

/** A grant request with consent in which everything is right. */
export const CONSENT_REQUEST = { access_token: { access: [OUTGOING] }, client: CLIENT, interact: INTERACT }

/** The same of a client that asks again and again, and to which nobody is sent back. */
export const POLLING_REQUEST = { ...CONSENT_REQUEST, interact: { start: INTERACT.start } }

/** A grant request without consent in which everything is right. */
export const PLAIN_REQUEST = { access_token: { access: [INCOMING] }, client: CLIENT }

/** A test wallet whose storage can be looked into. */
export interface AuthWallet extends TestWallet {
  records(): Promise<readonly StoredRecord[]>
  /** Asks for a grant. */
  ask(json: unknown, sending?: Sending): Promise<Answer>
  /** Expects a refusal that leaves every record as it was, and is not to be kept by anybody. */
  expectRefusal(status: number, code: string, answer: () => Promise<Answer>): Promise<Answer>
}

export async function authWallet(overrides: Partial<OpenPaymentsOptions> = {}): Promise<AuthWallet> {
  const storage = recordedStorage(overrides.storage)
  const wallet = await testWallet({ ...overrides, storage })
  return {
    ...wallet,
    records: () => storage.records(),
    ask: (json, sending = {}) => wallet.send('POST', `${overrides.authServer ?? AUTH}/`, { json, ...sending }),
    async expectRefusal(status, code, answer) {
      const before = await storage.records()
      const refusal = await answer()
      expect({ status: refusal.status, code: refusal.body.error.code }).toEqual({ status, code })
      expect(refusal.headers['cache-control']).toBe('no-store')
      expect(await storage.records()).toEqual(before)
      return refusal
    },
  }
}

/**
 * The same wallet, its answers not compared with the published documents: of requests at the same time nobody can tell
 * which event, and so which operation, is whose.
 */
export function unchecked(wallet: AuthWallet): AuthWallet {
  return {
    ...wallet,
    async send(
      method,
      url,
      { as = wallet.client, alter = (request: InMemoryRequest): HttpRequest => request, ...sending } = {},
    ) {
      const created = Math.floor(wallet.clock.now() / 1000)
      const request = await signedRequest({ method, url, key: as.key, cryptography, created, ...sending })
      const response = await wallet.openPayments.handle(alter(request))
      const { status, headers } = response
      const text = bodyText(response)
      return { status, headers, body: text === undefined ? undefined : JSON.parse(text), text }
    },
  }
}

/** Sends one request with the signatures of several, in this order. */
export async function sendSignedBy(
  wallet: TestWallet,
  method: string,
  url: string,
  sending: Pick<Sending, 'json' | 'token'>,
  signers: readonly Client[],
): Promise<Answer> {
  const created = Math.floor(wallet.clock.now() / 1000)
  const sign = ({ key }: Client, at: number) =>
    signedRequest({ method, url, ...sending, cryptography, key, created, label: `sig${at}` })
  const signed = await Promise.all(signers.map(sign))
  const lines = (name: string) => signed.flatMap((one) => one.headerLines(name))
  const [first] = signed
  if (first === undefined) throw new Error('nobody signs')
  const headers = { 'signature-input': lines('signature-input'), signature: lines('signature') }
  return wallet.sendRaw(alterRequest(first, { headers }))
}

/** Continues a grant as things stand, without waiting. */
export function resume(wallet: TestWallet, grant: Answer, json?: unknown, sending: Sending = {}): Promise<Answer> {
  return wallet.send('POST', grant.body.continue.uri, {
    token: grant.body.continue.access_token.value,
    ...(json !== undefined && { json }),
    ...sending,
  })
}

export function cancel(wallet: TestWallet, grant: Answer, sending: Sending = {}): Promise<Answer> {
  return wallet.send('DELETE', grant.body.continue.uri, {
    token: grant.body.continue.access_token.value,
    ...sending,
  })
}

export function rotate(wallet: TestWallet, grant: Answer, sending: Sending = {}): Promise<Answer> {
  const { value, manage } = grant.body.access_token
  return wallet.send('POST', manage, { token: value, ...sending })
}

export function revoke(wallet: TestWallet, grant: Answer, sending: Sending = {}): Promise<Answer> {
  const { value, manage } = grant.body.access_token
  return wallet.send('DELETE', manage, { token: value, ...sending })
}

/** Where a token of `INCOMING` is good. */
export const LIST = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`

/** Uses a token at the resource server: 200 where it is good. */
export async function tokenStatus(wallet: TestWallet, token: string, as?: Client): Promise<number> {
  return (await wallet.send('GET', LIST, { token, ...(as && { as }) })).status
}

/** A grant that waits for its client: its owner has approved, and the client's wait is over. */
export interface ApprovedGrant {
  readonly pending: Answer
  readonly interactRef: string
}

export async function approvedGrant(wallet: AuthWallet, request: unknown = CONSENT_REQUEST): Promise<ApprovedGrant> {
  const pending = await wallet.ask(request)
  expect(pending.status).toBe(200)
  const redirect = await decideAs(wallet, pending)
  wallet.clock.advance(5000)
  return { pending, interactRef: redirect?.searchParams.get('interact_ref') ?? '' }
}
