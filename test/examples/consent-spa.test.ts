import { type AuthenticatedClient, isPendingGrant, type PendingGrant } from '@interledger/open-payments'
import type { ConsentData } from 'open-payments-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWallet } from '../../examples/consent-spa/wallet.ts'
import { lastSegment } from '../support/last-segment.ts'
import { useMovedTime } from './moved-time.ts'
import { createClientKey, listen, officialClient } from './official-client.ts'

const { advance } = useMovedTime()
const FINISH = 'https://shop.example/return?order=7'
const FINISHED = /^https:\/\/shop\.example\/return\?order=7&hash=[\w%]+&interact_ref=[\w-]+$/

let server: Awaited<ReturnType<typeof listen>>
let client: AuthenticatedClient

beforeAll(async () => {
  const key = createClientKey()
  server = await listen((url) => createWallet(url, [key.jwk]).listener)
  client = await officialClient(`${server.url}/shop`, key)
})
afterAll(() => server.close())

const usd = (value: string) => ({ value, assetCode: 'USD', assetScale: 2 })

/** Asks Alice for 50 dollars a month, and for prices. */
async function askAlice(): Promise<{ readonly grant: PendingGrant; readonly path: string }> {
  const grant = await client.grant.request(
    { url: `${server.url}/auth` },
    {
      access_token: {
        access: [
          {
            type: 'outgoing-payment',
            actions: ['create', 'read'],
            identifier: `${server.url}/alice`,
            limits: { debitAmount: usd('5000'), interval: 'R11/2026-03-01T00:00:00Z/P1M' },
          },
          { type: 'quote', actions: ['create', 'read'] },
        ],
      },
      interact: { start: ['redirect'], finish: { method: 'redirect', uri: FINISH, nonce: 'a nonce' } },
    },
  )
  if (!isPendingGrant(grant)) throw new Error('nobody is asked')
  return { grant, path: `/api/interactions/${lastSegment(grant.interact.redirect)}` }
}

/** What the API answers; which of it is there depends on the answer. */
interface Answer {
  readonly status: number
  readonly reason?: string
  readonly csrf: string
  readonly consent: ConsentData
  readonly redirect: string
}

