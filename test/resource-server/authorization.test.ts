import type { OperationId } from 'open-payments-server'
import { alterRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { resourceServerRoutes } from '../../src/resource-server/routes.ts'
import { refusedBecause } from '../http-signatures/hand-signed-payment.ts'
import { ALICE, type Answer, AUTH, addClient, BASE, BOB, CAROL, type Sending, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  createIncoming,
  ELSEWHERE_RECEIVER,
  expectRefusal,
  expectStatus,
  grantFor,
  INACTIVE_RECEIVER,
  INACTIVE_WALLET_ADDRESS,
  INSUFFICIENT_GRANT,
  INVALID_TOKEN,
  idOf,
  invalidRequest,
  MISSING_AUTHORIZATION,
  NO_RECEIVER,
  NOT_FOUND,
  type ObservedWallet,
  OVER_DEBIT_LIMIT,
  observedWallet,
  RECEIVING_ACCESS,
  type Refusal,
  shop,
  spendingAccess,
  tokenFor,
  UNKNOWN_QUOTE,
  UNKNOWN_RECEIVER,
  UNKNOWN_WALLET_ADDRESS,
} from './observed-wallet.ts'

const COLLECTION = `${BASE}/incoming-payments`

async function receivingWallet(): Promise<{ readonly wallet: ObservedWallet; readonly token: string }> {
  const wallet = await observedWallet()
  return { wallet, token: await tokenFor(wallet, RECEIVING_ACCESS) }
}

function create(wallet: ObservedWallet, sending: Sending): Promise<Answer> {
  return wallet.send('POST', COLLECTION, { json: { walletAddress: BOB }, ...sending })
}

const UNSIGNED = refusedBecause('the request is not signed')
const UNKNOWN_KEY = refusedBecause('keyid names no key of the client')
const UNVERIFIED = refusedBecause('signature does not verify')
const UNCOVERED_TOKEN = refusedBecause('"authorization" is not covered')
const USED_SIGNATURE = refusedBecause('this signature was used before, sign the request again')

describe('who calls', () => {
  it('RS-1 refuses in one order: size, token, signature, right, body, wallet address', async () => {
    const { wallet } = await receivingWallet()
    const reading = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['read'] }])
    const creating = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['create'] }])
    const wrongKey = await addClient(wallet, 'stranger')
    const wrong = { walletAddress: `${BASE}/nobody`, foreign: true }
    const unsigned: Sending['alter'] = (request) =>
      alterRequest(request, { headers: { signature: [], 'signature-input': [] } })
    const empty = { json: undefined }
    const text = { headers: { 'content-type': 'text/plain' } }
    const noJson: Refusal = [415, 'unsupported_media_type', expect.any(String)]
    const steps: readonly (readonly [Sending, Refusal])[] = [
      [{ token: 'unknown', as: wrongKey, json: ' '.repeat(65_537) }, [413, 'payload_too_large', expect.any(String)]],
      [{ token: 'not a token', as: wrongKey, json: wrong }, MISSING_AUTHORIZATION],
      [{ token: 'unknown', as: wrongKey, json: wrong }, INVALID_TOKEN],
      [{ token: 'unknown', json: wrong, alter: unsigned }, INVALID_TOKEN],
      [{ token: reading, json: wrong, alter: unsigned }, UNSIGNED],
      [{ token: reading, as: wrongKey, json: wrong }, UNKNOWN_KEY],
      [{ token: reading, json: wrong }, INSUFFICIENT_GRANT],
      [{ token: 'unknown', ...empty }, INVALID_TOKEN],
      [{ token: 'unknown', json: wrong, ...text }, INVALID_TOKEN],
      [{ token: reading, ...empty }, INSUFFICIENT_GRANT],
      [{ token: reading, json: wrong, ...text }, INSUFFICIENT_GRANT],
      [{ token: creating, ...empty }, invalidRequest('a JSON body is required')],
      [{ token: creating, json: wrong, ...text }, noJson],
      [{ token: creating, json: wrong }, invalidRequest('foreign is not a member of this body')],
      [{ token: creating, json: { walletAddress: `${BASE}/nobody` } }, UNKNOWN_WALLET_ADDRESS],
    ]
    for (const [sending, refusal] of steps) await expectRefusal(wallet, refusal, () => create(wallet, sending))
    await expectStatus(201, create(wallet, { token: creating }))
  })

  it.each(['GNAP', 'gnap', 'Gnap', 'gNaP'])('RS-2 accepts the scheme written as %s', async (scheme) => {
    const { wallet, token } = await receivingWallet()
    await expectStatus(201, create(wallet, { headers: { authorization: `${scheme} ${token}` } }))
  })

  it.each([
    ['no scheme', (token: string) => token],
    ['another scheme', (token: string) => `Bearer ${token}`],
    ['a scheme that only begins like it', (token: string) => `GNAPX ${token}`],
    ['no token', () => 'GNAP'],
    ['no token but a space', () => 'GNAP '],
    ['two spaces', (token: string) => `GNAP  ${token}`],
    ['a tab', (token: string) => `GNAP\t${token}`],
    ['something after the token', (token: string) => `GNAP ${token} x`],
    ['a parameter after the token', (token: string) => `GNAP ${token},scope=all`],
    ['two tokens', (token: string) => `GNAP ${token}, GNAP ${token}`],
    ['a quoted token', (token: string) => `GNAP "${token}"`],
    ['a character that no token has', (token: string) => `GNAP ${token}%`],
    ['padding inside the token', (token: string) => `GNAP =${token}`],
  ])('RS-2 refuses %s', async (_, authorization) => {
    const { wallet, token } = await receivingWallet()
    const headers = { authorization: authorization(token) }
    await expectRefusal(wallet, MISSING_AUTHORIZATION, () => create(wallet, { headers }))
  })

  it('RS-2 refuses two Authorization lines, also where both are the same', async () => {
    const { wallet, token } = await receivingWallet()
    await expectRefusal(wallet, MISSING_AUTHORIZATION, () =>
      create(wallet, {
        token,
        alter: (request) => alterRequest(request, { headers: { authorization: [`GNAP ${token}`, `GNAP ${token}`] } }),
      }),
    )
  })

  it('SEED refuses a request without Authorization on every endpoint but the public one', async () => {
    const { wallet, incoming } = await shop()
    const id = 'a'.repeat(32)
    const endpoints = [
      ['POST', COLLECTION, { walletAddress: BOB }],
      ['GET', `${COLLECTION}?wallet-address=${BOB}`],
      ['POST', `${incoming.id}/complete`],
      ['POST', `${BASE}/quotes`, { walletAddress: ALICE, receiver: incoming.id, method: 'ilp', debitAmount: usd('1') }],
      ['GET', `${BASE}/quotes/${id}`],
      ['POST', `${BASE}/outgoing-payments`, { walletAddress: ALICE, quoteId: `${BASE}/quotes/${id}` }],
      ['GET', `${BASE}/outgoing-payments/${id}`],
      ['GET', `${BASE}/outgoing-payments?wallet-address=${ALICE}`],
      ['GET', `${BASE}/outgoing-payment-grant`],
    ] as const
    for (const [method, url, json] of endpoints) {
      await expectRefusal(wallet, MISSING_AUTHORIZATION, () => wallet.send(method, url, json && { json }))
    }
  })

  it('SIG-7 refuses a signature that does not cover the token, on every endpoint', async () => {
    const { wallet, receiving, incoming } = await shop()
    const components = ['@method', '@target-uri']
    for (const { method, path } of resourceServerRoutes()) {
      const url = `${BASE}${path.replace(':id', idOf(incoming))}`
      await expectRefusal(wallet, UNCOVERED_TOKEN, () => wallet.send(method, url, { token: receiving, components }))
    }
  })

  it('D6 refuses a token that expired, that was rotated, that was revoked, and that never was', async () => {
    const wallet = await observedWallet()
    const granted = await grantFor(wallet, RECEIVING_ACCESS)
    const { value: token, manage } = granted.body.access_token
    await expectStatus(201, create(wallet, { token }))
    const rotated = await expectStatus(200, wallet.send('POST', manage, { token }))
    await expectRefusal(wallet, INVALID_TOKEN, () => create(wallet, { token }))
    const second = rotated.body.access_token
    await expectStatus(201, create(wallet, { token: second.value }))
    await expectStatus(204, wallet.send('DELETE', second.manage, { token: second.value }))
    await expectRefusal(wallet, INVALID_TOKEN, () => create(wallet, { token: second.value }))

    const third = await tokenFor(wallet, RECEIVING_ACCESS)
    wallet.clock.advance(599_999)
    await expectStatus(201, create(wallet, { token: third }))
    wallet.clock.advance(1)
    await expectRefusal(wallet, INVALID_TOKEN, () => create(wallet, { token: third }))
    await expectRefusal(wallet, INVALID_TOKEN, () => create(wallet, { token: 'A'.repeat(43) }))
  })

  it('T-43 CON-2 refuses a token of another server, and a continuation token of this one', async () => {
    const [wallet, other] = [await observedWallet(), await observedWallet({ secrets: ['s'.repeat(40)] })]
    const granted = await grantFor(wallet, RECEIVING_ACCESS)
    const foreign = await tokenFor(other, RECEIVING_ACCESS)
    const continuation = granted.body.continue.access_token.value
    await expectRefusal(wallet, INVALID_TOKEN, () => create(wallet, { token: foreign }))
    await expectRefusal(wallet, INVALID_TOKEN, () => create(wallet, { token: continuation }))
    await expectStatus(201, create(wallet, { token: granted.body.access_token.value }))
  })

  it('TOK-9 refuses every token of a grant from its cancellation on', async () => {
    const wallet = await observedWallet()
    const { body } = await grantFor(wallet, RECEIVING_ACCESS)
    const token = body.access_token.value
    await expectStatus(201, create(wallet, { token }))
    await expectStatus(204, wallet.send('DELETE', body.continue.uri, { token: body.continue.access_token.value }))
    await expectRefusal(wallet, INVALID_TOKEN, () => create(wallet, { token }))
  })

  it('RS-1 refuses the key of another client of this server under a good token', async () => {
    const { wallet, token } = await receivingWallet()
    const thief = await addClient(wallet, 'thief')
    await expectRefusal(wallet, UNKNOWN_KEY, () => create(wallet, { token, as: thief }))
    // Also where the thief's key carries the key id of the client.
    const renamed = { ...thief, key: { ...thief.key, keyId: wallet.client.key.keyId } }
    await expectRefusal(wallet, UNVERIFIED, () => create(wallet, { token, as: renamed }))
  })

  it.each([
    ['another path', { target: '/quotes' }, UNVERIFIED],
    ['another query', { target: '/incoming-payments?x=1' }, UNVERIFIED],
    [
      'another body',
      { body: JSON.stringify({ walletAddress: `${BASE}/eve` }) },
      refusedBecause('Content-Digest is not that of the body'),
    ],
    ['another body and its own digest', undefined, refusedBecause('"content-digest" is not covered')],
    ['no signature', { headers: { signature: [] } }, UNSIGNED],
    ['no signature input', { headers: { 'signature-input': [] } }, UNSIGNED],
  ] as const)('T-10 T-11 refuses a request that was given %s after it was signed', async (_, change, refusal) => {
    const { wallet, token } = await receivingWallet()
    await expectRefusal(wallet, refusal, () =>
      create(wallet, {
        token,
        ...(change === undefined && { components: ['@method', '@target-uri', 'authorization'] }),
        alter: (request) => alterRequest(request, change ?? {}),
      }),
    )
    await expectStatus(201, create(wallet, { token }))
  })

  it('T-13 takes no notice of Host and forwarded headers, neither for the signature nor for the URLs it gives out', async () => {
    const { wallet, token } = await receivingWallet()
    const forged = { host: ['evil.example'], forwarded: ['host=evil.example'], 'x-forwarded-host': ['evil.example'] }
    const answer = await expectStatus(
      201,
      create(wallet, { token, alter: (request) => alterRequest(request, { headers: forged }) }),
    )
    expect(answer.text).not.toContain('evil.example')
    expect(answer.body.id.startsWith(`${COLLECTION}/`)).toBe(true)
  })

  it('T-9 SIG-24 takes one signature once for a payment, also under another label', async () => {
    const { wallet, spending, incoming } = await shop()
    const json = { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('1') }
    const send = (label: string): Promise<Answer> =>
      wallet.send('POST', `${BASE}/outgoing-payments`, { token: spending, json, label })
    await expectStatus(201, send('sig1'))
    await expectRefusal(wallet, USED_SIGNATURE, () => send('sig1'))
    await expectRefusal(wallet, USED_SIGNATURE, () => send('other'))
    wallet.clock.advance(1000)
    await expectStatus(201, send('sig1'))
  })

  it('SIG-27 D8 takes the same signature again for everything else', async () => {
    const { wallet, token } = await receivingWallet()
    const [first, second] = [await create(wallet, { token }), await create(wallet, { token })]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(first.body.id).not.toBe(second.body.id)
  })

  it('SIG-24 takes every signature once where the wallet asks for that, and leaves reads alone', async () => {
    const wallet = await observedWallet({ settings: { policies: { replay: 'all' } } })
    const token = await tokenFor(wallet, [...RECEIVING_ACCESS, { type: 'quote', actions: ['create', 'read'] }])
    const made = await expectStatus(201, create(wallet, { token }))
    await expectRefusal(wallet, USED_SIGNATURE, () => create(wallet, { token }))
    const ask = { receiver: made.body.id, debitAmount: usd('1') }
    await expectStatus(201, askQuote(wallet, token, ask))
    await expectRefusal(wallet, USED_SIGNATURE, () => askQuote(wallet, token, ask))
    const complete = (): Promise<Answer> => wallet.send('POST', `${made.body.id}/complete`, { token })
    await expectStatus(200, complete())
    await expectRefusal(wallet, USED_SIGNATURE, complete)
    const read = (): Promise<Answer> => wallet.send('GET', made.body.id, { token })
    expect([(await read()).status, (await read()).status]).toEqual([200, 200])
    wallet.clock.advance(1000)
    await expectStatus(200, complete())
  })

  it('RS-3 quotes the address of the authorization server where the wallet asks for that', async () => {
    const wallet = await observedWallet({ settings: { policies: { quoteAsUri: true } } })
    const answer = await create(wallet, {})
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, `GNAP as_uri="${AUTH}"`])
  })

  it('SIG-23 takes a nonce once per key, on every read', async () => {
    const { wallet, spending, receiving, incoming } = await shop()
    const payment = await expectStatus(
      201,
      askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1') }),
    )
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    const reads: Partial<Record<OperationId, readonly [url: string, token: string]>> = {
      'list-incoming-payments': [`${COLLECTION}?wallet-address=${BOB}`, receiving],
      'get-incoming-payment': [incoming.id, receiving],
      'get-quote': [quote.body.id, spending],
      'list-outgoing-payments': [`${BASE}/outgoing-payments?wallet-address=${ALICE}`, spending],
      'get-outgoing-payment': [payment.body.id, spending],
      'get-outgoing-payment-grant': [`${BASE}/outgoing-payment-grant`, spending],
    }
    for (const { method, operation } of resourceServerRoutes()) {
      if (method !== 'GET') continue
      const [url = '', token = ''] = reads[operation] ?? []
      const read = (nonce: string): Promise<Answer> =>
        wallet.send('GET', url, { token, nonce: `${operation} ${nonce}` })
      await expectStatus(200, read('one'))
      await expectRefusal(wallet, USED_SIGNATURE, () => read('one'))
      await expectStatus(200, read('two'))
    }
  })

  it.each(['incoming-payment', 'outgoing-payment', 'quote'])(
    'SIG-26 leaves no claim of a nonce where there is nothing to show: %s',
    async (type) => {
      const wallet = await observedWallet()
      const token = await tokenFor(wallet, [
        { type, actions: ['read'], ...(type !== 'quote' && { identifier: ALICE }) },
      ])
      const read = () => wallet.send('GET', `${BASE}/${type}s/${'0'.repeat(32)}`, { token, nonce: 'one' })
      for (let count = 0; count < 2; count++) await expectRefusal(wallet, NOT_FOUND, read)
    },
  )
})

