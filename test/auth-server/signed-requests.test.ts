import type { Policies } from 'open-payments-server'
import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { type Answer, AUTH, addClient, BASE, BOB, type Sending } from '../support/test-wallet.ts'
import {
  type AuthWallet,
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  cancel,
  PLAIN_REQUEST,
  resume,
  revoke,
  rotate,
} from './auth-wallet.ts'

type Act = (sending: Sending) => Promise<Answer>

/** One of each request that a client signs, all of them right. */
async function acts(wallet: AuthWallet): Promise<readonly Act[]> {
  const { pending, interactRef } = await approvedGrant(wallet)
  const [toRotate, toRevoke, toCancel] = [
    await wallet.ask(PLAIN_REQUEST),
    await wallet.ask(PLAIN_REQUEST),
    await wallet.ask(PLAIN_REQUEST),
  ]
  return [
    (sending) => wallet.ask(PLAIN_REQUEST, sending),
    (sending) => wallet.ask(CONSENT_REQUEST, sending),
    (sending) => resume(wallet, pending, { interact_ref: interactRef }, sending),
    (sending) => rotate(wallet, toRotate, sending),
    (sending) => revoke(wallet, toRevoke, sending),
    (sending) => cancel(wallet, toCancel, sending),
  ]
}

const altered =
  (headers: Readonly<Record<string, readonly string[]>>) =>
  (request: InMemoryRequest): InMemoryRequest =>
    alterRequest(request, { headers })

/** Breaks one thing; `now` is in seconds. */
const faults: readonly (readonly [string, (now: number) => Sending])[] = [
  ['without Signature', () => ({ alter: altered({ signature: [] }) })],
  ['without Signature-Input', () => ({ alter: altered({ 'signature-input': [] }) })],
  ['with a malformed Signature', () => ({ alter: altered({ signature: ['sig1=:%%%:'] }) })],
  ['with a malformed Signature-Input', () => ({ alter: altered({ 'signature-input': ['sig1=("@method"'] }) })],
  ['with the signature of another label', () => ({ alter: altered({ signature: ['sig2=:AAAA:'] }) })],
  ['that does not cover the method', () => ({ components: ['@target-uri', 'authorization', 'content-digest'] })],
  ['that does not cover the target', () => ({ components: ['@method', 'authorization', 'content-digest'] })],
  ['signed 301 seconds ago', (now) => ({ created: now - 301 })],
  ['signed 61 seconds from now', (now) => ({ created: now + 61 })],
  ['that has expired', (now) => ({ expires: now - 1, created: now - 10 })],
  ['signed for another algorithm', () => ({ alg: 'rsa-pss-sha512' })],
  ['signed for another protocol', () => ({ tag: 'web-bot-auth' })],
  [
    'with a query that was not signed',
    () => ({ alter: (request) => alterRequest(request, { target: `${request.target}?a=1` }) }),
  ],
  [
    'with a slash that was not signed',
    () => ({ alter: (request) => alterRequest(request, { target: `${request.target}/` }) }),
  ],
  ['SIG-32 with two Host lines', () => ({ alter: altered({ host: ['auth.wallet.example', 'auth.wallet.example'] }) })],
  ['SIG-32 with two Content-Length lines', () => ({ alter: altered({ 'content-length': ['0', '0'] }) })],
  ['SIG-32 with two Authorization lines', () => ({ alter: altered({ authorization: ['GNAP a', 'GNAP a'] }) })],
]

// A grant request has no token to cover, and some requests have no body: such components are left out there.
const coveredBy = (sending: Sending, request: { readonly token: boolean; readonly body: boolean }): Sending => {
  if (sending.components === undefined) return sending
  const components = sending.components.filter(
    (name) => (name !== 'authorization' || request.token) && (name !== 'content-digest' || request.body),
  )
  return { ...sending, components }
}

const SHAPES = [
  { token: false, body: true },
  { token: false, body: true },
  { token: true, body: true },
  { token: true, body: false },
  { token: true, body: false },
  { token: true, body: false },
]