/** A browser that shows the page of the wallet: its requests carry its cookie, and say where they come from. */
class Browser {
  cookie = ''

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const response = await fetch(server.url + path, {
      method,
      headers: { cookie: this.cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const [cookie] = response.headers.getSetCookie()
    if (cookie !== undefined) this.cookie = cookie.split(';')[0] ?? ''
    return { status: response.status, ...JSON.parse(await response.text()) }
  }

  static async of(name: string): Promise<Browser> {
    const browser = new Browser()
    expect(await browser.call('POST', '/api/session', { name, password: name })).toEqual({ status: 200 })
    return browser
  }
}

async function proceed({ continue: { uri: url, access_token } }: PendingGrant, redirect: string) {
  advance(5000)
  const interact_ref = new URL(redirect).searchParams.get('interact_ref') ?? ''
  return client.grant.continue({ url, accessToken: access_token.value }, { interact_ref })
}

describe('the consent screen in a single page', () => {
  it('is where the browser is sent, is one static page and runs nothing but its own scripts', async () => {
    const { grant } = await askAlice()
    const sent = await fetch(grant.interact.redirect, { redirect: 'manual' })
    const reference = lastSegment(grant.interact.redirect)
    expect([sent.status, sent.headers.get('location')]).toEqual([303, `${server.url}/consent#${reference}`])
    const page = await fetch(`${server.url}/consent`)
    const policy = page.headers.get('content-security-policy') ?? ''
    for (const directive of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      expect(policy).toContain(directive)
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    const html = await page.text()
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\s(?:style|on\w+)=|https?:/)
    const loads = [...html.matchAll(/(?:src|href)="([^"]+)"/g)]
    expect(loads).not.toEqual([])
    for (const [, path = ''] of loads) {
      const loaded = await fetch(server.url + path)
      expect([loaded.status, loaded.headers.get('x-content-type-options')]).toEqual([200, 'nosniff'])
    }
    expect((await fetch(`${server.url}/page/../main.ts`)).status).toBe(404)
  })

  it('shows who asks for what, and grants it', async () => {
    const { grant, path } = await askAlice()
    expect(await new Browser().call('GET', path)).toEqual({ status: 401, reason: 'logged_out' })
    const browser = await Browser.of('alice')
    const { consent, csrf } = await browser.call('GET', path)
    expect(consent).toMatchObject({
      client: { id: `${server.url}/shop`, name: 'The Bell Shop', origin: server.url, isLocal: true },
      walletAddress: `${server.url}/alice`,
      access: [{ debitAmount: '50.00 USD', interval: { windows: 12 } }, {}],
      finishHost: 'shop.example',
    })
    const access = consent.access.map((right) => right.access)
    const { redirect, ...answer } = await browser.call('POST', path, { decision: 'approve', csrf, access })
    expect([answer, redirect]).toEqual([{ status: 200, ok: true }, expect.stringMatching(FINISHED)])
    expect(await proceed(grant, redirect)).toMatchObject({ access_token: { access } })
  })

  it('grants less', async () => {
    const { grant, path } = await askAlice()
    const browser = await Browser.of('alice')
    const { consent, csrf } = await browser.call('GET', path)
    const [asked] = consent.access.map((right) => right.access)
    if (asked?.type !== 'outgoing-payment') throw new Error('another order')
    const access = [{ ...asked, limits: { ...asked.limits, debitAmount: usd('2000') } }]
    const { redirect } = await browser.call('POST', path, { decision: 'approve', csrf, access })
    expect(await proceed(grant, redirect)).toMatchObject({ access_token: { access } })
  })

  it('takes a denial back to the client', async () => {
    const { grant, path } = await askAlice()
    const browser = await Browser.of('alice')
    const { csrf } = await browser.call('GET', path)
    const { redirect } = await browser.call('POST', path, { decision: 'deny', csrf })
    expect(redirect).toBe(`${FINISH}&result=grant_rejected`)
    await expect(proceed(grant, redirect)).rejects.toMatchObject({ code: 'request_denied' })
  })

  it('lets nobody else see or answer, and leaves it open for its owner', async () => {
    const { path } = await askAlice()
    const [alice, bob, otherAlice] = [await Browser.of('alice'), await Browser.of('bob'), await Browser.of('alice')]
    expect(await bob.call('GET', path)).toMatchObject({ status: 403, reason: 'not_owner' })
    const { csrf } = await alice.call('GET', path)
    expect(await otherAlice.call('GET', path)).toMatchObject({ status: 403, reason: 'other_session' })
    for (const [browser, reason] of [
      [bob, 'not_owner'],
      [otherAlice, 'other_session'],
    ] as const) {
      const answer = await browser.call('POST', path, { decision: 'deny', csrf })
      expect(answer).toMatchObject({ status: 403, reason })
    }
    expect(await alice.call('GET', path)).toMatchObject({ status: 200, csrf })
  })

  it('takes no session that somebody else has made up, and forgets the one before', async () => {
    const browser = new Browser()
    browser.cookie = 'session=planted'
    await browser.call('POST', '/api/session', { name: 'alice', password: 'alice' })
    const first = browser.cookie
    await browser.call('POST', '/api/session', { name: 'alice', password: 'alice' })
    const second = browser.cookie
    expect(new Set(['session=planted', first, second]).size).toBe(3)
    await browser.call('DELETE', '/api/session')
    const { path } = await askAlice()
    for (const cookie of ['session=planted', first, second, 'session=', '']) {
      browser.cookie = cookie
      expect(await browser.call('GET', path)).toMatchObject({ status: 401 })
    }
  })

  it('gives its cookie to no script and to no other site', async () => {
    const credentials = { method: 'POST', body: '{"name":"alice","password":"alice"}' }
    const response = await fetch(`${server.url}/api/session`, {
      ...credentials,
      headers: { 'sec-fetch-site': 'same-origin' },
    })
    expect(response.headers.get('set-cookie')).toMatch(/^session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(await new Browser().call('POST', '/api/session', { name: 'alice', password: 'bob' })).toMatchObject({
      status: 401,
    })
  })

  it.each(['cross-site', 'same-site', 'none', ''])('does nothing for a request from %j', async (site) => {
    const { path } = await askAlice()
    const browser = await Browser.of('alice')
    const { csrf } = await browser.call('GET', path)
    const foreign = { 'sec-fetch-site': site }
    for (const [method, target, body] of [
      ['GET', path, undefined],
      ['POST', path, { decision: 'deny', csrf }],
      ['POST', '/api/session', { name: 'bob', password: 'bob' }],
      ['DELETE', '/api/session', undefined],
    ] as const) {
      expect(await browser.call(method, target, body, foreign)).toEqual({ status: 403, reason: 'other_site' })
    }
    expect(await browser.call('GET', path)).toMatchObject({ status: 200, csrf })
  })

  it('takes no decision but for what was shown, and not more than was asked', async () => {
    const [{ path }, other] = [await askAlice(), await askAlice()]
    const browser = await Browser.of('alice')
    const { consent, csrf } = await browser.call('GET', path)
    const [first, ...rest] = consent.access.map((right) => right.access)
    const more = { ...first, limits: { debitAmount: usd('5001'), interval: 'R11/2026-03-01T00:00:00Z/P1M' } }
    const approve = { decision: 'approve', csrf, access: [first] }
    const answers = [
      [{ ...approve, csrf: (await browser.call('GET', other.path)).csrf }, 403, 'bad_csrf'],
      [{ ...approve, csrf: 7 }, 403, 'bad_csrf'],
      [{ ...approve, csrf: undefined }, 403, 'bad_csrf'],
      [{ ...approve, access: [more, ...rest] }, 400, 'wider_access'],
      [{ ...approve, access: [first, first] }, 400, 'wider_access'],
      [{ ...approve, access: [] }, 400, 'wider_access'],
      [{ ...approve, access: [null] }, 400, 'wider_access'],
      [{ ...approve, access: ['all'] }, 400, 'wider_access'],
      [{ ...approve, access: 'all' }, 400, 'bad_body'],
      [{ ...approve, access: null }, 400, 'bad_body'],
      [{ ...approve, access: { 0: first } }, 400, 'bad_body'],
      [{ ...approve, access: undefined }, 400, 'bad_body'],
      [{ ...approve, decision: 'find' }, 400, 'bad_body'],
      ['{', 400, 'bad_body'],
      ['null', 400, 'bad_body'],
      [`"${'x'.repeat(20_000)}"`, 400, 'bad_body'],
    ] as const
    for (const [body, status, reason] of answers)
      expect(await browser.call('POST', path, body)).toMatchObject({ status, reason })
    expect(await browser.call('POST', path, approve)).toMatchObject({ status: 200 })
  })

  it('takes one decision, and goes where the client said and nowhere else', async () => {
    const { path } = await askAlice()
    const browser = await Browser.of('alice')
    const { consent, csrf } = await browser.call('GET', path)
    const access = consent.access.map((right) => right.access)
    const body = {
      decision: 'approve',
      csrf,
      access,
      redirect: 'https://elsewhere.example',
      url: '//elsewhere.example',
    }
    const answers = await Promise.all([1, 2, 3].map(() => browser.call('POST', `${path}`, body)))
    expect(answers.filter(({ redirect }) => FINISHED.test(redirect))).toHaveLength(1)
    expect(answers.filter(({ status, reason }) => status === 410 && reason === 'used')).toHaveLength(2)
    expect(await browser.call('GET', path)).toMatchObject({ status: 410, reason: 'used' })
  })

  it('knows when it is too late, and what it has never heard of', async () => {
    const { path } = await askAlice()
    const browser = await Browser.of('alice')
    const { csrf } = await browser.call('GET', path)
    advance(601_000)
    expect(await browser.call('GET', path)).toMatchObject({ status: 410, reason: 'expired' })
    expect(await browser.call('POST', path, { decision: 'deny', csrf })).toMatchObject({
      status: 410,
      reason: 'expired',
    })
    for (const unknown of ['/api/interactions/AAAA', '/api/interactions/', '/api/', '/api/interactions/a%2Fb'])
      expect(await browser.call('GET', unknown)).toMatchObject({ status: 404, reason: 'unknown' })
  })
})
