import type { OperationId, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { alterRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { resourceServerRoutes } from '../../src/resource-server/routes.ts'
import { refusedBecause } from '../http-signatures/hand-signed-payment.ts'
import { ALICE, type Answer, AUTH, addClient, BASE, BOB, type Sending, usd } from '../support/test-wallet.ts'
import {
  askIncoming,
  askPayment,
  askQuote,
  createIncoming,
  expectRefusal,
  expectStatus,
  grantFor,
  INSUFFICIENT_GRANT,
  INVALID_TOKEN,
  idOf,
  invalidRequest,
  MISSING_AUTHORIZATION,
  NOT_FOUND,
  observedWallet,
  RECEIVING_ACCESS,
  type Refusal,
  receivingWallet,
  shop,
  tokenFor,
  UNKNOWN_WALLET_ADDRESS,
} from './observed-wallet.ts'

const COLLECTION = `${BASE}/incoming-payments`

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
    for (const [sending, refusal] of steps) await expectRefusal(wallet, refusal, () => askIncoming(wallet, sending))
    await expectStatus(201, askIncoming(wallet, { token: creating }))
  })

  it.each(['GNAP', 'gnap', 'Gnap', 'gNaP'])('RS-2 accepts the scheme written as %s', async (scheme) => {
    const { wallet, token } = await receivingWallet()
    await expectStatus(201, askIncoming(wallet, { headers: { authorization: `${scheme} ${token}` } }))
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
    await expectRefusal(wallet, MISSING_AUTHORIZATION, () => askIncoming(wallet, { headers }))
  })

  it('RS-2 refuses two Authorization lines, also where both are the same', async () => {
    const { wallet, token } = await receivingWallet()
    await expectRefusal(wallet, MISSING_AUTHORIZATION, () =>
      askIncoming(wallet, {
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
    await expectStatus(201, askIncoming(wallet, { token }))
    const rotated = await expectStatus(200, wallet.send('POST', manage, { token }))
    await expectRefusal(wallet, INVALID_TOKEN, () => askIncoming(wallet, { token }))
    const second = rotated.body.access_token
    await expectStatus(201, askIncoming(wallet, { token: second.value }))
    await expectStatus(204, wallet.send('DELETE', second.manage, { token: second.value }))
    await expectRefusal(wallet, INVALID_TOKEN, () => askIncoming(wallet, { token: second.value }))

    const third = await tokenFor(wallet, RECEIVING_ACCESS)
    wallet.clock.advance(599_999)
    await expectStatus(201, askIncoming(wallet, { token: third }))
    wallet.clock.advance(1)
    await expectRefusal(wallet, INVALID_TOKEN, () => askIncoming(wallet, { token: third }))
    await expectRefusal(wallet, INVALID_TOKEN, () => askIncoming(wallet, { token: 'A'.repeat(43) }))
  })

  it('T-43 CON-2 refuses a token of another server, and a continuation token of this one', async () => {
    const [wallet, other] = [await observedWallet(), await observedWallet({ secrets: ['s'.repeat(40)] })]
    const granted = await grantFor(wallet, RECEIVING_ACCESS)
    const foreign = await tokenFor(other, RECEIVING_ACCESS)
    const continuation = granted.body.continue.access_token.value
    await expectRefusal(wallet, INVALID_TOKEN, () => askIncoming(wallet, { token: foreign }))
    await expectRefusal(wallet, INVALID_TOKEN, () => askIncoming(wallet, { token: continuation }))
    await expectStatus(201, askIncoming(wallet, { token: granted.body.access_token.value }))
  })

  it('TOK-9 refuses every token of a grant from its cancellation on', async () => {
    const wallet = await observedWallet()
    const { body } = await grantFor(wallet, RECEIVING_ACCESS)
    const token = body.access_token.value
    await expectStatus(201, askIncoming(wallet, { token }))
    await expectStatus(204, wallet.send('DELETE', body.continue.uri, { token: body.continue.access_token.value }))
    await expectRefusal(wallet, INVALID_TOKEN, () => askIncoming(wallet, { token }))
  })

  it('RS-1 refuses the key of another client of this server under a good token', async () => {
    const { wallet, token } = await receivingWallet()
    const thief = await addClient(wallet, 'thief')
    await expectRefusal(wallet, UNKNOWN_KEY, () => askIncoming(wallet, { token, as: thief }))
    // Also where the thief's key carries the key id of the client.
    const renamed = { ...thief, key: { ...thief.key, keyId: wallet.client.key.keyId } }
    await expectRefusal(wallet, UNVERIFIED, () => askIncoming(wallet, { token, as: renamed }))
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
      askIncoming(wallet, {
        token,
        ...(change === undefined && { components: ['@method', '@target-uri', 'authorization'] }),
        alter: (request) => alterRequest(request, change ?? {}),
      }),
    )
    await expectStatus(201, askIncoming(wallet, { token }))
  })

  it('T-13 takes no notice of Host and forwarded headers, neither for the signature nor for the URLs it gives out', async () => {
    const { wallet, token } = await receivingWallet()
    const forged = { host: ['evil.example'], forwarded: ['host=evil.example'], 'x-forwarded-host': ['evil.example'] }
    const answer = await expectStatus(
      201,
      askIncoming(wallet, { token, alter: (request) => alterRequest(request, { headers: forged }) }),
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
    const [first, second] = [await askIncoming(wallet, { token }), await askIncoming(wallet, { token })]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(first.body.id).not.toBe(second.body.id)
  })

  it('SIG-24 SIG-27 takes every signature once where the wallet asks for that, and leaves reads alone', async () => {
    const wallet = await observedWallet({ settings: { policies: { replay: 'all' } } })
    const token = await tokenFor(wallet, [...RECEIVING_ACCESS, { type: 'quote', actions: ['create', 'read'] }])
    const made = await expectStatus(201, askIncoming(wallet, { token }))
    await expectRefusal(wallet, USED_SIGNATURE, () => askIncoming(wallet, { token }))
    const ask = { receiver: made.body.id, debitAmount: usd('1') }
    await expectStatus(201, askQuote(wallet, token, ask))
    await expectRefusal(wallet, USED_SIGNATURE, () => askQuote(wallet, token, ask))
    const complete = (): Promise<Answer> => wallet.send('POST', `${made.body.id}/complete`, { token })
    await expectStatus(200, complete())
    await expectRefusal(wallet, USED_SIGNATURE, complete)
    for (const method of ['GET', 'HEAD']) {
      const read = (): Promise<Answer> => wallet.send(method, made.body.id, { token })
      expect([method, (await read()).status, (await read()).status]).toEqual([method, 200, 200])
    }
    wallet.clock.advance(1000)
    await expectStatus(200, complete())
  })

  it('RS-3 quotes the address of the authorization server where the wallet asks for that', async () => {
    const wallet = await observedWallet({ settings: { policies: { quoteAsUri: true } } })
    const answer = await askIncoming(wallet, {})
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

  it('SIG-23 finds out whether a nonce is used up where its claim got no answer', async () => {
    const storage = memoryStorage()
    let lost: 'commit' | 'reply' | undefined
    const commit: Storage['commit'] = async (changes) => {
      const outcome = lost === 'commit' ? undefined : await storage.commit(changes)
      if (outcome === undefined || lost === 'reply') throw new Error('the connection is lost')
      return outcome
    }
    const wallet = await observedWallet({ storage: { ...storage, commit } })
    const token = await tokenFor(wallet, RECEIVING_ACCESS)
    const { id } = await createIncoming(wallet, token)
    const read = (nonce: string): Promise<Answer> => wallet.send('GET', id, { token, nonce })
    lost = 'reply'
    await expectStatus(200, read('one'))
    lost = 'commit'
    expect((await read('another')).status).toBe(503)
    lost = undefined
    await expectRefusal(wallet, USED_SIGNATURE, () => read('one'))
    await expectStatus(200, read('another'))
  })

  it('SIG-23 takes a nonce once per key, on every write', async () => {
    const { wallet, spending, receiving, incoming } = await shop()
    const { id } = incoming
    const debitAmount = usd('1')
    const writes: Partial<Record<OperationId, readonly [path: string, token: string, json: object | undefined]>> = {
      'create-incoming-payment': ['/incoming-payments', receiving, { walletAddress: BOB }],
      'create-quote': ['/quotes', spending, { walletAddress: ALICE, method: 'ilp', receiver: id, debitAmount }],
      'create-outgoing-payment': [
        '/outgoing-payments',
        spending,
        { walletAddress: ALICE, incomingPayment: id, debitAmount },
      ],
      // Last, since nothing is paid to a payment that is completed.
      'complete-incoming-payment': [`/incoming-payments/${idOf(incoming)}/complete`, receiving, undefined],
    }
    const posts = resourceServerRoutes().filter(({ method }) => method === 'POST')
    expect(posts.map(({ operation }) => operation).sort()).toEqual(Object.keys(writes).sort())
    for (const [operation, [path, token, json]] of Object.entries(writes)) {
      const write = (nonce: string): Promise<Answer> =>
        wallet.send('POST', `${BASE}${path}`, { token, nonce: `${operation} ${nonce}`, ...(json && { json }) })
      const status = json === undefined ? 200 : 201
      await expectStatus(status, write('one'))
      // Signed at another time: the nonce alone is what was used before.
      wallet.clock.advance(1000)
      await expectRefusal(wallet, USED_SIGNATURE, () => write('one'))
      await expectStatus(status, write('two'))
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
