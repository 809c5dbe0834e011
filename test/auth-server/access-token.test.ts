import { alterRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { lastSegment } from '../support/last-segment.ts'
import {
  ALICE,
  AUTH,
  addClient,
  BASE,
  grantWithConsent,
  incomingPayment,
  type Sending,
  usd,
} from '../support/test-wallet.ts'
import { authWallet, cancel, OUTGOING, PLAIN_REQUEST, revoke, rotate, tokenStatus } from './auth-wallet.ts'

describe('an access token', () => {
  it('TOK-3 has a management URI of its own, in which its value does not stand', async () => {
    const wallet = await authWallet()
    const grants = [await wallet.ask(PLAIN_REQUEST), await wallet.ask(PLAIN_REQUEST)]
    const uris = grants.map(({ body }) => body.access_token.manage)
    expect(new Set(uris).size).toBe(2)
    for (const { body } of grants) {
      expect(body.access_token.manage).toMatch(/^https:\/\/auth\.wallet\.example\/token\/[0-9a-f]{44}$/)
      expect(body.access_token.manage).not.toContain(body.access_token.value)
    }
  })

  it('TOK-4 is good until its time is over by the clock of the server', async () => {
    const wallet = await authWallet({ settings: { lifetimes: { accessTokenSeconds: 90 } } })
    const { access_token: token } = (await wallet.ask(PLAIN_REQUEST)).body
    expect(token.expires_in).toBe(90)
    wallet.clock.advance(89_999)
    expect(await tokenStatus(wallet, token.value)).toBe(200)
    wallet.clock.advance(1)
    expect(await tokenStatus(wallet, token.value)).toBe(401)
  })

  it('T-43 is good at the server that gave it alone', async () => {
    const other = await authWallet({ secrets: ['another secret of the tests, long enough too'] })
    const wallet = await authWallet()
    const { value } = (await other.ask(PLAIN_REQUEST)).body.access_token
    expect(await tokenStatus(wallet, value)).toBe(401)
  })
})

describe('a token that is not good', () => {
  it('D6 is answered in the one way that clients compare, whatever is wrong with it', async () => {
    const wallet = await authWallet()
    const [rotated, revoked, cancelled, expired] = [
      await wallet.ask(PLAIN_REQUEST),
      await wallet.ask(PLAIN_REQUEST),
      await wallet.ask(PLAIN_REQUEST),
      await wallet.ask(PLAIN_REQUEST),
    ]
    await rotate(wallet, rotated)
    await revoke(wallet, revoked)
    await cancel(wallet, cancelled)
    wallet.clock.advance(600_000)
    const tokens = [rotated, revoked, cancelled, expired].map(({ body }) => body.access_token.value)
    for (const token of ['unknown', ...tokens]) {
      const refusal = await wallet.send('GET', `${BASE}/outgoing-payment-grant`, { token })
      expect(refusal).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': `GNAP as_uri=${AUTH}` },
        body: { error: { code: 'invalid_token', description: 'Invalid Token' } },
      })
    }
  })
})

