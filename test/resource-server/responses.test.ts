import type { OpenPaymentsOptions, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { alterRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { type Answer, BASE, BOB, CLIENT, type Sending, usd, usdAmount } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  expectRefusal,
  expectStatus,
  invalidRequest,
  NOT_FOUND,
  NOTHING_SPENT,
  observedWallet,
  RECEIVING_ACCESS,
  shop,
  spentOf,
  tokenFor,
  UNKNOWN_WALLET_ADDRESS,
} from './observed-wallet.ts'

// Section 1.3, the rows that have no test of their own beside the rule that they belong to. The others, with their
// exact code and description, are in every file of this folder.

const COLLECTION = `${BASE}/incoming-payments`

async function receivingWallet(overrides: Partial<OpenPaymentsOptions> = {}) {
  const wallet = await observedWallet(overrides)
  const token = await tokenFor(wallet, RECEIVING_ACCESS)
  const create = (sending: Sending) =>
    wallet.send('POST', COLLECTION, { token, json: { walletAddress: BOB }, ...sending })
  return { wallet, token, create }
}

describe('what a body may be', () => {
  it('EMB-1 refuses a body above the limit with 413, and takes one at it', async () => {
    const { wallet, create } = await receivingWallet()
    const text = (length: number) => {
      const start = `{"walletAddress":"${BOB}"`
      return `${start}${' '.repeat(length - start.length - 1)}}`
    }
    const sized = (length: number) => wallet.send('POST', COLLECTION, { token: '', body: text(length) })
    expect((await sized(65_537)).status).toBe(413)
    expect((await sized(65_536)).status).toBe(401)
    await expectRefusal(wallet, [413, 'payload_too_large', expect.any(String)], () =>
      create({ json: undefined, body: text(65_537) }),
    )
    await expectStatus(201, create({ json: undefined, body: text(65_536) }))
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'multipart/form-data', ''])(
    'refuses the media type "%s" with 415',
    async (type) => {
      const { wallet, create } = await receivingWallet()
      await expectRefusal(wallet, [415, 'unsupported_media_type', expect.any(String)], () =>
        create({ headers: { 'content-type': type } }),
      )
    },
  )

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
    'takes the media type %s',
    async (type) => {
      const { create } = await receivingWallet()
      await expectStatus(201, create({ headers: { 'content-type': type } }))
    },
  )

  it('DIG-6 refuses an encoded body with 415', async () => {
    const { wallet, create } = await receivingWallet()
    for (const encoding of ['gzip', 'br', 'identity, gzip']) {
      await expectRefusal(wallet, [415, 'unsupported_media_type', expect.any(String)], () =>
        create({ headers: { 'content-encoding': encoding } }),
      )
    }
    await expectStatus(201, create({ headers: { 'content-encoding': 'identity' } }))
  })

  it('DIG-8 refuses a body on a GET', async () => {
    const { wallet, token } = await receivingWallet()
    await expectRefusal(wallet, invalidRequest('this request takes no body'), () =>
      wallet.send('GET', `${COLLECTION}?wallet-address=${BOB}`, { token, json: {} }),
    )
  })
})

