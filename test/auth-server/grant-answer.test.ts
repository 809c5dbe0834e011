import { describe, expect, it } from 'vitest'
import { lastSegment } from '../support/last-segment.ts'
import {
  ALICE,
  AUTH,
  BASE,
  CLIENT,
  cryptography,
  decideAs,
  directedClient,
  OWNER,
  usd,
} from '../support/test-wallet.ts'
import {
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  cancel,
  INCOMING,
  INTERACT,
  OUTGOING,
  PLAIN_REQUEST,
  POLLING_REQUEST,
  resume,
} from './auth-wallet.ts'

const SUBJECT_REQUEST = { client: CLIENT, interact: INTERACT, subject: { sub_ids: [{ id: ALICE, format: 'uri' }] } }
const QUOTE = { type: 'quote', actions: ['create', 'read'] } as const
// 32 bytes in base64url, 16 bytes in hexadecimal; some of them follow a time in milliseconds.
const SECRET = /^[A-Za-z0-9_-]{43}$/
const TOKEN = /^019[0-9a-f]{9}[A-Za-z0-9_-]{43}$/
const REFERENCE = /^[0-9a-f]{32}$/
const ID = /^019[0-9a-f]{9}[0-9a-f]{32}$/

describe('what a grant request gets', () => {
  it.each([
    ['outgoing payments', OUTGOING],
    ['list-all of incoming payments', { ...INCOMING, actions: ['list-all'] }],
    ['list-all beside other actions', { ...INCOMING, actions: ['create', 'list-all'] }],
    ['list-all of outgoing payments', { ...OUTGOING, actions: ['list-all'] }],
  ])('GRT-5 %s need consent', async (_name, access) => {
    const wallet = await authWallet()
    const answer = await wallet.ask({ ...CONSENT_REQUEST, access_token: { access: [access] } })
    expect(answer.status).toBe(200)
    expect(answer.body.access_token).toBeUndefined()
    expect(answer.body.interact.redirect).toMatch(/^https:\/\/auth\.wallet\.example\/interact\/[0-9a-f]{32}$/)
  })

  it('GRT-5 a subject needs consent', async () => {
    const wallet = await authWallet()
    const answer = await wallet.ask(SUBJECT_REQUEST)
    expect(answer.body.interact.redirect).toBeDefined()
    expect(answer.body.subject).toBeUndefined()
  })

  it('GRT-5 one right that needs consent makes the whole grant wait for it', async () => {
    const wallet = await authWallet()
    const answer = await wallet.ask({ ...CONSENT_REQUEST, access_token: { access: [QUOTE, OUTGOING] } })
    expect(answer.body.access_token).toBeUndefined()
    expect(answer.body.interact.redirect).toBeDefined()
  })

  it('GRT-5 a policy can ask for consent to incoming payments too', async () => {
    const wallet = await authWallet({ settings: { policies: { withoutInteraction: ['quote'] } } })
    await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(PLAIN_REQUEST))
    const answer = await wallet.ask({ ...PLAIN_REQUEST, interact: INTERACT })
    expect(answer.body.interact.redirect).toBeDefined()
    await wallet.expectRefusal(400, 'invalid_request', () =>
      wallet.ask({
        ...PLAIN_REQUEST,
        interact: INTERACT,
        access_token: { access: [{ type: 'incoming-payment', actions: ['create'] }] },
      }),
    )
  })

  it('GRT-5 a policy can ask for consent to quotes too', async () => {
    const wallet = await authWallet({ settings: { policies: { withoutInteraction: ['incoming-payment'] } } })
    const request = { ...CONSENT_REQUEST, access_token: { access: [{ type: 'quote', actions: ['create'] }] } }
    await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(request))
    const answer = await wallet.ask({ ...request, subject: SUBJECT_REQUEST.subject })
    expect(answer.body.access_token).toBeUndefined()
    expect(answer.body.interact.redirect).toBeDefined()
  })

  it('GRT-8 a grant without consent is issued at once, also where interact was sent', async () => {
    const wallet = await authWallet()
    const answer = await wallet.ask({ ...PLAIN_REQUEST, interact: INTERACT })
    expect(answer.status).toBe(200)
    expect(answer.body.access_token).toMatchObject({ expires_in: 600, access: [INCOMING] })
    expect(answer.body.interact).toBeUndefined()
    expect(answer.body.continue.wait).toBeUndefined()
    // Nor is kept where nobody was sent. @spec T-14
    const grant = (await wallet.records()).find(({ kind }) => kind === 'grant')
    expect(grant?.value).not.toHaveProperty('finish')
  })

  it('GRT-12 a subject is answered once its owner has approved, with the continuation alone', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet, SUBJECT_REQUEST)
    const answer = await resume(wallet, pending, { interact_ref: interactRef })
    expect(answer.status).toBe(200)
    expect(answer.body.subject).toEqual({ sub_ids: [{ id: ALICE, format: 'uri' }] })
    expect(answer.body.access_token).toBeUndefined()
    expect(answer.body.continue.access_token.value).toMatch(SECRET)
  })

  it('GRT-12 a token and a subject are answered together', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet, { ...CONSENT_REQUEST, ...SUBJECT_REQUEST })
    const answer = await resume(wallet, pending, { interact_ref: interactRef })
    expect(answer.body.access_token.access).toEqual([OUTGOING])
    expect(answer.body.subject).toEqual({ sub_ids: [{ id: ALICE, format: 'uri' }] })
  })

  it('GRT-12 a poll before its owner has approved is answered no subject', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask({ ...SUBJECT_REQUEST, interact: { start: ['redirect'] } })
    wallet.clock.advance(5_000)
    const polled = await resume(wallet, pending)
    expect([polled.status, polled.body]).toEqual([200, { continue: pending.body.continue }])
  })

  it('GRT-12 CON-5 CON-6 a subject alone is answered again for 60 seconds, and its grant can be cancelled', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet, SUBJECT_REQUEST)
    const first = await resume(wallet, pending, { interact_ref: interactRef })
    expect(first.body.continue.wait).toBeUndefined()
    wallet.clock.advance(59_999)
    const again = await resume(wallet, pending, { interact_ref: interactRef })
    expect([again.status, again.body]).toEqual([200, first.body])
    wallet.clock.advance(1)
    await wallet.expectRefusal(404, 'invalid_continuation', () =>
      resume(wallet, pending, { interact_ref: interactRef }),
    )
    expect((await cancel(wallet, pending)).status).toBe(204)
  })

  it('GRT-12 a client that asked for no subject gets none', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    expect((await resume(wallet, pending, { interact_ref: interactRef })).body.subject).toBeUndefined()
  })

  it('GRT-13 access is answered as it was granted, a wallet address by its one name', async () => {
    const wallet = await authWallet()
    const limits = {
      receiver: `${BASE}/incoming-payments/1`,
      interval: 'R/2026-01-01T00:00:00Z/P1M',
      debitAmount: usd('5'),
    }
    const access = [{ ...OUTGOING, identifier: 'https://WALLET.example/alice/', limits }, QUOTE]
    const { pending, interactRef } = await approvedGrant(wallet, { ...CONSENT_REQUEST, access_token: { access } })
    const answer = await resume(wallet, pending, { interact_ref: interactRef })
    expect(answer.body.access_token.access).toEqual([{ ...OUTGOING, limits }, QUOTE])
  })

  it('GRT-15 GRT-16 every secret and id has 128 bits or more, fits a header, and is never the same', async () => {
    const wallet = await authWallet()
    const seen = new Set<string>()
    for (let round = 0; round < 10; round++) {
      const { pending, interactRef } = await approvedGrant(wallet)
      const issued = await resume(wallet, pending, { interact_ref: interactRef })
      const { value: token, manage } = issued.body.access_token
      const { redirect, finish } = pending.body.interact
      const secrets = [pending.body.continue.access_token.value, finish, interactRef]
      const ids = [pending.body.continue.uri, manage]
      for (const secret of secrets) expect(secret).toMatch(SECRET)
      for (const id of ids) expect(lastSegment(id)).toMatch(ID)
      expect(token).toMatch(TOKEN)
      expect(lastSegment(redirect)).toMatch(REFERENCE)
      for (const secret of [...secrets, token]) seen.add(secret.slice(-43))
      for (const id of [...ids, redirect]) seen.add(id.slice(-32))
    }
    expect(seen.size).toBe(70)
  })

  it('GRT-17 a grant that is not continued in time is over, whether approved or not', async () => {
    const wallet = await authWallet()
    const waiting = await wallet.ask({ ...CONSENT_REQUEST, interact: { start: ['redirect'] } })
    const { pending, interactRef } = await approvedGrant(wallet)
    wallet.clock.advance(594_999)
    expect((await resume(wallet, waiting)).status).toBe(200)
    wallet.clock.advance(5_001)
    for (const reference of [undefined, { interact_ref: interactRef }]) {
      const grant = reference === undefined ? waiting : pending
      await wallet.expectRefusal(404, 'invalid_continuation', () => resume(wallet, grant, reference))
    }
  })

  it('GRT-17 a grant can be continued until 600 seconds after its request, and not in that moment', async () => {
    const wallet = await authWallet()
    const [early, late] = [await approvedGrant(wallet), await approvedGrant(wallet)]
    // The first has waited for the second, too.
    wallet.clock.advance(589_999)
    expect((await resume(wallet, early.pending, { interact_ref: early.interactRef })).status).toBe(200)
    wallet.clock.advance(5_001)
    await wallet.expectRefusal(404, 'invalid_continuation', () =>
      resume(wallet, late.pending, { interact_ref: late.interactRef }),
    )
  })

  it('GRT-17 its approval does not prolong a grant', async () => {
    const wallet = await authWallet()
    const asked = await wallet.ask({ ...CONSENT_REQUEST, interact: { start: ['redirect'] } })
    wallet.clock.advance(300_000)
    await decideAs(wallet, asked)
    wallet.clock.advance(300_000)
    await wallet.expectRefusal(404, 'invalid_continuation', () => resume(wallet, asked))
  })

  it('GRT-17 sweeping ends such grants for good', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    // Five seconds have passed since the request.
    wallet.clock.advance(594_999)
    expect(await wallet.openPayments.sweep()).toBe(0)
    wallet.clock.advance(1)
    expect(await wallet.openPayments.sweep()).toBe(1)
    await wallet.expectRefusal(404, 'invalid_continuation', () =>
      resume(wallet, pending, { interact_ref: interactRef }),
    )
    expect(await wallet.records()).toContainEqual(
      expect.objectContaining({ value: expect.objectContaining({ state: 'finalised', finalisation: 'expired' }) }),
    )
  })

  it.each([
    ['polled', undefined, [200, 200]],
    ['guessed at', { interact_ref: 'wrong' }, [401, 401]],
  ])('GRT-17 CON-3 INT-14 sweeping ends a grant that was %s, too', async (_, json, statuses) => {
    const wallet = await authWallet()
    const pending = await wallet.ask(POLLING_REQUEST)
    const tries: number[] = []
    for (let count = 0; count < 2; count++) {
      wallet.clock.advance(5_000)
      tries.push((await resume(wallet, pending, json)).status)
    }
    expect(tries).toEqual(statuses)
    wallet.clock.advance(589_999)
    expect(await wallet.openPayments.sweep()).toBe(0)
    wallet.clock.advance(1)
    expect(await wallet.openPayments.sweep()).toBe(1)
    expect((await wallet.records()).find(({ kind }) => kind === 'grant')?.value).toMatchObject({
      state: 'finalised',
      finalisation: 'expired',
    })
  })

  it.each([
    ['a token', CONSENT_REQUEST],
    ['a subject alone', SUBJECT_REQUEST],
  ])('GRT-17 a grant that gave %s in time is not due any more', async (_, request) => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet, request)
    expect((await resume(wallet, pending, { interact_ref: interactRef })).status).toBe(200)
    wallet.clock.advance(600_000)
    expect(await wallet.openPayments.sweep()).toBe(0)
  })

  it('GRT-18 OPTIONS answers what the server can do', async () => {
    const wallet = await authWallet()
    const answer = await wallet.send('OPTIONS', `${AUTH}/`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      grant_request_endpoint: AUTH,
      interaction_start_modes_supported: ['redirect'],
      interaction_finish_methods_supported: ['redirect'],
      key_proofs_supported: ['httpsig'],
      sub_id_formats_supported: ['uri'],
    })
  })

  it('a decision is needed: an opened interaction alone gives nothing', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask({ ...CONSENT_REQUEST, interact: { start: ['redirect'] } })
    const reference = lastSegment(pending.body.interact.redirect)
    await wallet.openPayments.interactions.find(reference, OWNER)
    wallet.clock.advance(5000)
    expect((await resume(wallet, pending)).body.access_token).toBeUndefined()
    await decideAs(wallet, pending)
    wallet.clock.advance(5000)
    expect((await resume(wallet, pending)).body.access_token.value).toMatch(TOKEN)
  })

  it('an unexpected fault is a 500 request_denied without detail, and an event with its cause', async () => {
    const cause = new Error('the source of chance is on fire')
    const randomBytes = (): never => {
      throw cause
    }
    const wallet = await authWallet({ cryptography: { ...cryptography, randomBytes } })
    const client = await directedClient()
    const answer = await wallet.ask({ ...PLAIN_REQUEST, client: client.client }, { as: client })
    expect(answer.status).toBe(500)
    expect(answer.body).toEqual({ error: { code: 'request_denied', description: 'internal server error' } })
    expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'fault', operation: 'post-request', cause }))
  })
})

