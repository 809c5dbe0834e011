import { describe, expect, it } from 'vitest'
import { playOfficialFlow } from './official-client/flow.ts'
import {
  addressOf,
  continueGrant,
  createIncoming,
  decideAsAlice,
  eur,
  grantAtOnce,
  grantSpending,
  type PaymentParties,
  type Resource,
  requestSpending,
} from './paying-flow.ts'
import { createClient, playSignedFlow, readAnswer } from './signed-flow.ts'

/** The status of an answer, and its code where it refuses. */
async function outcome(answer: Promise<Response>): Promise<readonly [number, string | undefined]> {
  const response = await answer
  const text = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json'
  return [response.status, isJson ? JSON.parse(text).error?.code : undefined]
}

/** What comes of the flow of the official client. */
export const OFFICIAL_OUTCOME = { sent: eur('250'), received: eur('250'), spent: eur('250'), isRevoked: true }

const INCOMING = [{ type: 'incoming-payment', actions: ['create', 'read', 'list', 'complete'] }] as const

/** What a wallet does over HTTP, wherever it is mounted and whatever it runs on. @spec EMB-6 */
export function describeWallet(partiesOf: () => PaymentParties): void {
  it('WAS-1 publishes wallet addresses and the keys of a client', async () => {
    const parties = partiesOf()
    const { server, shop } = parties
    const alice = addressOf(parties, 'alice')
    expect(await readAnswer(fetch(alice), 200)).toEqual({
      id: alice,
      publicName: 'Ælice & “Söhne”',
      assetCode: 'EUR',
      assetScale: 2,
      authServer: server.authServer,
      resourceServer: server.resourceServer,
    })
    expect(await readAnswer(fetch(`${addressOf(parties, 'shop')}/jwks.json`), 200)).toEqual({ keys: [shop.jwk] })
    const { headers } = await fetch(alice)
    const held = await fetch(alice, { headers: { 'if-none-match': headers.get('etag') ?? '' } })
    expect([held.status, await held.text()]).toEqual([304, ''])
  })

  it('EMB-6 grants by key, creates, reads and completes an incoming payment', async () => {
    const parties = partiesOf()
    const walletAddress = addressOf(parties, 'alice')
    const { created, read, seenByAll, completed } = await playSignedFlow(createClient(), walletAddress)
    expect(created).toMatchObject({ walletAddress, completed: false, metadata: { note: 'Käse € 5' } })
    expect(read).toEqual(created)
    expect(seenByAll).toEqual({ authServer: parties.server.authServer, receivedAmount: eur('0') })
    expect(completed).toMatchObject({ id: created['id'], completed: true })
  })

  it('EMB-6 lists what a client has created', async () => {
    const parties = partiesOf()
    const { server, shop } = parties
    const { access_token } = await grantAtOnce(parties, INCOMING)
    const token = access_token.value
    const json = { walletAddress: addressOf(parties, 'bob') }
    const url = `${server.resourceServer}/incoming-payments`
    const created = await readAnswer<Resource>(shop.request('POST', url, { token, json }), 201)
    const list = `${url}?wallet-address=${encodeURIComponent(addressOf(parties, 'bob'))}&first=100`
    const { result } = await readAnswer<{ readonly result: readonly Resource[] }>(
      shop.request('GET', list, { token }),
      200,
    )
    expect(result.map(({ id }) => id)).toContain(created.id)
  })

  it('EMB-6 pays: consent, quote, outgoing payment, what was received and what was spent', async () => {
    const parties = partiesOf()
    const { server, shop } = parties
    const incoming = await createIncoming(parties, '700')
    const { access_token } = await grantSpending(parties, '1000')
    const token = access_token.value
    const walletAddress = addressOf(parties, 'alice')
    const quote = await readAnswer<Resource>(
      shop.request('POST', `${server.resourceServer}/quotes`, {
        token,
        json: { walletAddress, receiver: incoming.id, method: 'ilp' },
      }),
      201,
    )
    expect(await readAnswer(shop.request('GET', quote.id, { token }), 200)).toEqual(quote)
    const payments = `${server.resourceServer}/outgoing-payments`
    const outgoing = await readAnswer<Resource>(
      shop.request('POST', payments, { token, json: { walletAddress, quoteId: quote.id, metadata: { order: 7 } } }),
      201,
    )
    expect(outgoing).toMatchObject({ failed: false, grantSpentDebitAmount: eur('700'), metadata: { order: 7 } })
    await server.drain()
    const sent = await readAnswer(shop.request('GET', outgoing.id, { token }), 200)
    expect(sent).toMatchObject({ failed: false, sentAmount: eur('700') })
    expect(await readAnswer(fetch(incoming.id), 200)).toMatchObject({ receivedAmount: eur('700') })
    const spent = await readAnswer(
      shop.request('GET', `${server.resourceServer}/outgoing-payment-grant`, { token }),
      200,
    )
    expect(spent).toEqual({ spentDebitAmount: eur('700'), spentReceiveAmount: eur('700') })
    const more = (await createIncoming(parties, '301')).id
    const json = { walletAddress, incomingPayment: more, debitAmount: eur('301') }
    expect(await outcome(shop.request('POST', payments, { token, json }))).toEqual([403, 'grant_limit_exceeded'])
  })

  it('EMB-6 takes a denial back to the client', async () => {
    const parties = partiesOf()
    const pending = await requestSpending(parties, '1000')
    const finish = await decideAsAlice(pending, 'deny')
    expect(finish.searchParams.get('order')).toBe('7')
    expect(finish.searchParams.get('result')).toBe('grant_rejected')
    expect(await outcome(continueGrant(parties, pending, 'anything'))).toEqual([401, 'request_denied'])
  })

  it('EMB-6 rotates and revokes a token, and cancels a grant', async () => {
    const parties = partiesOf()
    const { shop } = parties
    const first = (await grantAtOnce(parties, INCOMING)).access_token
    const rotated = await readAnswer<{ readonly access_token: typeof first }>(
      shop.request('POST', first.manage, { token: first.value }),
      200,
    )
    const list = `${parties.server.resourceServer}/incoming-payments?wallet-address=${encodeURIComponent(addressOf(parties, 'bob'))}`
    const second = rotated.access_token
    expect(await outcome(shop.request('GET', list, { token: first.value }))).toEqual([401, 'invalid_token'])
    expect(await outcome(shop.request('GET', list, { token: second.value }))).toEqual([200, undefined])
    expect(await outcome(shop.request('DELETE', second.manage, { token: second.value }))).toEqual([204, undefined])
    expect(await outcome(shop.request('GET', list, { token: second.value }))).toEqual([401, 'invalid_token'])
    const spending = await grantSpending(parties, '1000')
    const { uri, access_token } = spending.continue
    expect(await outcome(shop.request('DELETE', uri, { token: access_token.value }))).toEqual([204, undefined])
    const over = shop.request('POST', spending.access_token.manage, { token: spending.access_token.value })
    expect(await outcome(over)).toEqual([404, 'invalid_rotation'])
  })

  it('OUT-12 pays once where a payment is repeated under its key', async () => {
    const parties = partiesOf()
    const { server, shop } = parties
    const incoming = await createIncoming(parties, '500')
    const token = (await grantSpending(parties, '500')).access_token.value
    const url = `${server.resourceServer}/outgoing-payments`
    const json = {
      walletAddress: addressOf(parties, 'alice'),
      incomingPayment: incoming.id,
      debitAmount: eur('250'),
    }
    const pay = (value: string, key: string): Promise<Response> =>
      shop.request('POST', url, {
        token,
        json: { ...json, debitAmount: eur(value) },
        headers: { 'idempotency-key': key },
      })
    const first = await readAnswer(pay('250', 'order-7'), 201)
    await server.drain()
    expect(await readAnswer(pay('250', 'order-7'), 201)).toEqual(first)
    expect(await outcome(pay('100', 'order-7'))).toEqual([409, 'idempotency_conflict'])
    await server.drain()
    expect(await readAnswer(fetch(incoming.id), 200)).toMatchObject({ receivedAmount: eur('250') })
  })

  it('SIG-8 SIG-24 refuses what was altered, signed by another, or sent twice', async () => {
    const parties = partiesOf()
    const { server, shop } = parties
    const incoming = await createIncoming(parties, '500')
    const token = (await grantSpending(parties, '500')).access_token.value
    const url = `${server.resourceServer}/outgoing-payments`
    const json = { walletAddress: addressOf(parties, 'alice'), incomingPayment: incoming.id, debitAmount: eur('100') }
    const altered = JSON.stringify(json).replace('"100"', '"400"')
    expect(await outcome(shop.request('POST', url, { token, json, altered }))).toEqual([401, 'invalid_signature'])
    const stranger = createClient()
    expect(await outcome(stranger.request('POST', url, { token, json }))).toEqual([401, 'invalid_signature'])
    expect(await outcome(shop.request('POST', url, { token: 'made-up', json }))).toEqual([401, 'invalid_token'])
    const unsigned = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }
    const refused = await fetch(url, unsigned)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, `GNAP as_uri=${server.authServer}`])
    const signed = shop.sign('POST', url, { token, json })
    expect((await outcome(fetch(url, signed)))[0]).toBe(201)
    expect(await outcome(fetch(url, signed))).toEqual([401, 'invalid_signature'])
    await server.drain()
    expect(await readAnswer(fetch(incoming.id), 200)).toMatchObject({ receivedAmount: eur('100') })
  })

  it('EMB-1 refuses a body that is too large, with and without its length, and lives on', async () => {
    const parties = partiesOf()
    const { authServer } = parties.server
    const headers = { 'content-type': 'application/json' }
    const large = new Blob([`{"padding":"${'x'.repeat(65_536)}"}`])
    const chunked = { method: 'POST', headers, body: large.stream(), duplex: 'half' }
    expect((await outcome(fetch(authServer, { method: 'POST', headers, body: large })))[0]).toBe(413)
    expect((await outcome(fetch(authServer, chunked)))[0]).toBe(413)
    await readAnswer(fetch(addressOf(parties, 'alice')), 200)
  })

  it('EMB-6 takes a signed body that comes without its length', async () => {
    const { server, shop } = partiesOf()
    const access = [{ type: 'quote', actions: ['create'] }]
    const json = { access_token: { access }, client: { jwk: shop.jwk } }
    const { method, headers, body } = shop.sign('POST', server.authServer, { json })
    const chunked = { method, headers, body: new Blob([body ?? '']).stream(), duplex: 'half' }
    expect(await outcome(fetch(server.authServer, chunked))).toEqual([200, undefined])
  })

  it('EMB-6 serves the official client', async () => {
    const parties = partiesOf()
    const { server, shop } = parties
    expect(
      await playOfficialFlow({
        client: { walletAddress: addressOf(parties, 'shop'), keyId: shop.jwk.kid, privateKey: shop.privateKey },
        payer: addressOf(parties, 'alice'),
        payee: addressOf(parties, 'bob'),
        credentials: { password: 'alice' },
        advance: (milliseconds) => server.advance(milliseconds),
      }),
    ).toEqual(OFFICIAL_OUTCOME)
  })
}

