import type { HttpRequest } from 'open-payments-server'
import { type InMemoryRequest, signedRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { rotate } from '../auth-server/auth-wallet.ts'
import {
  askPayment,
  askQuote,
  expectRefusal,
  expectStatus,
  grantFor,
  LONG_LIFETIMES,
  observedWallet,
  type Refusal,
  type Shop,
  shop,
} from '../resource-server/observed-wallet.ts'
import {
  ALICE,
  AUTH,
  addClient,
  BASE,
  BOB,
  type Client,
  cryptography,
  directedClient,
  grantAtOnce,
  requestConsent,
  type Sending,
  type TestWallet,
  testWallet,
  usd,
} from '../support/test-wallet.ts'

const RATE_LIMITED: Refusal = [429, 'rate_limited', 'too many requests']
const QUOTES = [{ type: 'quote', actions: ['create'] }]
const OUTGOING = [{ type: 'outgoing-payment', actions: ['create'], identifier: ALICE }]

const HOUR = 3_600_000
const LONG = { ...LONG_LIFETIMES, quoteSeconds: 7200, signatureAgeSeconds: 3600 }
const limited = (createdPerHour: number) => ({ settings: { lifetimes: LONG, limits: { createdPerHour } } })

/** A shop whose client may create one more thing: two grants and an incoming payment are there. */
async function shopWithOneLeft(): Promise<Shop> {
  return shop({ overrides: limited(4) })
}

const from =
  (source: string | undefined) =>
  (request: InMemoryRequest): HttpRequest => ({ ...request, source })

/** The status of a grant request of a client, from some source. */
async function grantStatus(wallet: TestWallet, as: Client, source?: string): Promise<number> {
  const json = { access_token: { access: QUOTES }, client: as.client }
  return (await wallet.send('POST', `${AUTH}/`, { as, json, alter: from(source) })).status
}

describe('the quota of a client', () => {
  const creations = [
    {
      operation: 'post-request',
      refusal: [429, 'request_denied', 'too many requests'],
      url: `${AUTH}/`,
      sending: ({ wallet }) => ({ json: { access_token: { access: QUOTES }, client: wallet.client.client } }),
      status: 200,
    },
    {
      operation: 'create-incoming-payment',
      refusal: RATE_LIMITED,
      url: `${BASE}/incoming-payments`,
      sending: ({ receiving }) => ({ token: receiving, json: { walletAddress: BOB } }),
      status: 201,
    },
    {
      operation: 'create-quote',
      refusal: RATE_LIMITED,
      url: `${BASE}/quotes`,
      sending: ({ spending, incoming }) => ({
        token: spending,
        json: { walletAddress: ALICE, receiver: incoming.id, method: 'ilp', debitAmount: usd('100') },
      }),
      status: 201,
    },
    {
      operation: 'create-outgoing-payment',
      refusal: RATE_LIMITED,
      url: `${BASE}/outgoing-payments`,
      sending: ({ spending, incoming }) => ({
        token: spending,
        json: { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('100') },
      }),
      status: 201,
    },
  ] satisfies readonly {
    readonly operation: string
    readonly refusal: Refusal
    readonly url: string
    readonly sending: (shop: Shop) => Sending
    readonly status: number
  }[]

  it.each(creations)(
    'T-37 used up refuses $operation, changes nothing, and admits the very same request later',
    async ({ operation, refusal, url, sending, status }) => {
      const open = await shopWithOneLeft()
      const { wallet, spending, incoming } = open
      await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('100') }))
      const sent: HttpRequest[] = []
      const answer = await expectRefusal(wallet, refusal, () =>
        wallet.send('POST', url, {
          ...sending(open),
          alter: (request) => {
            sent.push(request)
            return request
          },
        }),
      )
      expect(wallet.events.at(-1)).toMatchObject({ type: 'request', operation, status: 429, condition: 'rate_limited' })
      // 5 seconds went by while the client waited for its grant.
      expect(answer.headers['retry-after']).toBe(String(HOUR / 4000 - 5))
      wallet.clock.advance(HOUR / 4 - 5001)
      for (const request of sent) expect((await wallet.sendRaw(request)).headers['retry-after']).toBe('1')
      wallet.clock.advance(1)
      for (const request of sent) expect((await wallet.sendRaw(request)).status).toBe(status)
      expect(sent).toHaveLength(1)
    },
  )

  it('T-37 counts a rotation, refuses it where used up, changes nothing, and admits the very same request later', async () => {
    const wallet = await observedWallet(limited(2))
    const first = await expectStatus(200, rotate(wallet, await grantFor(wallet, QUOTES)))
    const sent: HttpRequest[] = []
    const alter = (request: InMemoryRequest): InMemoryRequest => {
      sent.push(request)
      return request
    }
    await expectRefusal(wallet, [429, 'request_denied', 'too many requests'], () => rotate(wallet, first, { alter }))
    const event = { type: 'request', operation: 'post-token', status: 429, condition: 'rate_limited' }
    expect(wallet.events.at(-1)).toMatchObject(event)
    wallet.clock.advance(HOUR / 2)
    for (const request of sent) expect((await wallet.sendRaw(request)).status).toBe(200)
    expect(sent).toHaveLength(1)
  })

  it('T-37 counts each of the four, and whatever a grant asks for', async () => {
    const { wallet, spending, incoming } = await shop({ overrides: limited(7) })
    const receiver = incoming.id
    await expectStatus(201, askQuote(wallet, spending, { receiver, debitAmount: usd('100') }))
    await expectStatus(201, askPayment(wallet, spending, { incomingPayment: receiver, debitAmount: usd('100') }))
    await expectStatus(200, requestConsent(wallet, OUTGOING))
    await expectStatus(200, grantAtOnce(wallet, QUOTES))
    expect((await requestConsent(wallet, OUTGOING)).status).toBe(429)
  })

  it('T-37 does not count what creates nothing', async () => {
    const { wallet, spending, incoming } = await shopWithOneLeft()
    const json = { access_token: { access: QUOTES }, client: wallet.client.client }
    const other = await addClient(wallet, 'other')
    for (let count = 0; count < 5; count++) {
      await expectStatus(200, wallet.send('GET', `${BASE}/outgoing-payment-grant`, { token: spending }))
      expect((await wallet.send('POST', `${AUTH}/`, { as: other, json })).status).toBe(400)
      expect((await wallet.send('POST', `${BASE}/quotes`, { as: other, token: spending, json: {} })).status).toBe(401)
      expect((await wallet.send('POST', `${BASE}/quotes`, { token: spending, json: {} })).status).toBe(400)
      expect((await wallet.send('POST', `${AUTH}/`, { json: { ...json, access_token: {} } })).status).toBe(400)
    }
    await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('100') }))
  })

  it('T-37 is its own: no other client pays for it', async () => {
    const wallet = await testWallet(limited(1))
    const other = await addClient(wallet, 'other')
    expect(await grantStatus(wallet, wallet.client)).toBe(200)
    expect(await grantStatus(wallet, wallet.client)).toBe(429)
    expect(await grantStatus(wallet, other)).toBe(200)
  })

  it('T-37 holds however many requests come at once', async () => {
    const wallet = await testWallet(limited(10))
    const statuses = await Promise.all(Array.from({ length: 40 }, () => grantStatus(wallet, wallet.client)))
    expect(statuses.filter((status) => status === 200)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(30)
  })
})