describe('every request that a client signs', () => {
  it.each(faults)('1.2 is refused with 401 %s', async (_name, fault) => {
    const wallet = await authWallet()
    for (const [at, act] of (await acts(wallet)).entries()) {
      const now = Math.floor(wallet.clock.now() / 1000)
      const shape = SHAPES[at] ?? { token: true, body: false }
      const before = await wallet.records()
      const refusal = await act(coveredBy(fault(now), shape))
      expect([refusal.status, refusal.body.error.code]).toEqual([401, 'invalid_client'])
      expect(await wallet.records()).toEqual(before)
      expect((await act({})).status).toBeLessThan(300)
    }
  })

  it('SIG-7 must cover its token', async () => {
    const wallet = await authWallet()
    for (const act of (await acts(wallet)).slice(2)) {
      await wallet.expectRefusal(401, 'invalid_client', () => act({ components: ['@method', '@target-uri'] }))
    }
  })

  it.each(['Bearer x', 'GNAP', ''])('SIG-7 must cover an Authorization that holds no token, too: %j', async (line) => {
    const wallet = await authWallet()
    const headers = { authorization: line }
    const components = ['@method', '@target-uri', 'content-digest']
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, { headers, components }))
    const covered = { headers, components: [...components, 'authorization'] }
    expect((await wallet.ask(PLAIN_REQUEST, covered)).status).toBe(200)
  })

  it('SIG-8 must cover the digest of its body', async () => {
    const wallet = await authWallet()
    for (const [at, act] of (await acts(wallet)).entries()) {
      if (SHAPES[at]?.body !== true) continue
      const components = ['@method', '@target-uri', ...(SHAPES[at]?.token ? ['authorization'] : [])]
      await wallet.expectRefusal(401, 'invalid_client', () => act({ components }))
    }
  })

  it('T-10 a signature for one method is none for another', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const instead =
      (method: string) =>
      (request: InMemoryRequest): InMemoryRequest =>
        alterRequest(request, { method })
    await wallet.expectRefusal(401, 'invalid_client', () => rotate(wallet, grant, { alter: instead('DELETE') }))
    await wallet.expectRefusal(401, 'invalid_client', () => revoke(wallet, grant, { alter: instead('POST') }))
    expect((await rotate(wallet, grant)).status).toBe(200)
  })

  it('T-11 DIG-5 cannot have its body swapped, and a wrong digest is refused also where it is not covered', async () => {
    const wallet = await authWallet()
    const body = JSON.stringify({
      ...PLAIN_REQUEST,
      access_token: { access: [{ type: 'incoming-payment', actions: ['read-all'] }] },
    })
    const alter = (request: InMemoryRequest): InMemoryRequest =>
      alterRequest(request, { body, headers: { 'content-length': [String(body.length)] } })
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, { alter }))
    const grant = await wallet.ask(PLAIN_REQUEST)
    const wrong = {
      headers: { 'content-digest': `sha-512=:${'A'.repeat(86)}==:` },
      components: ['@method', '@target-uri', 'authorization'],
    }
    await wallet.expectRefusal(401, 'invalid_client', () => rotate(wallet, grant, wrong))
  })

  it('T-10 a signature for the resource server is none for the authorization server', async () => {
    const wallet = await authWallet()
    const relayed = await wallet.send('POST', `${BASE}/`, { json: PLAIN_REQUEST })
    expect([relayed.status, relayed.body.error.code]).toEqual([401, 'invalid_client'])
    expect((await wallet.ask(PLAIN_REQUEST)).status).toBe(200)
  })
})