describe('policies of consent', () => {
  const withFinishUri = (uri: string): unknown => ({
    ...CONSENT_REQUEST,
    interact: { start: ['redirect'], finish: { ...INTERACT.finish, uri } },
  })

  it('INT-5 an app scheme that the wallet allows is accepted, no other', async () => {
    const wallet = await authWallet({ settings: { policies: { finishSchemes: ['com.example.app'] } } })
    await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(withFinishUri('com.example.other://done')))
    const { interactRef } = await approvedGrant(wallet, withFinishUri('com.example.app://done'))
    expect(interactRef).toMatch(SECRET)
  })

  it('INT-5 another page of the server itself is accepted: it may be that of a client of the wallet', async () => {
    const wallet = await authWallet()
    expect((await wallet.ask(withFinishUri(`${AUTH}/interaction`))).status).toBe(200)
  })

  it('INT-5 an interaction is refused under a name with a final dot before a port, too', async () => {
    const authServer = 'https://auth.wallet.example:8443/gnap'
    const wallet = await authWallet({ authServer })
    const dotted = authServer.replace(':8443', '.:8443')
    await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(withFinishUri(`${dotted}/interact/x`)))
    expect((await wallet.ask(withFinishUri(`${dotted}/done`))).status).toBe(200)
  })

  it('INT-5 an interaction is refused under each name of the server', async () => {
    const resourceServer = 'https://api.wallet.example'
    const wallet = await authWallet({ resourceServer, walletAddressServer: BASE })
    for (const name of [AUTH, resourceServer, BASE]) {
      await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(withFinishUri(`${name}/interact/x`)))
      expect((await wallet.ask(withFinishUri(`${name}/done`))).status).toBe(200)
    }
  })

  it('INT-6 no policy admits a script', async () => {
    const wallet = await authWallet({ settings: { policies: { finishSchemes: ['com.example.app'] } } })
    for (const uri of ['javascript:alert(1)', 'data:text/html,x', 'http://shop.example/']) {
      await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(withFinishUri(uri)))
    }
  })

  it('INT-5 http is for loopback names, where the wallet allows it', async () => {
    const wallet = await authWallet({ settings: { policies: { loopbackHttp: true } } })
    await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(withFinishUri('http://shop.example/done')))
    expect((await wallet.ask(withFinishUri('http://localhost:3000/done'))).status).toBe(200)
  })

  it('IVL-6 an interval without a window is refused where Rn is the number of windows', async () => {
    const asking = (interval: string): unknown => ({
      ...CONSENT_REQUEST,
      access_token: { access: [{ ...OUTGOING, limits: { interval } }] },
    })
    const wallet = await authWallet({ settings: { policies: { intervalCounting: 'total' } } })
    await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(asking('R0/2026-01-01T00:00:00Z/P1M')))
    expect((await wallet.ask(asking('R1/2026-01-01T00:00:00Z/P1M'))).status).toBe(200)
    const additional = await authWallet()
    expect((await additional.ask(asking('R0/2026-01-01T00:00:00Z/P1M'))).status).toBe(200)
  })

  it('RS-5 access without identifier is granted as such', async () => {
    const wallet = await authWallet()
    const access = [{ type: 'incoming-payment', actions: ['create'] }]
    const answer = await wallet.ask({ ...PLAIN_REQUEST, access_token: { access } })
    expect(answer.body.access_token.access).toEqual(access)
  })
})