describe('which wallet address', () => {
  const spellings = [`${BASE}/alice/`, 'https://WALLET.example/alice', 'https://Wallet.Example/alice/']
  const others = [
    'HTTPS://wallet.example/alice',
    `${BASE}/Alice`,
    `${BASE}/alice//`,
    `${BASE}//alice`,
    `${BASE}/./alice`,
    `${BASE}/bob/../alice`,
    `${BASE}/%61lice`,
    `${BASE}/alice?x=1`,
    `${BASE}/alice#x`,
    `${BASE}/alice;x`,
    `${BASE}/alice%2F`,
    `${BASE}/alice `,
    ` ${BASE}/alice`,
    `${BASE}/alice\\`,
    `${BASE}:443/alice`,
    `${BASE}./alice`,
    `${BASE}@evil.example/alice`,
    'https://user@wallet.example/alice',
    'http://wallet.example/alice',
    '//wallet.example/alice',
    '/alice',
    'alice',
    'https://evil.example/alice',
    'https://wallet.example.evil.example/alice',
    'https://wallet.example',
    '',
    `${BASE}/bob`,
  ]

  it.each(spellings)(
    'T-40 RS-4 takes %s for the wallet address of the token, and answers its one name',
    async (text) => {
      const wallet = await observedWallet()
      const token = await tokenFor(wallet, [
        { type: 'incoming-payment', actions: ['create', 'list'], identifier: ALICE },
      ])
      const created = await expectStatus(201, create(wallet, { token, json: { walletAddress: text } }))
      expect(created.body).toMatchObject({ walletAddress: ALICE })
      const listed = await wallet.send('GET', `${COLLECTION}?wallet-address=${encodeURIComponent(text)}`, { token })
      expect(listed.body.result).toHaveLength(1)
    },
  )

  it.each(spellings)(
    'T-40 RS-4 an identifier written as %s covers its wallet address and nothing else',
    async (text) => {
      const wallet = await observedWallet()
      const token = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['create'], identifier: text }])
      await expectStatus(201, create(wallet, { token, json: { walletAddress: ALICE } }))
      await expectRefusal(wallet, INSUFFICIENT_GRANT, () => create(wallet, { token, json: { walletAddress: BOB } }))
    },
  )

  it('T-40 RS-4 however it is written, a wallet address has one budget, one list and its own quotes', async () => {
    const { wallet, spending, incoming } = await shop({ limits: { debitAmount: usd('3') } })
    const ask = { receiver: incoming.id, debitAmount: usd('1') }
    for (const walletAddress of spellings) {
      const quote = await expectStatus(201, askQuote(wallet, spending, { ...ask, walletAddress }))
      expect(quote.body).toMatchObject({ walletAddress: ALICE })
      await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    }
    for (const walletAddress of [...spellings, ALICE]) {
      const quote = await expectStatus(201, askQuote(wallet, spending, ask))
      await expectRefusal(wallet, OVER_DEBIT_LIMIT, () =>
        askPayment(wallet, spending, { walletAddress, quoteId: quote.body.id }),
      )
      const query = `?wallet-address=${encodeURIComponent(walletAddress)}`
      const listed = await wallet.send('GET', `${BASE}/outgoing-payments${query}`, { token: spending })
      expect(listed.body.result).toHaveLength(3)
    }
  })

  it('T-40 RS-4 refuses every other wallet address under the token of one, known or not', async () => {
    const wallet = await observedWallet()
    const token = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['create', 'list'], identifier: ALICE }])
    for (const text of others) {
      await expectRefusal(wallet, INSUFFICIENT_GRANT, () => create(wallet, { token, json: { walletAddress: text } }))
      await expectRefusal(wallet, INSUFFICIENT_GRANT, () =>
        wallet.send('GET', `${COLLECTION}?wallet-address=${encodeURIComponent(text)}`, { token }),
      )
    }
  })

  it('RS-4 refuses to pay from another wallet address than that of the grant, with a quote or without', async () => {
    const { wallet, spending, incoming } = await shop()
    wallet.directory.set(`${BASE}/mallory`, { account: 'alice', assetCode: 'USD', assetScale: 2 })
    for (const walletAddress of [BOB, CAROL, `${BASE}/mallory`, `${BASE}/nobody`]) {
      await expectRefusal(wallet, INSUFFICIENT_GRANT, () =>
        askPayment(wallet, spending, { walletAddress, incomingPayment: incoming.id, debitAmount: usd('1') }),
      )
    }
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    await expectRefusal(wallet, INSUFFICIENT_GRANT, () =>
      askPayment(wallet, spending, { walletAddress: `${BASE}/mallory`, quoteId: quote.body.id }),
    )
    await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
  })

  it('RS-5 an entry without identifier covers every wallet address of this server', async () => {
    const { wallet, token } = await receivingWallet()
    for (const walletAddress of [ALICE, BOB, CAROL]) {
      await expectStatus(201, create(wallet, { token, json: { walletAddress } }))
    }
    for (const walletAddress of [`${BASE}/nobody`, 'https://evil.example/alice', 'x']) {
      await expectRefusal(wallet, UNKNOWN_WALLET_ADDRESS, () => create(wallet, { token, json: { walletAddress } }))
    }
  })

  it('refuses an inactive wallet address where it is named', async () => {
    const { wallet, spending, receiving, incoming } = await shop()
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    const turn = (name: 'alice' | 'bob', isActive: boolean): void => {
      wallet.directory.set(`${BASE}/${name}`, { account: name, assetCode: 'USD', assetScale: 2, isActive })
    }
    turn('bob', false)
    await expectRefusal(wallet, INACTIVE_WALLET_ADDRESS, () => create(wallet, { token: receiving }))
    await expectRefusal(wallet, INACTIVE_WALLET_ADDRESS, () =>
      wallet.send('GET', `${COLLECTION}?wallet-address=${BOB}`, { token: receiving }),
    )
    await expectRefusal(wallet, INACTIVE_RECEIVER, () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }),
    )
    await expectRefusal(wallet, INACTIVE_RECEIVER, () => askPayment(wallet, spending, { quoteId: quote.body.id }))
    turn('bob', true)
    turn('alice', false)
    await expectRefusal(wallet, INACTIVE_WALLET_ADDRESS, () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }),
    )
    await expectRefusal(wallet, INACTIVE_WALLET_ADDRESS, () => askPayment(wallet, spending, { quoteId: quote.body.id }))
    turn('alice', true)
    await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
  })
})

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
      create(wallet, { token: mixed, json: { walletAddress: ALICE } }),
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
    const { wallet, spending, receiving, incoming } = await shop()
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
    if (!id.includes('/'))
      await expectRefusal(wallet, NOT_FOUND, () =>
        wallet.send('POST', `${COLLECTION}/${id}/complete`, { token: receiving }),
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
    await expectRefusal(wallet, invalidRequest('receiver: expected <=2048'), () =>
      askQuote(wallet, spending, { receiver: long, debitAmount: usd('1') }),
    )
    await expectRefusal(wallet, invalidRequest('quoteId: expected <=2048'), () =>
      askPayment(wallet, spending, { quoteId: long }),
    )
    await expectRefusal(wallet, invalidRequest('walletAddress: expected <=2048'), () =>
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
    await expectRefusal(wallet, INVALID_TOKEN, () => wallet.send('GET', incoming.id, { token: 'x' }))
    await expectRefusal(wallet, UNKNOWN_KEY, () => wallet.send('GET', incoming.id, { token: receiving, as: other }))
    await expectRefusal(wallet, UNSIGNED, () =>
      wallet.send('GET', incoming.id, {
        token: receiving,
        alter: (request) => alterRequest(request, { headers: { signature: [], 'signature-input': [] } }),
      }),
    )
  })

  it('RS-11 lets nobody keep an answer', async () => {
    const { wallet, spending, receiving, incoming } = await shop()
    const outgoing = await askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1') })
    const answers = [
      outgoing,
      await wallet.send('GET', incoming.id, { token: receiving }),
      await wallet.send('GET', incoming.id),
      await wallet.send('GET', `${COLLECTION}?wallet-address=${BOB}`, { token: receiving }),
      await wallet.send('GET', outgoing.body.id, { token: spending }),
      await wallet.send('GET', `${BASE}/outgoing-payment-grant`, { token: spending }),
    ]
    expect(answers.map(({ headers }) => headers['cache-control'])).toEqual(answers.map(() => 'no-store'))
  })
})
