import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { ALICE, type Answer, AUTH, BASE, BOB, CLIENT, cryptography, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  createIncoming,
  expectRefusal,
  expectStatus,
  grantFor,
  INVALID_SIGNATURE,
  INVALID_TOKEN,
  LONG_LIFETIMES,
  observedWallet,
  receivingWallet,
  shop,
  spendingAccess,
  tokenFor,
} from './observed-wallet.ts'

// What the deployed clients send and expect of a resource server.

const COLLECTION = `${BASE}/incoming-payments`
const EMPTY_DIGEST = `sha-512=:${Buffer.from(await cryptography.sha512(new Uint8Array())).toString('base64')}:`

describe('bodies', () => {
  it('client behaviour 12: Python sends null for a member that has no value, and gets none back', async () => {
    const { wallet, token } = await receivingWallet()
    const json = { walletAddress: BOB, expiresAt: null, incomingAmount: null, metadata: null }
    const { body, text } = await expectStatus(201, wallet.send('POST', COLLECTION, { token, json }))
    expect(text).not.toContain('null')
    expect(body.expiresAt).toBe(new Date(wallet.clock.now() + 30 * 24 * 3600 * 1000).toISOString())
  })

  it.each([
    ['Go', '2026-03-02T10:30:00.123456789+02:00', '2026-03-02T08:30:00.123Z'],
    ['Rust', '2026-03-02T10:30:00.999999999Z', '2026-03-02T10:30:00.999Z'],
    ['TypeScript', '2026-03-02T10:30:00.000Z', '2026-03-02T10:30:00.000Z'],
    ['PHP', '2026-03-02T10:30:00Z', '2026-03-02T10:30:00.000Z'],
    ['RFC 3339', '2026-03-01t20:30:00-08:00', '2026-03-02T04:30:00.000Z'],
    ['RFC 3339', '2026-03-02T10:30:00.1234567890Z', '2026-03-02T10:30:00.123Z'],
    ['RFC 3339', '2026-03-02T23:59:60Z', '2026-03-03T00:00:00.000Z'],
  ])('client behaviour 15: %s writes the time %s', async (_, expiresAt, stored) => {
    const { wallet, token } = await receivingWallet()
    const { expiresAt: answered } = await createIncoming(wallet, token, { expiresAt })
    expect(answered).toBe(stored)
  })

  it('client behaviour 15: Go and Python write JSON in any spacing and with any escapes, digested as it was sent', async () => {
    const { wallet, token } = await receivingWallet()
    const body = `{ "walletAddress" :\n"${BOB.replaceAll('/', '\\/')}",\t"metadata":{"\\u0061":1.0,"b":"<\\u003e"} }`
    const created = await expectStatus(201, wallet.send('POST', COLLECTION, { token, body }))
    expect(created.body).toMatchObject({ walletAddress: BOB, metadata: { a: 1, b: '<>' } })
    await expectRefusal(wallet, INVALID_SIGNATURE, () =>
      wallet.send('POST', COLLECTION, {
        token,
        body,
        alter: (request) => alterRequest(request, { body: JSON.stringify(JSON.parse(body)) }),
      }),
    )
  })
})

