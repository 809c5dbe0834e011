import type { RecordKind, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { alterRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { refusedBecause } from '../http-signatures/hand-signed-payment.ts'
import { ALICE, type Answer, AUTH, addClient, BASE, BOB, type Sending, usd } from '../support/test-wallet.ts'
import {
  askIncoming,
  askPayment,
  askQuote,
  createIncoming,
  ELSEWHERE_RECEIVER,
  expectRefusal,
  expectStatus,
  INSUFFICIENT_GRANT,
  INVALID_TOKEN,
  idOf,
  invalidRequest,
  MISSING_AUTHORIZATION,
  NO_RECEIVER,
  NOT_FOUND,
  RECEIVING_ACCESS,
  type Refusal,
  receivingWallet,
  shop,
  spendingAccess,
  tokenFor,
  UNKNOWN_QUOTE,
  UNKNOWN_RECEIVER,
  UNKNOWN_WALLET_ADDRESS,
} from './observed-wallet.ts'

const COLLECTION = `${BASE}/incoming-payments`

const UNSIGNED = refusedBecause('the request is not signed')
const UNKNOWN_KEY = refusedBecause('keyid names no key of the client')

/** A storage that takes every id that this server would not give for a mistake of its caller, as a database may. */
function storageOfIds(): Storage {
  const inner = memoryStorage()
  const kinds: readonly RecordKind[] = ['incoming-payment', 'quote', 'outgoing-payment']
  return {
    ...inner,
    get: async (keys) => {
      for (const { kind, id } of keys)
        if (kinds.includes(kind) && !/^(?:[0-9a-f]{12})?[0-9a-f]{32}$/.test(id))
          throw new Error(`asked for ${kind} ${id}`)
      return inner.get(keys)
    },
  }
}

describe('which resource', () => {
  it('RS-8 answers 404 for a resource on another wallet address than that of the token', async () => {
    const { wallet, token } = await receivingWallet()
    const mine = await createIncoming(wallet, token)
    const forAlice = await tokenFor(wallet, [
      { type: 'incoming-payment', actions: ['read', 'complete'], identifier: ALICE },
    ])
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', mine.id, { token: forAlice }))
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('POST', `${mine.id}/complete`, { token: forAlice }))
    const all = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['read-all'], identifier: ALICE }])
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', mine.id, { token: all }))
    await expectStatus(200, wallet.send('GET', mine.id, { token }))
  })

  it('RS-8 the rights of one entry do not stretch to the wallet address of another', async () => {
    const { wallet, token } = await receivingWallet()
    const bobs = await createIncoming(wallet, token)
    const alices = await createIncoming(wallet, token, { walletAddress: ALICE })
    const mixed = await tokenFor(wallet, [
      { type: 'incoming-payment', actions: ['read', 'list'], identifier: ALICE },
      { type: 'incoming-payment', actions: ['create', 'complete'], identifier: BOB },
    ])
    await expectStatus(200, wallet.send('GET', alices.id, { token: mixed }))
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', bobs.id, { token: mixed }))
    await expectRefusal(wallet, INSUFFICIENT_GRANT, () =>
      wallet.send('GET', `${COLLECTION}?wallet-address=${BOB}`, { token: mixed }),
    )
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('POST', `${alices.id}/complete`, { token: mixed }))
    await expectRefusal(wallet, INSUFFICIENT_GRANT, () =>
      askIncoming(wallet, { token: mixed, json: { walletAddress: ALICE } }),
    )
    await expectStatus(200, wallet.send('POST', `${bobs.id}/complete`, { token: mixed }))
  })

  it('T-38 a missing, a foreign and an invisible resource get the same answer, byte for byte', async () => {
    const { wallet, spending, receiving, incoming } = await shop()
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    const outgoing = await expectStatus(
      201,
      askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1') }),
    )
    const other = await addClient(wallet, 'other')
    const otherSpending = await tokenFor(wallet, spendingAccess(), other)
    const otherReceiving = await tokenFor(wallet, RECEIVING_ACCESS, other)
    const missing = '0123456789abcdef'.repeat(2)
    const pairs = [
      [otherReceiving, 'GET', incoming.id, `${COLLECTION}/${missing}`],
      [otherReceiving, 'POST', `${incoming.id}/complete`, `${COLLECTION}/${missing}/complete`],
      [otherSpending, 'GET', quote.body.id, `${BASE}/quotes/${missing}`],
      [otherSpending, 'GET', outgoing.body.id, `${BASE}/outgoing-payments/${missing}`],
    ] as const
    for (const [token, method, foreign, unknown] of pairs) {
      const send = (url: string): Promise<Answer> => wallet.send(method, url, { as: other, token })
      const seen = await expectRefusal(wallet, NOT_FOUND, () => send(foreign))
      const unseen = await expectRefusal(wallet, NOT_FOUND, () => send(unknown))
      expect([seen.text, seen.headers]).toEqual([unseen.text, unseen.headers])
    }
    await expectStatus(200, wallet.send('GET', incoming.id, { token: receiving }))
  })

  it('T-38 D12 a quote of another wallet address or of another client is refused as one that does not exist', async () => {
    const { wallet, spending, incoming } = await shop({
      overrides: { settings: { policies: { quoteBinding: 'client' } } },
    })
    const other = await addClient(wallet, 'other')
    const otherSpending = await tokenFor(wallet, spendingAccess(), other)
    const ask = { receiver: incoming.id, debitAmount: usd('1') }
    wallet.directory.set(`${BASE}/alice2`, { account: 'alice', assetCode: 'USD', assetScale: 2 })
    const ofOther = await expectStatus(201, askQuote(wallet, otherSpending, ask, other))
    const ofAddress = await expectStatus(201, askQuote(wallet, spending, { ...ask, walletAddress: `${BASE}/alice2` }))
    const missing = await expectRefusal(wallet, UNKNOWN_QUOTE, () =>
      askPayment(wallet, spending, { quoteId: `${BASE}/quotes/${'0'.repeat(32)}` }),
    )
    for (const quote of [ofOther, ofAddress]) {
      const answer = await expectRefusal(wallet, UNKNOWN_QUOTE, () =>
        askPayment(wallet, spending, { quoteId: quote.body.id }),
      )
      expect(answer.text).toBe(missing.text)
    }
    await expectStatus(201, askPayment(wallet, otherSpending, { quoteId: ofOther.body.id }, other))
  })

  it.each<[string, (id: string) => string]>([
    ['in upper case', (id) => id.toUpperCase()],
    ['a character short', (id) => id.slice(1)],
    ['a character long', (id) => `${id}0`],
    ['with a space behind it', (id) => `${id}%20`],
    ['with a zero byte behind it', (id) => `${id}%00`],
    ['with a slash in it', (id) => `x%2F${id}`],
    ['behind an escaped way up', (id) => `..%2f${id}`],
    ['behind another id', (id) => `${'0'.repeat(32)}/${id}`],
    ['that is none', () => 'not-an-id'],
    ['that is a name of object members', () => '__proto__'],
    ['that is another name of object members', () => 'constructor'],
    ['of 3000 characters', () => 'x'.repeat(3000)],
  ])('RS-10 an id %s is no resource', async (_, change) => {
    const { wallet, spending, receiving, incoming } = await shop({ overrides: { storage: storageOfIds() } })
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') })
    const payment = await askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1') })
    for (const [resource, collection, token] of [
      [incoming, COLLECTION, receiving],
      [quote.body, `${BASE}/quotes`, spending],
      [payment.body, `${BASE}/outgoing-payments`, spending],
    ] as const) {
      const id = change(idOf(resource))
      const refusal = id.includes('/') ? UNKNOWN_WALLET_ADDRESS : NOT_FOUND
      await expectRefusal(wallet, refusal, () => wallet.send('GET', `${collection}/${id}`, { token }))
      await expectStatus(200, wallet.send('GET', resource.id, { token }))
    }
    const id = change(idOf(incoming))
    if (id.includes('/')) return
    await expectRefusal(wallet, NOT_FOUND, () =>
      wallet.send('POST', `${COLLECTION}/${id}/complete`, { token: receiving }),
    )
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', `${COLLECTION}/${id}`))
    if (id.length < 1000)
      await expectRefusal(wallet, UNKNOWN_QUOTE, () =>
        askPayment(wallet, spending, { quoteId: `${BASE}/quotes/${change(idOf(quote.body))}` }),
      )
  })

  it('RS-10 T-41 a quote or an incoming payment is this server’s by its whole URL, not by its last segment', async () => {
    const { wallet, spending, incoming } = await shop()
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    const foreign = (collection: string, id: string): readonly (readonly [string, Refusal])[] => [
      [`https://evil.example/${collection}/${id}`, ELSEWHERE_RECEIVER],
      [`http://wallet.example/${collection}/${id}`, ELSEWHERE_RECEIVER],
      [`https://wallet.example.evil.example/${collection}/${id}`, ELSEWHERE_RECEIVER],
      [`https://wallet.example@evil.example/${collection}/${id}`, NO_RECEIVER],
      [`https://user@wallet.example/${collection}/${id}`, NO_RECEIVER],
      [`https://wallet.example:8443/${collection}/${id}`, ELSEWHERE_RECEIVER],
      [`${AUTH}/${collection}/${id}`, ELSEWHERE_RECEIVER],
      [`${BASE}/alice/${collection}/${id}`, ELSEWHERE_RECEIVER],
      [`${BASE}//${collection}/${id}`, ELSEWHERE_RECEIVER],
      [`${BASE}/${collection}/x/${id}`, NO_RECEIVER],
      [`${BASE}/${collection}/${id}/`, NO_RECEIVER],
      [`${BASE}/${collection}/${id}?x=1`, NO_RECEIVER],
      [`${BASE}/${collection}/${id}#x`, NO_RECEIVER],
      [`${BASE}/${collection}/${id}%20`, UNKNOWN_RECEIVER],
      [`${BASE}/${collection}/${id.toUpperCase()}`, UNKNOWN_RECEIVER],
      [`${BASE}/${collection}%2F${id}`, NO_RECEIVER],
      [`${BASE}/${collection}/`, NO_RECEIVER],
      [`${BASE}/outgoing-payments/${id}`, NO_RECEIVER],
      [`/${collection}/${id}`, NO_RECEIVER],
      [id, NO_RECEIVER],
      ['', NO_RECEIVER],
    ]
    for (const [quoteId] of foreign('quotes', idOf(quote.body))) {
      await expectRefusal(wallet, UNKNOWN_QUOTE, () => askPayment(wallet, spending, { quoteId }))
    }
    for (const [receiver, refusal] of foreign('incoming-payments', idOf(incoming))) {
      await expectRefusal(wallet, refusal, () =>
        askPayment(wallet, spending, { incomingPayment: receiver, debitAmount: usd('1') }),
      )
      await expectRefusal(wallet, refusal, () => askQuote(wallet, spending, { receiver, debitAmount: usd('1') }))
    }
    // One resource under the ways in which a URL may be written.
    await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id.replace('wallet', 'WALLET') }))
    const written = incoming.id.replace('https://wallet.example/', 'https://wallet.example:443/x/../')
    const sent = await askPayment(wallet, spending, { incomingPayment: written, debitAmount: usd('1') })
    expect(sent.body).toMatchObject({ receiver: incoming.id })
  })

  it('T-24 refuses an id or a receiver of any length at once', async () => {
    const { wallet, spending } = await shop({ overrides: { settings: { limits: { bodyBytes: 4_000_000 } } } })
    const long = `${BASE}/incoming-payments/${'/incoming-payments'.repeat(60_000)}`
    const started = performance.now()
    await expectRefusal(wallet, invalidRequest('receiver: too long'), () =>
      askQuote(wallet, spending, { receiver: long, debitAmount: usd('1') }),
    )
    await expectRefusal(wallet, invalidRequest('quoteId: too long'), () =>
      askPayment(wallet, spending, { quoteId: long }),
    )
    await expectRefusal(wallet, invalidRequest('walletAddress: too long'), () =>
      askQuote(wallet, spending, { walletAddress: long }),
    )
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it('RS-9 shows the public view without Authorization, even with signature headers, and nothing but it', async () => {
    const { wallet, incoming } = await shop()
    const view = { authServer: AUTH, receivedAmount: usd('0') }
    const signed = await expectStatus(200, wallet.send('GET', incoming.id))
    expect(signed.body).toEqual(view)
    const unsigned = await wallet.send('GET', incoming.id, {
      alter: (request) => alterRequest(request, { headers: { signature: [], 'signature-input': [] } }),
    })
    expect(unsigned.body).toEqual(view)
    const nonsense = await wallet.send('GET', incoming.id, {
      alter: (request) => alterRequest(request, { headers: { signature: ['x'], 'signature-input': ['y'] } }),
    })
    expect(nonsense.body).toEqual(view)
  })

  it('RS-9 answers 401, not the public view, to an Authorization that is no good', async () => {
    const { wallet, incoming, receiving } = await shop()
    const other = await addClient(wallet, 'other')
    const headers = (authorization: string): Sending => ({ headers: { authorization } })
    await expectRefusal(wallet, MISSING_AUTHORIZATION, () => wallet.send('GET', incoming.id, headers('')))
    await expectRefusal(wallet, MISSING_AUTHORIZATION, () => wallet.send('GET', incoming.id, headers('Bearer x')))
    const twice = { authorization: [`GNAP ${receiving}`, `GNAP ${receiving}`] }
    await expectRefusal(wallet, MISSING_AUTHORIZATION, () =>
      wallet.send('GET', incoming.id, {
        token: receiving,
        alter: (request) => alterRequest(request, { headers: twice }),
      }),
    )
    await expectRefusal(wallet, INVALID_TOKEN, () => wallet.send('GET', incoming.id, { token: 'x' }))
    await expectRefusal(wallet, UNKNOWN_KEY, () => wallet.send('GET', incoming.id, { token: receiving, as: other }))
    await expectRefusal(wallet, UNSIGNED, () =>
      wallet.send('GET', incoming.id, {
        token: receiving,
        alter: (request) => alterRequest(request, { headers: { signature: [], 'signature-input': [] } }),
      }),
    )
  })
})