describe('rotating an access token', () => {
  it('TOK-6 gives another value and another URI for the same access and a new time', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    wallet.clock.advance(400_000)
    const rotated = await rotate(wallet, grant)
    expect(rotated.status).toBe(200)
    const [before, after] = [grant.body.access_token, rotated.body.access_token]
    expect(after).toMatchObject({ access: before.access, expires_in: 600 })
    expect([after.value, after.manage]).not.toEqual([before.value, before.manage])
    expect(await tokenStatus(wallet, before.value)).toBe(401)
    expect(await tokenStatus(wallet, after.value)).toBe(200)
    const again = await rotate(wallet, rotated)
    expect(await tokenStatus(wallet, again.body.access_token.value)).toBe(200)
  })

  it('TOK-5 is possible after the token has expired', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    wallet.clock.advance(24 * 3600 * 1000)
    await wallet.openPayments.sweep()
    expect(await tokenStatus(wallet, grant.body.access_token.value)).toBe(401)
    const rotated = await rotate(wallet, grant)
    expect(rotated.status).toBe(200)
    expect(await tokenStatus(wallet, rotated.body.access_token.value)).toBe(200)
  })

  it('TOK-5 is over 30 days after the token has', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    wallet.clock.advance(30 * 24 * 3600 * 1000 + 599_999)
    await wallet.openPayments.sweep()
    expect((await rotate(wallet, grant)).status).toBe(200)
    const second = await wallet.ask(PLAIN_REQUEST)
    wallet.clock.advance(30 * 24 * 3600 * 1000 + 600_000)
    await wallet.openPayments.sweep()
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, second))
  })

  it.each([0, 1])(
    'TOK-5 is not possible for ever: after %i rotations, its grant is forgotten with it',
    async (times) => {
      const wallet = await authWallet()
      let grant = await wallet.ask(PLAIN_REQUEST)
      for (let rotation = 0; rotation < times; rotation++) {
        wallet.clock.advance(600_000)
        grant = await rotate(wallet, grant)
      }
      const kinds = async () => {
        await wallet.openPayments.sweep()
        return (await wallet.records()).map(({ kind }) => kind).toSorted()
      }
      wallet.clock.advance(30 * 24 * 3600 * 1000 + 599_999)
      expect(await kinds()).toEqual(['access-token', 'grant'])
      wallet.clock.advance(1)
      expect(await kinds()).toEqual([])
    },
  )

  it('1.2 a revoked token is 404 invalid_rotation', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    expect((await revoke(wallet, grant)).status).toBe(204)
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, grant))
  })

  it('1.2 a token of a grant that is over is 404 invalid_rotation', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    expect((await cancel(wallet, grant)).status).toBe(204)
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, grant))
  })

  it('TOK-3 1.2 an unknown token, or the URI of another one, is 404 invalid_rotation', async () => {
    const wallet = await authWallet()
    const [grant, other] = [await wallet.ask(PLAIN_REQUEST), await wallet.ask(PLAIN_REQUEST)]
    const strangers = [
      { token: 'x' },
      { token: other.body.access_token.value },
      { token: lastSegment(grant.body.access_token.manage) },
    ]
    for (const sending of strangers) {
      await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, grant, sending))
      const { body } = await wallet.expectRefusal(401, 'invalid_client', () => revoke(wallet, grant, sending))
      expect(body.error.description).toBe('unknown access token')
    }
    const own = lastSegment(grant.body.access_token.manage)
    for (const id of ['0'.repeat(32), 'x', '%00', own.slice(12), own.slice(0, 43), own.toUpperCase(), `0${own}`]) {
      const elsewhere = { access_token: { ...grant.body.access_token, manage: `${AUTH}/token/${id}` } }
      const strange = { ...grant, body: { ...grant.body, ...elsewhere } }
      await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, strange))
    }
    expect((await rotate(wallet, grant)).status).toBe(200)
    expect((await rotate(wallet, other)).status).toBe(200)
  })

  it('T-10 a rotation that was signed is no revocation, nor a revocation a rotation', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const to = (method: string): Sending => ({ alter: (request) => alterRequest(request, { method }) })
    for (const act of [() => rotate(wallet, grant, to('DELETE')), () => revoke(wallet, grant, to('POST'))]) {
      const { body } = await wallet.expectRefusal(401, 'invalid_client', act)
      expect(body.error.description).toBe('Signature validation error: signature does not verify')
    }
    expect((await rotate(wallet, grant)).status).toBe(200)
  })

  it('1.2 a request without Authorization is 401 invalid_client', async () => {
    const wallet = await authWallet()
    const { manage } = (await wallet.ask(PLAIN_REQUEST)).body.access_token
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.send('POST', manage))
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.send('DELETE', manage))
  })

  it('KEY-8 another client with the right token is refused', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const as = await addClient(wallet, 'thief')
    const sameKid = { ...as, key: { ...as.key, keyId: wallet.client.key.keyId } }
    await wallet.expectRefusal(400, 'invalid_client', () => rotate(wallet, grant, { as }))
    await wallet.expectRefusal(400, 'invalid_client', () => revoke(wallet, grant, { as }))
    await wallet.expectRefusal(401, 'invalid_client', () => rotate(wallet, grant, { as: sameKid }))
    await wallet.expectRefusal(401, 'invalid_client', () => revoke(wallet, grant, { as: sameKid }))
    expect((await rotate(wallet, grant)).status).toBe(200)
  })

  it.each([
    ['asks for another key', { json: { key: { proof: 'httpsig', jwk: {} } } }],
    ['holds another member', { json: { access: [] } }],
    ['is an array', { json: [] }],
    ['is null', { json: null }],
    ['is not JSON', { body: '{' }],
    ['goes on after an object', { body: '{ }x' }],
    ['begins before an object', { body: 'x{ }' }],
    ['has an object in an object', { body: '{{}}' }],
    ['is not UTF-8', { body: Uint8Array.from([0xff]) }],
  ])('KEY-15 1.2 a body that %s is 400 invalid_rotation', async (_name, sending) => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    await wallet.expectRefusal(400, 'invalid_rotation', () => rotate(wallet, grant, sending))
    expect((await rotate(wallet, grant)).status).toBe(200)
  })

  it.each([
    ['absent', {}],
    ['empty', { body: '' }],
    ['blank', { body: ' ' }],
    ['an empty object', { body: '{}' }],
    ['an empty object among blanks', { body: ' { } \n' }],
  ])('DIG-8 the body may be %s', async (_name, sending) => {
    const wallet = await authWallet()
    expect((await rotate(wallet, await wallet.ask(PLAIN_REQUEST), sending)).status).toBe(200)
  })

  it('DIG-8 a body of another media type is 415, though it asks for nothing', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const sending = { body: '{}', headers: { 'content-type': 'text/plain' } }
    await wallet.expectRefusal(415, 'invalid_request', () => rotate(wallet, grant, sending))
    expect((await rotate(wallet, grant, { body: '{}' })).status).toBe(200)
  })

  it('TOK-7 the answer is given again for 60 seconds, the same token', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const first = await rotate(wallet, grant)
    wallet.clock.advance(59_999)
    const before = await wallet.records()
    const again = await rotate(wallet, grant)
    expect(again.body.access_token).toEqual({ ...first.body.access_token, expires_in: 540 })
    expect(await wallet.records()).toEqual(before)
    wallet.clock.advance(1)
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, grant))
  })

  it('TOK-7 the answer is given again though its token has expired since', async () => {
    const wallet = await authWallet({ settings: { lifetimes: { accessTokenSeconds: 20 } } })
    const grant = await wallet.ask(PLAIN_REQUEST)
    const first = await rotate(wallet, grant)
    wallet.clock.advance(30_000)
    const again = await rotate(wallet, grant)
    expect(again.body.access_token).toEqual({ ...first.body.access_token, expires_in: 0 })
    expect((await rotate(wallet, again)).status).toBe(200)
  })

  it('TOK-7 the answer is not given again once its token was rotated or revoked', async () => {
    const wallet = await authWallet()
    for (const end of [rotate, revoke]) {
      const grant = await wallet.ask(PLAIN_REQUEST)
      expect((await end(wallet, await rotate(wallet, grant))).status).toBeLessThan(300)
      await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, grant))
    }
  })

  it('TOK-8 does not reset what was spent', async () => {
    const wallet = await authWallet()
    const { payment } = await incomingPayment(wallet)
    const grant = await grantWithConsent(wallet, [{ ...OUTGOING, limits: { debitAmount: usd('1000') } }])
    const pay = (token: string) =>
      wallet.send('POST', `${BASE}/outgoing-payments`, {
        token,
        json: { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('600') },
      })
    expect((await pay(grant.body.access_token.value)).status).toBe(201)
    const { value } = (await rotate(wallet, grant)).body.access_token
    expect((await pay(value)).status).toBe(403)
    const spent = await wallet.send('GET', `${BASE}/outgoing-payment-grant`, { token: value })
    expect(spent.body).toEqual({ spentDebitAmount: usd('600'), spentReceiveAmount: usd('600') })
  })
})