describe('a signature that is sent again', () => {
  const nonced = { nonce: 'once' } as const

  it('SIG-23 1.2 with a nonce is refused, everywhere', async () => {
    const wallet = await authWallet()
    for (const [at, act] of (await acts(wallet)).entries()) {
      const sending = { nonce: `nonce-${at}` }
      expect((await act(sending)).status).toBeLessThan(300)
      await wallet.expectRefusal(401, 'invalid_client', () => act(sending))
    }
  })

  it('SIG-23 a nonce is used up by its key alone, and not by a request that failed', async () => {
    const wallet = await authWallet()
    expect((await wallet.ask({}, nonced)).status).toBe(400)
    expect((await wallet.ask(PLAIN_REQUEST, nonced)).status).toBe(200)
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, nonced))
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(CONSENT_REQUEST, nonced))
    const as = await addClient(wallet, 'other')
    expect((await wallet.ask({ ...PLAIN_REQUEST, client: as.client }, { ...nonced, as })).status).toBe(200)
  })

  it('SIG-26 of twenty at the same time one is accepted', async () => {
    const wallet = await authWallet()
    const answers = await Promise.all(Array.from({ length: 20 }, () => wallet.ask(PLAIN_REQUEST, nonced)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await wallet.records()).filter(({ kind }) => kind === 'grant')).toHaveLength(1)
  })

  it('SIG-26 is refused as long as it would be accepted, and then forgotten', async () => {
    const wallet = await authWallet()
    const created = Math.floor(wallet.clock.now() / 1000) + 60
    const sending = { ...nonced, created }
    expect((await wallet.ask(PLAIN_REQUEST, sending)).status).toBe(200)
    expect((await wallet.records()).filter(({ kind }) => kind === 'replay-claim')).toHaveLength(1)
    wallet.clock.advance(360_999)
    await wallet.openPayments.sweep()
    const refusal = await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, sending))
    expect(refusal.body.error.description).toContain('used before')
    wallet.clock.advance(1_000)
    await wallet.openPayments.sweep()
    const late = await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, sending))
    expect(late.body.error.description).toContain('too old')
    expect((await wallet.records()).filter(({ kind }) => kind === 'replay-claim')).toEqual([])
  })

  it('SIG-27 D8 without a nonce is accepted again: clients repeat themselves within a second', async () => {
    const wallet = await authWallet()
    const first = await wallet.ask(PLAIN_REQUEST)
    const second = await wallet.ask(PLAIN_REQUEST)
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.body.access_token.value).not.toBe(first.body.access_token.value)
  })

  it('SIG-24 D8 is refused with replay "all", and signing again helps', async () => {
    const policies: Partial<Policies> = { replay: 'all' }
    const wallet = await authWallet({ settings: { policies } })
    const grant = await wallet.ask(PLAIN_REQUEST)
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST))
    expect((await rotate(wallet, grant)).status).toBe(200)
    await wallet.expectRefusal(401, 'invalid_client', () => rotate(wallet, grant))
    expect((await cancel(wallet, grant)).status).toBe(204)
    await wallet.expectRefusal(401, 'invalid_client', () => cancel(wallet, grant))
    wallet.clock.advance(1_000)
    const { value } = (await wallet.ask(PLAIN_REQUEST)).body.access_token
    expect((await cancel(wallet, grant)).status).toBe(204)
    const list = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`
    for (let twice = 0; twice < 2; twice++) expect((await wallet.send('GET', list, { token: value })).status).toBe(200)
  })

  it('SIG-26 T-37 with replay "all" is kept for a day more only where a quota counts it', async () => {
    const wallet = await authWallet({ settings: { policies: { replay: 'all' } } })
    const claims = async () => (await wallet.records()).filter(({ kind }) => kind === 'replay-claim').length
    const [one, other] = [await wallet.ask(PLAIN_REQUEST), await wallet.ask(PLAIN_REQUEST, nonced)]
    expect((await revoke(wallet, one)).status).toBe(204)
    expect((await cancel(wallet, other, { nonce: 'another' })).status).toBe(204)
    expect(await claims()).toBe(6)
    wallet.clock.advance(361_000)
    await wallet.openPayments.sweep()
    expect(await claims()).toBe(3)
    wallet.clock.advance(24 * 3600 * 1000)
    await wallet.openPayments.sweep()
    expect(await claims()).toBe(0)
  })

  it('SIG-25 is recognised under another label', async () => {
    const wallet = await authWallet({ settings: { policies: { replay: 'all' } } })
    expect((await wallet.ask(PLAIN_REQUEST)).status).toBe(200)
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, { label: 'other' }))
  })
})

describe('the signature profile "gnap"', () => {
  it('D1 SIG-21 SIG-22 requires the tag and refuses alg', async () => {
    const wallet = await authWallet({ settings: { policies: { signatureProfile: 'gnap' } } })
    expect((await wallet.ask(PLAIN_REQUEST, { tag: 'gnap' })).status).toBe(200)
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST))
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, { tag: 'gnap', alg: 'ed25519' }))
  })

  it('D1 is not the default: the tag may be there, and alg may be ed25519', async () => {
    const wallet = await authWallet()
    expect((await wallet.ask(PLAIN_REQUEST, { tag: 'gnap', alg: 'ed25519' })).status).toBe(200)
  })
})

describe('the challenge of the resource server', () => {
  it.each([
    [false, `GNAP as_uri=${AUTH}`],
    [true, `GNAP as_uri="${AUTH}"`],
  ])('RS-3 names the authorization server, with quoteAsUri %s', async (quoteAsUri, challenge) => {
    const wallet = await authWallet({ settings: { policies: { quoteAsUri } } })
    const refusal = await wallet.send('GET', `${BASE}/outgoing-payment-grant`)
    expect([refusal.status, refusal.headers['www-authenticate']]).toEqual([401, challenge])
  })
})
