import type { OpenPaymentsOptions } from 'open-payments-server'
import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { ALICE, type Answer, AUTH, BASE, BOB, decideAs, type Sending } from '../support/test-wallet.ts'
import { type AuthWallet, authWallet, CONSENT_REQUEST, PLAIN_REQUEST, tokenStatus } from './auth-wallet.ts'

/** Goes from a grant request with consent to a rotated and a cancelled token, at whatever URLs the server gives. */
async function walk(wallet: AuthWallet, grantEndpoint: string, suffix = '', sending: Sending = {}): Promise<Answer> {
  const pending = await wallet.send('POST', grantEndpoint, { json: CONSENT_REQUEST, ...sending })
  expect(pending.status).toBe(200)
  const redirect = await decideAs(wallet, pending)
  wallet.clock.advance(5_000)
  const { uri, access_token: continuation } = pending.body.continue
  const json = { interact_ref: redirect?.searchParams.get('interact_ref') }
  const issued = await wallet.send('POST', `${uri}${suffix}`, { token: continuation.value, json, ...sending })
  expect(issued.status).toBe(200)
  const { manage, value } = issued.body.access_token
  const rotated = await wallet.send('POST', `${manage}${suffix}`, { token: value, ...sending })
  expect(rotated.status).toBe(200)
  const { access_token: token } = rotated.body
  expect((await wallet.send('DELETE', `${token.manage}${suffix}`, { token: token.value, ...sending })).status).toBe(204)
  expect((await wallet.send('DELETE', `${uri}${suffix}`, { token: continuation.value, ...sending })).status).toBe(204)
  return issued
}

const PLACES: readonly (readonly [string, string, string])[] = [
  ['a host of its own', AUTH, BASE],
  ['a path of the host of the resource server', `${BASE}/auth`, BASE],
  ['the very URL of the resource server', BASE, BASE],
  ['a path of a host of its own', `${AUTH}/v1/gnap`, BASE],
  ['a path below that of the resource server', `${BASE}/open-payments/auth`, `${BASE}/open-payments`],
]

describe.each(PLACES)('an authorization server at %s', (_name, authServer, resourceServer) => {
  const options: Partial<OpenPaymentsOptions> = { authServer, resourceServer }

  it.each(['', '/'])('D16 serves its grant endpoint with "%s" behind it', async (suffix) => {
    const wallet = await authWallet(options)
    await walk(wallet, `${authServer}${suffix}`)
  })

  it('D16 serves the continuation and the management URI with a slash behind them', async () => {
    const wallet = await authWallet(options)
    await walk(wallet, `${authServer}/`, '/')
  })

  it('D16 gives URLs below the one that is published', async () => {
    const wallet = await authWallet(options)
    const pending = await wallet.send('POST', authServer, { json: CONSENT_REQUEST })
    const issued = await wallet.send('POST', authServer, { json: PLAIN_REQUEST })
    const urls = [pending.body.interact.redirect, pending.body.continue.uri, issued.body.access_token.manage]
    expect(urls.map((url) => url.replace(/[0-9a-f]{32}$/, 'id').replace(/[0-9a-f]{12}id$/, 'timed id'))).toEqual([
      `${authServer}/interact/id`,
      `${authServer}/continue/timed id`,
      `${authServer}/token/timed id`,
    ])
    const discovered = await wallet.send('OPTIONS', authServer)
    expect(discovered.body).toMatchObject({ grant_request_endpoint: authServer })
  })

  it('GRT-18 answers another method with 405 in its own words, and what the path allows', async () => {
    const wallet = await authWallet(options)
    const refusal = async (method: string, path: string): Promise<readonly unknown[]> => {
      const { status, headers, body } = await wallet.send(method, `${authServer}${path}`)
      return [status, headers['allow'], body.error.code]
    }
    expect(await refusal('PUT', '/')).toEqual([405, 'POST, OPTIONS', 'invalid_request'])
    expect(await refusal('GET', '/token/x')).toEqual([405, 'POST, DELETE', 'invalid_request'])
  })

  it('issues tokens that the resource server knows', async () => {
    const wallet = await authWallet(options)
    const issued = await wallet.send('POST', authServer, { json: PLAIN_REQUEST })
    const list = `${resourceServer}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`
    expect((await wallet.send('GET', list, { token: issued.body.access_token.value })).status).toBe(200)
  })
})