describe('what a route answers', () => {
  it.each([
    ['PUT', '/incoming-payments', 'POST, GET'],
    ['DELETE', `/incoming-payments/${'0'.repeat(32)}`, 'GET, HEAD'],
    ['GET', `/incoming-payments/${'0'.repeat(32)}/complete`, 'POST'],
    ['GET', '/quotes', 'POST'],
    ['POST', `/quotes/${'0'.repeat(32)}`, 'GET'],
    ['DELETE', `/outgoing-payments/${'0'.repeat(32)}`, 'GET'],
    ['POST', '/outgoing-payment-grant', 'GET'],
  ])('405 with Allow for %s %s', async (method, path, allow) => {
    const { wallet, token } = await receivingWallet()
    const answer = await expectRefusal(wallet, [405, 'method_not_allowed', expect.any(String)], () =>
      wallet.send(method, `${BASE}${path}`, { token }),
    )
    expect(answer.headers['allow']?.split(', ').sort()).toEqual(allow.split(', ').sort())
  })

  it.each([
    '/incoming-payment',
    '/Incoming-Payments',
    '/incoming-payments/x/y',
    '/incoming-payments/x/complete/y',
    '///incoming-payments',
    '//interact/x',
    '/incoming%2Dpayments',
    '/outgoing-payments/x/cancel',
    '/did.json',
    '/alice/did.json',
  ])('404 for %s, which could only be a wallet address', async (path) => {
    const { wallet, token } = await receivingWallet()
    await expectRefusal(wallet, UNKNOWN_WALLET_ADDRESS, () => wallet.send('GET', `${BASE}${path}`, { token }))
  })

  it.each(['/./incoming-payments', '/x/../incoming-payments', '/incoming-payments#x', `/${'x'.repeat(5000)}`])(
    '404 for %.40s, which a URL parser would write in another way or is too long',
    async (path) => {
      const { wallet, token } = await receivingWallet()
      await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', `${BASE}${path}`, { token }))
    },
  )

  it('D16 a trailing slash is the same endpoint, signed as it was sent', async () => {
    const { wallet, token } = await receivingWallet()
    const created = await expectStatus(
      201,
      wallet.send('POST', `${COLLECTION}/`, { token, json: { walletAddress: BOB } }),
    )
    await expectStatus(200, wallet.send('GET', `${created.body.id}/`, { token }))
    await expectStatus(200, wallet.send('POST', `${created.body.id}/complete/`, { token }))
    await expectStatus(200, wallet.send('GET', `${COLLECTION}/?wallet-address=${BOB}`, { token }))
  })

  it.each(['', '/op'])(
    'D16 a slash behind the base URL of the resource server, which is at "%s", does no harm',
    async (path) => {
      const { wallet, token } = await receivingWallet({ resourceServer: `${BASE}${path}` })
      const joined = `${BASE}${path}//incoming-payments`
      const created = await expectStatus(201, wallet.send('POST', joined, { token, json: { walletAddress: BOB } }))
      expect(created.body.id.startsWith(`${BASE}${path}/incoming-payments/`)).toBe(true)
      await expectStatus(200, wallet.send('GET', `${joined}/${created.body.id.split('/').at(-1)}`, { token }))
      await expectStatus(200, wallet.send('GET', `${joined}?wallet-address=${BOB}`, { token }))
      // Nothing else may be written with two slashes, and no wallet address begins with one.
      await expectRefusal(wallet, UNKNOWN_WALLET_ADDRESS, () => wallet.send('GET', `${BASE}//bob`, { token }))
    },
  )
})

