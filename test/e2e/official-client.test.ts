import {
  type AuthenticatedClient,
  createUnauthenticatedClient,
  isFinalizedGrantWithAccessToken,
  isPendingGrant,
  type OpenPaymentsClientError,
  type PendingGrant,
} from '@interledger/open-payments'
import type { Clock } from 'open-payments-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerAsPerson } from '../../examples/sandbox/person.ts'
import { type Sandbox, type SandboxDescription, startSandbox } from '../../examples/sandbox/server.ts'
import { systemClock } from '../../src/runtime/system-clock.ts'
import { sandboxClient } from '../sandbox/sandbox-client.ts'

// The official client over HTTP against the sandbox, every answer validated by the client against the published
// documents (its default). The server's clock can be moved, so that nobody waits for a `wait`.

const system = systemClock()
let offset = 0
const clock: Clock = { now: () => system.now() + offset, sleep: system.sleep }
const FINISH = 'http://localhost/finish'

let sandbox: Sandbox
let description: SandboxDescription
let client: AuthenticatedClient

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, database: ':memory:', configuration: {}, warn: () => undefined, clock })
  description = await sandbox.describe()
  client = await sandboxClient(description)
})

afterAll(() => sandbox.stop())

function walletAddress(index: number): string {
  return description.wallets[index]?.walletAddress ?? ''
}

function usd(value: string) {
  return { value, assetCode: 'USD', assetScale: 2 }
}

async function token(
  access: Parameters<AuthenticatedClient['grant']['request']>[1],
): Promise<{ value: string; manage: string }> {
  const grant = await client.grant.request({ url: description.authServer }, access)
  if (!isFinalizedGrantWithAccessToken(grant)) throw new Error('not issued at once')
  return grant.access_token
}

async function incomingToken(): Promise<{ value: string; manage: string }> {
  return token({
    access_token: { access: [{ type: 'incoming-payment', actions: ['create', 'read', 'list', 'complete'] }] },
  })
}

async function requestSpending(limits: {
  debitAmount: ReturnType<typeof usd>
  interval?: string
}): Promise<PendingGrant> {
  const grant = await client.grant.request(
    { url: description.authServer },
    {
      access_token: {
        access: [
          {
            type: 'outgoing-payment',
            actions: ['create', 'read', 'list'],
            identifier: walletAddress(0),
            limits,
          },
          { type: 'quote', actions: ['create', 'read'] },
        ],
      },
      interact: { start: ['redirect'], finish: { method: 'redirect', uri: FINISH, nonce: 'a-nonce' } },
    },
  )
  if (!isPendingGrant(grant)) throw new Error('nobody is asked')
  return grant
}

async function decide(grant: PendingGrant, decision: 'approve' | 'deny'): Promise<URL> {
  const finish = await answerAsPerson(grant.interact.redirect, description.consent.credentials, decision)
  return new URL(finish ?? '')
}

async function proceed(grant: PendingGrant, interactRef: string) {
  offset += (grant.continue.wait ?? 5) * 1000
  const { uri, access_token } = grant.continue
  return client.grant.continue({ url: uri, accessToken: access_token.value }, { interact_ref: interactRef })
}

async function spend(limits: { debitAmount: ReturnType<typeof usd>; interval?: string }) {
  const grant = await requestSpending(limits)
  const finish = await decide(grant, 'approve')
  const continued = await proceed(grant, finish.searchParams.get('interact_ref') ?? '')
  if (!('access_token' in continued) || continued.access_token === undefined) throw new Error('not issued')
  return { ...continued, access_token: continued.access_token }
}

async function refusal(call: Promise<unknown>): Promise<{ status: number | undefined; code: string | undefined }> {
  const error = await call.then(
    () => undefined,
    (thrown: OpenPaymentsClientError) => thrown,
  )
  return { status: error?.status, code: error?.code }
}