describe('headers of a request without a body', () => {
  const none = {
    'Content-Type (TypeScript, PHP, Rust)': { 'content-type': 'application/json' },
    'Content-Length 0 (PHP)': { 'content-length': '0' },
    'the digest of nothing (PHP)': { 'content-digest': EMPTY_DIGEST },
    'all of PHP': { 'content-type': 'application/json', 'content-length': '0', 'content-digest': EMPTY_DIGEST },
    'Accept and Accept-Encoding (Go)': { accept: '*/*', 'accept-encoding': 'gzip' },
    'Connection: close (PHP)': { connection: 'close' },
  }

  it.each(Object.entries(none))('client behaviour 6: may be %s', async (_, headers) => {
    const { wallet, token } = await receivingWallet()
    const mine = await createIncoming(wallet, token)
    await expectStatus(200, wallet.send('GET', mine.id, { token, headers }))
    await expectStatus(200, wallet.send('GET', `${COLLECTION}?wallet-address=${BOB}`, { token, headers }))
    await expectStatus(200, wallet.send('POST', `${mine.id}/complete`, { token, headers }))
    await expectStatus(200, wallet.send('GET', mine.id, { headers: { accept: 'application/json' } }))
  })

  it('client behaviour 5: Rust covers Content-Type although there is no body', async () => {
    const { wallet, token } = await receivingWallet()
    const mine = await createIncoming(wallet, token)
    const headers = { 'content-type': 'application/json' }
    const components = ['@method', '@target-uri', 'content-type', 'authorization']
    await expectStatus(200, wallet.send('GET', mine.id, { token, headers, components }))
  })

  it('DIG-5 refuses the digest of something where there is nothing', async () => {
    const { wallet, token } = await receivingWallet()
    const mine = await createIncoming(wallet, token)
    const digest = `sha-512=:${Buffer.from(await cryptography.sha512(new Uint8Array(1))).toString('base64')}:`
    await expectRefusal(wallet, INVALID_SIGNATURE, () =>
      wallet.send('GET', mine.id, { token, headers: { 'content-digest': digest } }),
    )
  })

  it('client behaviour 9: complete takes an empty object for no body', async () => {
    const { wallet, token } = await receivingWallet()
    const mine = await createIncoming(wallet, token)
    await expectStatus(200, wallet.send('POST', `${mine.id}/complete`, { token, json: {} }))
  })

  it('client behaviour 1: PHP sends a Host without its port; RS-9 its old token on a public read is judged, not ignored', async () => {
    const { wallet, token } = await receivingWallet()
    const mine = await createIncoming(wallet, token)
    await expectStatus(
      200,
      wallet.send('GET', mine.id, {
        token,
        alter: (request) => alterRequest(request, { headers: { host: ['wallet'] } }),
      }),
    )
    await expectRefusal(wallet, INVALID_TOKEN, () => wallet.send('GET', mine.id, { token: 'an-old-token' }))
  })

  it.each([
    ['TypeScript', `first=1&wallet-address=${encodeURIComponent(BOB)}`],
    ['Rust and PHP', `wallet-address=${encodeURIComponent(BOB)}&first=1`],
    ['unescaped', `first=1&wallet-address=${BOB}`],
    ['with foreign parameters', `wallet-address=${BOB}&first=1&x=a+b%20c`],
  ])('client behaviour 1: %s, the query in its own order and escaping', async (_, query) => {
    const { wallet, token } = await receivingWallet()
    await createIncoming(wallet, token)
    const listed = await expectStatus(200, wallet.send('GET', `${COLLECTION}?${query}`, { token }))
    expect(listed.body.result).toHaveLength(1)
  })
})

describe('answers', () => {
  it('client behaviour 12: have no null, no methods in list and complete, no grantSpent in get and list', async () => {
    const { wallet, spending, receiving, incoming } = await shop()
    const payment = await askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1') })
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') })
    const answers = [
      payment,
      quote,
      await wallet.send('GET', incoming.id, { token: receiving }),
      await wallet.send('GET', `${COLLECTION}?wallet-address=${BOB}`, { token: receiving }),
      await wallet.send('GET', `${COLLECTION}?wallet-address=${ALICE}`, { token: receiving }),
      await wallet.send('GET', payment.body.id, { token: spending }),
      await wallet.send('GET', `${BASE}/outgoing-payments?wallet-address=${ALICE}`, { token: spending }),
      await wallet.send('POST', `${incoming.id}/complete`, { token: receiving }),
    ]
    for (const { text, headers } of answers) {
      expect(text).not.toContain('null')
      expect(headers['content-type']).toBe('application/json')
    }
    expect(answers.slice(1).some(({ text }) => text?.includes('grantSpent'))).toBe(false)
    for (const index of [3, 7]) expect(answers[index]?.text).not.toContain('methods')
  })

  it('client behaviour 11: what is created is 201, what is read or completed 200', async () => {
    const { wallet, spending, receiving, incoming } = await shop()
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    const payment = await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    for (const [url, token] of [
      [incoming.id, receiving],
      [quote.body.id, spending],
      [payment.body.id, spending],
      [`${BASE}/outgoing-payment-grant`, spending],
      [`${COLLECTION}?wallet-address=${BOB}`, receiving],
    ] as const)
      await expectStatus(200, wallet.send('GET', url, { token }))
    await expectStatus(200, wallet.send('POST', `${incoming.id}/complete`, { token: receiving }))
  })
})