/** What a host does with the requests that are not for Open Payments, where the wallet has routes of its own. */
export function describeOwnRoutes(partiesOf: () => PaymentParties): void {
  describe('beside it', () => {
    it('EMB-6 leaves the wallet its own routes, with what was sent to them', async () => {
      const { origin } = new URL(partiesOf().server.resourceServer)
      const account = await fetch(`${origin}/account`, { headers: { cookie: 'session=alice' } })
      expect([account.status, await account.text()]).toEqual([200, 'the account of alice'])
      const notes = await fetch(`${origin}/op/notes`, { method: 'POST', body: 'Käse € 5' })
      expect([notes.status, await notes.text()]).toEqual([201, 'noted: Käse € 5'])
      const login = { method: 'POST', body: 'password=alice', redirect: 'manual' } as const
      const { status, headers } = await fetch(`${origin}/login?next=/account`, login)
      expect([status, headers.get('location'), headers.getSetCookie()]).toEqual([
        303,
        '/account',
        ['session=alice; Path=/; HttpOnly', 'greeted=yes; Path=/'],
      ])
    })

    it.each([
      ['GET', '/op/nobody'],
      ['GET', '/alice'],
      ['PUT', '/op/quotes/1/2'],
      ['GET', '/'],
    ])('EMB-6 hands on what is no endpoint and no wallet address: %s %s', async (method, path) => {
      const { origin } = new URL(partiesOf().server.resourceServer)
      const answer = await fetch(origin + path, { method })
      expect([answer.status, await answer.text()]).toEqual([404, `the wallet itself has no ${method} ${path}`])
    })

    it('EMB-6 keeps for itself a path of its own with another method', async () => {
      const { server } = partiesOf()
      const answer = await fetch(`${server.resourceServer}/quotes`, { method: 'DELETE' })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    })
  })
}