describe('the quota of a source', () => {
  it('T-37 is shared by all identities that a client gives itself there, and changes nothing once it is used up', async () => {
    const wallet = await testWallet(limited(3))
    const statuses: number[] = []
    for (let count = 0; count < 5; count++)
      statuses.push(await grantStatus(wallet, await directedClient(`key-${count}`), '198.51.100.7'))
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    expect(await grantStatus(wallet, await directedClient(), '198.51.100.8')).toBe(200)
  })

  it('T-37 is not charged where that of the client is used up, nor the other way round', async () => {
    const wallet = await testWallet(limited(2))
    const busy = await addClient(wallet, 'busy')
    for (let count = 0; count < 4; count++) await grantStatus(wallet, busy, '198.51.100.1')
    expect(await grantStatus(wallet, wallet.client, '198.51.100.1')).toBe(429)
    expect(await grantStatus(wallet, busy, '198.51.100.2')).toBe(429)
    expect(await grantStatus(wallet, wallet.client, '198.51.100.2')).toBe(200)
    expect(await grantStatus(wallet, wallet.client, '198.51.100.2')).toBe(200)
    expect(await grantStatus(wallet, wallet.client, '198.51.100.3')).toBe(429)
  })

  it.each(['', undefined])('T-37 is nobody’s where the host names it %j', async (source) => {
    const wallet = await testWallet(limited(1))
    for (let count = 0; count < 5; count++)
      expect(await grantStatus(wallet, await directedClient(`key-${count}`), source)).toBe(200)
  })

  const pairs: readonly (readonly [one: string, other: string, areOne: boolean])[] = [
    ['198.51.100.7', '198.51.100.7', true],
    ['198.51.100.7', '198.51.100.8', false],
    ['::ffff:198.51.100.7', '198.51.100.7', true],
    ['::FFFF:198.51.100.7', '::ffff:198.51.100.8', false],
    ['::ffff:c633:6407', '198.51.100.7', true],
    ['0:0:0:0:0:FFFF:C633:6407', '::ffff:c633:6408', false],
    ['64:ff9b::c633:6407', '198.51.100.7', true],
    ['64:ff9b::198.51.100.7', '64:ff9b::198.51.100.8', false],
    ['64:ff9b:0:0:1::c633:6407', '64:ff9b:0:0:1::c633:6408', true],
    ['::fffe:198.51.100.7', '::fffe:198.51.100.8', true],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
    ['2001:0DB8:0001:0002:0:0:0:1', '2001:db8:1:2::', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['2001:db8::1', '2001:db8:0:0:1::1', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
    ['::1', '::1:2:3:4', true],
    ['fe80::1%eth0', 'fe80::2%eth1', true],
    ['office', 'branch', false],
    ['198.51.100.7:4711', '198.51.100.7:4712', true],
    ['198.51.100.7:4711', '198.51.100.7', true],
    ['198.51.100.7:4711', '198.51.100.8:4711', false],
    ['[2001:db8:1:2::1]:4711', '2001:db8:1:2::2', true],
    ['[FD00:0:0:2::1]:4711', 'fd00:0:0:2::2', true],
    ['[::ffff:198.51.100.7]', '198.51.100.7:4711', true],
    [' 198.51.100.7:4711', '198.51.100.7', true],
    [' 2001:db8:1:2::1', ' 2001:db8:1:2::2', true],
    ['7:1', '7:2', false],
    ['[office]', 'office', false],
    ['office:1', 'office:2', false],
    ['not:an:address', 'not:an:address:either', false],
  ]
  it.each(pairs)('T-37 knows %s and %s for one another: %s', async (one, other, areOne) => {
    const wallet = await testWallet(limited(1))
    expect(await grantStatus(wallet, await directedClient('one'), one)).toBe(200)
    expect(await grantStatus(wallet, await directedClient('other'), other)).toBe(areOne ? 429 : 200)
  })

  it('T-37 is that of the address which the host gives to fetch()', async () => {
    const wallet = await testWallet(limited(1))
    const ask = async (source?: string): Promise<number> => {
      const { key, client } = await directedClient()
      const json = { access_token: { access: QUOTES }, client }
      const created = Math.floor(wallet.clock.now() / 1000)
      const signed = await signedRequest({ method: 'POST', url: `${AUTH}/`, key, cryptography, created, json })
      const headers = Object.entries(signed.headers).map(([name, lines]): [string, string] => [name, lines.join(', ')])
      const request = new Request(`${AUTH}/`, { method: 'POST', headers, body: JSON.stringify(json) })
      return (await wallet.openPayments.fetch(request, { source })).status
    }
    expect([await ask('198.51.100.7'), await ask('198.51.100.7'), await ask()]).toEqual([200, 429, 200])
  })
})