describe('what is not asked of a client', () => {
  it.each([
    ['tag="gnap"', { tag: 'gnap' }],
    ['alg="ed25519"', { alg: 'ed25519' }],
    ['a nonce', { nonce: 'once' }],
    ['another label than sig1', { label: 'a-label_of.its*own' }],
    ['none of tag, alg, nonce and expires', {}],
    ['its components in another order', { components: ['content-digest', 'authorization', '@target-uri', '@method'] }],
  ])('client behaviour 3: a payment is made with %s', async (_, sending) => {
    const { wallet, spending, incoming } = await shop()
    const json = { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('1') }
    await expectStatus(201, wallet.send('POST', `${BASE}/outgoing-payments`, { token: spending, json, ...sending }))
  })

  it('client behaviour 4: identical requests within a second are each answered, but a payment is made once', async () => {
    const { wallet, receiving, spending, incoming } = await shop()
    const twice = async (status: number, send: () => Promise<Answer>) => {
      for (let time = 0; time < 2; time++) await expectStatus(status, send())
    }
    await twice(201, () => wallet.send('POST', COLLECTION, { token: receiving, json: { walletAddress: BOB } }))
    await twice(201, () => askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    await twice(200, () => wallet.send('GET', incoming.id, { token: receiving }))
    await twice(200, () => wallet.send('POST', `${incoming.id}/complete`, { token: receiving }))
    const { id } = await createIncoming(wallet, receiving)
    const pay = () => askPayment(wallet, spending, { incomingPayment: id, debitAmount: usd('1') })
    await expectStatus(201, pay())
    await expectRefusal(wallet, INVALID_SIGNATURE, pay)
  })

  it('client behaviour 7: a request with a body needs no header but those of its signature and its content type', async () => {
    const { wallet, spending, incoming } = await shop()
    const sent: string[][] = []
    const alter = (request: InMemoryRequest) => {
      const bare = alterRequest(request, { headers: { 'content-length': [], host: [] } })
      sent.push(Object.entries(bare.headers).flatMap(([name, lines]) => (lines.length > 0 ? [name] : [])))
      return bare
    }
    const components = ['@method', '@target-uri', 'authorization', 'content-digest']
    const json = { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('1') }
    const sending = { token: spending, json, components, alter }
    await expectStatus(201, wallet.send('POST', `${BASE}/outgoing-payments`, sending))
    const names = ['authorization', 'content-digest', 'content-type', 'signature', 'signature-input']
    expect(sent.map((one) => one.sort())).toEqual([names])
  })

  it('client behaviour 8: no signed endpoint redirects, with a slash behind it or without', async () => {
    const { wallet, spending, receiving, incoming } = await shop()
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') })
    const targets = [
      [incoming.id, receiving],
      [quote.body.id, spending],
      [COLLECTION, receiving, `?wallet-address=${BOB}`],
      [`${BASE}/outgoing-payments`, spending, `?wallet-address=${ALICE}`],
      [`${BASE}/outgoing-payment-grant`, spending],
    ] as const
    for (const [url, token, query = ''] of targets) {
      const plain = await expectStatus(200, wallet.send('GET', `${url}${query}`, { token }))
      const slashed = await expectStatus(200, wallet.send('GET', `${url}/${query}`, { token }))
      expect(slashed.body).toEqual(plain.body)
    }
  })

  it('client behaviour 16: T-37 a GET is not put off, however many there are, and though no quota is left', async () => {
    const { wallet, receiving, spending, incoming } = await shop({
      overrides: { settings: { limits: { createdPerHour: 5 } } },
    })
    const ask = () => askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') })
    for (let left = 2; left > 0; left--) await expectStatus(201, ask())
    await expectRefusal(wallet, [429, 'rate_limited', expect.any(String)], ask)
    const many = Array.from({ length: 100 }, () => wallet.send('GET', incoming.id, { token: receiving }))
    expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([200]))
    await expectStatus(200, wallet.send('POST', `${incoming.id}/complete`, { token: receiving }))
  })
})