describe('the URLs of an authorization server', () => {
  it('SIG-31 D16 the bare origin may be signed with and without its slash', async () => {
    const wallet = await authWallet()
    expect((await wallet.send('POST', AUTH, { json: PLAIN_REQUEST })).status).toBe(200)
    expect((await wallet.send('POST', `${AUTH}/`, { json: PLAIN_REQUEST })).status).toBe(200)
  })

  it('SIG-31 no other path may be signed otherwise than it was requested', async () => {
    const wallet = await authWallet({ authServer: `${BASE}/auth` })
    const alter = (request: InMemoryRequest): InMemoryRequest => alterRequest(request, { target: '/auth/' })
    const refusal = await wallet.send('POST', `${BASE}/auth`, { json: PLAIN_REQUEST, alter })
    expect([refusal.status, refusal.body.error.code]).toEqual([401, 'invalid_client'])
  })

  it('SIG-30 targets that a URL parser would rewrite are no targets', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const path = new URL(grant.body.access_token.manage).pathname
    for (const target of [
      `/x/..${path}`,
      path.replace('/token/', '/./token/'),
      `/\\${path}`,
      `${AUTH}${path}`,
      `${path}#a`,
      '*',
      '',
    ]) {
      const alter = (request: InMemoryRequest): InMemoryRequest => alterRequest(request, { target })
      const answer = await wallet.send('POST', grant.body.access_token.manage, {
        token: grant.body.access_token.value,
        alter,
      })
      expect(answer.status).toBe(404)
    }
    expect(await tokenStatus(wallet, grant.body.access_token.value)).toBe(200)
  })

  it('T-13 SIG-29 Host and X-Forwarded headers change neither what is accepted nor any URL', async () => {
    const forged = {
      host: ['evil.example'],
      forwarded: ['host=evil.example;proto=http'],
      'x-forwarded-host': ['evil.example'],
      'x-forwarded-proto': ['http'],
      'x-forwarded-prefix': ['/evil'],
      'x-original-url': ['/evil'],
    }
    const wallet = await authWallet()
    const alter = (request: InMemoryRequest): InMemoryRequest => alterRequest(request, { headers: forged })
    const issued = await walk(wallet, AUTH, '', { alter })
    expect(issued.body.continue.uri.startsWith(`${AUTH}/continue/`)).toBe(true)
    const answers = [
      await wallet.send('POST', AUTH, { json: CONSENT_REQUEST, alter }),
      await wallet.send('OPTIONS', AUTH, { alter }),
      await wallet.send('GET', ALICE, { alter }),
      await wallet.send('GET', `${BASE}/outgoing-payment-grant`, { alter }),
      await wallet.send('POST', AUTH, { json: {}, alter }),
    ]
    for (const { text, headers } of answers) expect(`${text}${JSON.stringify(headers)}`).not.toContain('evil')
  })

  it('T-13 a signature for the host of somebody else is refused, whatever Host says', async () => {
    const wallet = await authWallet()
    const answer = await wallet.send('POST', 'https://evil.example/', { json: PLAIN_REQUEST })
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_client'])
  })

  it('1.2 what is not found below its path is refused in its own words', async () => {
    const wallet = await authWallet({ authServer: `${BASE}/auth` })
    const below = await wallet.send('POST', `${BASE}/auth/nowhere`)
    expect([below.status, below.body.error.code]).toEqual([404, 'invalid_request'])
    const beside = await wallet.send('POST', `${BASE}/author/nowhere`)
    expect([beside.status, beside.body.error.code]).toEqual([404, 'not_found'])
  })

  it('DIG-8 OPTIONS has no body', async () => {
    const wallet = await authWallet()
    expect((await wallet.send('OPTIONS', AUTH, { json: {} })).status).toBe(400)
  })
})