describe('when the wallet itself fails', () => {
  function failing(): { readonly storage: Storage; readonly down: { get: boolean; commit: boolean } } {
    const down = { get: false, commit: false }
    const storage = memoryStorage()
    const fail = (): never => {
      throw new Error('the secret name of the database host')
    }
    return {
      down,
      storage: {
        ...storage,
        get: async (keys) => (down.get ? fail() : storage.get(keys)),
        commit: async (changes) => (down.commit ? fail() : storage.commit(changes)),
      },
    }
  }

  it('answers 503 with Retry-After while the store cannot say what became of a commit', async () => {
    const { storage, down } = failing()
    const { wallet, receiving, spending, incoming } = await shop({ overrides: { storage } })
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') })
    down.commit = true
    const requests = [
      () => wallet.send('POST', COLLECTION, { token: receiving, json: { walletAddress: BOB } }),
      () => wallet.send('POST', `${incoming.id}/complete`, { token: receiving }),
      () => askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }),
      () => askPayment(wallet, spending, { quoteId: quote.body.id }),
    ]
    for (const request of requests) {
      const answer = await expectRefusal(wallet, [503, 'unavailable', expect.any(String)], request)
      expect(answer.headers['retry-after']).toMatch(/^[0-9]+$/)
      expect(answer.text).not.toContain('secret')
    }
    down.commit = false
    expect(await spentOf(wallet, spending)).toEqual(NOTHING_SPENT)
    await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id, metadata: {} }))
  })

  it('answers 503 with Retry-After while the store cannot be read', async () => {
    const { storage, down } = failing()
    const { wallet, receiving, spending, incoming } = await shop({ overrides: { storage } })
    down.get = true
    const requests = [
      () => wallet.send('GET', incoming.id),
      () => wallet.send('GET', incoming.id, { token: receiving }),
      () => wallet.send('POST', COLLECTION, { token: receiving, json: { walletAddress: BOB } }),
      () => askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1') }),
    ]
    for (const request of requests) {
      const answer = await expectRefusal(wallet, [503, 'unavailable', expect.any(String)], request)
      expect(answer.headers['retry-after']).toMatch(/^[0-9]+$/)
      expect(answer.text).not.toContain('secret')
    }
  })

  it('answers a fault with 500 and no detail, and tells the host what it was', async () => {
    const pricing = { price: async () => ({ rate: 'a secret, and no rate' }) }
    const { wallet, spending, incoming } = await shop({ overrides: { pricing } })
    const answer = await expectRefusal(wallet, [500, 'internal_error', 'internal server error'], () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }),
    )
    expect(Object.keys(answer.body.error)).toEqual(['code', 'description'])
    expect(wallet.events).toContainEqual(
      expect.objectContaining({
        type: 'fault',
        operation: 'create-quote',
        message:
          'Pricing.price gave the rate "a secret, and no rate", not a string with a decimal above zero, of at most 40 characters and without an exponent, from USD of scale 2 to USD of scale 2',
      }),
    )
  })

  it('may answer with plain values, and with null for an account that is not there', async () => {
    const { ledger } = (await shop()).wallet
    let isThere = true
    // What plain JavaScript may bring.
    const account = (): unknown => (isThere ? { ...usdAmount(0n), canSend: true, canReceive: true } : null)
    const pricing = Object.assign({ price: async () => undefined }, { price: (): unknown => ({ rate: '1' }) })
    const overrides = { pricing, ledger: Object.assign({ ...ledger }, { account }) }
    const { wallet, spending, incoming } = await shop({ overrides })
    const ask = (): Promise<Answer> => askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') })
    const faults = (): readonly unknown[] => wallet.events.filter(({ type }) => type === 'fault')
    await expectStatus(201, ask())
    expect(faults()).toEqual([])
    isThere = false
    expect((await ask()).status).toBe(403)
    expect(faults()).toMatchObject([{ message: 'the directory names an account that the ledger does not have' }])
  })

  it('tells every answer to the host as one event, with the grant that was used and the condition of a refusal', async () => {
    const { wallet, token, create } = await receivingWallet()
    const before = wallet.events.length
    await create({})
    await create({ json: { walletAddress: BOB, incomingAmount: usd('0') } })
    await wallet.send('GET', COLLECTION, { token })
    const told = wallet.events.slice(before).filter(({ type }) => type === 'request')
    expect(told).toEqual([
      {
        type: 'request',
        at: wallet.clock.now(),
        operation: 'create-incoming-payment',
        client: CLIENT,
        grant: expect.any(String),
        status: 201,
      },
      expect.objectContaining({ client: CLIENT, status: 400, condition: 'invalid_amount' }),
      expect.objectContaining({ operation: 'list-incoming-payments', status: 400, condition: 'invalid_request' }),
    ])
    const [grant] = new Set(told.map((event) => ('grant' in event && event.grant) || ''))
    expect(await wallet.storage.get([{ kind: 'grant', id: grant ?? '' }])).toMatchObject([
      { value: { client: CLIENT } },
    ])
    expect(wallet.events.find(({ type }) => type === 'request')).not.toHaveProperty('grant')
  })

  it('a body that is changed while it is refused changes nothing of the next', async () => {
    const { wallet, create } = await receivingWallet()
    const altered = await create({ alter: (request) => alterRequest(request, { body: '{}' }) })
    expect(altered.status).toBe(401)
    const next = await expectStatus(201, create({}))
    expect(next.body).toMatchObject({ walletAddress: BOB })
    expect(wallet.effects.filter(({ kind }) => kind === 'incoming-payment')).toHaveLength(1)
  })
})