describe('the official client', () => {
  it('reads wallet addresses with and without a public name, and keys', async () => {
    const alice = await client.walletAddress.get({ url: walletAddress(0) })
    expect(alice).toMatchObject({ id: walletAddress(0), authServer: description.authServer })
    const keys = await client.walletAddress.getKeys({ url: description.client.walletAddress })
    expect(keys.keys.map(({ kid }) => kid)).toEqual([description.client.keyId])
  })

  it('pays: incoming payment, quote, consent, outgoing payment, received amount, spent amounts, lists', async () => {
    const incoming = await incomingToken()
    const payment = await client.incomingPayment.create(
      { url: description.resourceServer, accessToken: incoming.value },
      { walletAddress: walletAddress(1), incomingAmount: usd('700'), metadata: { order: 1 } },
    )
    const granted = await spend({ debitAmount: usd('1000') })
    const accessToken = granted.access_token.value
    const payer = { url: description.resourceServer, accessToken }
    const quote = await client.quote.create(payer, {
      walletAddress: walletAddress(0),
      receiver: payment.id,
      method: 'ilp',
    })
    expect((await client.quote.get({ url: quote.id, accessToken })).debitAmount).toEqual(usd('700'))
    const outgoing = await client.outgoingPayment.create(payer, { walletAddress: walletAddress(0), quoteId: quote.id })
    expect(outgoing.grantSpentDebitAmount).toEqual(usd('700'))
    await sandbox.openPayments.drain()
    const sent = await client.outgoingPayment.get({ url: outgoing.id, accessToken })
    expect(sent).toMatchObject({ failed: false, sentAmount: usd('700') })
    const received = await client.incomingPayment.get({ url: payment.id, accessToken: incoming.value })
    expect(received).toMatchObject({ completed: true, receivedAmount: usd('700'), methods: [] })
    expect(await client.outgoingPayment.getGrantSpentAmounts(payer)).toEqual({
      spentDebitAmount: usd('700'),
      spentReceiveAmount: usd('700'),
    })
    const listed = await client.outgoingPayment.list(
      { ...payer, walletAddress: walletAddress(0) },
      { first: 5, 'wallet-address': walletAddress(0) },
    )
    expect(listed.result.map(({ id }) => id)).toContain(outgoing.id)
    const payments = await client.incomingPayment.list(
      { url: description.resourceServer, accessToken: incoming.value, walletAddress: walletAddress(1) },
      { first: 5, 'wallet-address': walletAddress(1) },
    )
    expect(payments.result.map(({ id }) => id)).toContain(payment.id)
    const second = await refusal(
      client.outgoingPayment.create(payer, {
        walletAddress: walletAddress(0),
        incomingPayment: (await openEnded(incoming.value)).id,
        debitAmount: usd('301'),
      }),
    )
    expect(second).toEqual({ status: 403, code: 'grant_limit_exceeded' })
  })

  async function openEnded(accessToken: string) {
    return client.incomingPayment.create(
      { url: description.resourceServer, accessToken },
      { walletAddress: walletAddress(1) },
    )
  }

  it('completes an incoming payment, and sees its public view', async () => {
    const incoming = await incomingToken()
    const payment = await openEnded(incoming.value)
    const completed = await client.incomingPayment.complete({ url: payment.id, accessToken: incoming.value })
    expect(completed.completed).toBe(true)
    const anybody = await createUnauthenticatedClient({ useHttp: true })
    expect(await anybody.incomingPayment.get({ url: payment.id })).toEqual({
      authServer: description.authServer,
      receivedAmount: usd('0'),
    })
  })

  it('rotates and revokes a token', async () => {
    const first = await incomingToken()
    const { access_token: second } = await client.token.rotate({ url: first.manage, accessToken: first.value })
    expect(second.value).not.toBe(first.value)
    expect(second.manage).not.toBe(first.manage)
    expect((await openEnded(second.value)).completed).toBe(false)
    expect(await refusal(openEnded(first.value))).toMatchObject({ status: 401, code: 'invalid_token' })
    await client.token.revoke({ url: second.manage, accessToken: second.value })
    expect(await refusal(openEnded(second.value))).toMatchObject({ status: 401, code: 'invalid_token' })
  })

  it('cancels a grant, and its token with it', async () => {
    const continued = await spend({ debitAmount: usd('1000') })
    await client.grant.cancel({
      url: continued.continue.uri,
      accessToken: continued.continue.access_token.value,
    })
    const spent = client.outgoingPayment.getGrantSpentAmounts({
      url: description.resourceServer,
      accessToken: continued.access_token.value,
    })
    expect(await refusal(spent)).toMatchObject({ status: 401, code: 'invalid_token' })
  })

  it('is told of a denial, and gets no token', async () => {
    const grant = await requestSpending({ debitAmount: usd('1000'), interval: 'R11/2026-01-01T00:00:00.000Z/P1M' })
    const finish = await decide(grant, 'deny')
    expect(finish.searchParams.get('result')).toBe('grant_rejected')
    expect(await refusal(proceed(grant, 'anything'))).toEqual({ status: 401, code: 'request_denied' })
  })

  it('comes back too fast and is told so', async () => {
    const grant = await requestSpending({ debitAmount: usd('1000') })
    const { uri, access_token } = grant.continue
    const early = client.grant.continue({ url: uri, accessToken: access_token.value }, { interact_ref: 'any' })
    expect(await refusal(early)).toEqual({ status: 400, code: 'too_fast' })
  })

  it('leaves the sum of all accounts as it was', async () => {
    const { wallets } = await sandbox.describe()
    const sumOf = (all: SandboxDescription['wallets'], assetCode: string): bigint =>
      all.filter((one) => one.assetCode === assetCode).reduce((sum, one) => sum + BigInt(one.balance), 0n)
    expect(sumOf(wallets, 'USD')).toBe(sumOf(description.wallets, 'USD'))
  })
})