describe('revoking an access token', () => {
  it('TOK-9 the token is dead for the next request, and again is fine', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const answer = await revoke(wallet, grant)
    expect([answer.status, answer.text]).toEqual([204, undefined])
    expect(await tokenStatus(wallet, grant.body.access_token.value)).toBe(401)
    const before = await wallet.records()
    expect((await revoke(wallet, grant)).status).toBe(204)
    expect(await wallet.records()).toEqual(before)
    expect((await cancel(wallet, grant)).status).toBe(204)
  })

  it('1.2 an expired token can be revoked, and is not rotated after', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    wallet.clock.advance(600_000)
    expect((await revoke(wallet, grant)).status).toBe(204)
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, grant))
  })

  it.each([1, 2])('TOK-9 what %i rotations gave is ended by the first token too', async (rotations) => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    let newest = grant
    for (let count = 0; count < rotations; count++) newest = { ...newest, ...(await rotate(wallet, newest)) }
    wallet.clock.advance(59_999)
    expect((await revoke(wallet, grant)).status).toBe(204)
    expect(await tokenStatus(wallet, newest.body.access_token.value)).toBe(401)
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, grant))
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, newest))
  })

  it('TOK-9 the token before a rotation ends nothing once the new one is no longer given for it', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const rotated = await rotate(wallet, grant)
    wallet.clock.advance(60_000)
    expect((await revoke(wallet, grant)).status).toBe(204)
    expect(await tokenStatus(wallet, rotated.body.access_token.value)).toBe(200)
  })

  it('TOK-9 ends its grant, which is no longer among those of its owner', async () => {
    const wallet = await authWallet()
    const grant = await grantWithConsent(wallet, [OUTGOING])
    expect(await wallet.openPayments.grants.list(ALICE)).toHaveLength(1)
    expect((await revoke(wallet, grant)).status).toBe(204)
    expect(await wallet.openPayments.grants.list(ALICE)).toEqual([])
    const ended = (await wallet.records()).find(({ kind }) => kind === 'grant')
    expect(ended?.value).toMatchObject({ state: 'finalised', finalisation: 'revoked' })
    expect((await cancel(wallet, grant)).status).toBe(204)
  })
})