describe('Web Monetization', () => {
  it('client behaviour 18: asks for quotes and payments in one grant, cancels the grant of an incoming payment, and then pays it', async () => {
    const wallet = await observedWallet({ settings: { lifetimes: LONG_LIFETIMES } })
    const interval = `R/${new Date(wallet.clock.now()).toISOString()}/P1M`
    const spending = await tokenFor(wallet, [
      { type: 'quote', actions: ['create'] },
      {
        type: 'outgoing-payment',
        actions: ['create', 'read'],
        identifier: ALICE,
        limits: { debitAmount: usd('1000'), interval },
      },
    ])
    const receiving = await grantFor(wallet, [{ type: 'incoming-payment', actions: ['create'], identifier: BOB }])
    const token = receiving.body.access_token.value
    const incoming = await createIncoming(wallet, token)
    const { uri, access_token } = receiving.body.continue
    await expectStatus(204, wallet.send('DELETE', uri, { token: access_token.value }))
    await expectRefusal(wallet, INVALID_TOKEN, () => wallet.send('GET', incoming.id, { token }))

    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('10') }))
    const payment = await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    await wallet.openPayments.drain()
    const read = await expectStatus(200, wallet.send('GET', payment.body.id, { token: spending }))
    expect(read.body).toMatchObject({ failed: false, sentAmount: usd('10') })
    const publicly = await expectStatus(200, wallet.send('GET', incoming.id))
    expect(publicly.body).toEqual({ authServer: AUTH, receivedAmount: usd('10') })
  })

  it('client behaviour 18: probes for the smallest amount that it can send, and rotates a token that has expired', async () => {
    const { wallet, incoming } = await shop({
      overrides: { pricing: { price: async () => ({ rate: '1', fee: { fixed: 4n } }) } },
    })
    const granted = await grantFor(wallet, spendingAccess({ debitAmount: usd('100') }))
    const { value, manage } = granted.body.access_token
    const probe = await askQuote(wallet, value, { receiver: incoming.id, debitAmount: usd('1') })
    expect(probe.body.error.description).toBe('non-positive receive amount')
    const minSendAmount = probe.body.error.details?.['minSendAmount']
    expect(minSendAmount).toEqual(usd('5'))
    wallet.clock.advance(600_000)
    await expectRefusal(wallet, INVALID_TOKEN, () =>
      askQuote(wallet, value, { receiver: incoming.id, debitAmount: minSendAmount }),
    )
    const rotated = await expectStatus(200, wallet.send('POST', manage, { token: value }))
    const token = rotated.body.access_token.value
    await expectStatus(201, askQuote(wallet, token, { receiver: incoming.id, debitAmount: minSendAmount }))
  })

  it('D6 D17 reads in status and description what it has to do', async () => {
    const { wallet, spending, receiving, incoming } = await shop({ limits: { debitAmount: usd('10') } })
    const pay = (token: string, value: string) =>
      askPayment(wallet, token, { incomingPayment: incoming.id, debitAmount: usd(value) })
    const said = async (request: Promise<Answer>) => {
      const { status, body } = await request
      return [status, body.error.description]
    }
    expect(await said(pay('x', '1'))).toEqual([401, 'Invalid Token'])
    expect(await said(pay(receiving, '1'))).toEqual([403, 'Insufficient Grant'])
    expect(await said(pay(spending, '11'))).toEqual([403, 'unauthorized'])
    wallet.directory.set(CLIENT, { account: 'bob', assetCode: 'USD', assetScale: 2, keys: [] })
    const [status, description] = await said(pay(spending, '1'))
    expect([status, String(description)]).toEqual([401, expect.stringContaining('Signature validation error')])
    wallet.directory.set(CLIENT, { account: 'bob', assetCode: 'USD', assetScale: 2, keys: [wallet.client.key.jwk] })
    await expectStatus(200, wallet.send('POST', `${incoming.id}/complete`, { token: receiving }))
    expect(await said(pay(spending, '1'))).toEqual([400, 'invalid receiver'])
  })
})
