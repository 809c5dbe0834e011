import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuthenticatedClient, isFinalizedGrantWithAccessToken, isPendingGrant } from '@interledger/open-payments'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Configuration } from '../../examples/sandbox/configuration.ts'
import { answerAsPerson } from '../../examples/sandbox/person.ts'
import { type Sandbox, type SandboxDescription, startSandbox } from '../../examples/sandbox/server.ts'
import { sandboxClient } from './sandbox-client.ts'

const FINISH = 'http://localhost/finish'
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function launch(configuration: Configuration = {}, database = ':memory:'): Promise<Sandbox> {
  const lifetimes = { continuationWaitSeconds: 1, ...configuration.lifetimes }
  return startSandbox({ port: 0, database, configuration: { ...configuration, lifetimes }, warn: () => {} })
}

async function start(...parameters: Parameters<typeof launch>): Promise<Sandbox> {
  const sandbox = await launch(...parameters)
  cleanups.push(sandbox.stop)
  return sandbox
}

async function requestConsent(client: AuthenticatedClient, { authServer, wallets }: SandboxDescription) {
  const grant = await client.grant.request(
    { url: authServer },
    {
      access_token: {
        access: [
          { type: 'outgoing-payment', actions: ['create', 'read'], identifier: wallets[0]?.walletAddress ?? '' },
        ],
      },
      interact: { start: ['redirect'], finish: { method: 'redirect', uri: FINISH, nonce: randomUUID() } },
    },
  )
  if (!isPendingGrant(grant)) throw new Error('the grant is not pending')
  return grant
}

async function requestIncomingToken(client: AuthenticatedClient, authServer: string): Promise<string> {
  const access_token = {
    access: [{ type: 'incoming-payment' as const, actions: ['create' as const, 'read' as const] }],
  }
  const grant = await client.grant.request({ url: authServer }, { access_token })
  if (!isFinalizedGrantWithAccessToken(grant)) throw new Error('the grant is pending')
  return grant.access_token.value
}

/** A browser that is logged in. */
async function logIn(sandbox: Sandbox): Promise<(path: string, form?: Record<string, string>) => Promise<Response>> {
  const { consent } = await sandbox.describe()
  const body = new URLSearchParams(consent.credentials)
  const login = await fetch(`${sandbox.origin}/sandbox/login`, { method: 'POST', body, redirect: 'manual' })
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return (path, form) =>
    fetch(sandbox.origin + path, {
      headers: { cookie },
      redirect: 'manual',
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
}

describe('the description', () => {
  it('holds all that a client needs', async () => {
    const sandbox = await start()
    const description = await sandbox.describe()
    const [wallet] = description.wallets
    const { id, authServer, resourceServer, assetCode, assetScale } = await (
      await fetch(wallet?.walletAddress ?? '')
    ).json()
    expect({ id, assetCode, assetScale }).toEqual({
      id: wallet?.walletAddress,
      assetCode: wallet?.assetCode,
      assetScale: wallet?.assetScale,
    })
    expect({ authServer, resourceServer }).toEqual({
      authServer: description.authServer,
      resourceServer: description.resourceServer,
    })
  })
})

describe('the person', () => {
  // For all but the one that reads every grant there is: each client compiles the published documents anew.
  let sandbox: Sandbox
  let description: SandboxDescription
  let client: AuthenticatedClient
  beforeAll(async () => {
    sandbox = await launch()
    description = await sandbox.describe()
    client = await sandboxClient(description)
  })
  afterAll(() => sandbox.stop())

  it('INT-8 approves, and the grant can be continued', async () => {
    const grant = await requestConsent(client, description)
    const finish = new URL(
      (await answerAsPerson(grant.interact.redirect, description.consent.credentials, 'approve')) ?? '',
    )
    expect(finish.searchParams.get('interact_ref')).toMatch(/.{22}/)
    expect(finish.searchParams.get('hash')).toMatch(/.{43}/)
  })

  it('D7 denies, and the redirect says so', async () => {
    const grant = await requestConsent(client, description)
    expect(await answerAsPerson(grant.interact.redirect, description.consent.credentials, 'deny')).toBe(
      `${FINISH}?result=grant_rejected`,
    )
  })

  it('INT-9 INT-10 is asked to log in first, and sees nothing of the request before', async () => {
    const grant = await requestConsent(client, description)
    const response = await fetch(grant.interact.redirect, { redirect: 'manual' })
    expect(response.status).toBe(303)
    const login = new URL(response.headers.get('location') ?? '', sandbox.origin)
    expect(login.searchParams.get('next')).toBe(new URL(grant.interact.redirect).pathname)
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  it('INT-9 sees a page that keeps its own policy and gets the headers of the server', async () => {
    const grant = await requestConsent(client, description)
    const browse = await logIn(sandbox)
    const page = await browse(new URL(grant.interact.redirect).pathname)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toContain(`default-src 'none'`)
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    expect(await page.text()).toContain('<bdi>Sandbox client</bdi>')
  })

  it('sees who was granted what, and takes it back', async () => {
    const sandbox = await start()
    const description = await sandbox.describe()
    const client = await sandboxClient(description)
    const grant = await requestConsent(client, description)
    const finish = new URL(
      (await answerAsPerson(grant.interact.redirect, description.consent.credentials, 'approve')) ?? '',
    )
    const continuation = { url: grant.continue.uri, accessToken: grant.continue.access_token.value }
    const interact_ref = finish.searchParams.get('interact_ref') ?? ''
    // Refused as too early at first, which costs nothing.
    await vi.waitFor(() => client.grant.continue(continuation, { interact_ref }), { timeout: 50_000, interval: 200 })
    const browse = await logIn(sandbox)
    const home = await (await browse('/')).text()
    expect(home).toContain(description.client.walletAddress)
    expect(home).toContain('<p>outgoing-payment: create, read</p>')
    const id = /name="grant" value="([^"]+)"/.exec(home)?.[1] ?? ''
    expect((await browse('/sandbox/revoke', { grant: id })).status).toBe(303)
    expect(await (await browse('/')).text()).not.toContain(description.client.walletAddress)
  })
})

describe('the pages of the sandbox', () => {
  it('show balances to nobody who is not logged in', async () => {
    const { origin } = await start()
    const response = await fetch(origin, { redirect: 'manual' })
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toBe('/sandbox/login?next=%2F')
  })

  it('show balances to the person', async () => {
    const page = await (await (await logIn(await start()))('/')).text()
    for (const text of ['1000.00 USD', '250.000 KWD', 'Alice']) expect(page).toContain(text)
  })

  it('refuse a wrong password', async () => {
    const { origin } = await start()
    const body = new URLSearchParams({ username: 'sandbox', password: 'wrong' })
    const response = await fetch(`${origin}/sandbox/login`, { method: 'POST', body })
    expect(response.status).toBe(401)
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  it('write the names of accounts as text', async () => {
    const eve = { path: '/eve', name: `<b>"Eve"</b>`, assetCode: 'EUR', assetScale: 2, balance: '1' }
    const page = await (await (await logIn(await start({ accounts: [eve] })))('/')).text()
    expect(page).toContain('&#60;b&#62;&#34;Eve&#34;&#60;/b&#62;')
    expect(page).not.toContain('<b>')
  })

  it.each(['/sandbox/login', '/nothing'])('T-18 carry at %s what protects them', async (path) => {
    const { headers } = await fetch((await start()).origin + path)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^ ]+'; form-action 'self'; frame-ancestors 'none'/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('T-17 lead on from the login where the cookie was kept, and say so where it was not', async () => {
    const sandbox = await start()
    const { credentials } = (await sandbox.describe()).consent
    const post = (next: string) =>
      fetch(`${sandbox.origin}/sandbox/login?next=${encodeURIComponent(next)}`, {
        method: 'POST',
        body: new URLSearchParams(credentials),
        redirect: 'manual',
      })
    const kept = await logIn(sandbox)
    for (const [next, target] of [
      ['/auth/interact/1?a=b&c=d', `${sandbox.origin}/auth/interact/1?a=b&c=d`],
      ['//evil.example', `${sandbox.origin}/`],
    ] as const) {
      const location = (await post(next)).headers.get('location') ?? ''
      expect((await kept(location)).headers.get('location')).toBe(target)
      const lost = await fetch(sandbox.origin + location)
      expect(lost.status).toBe(200)
      expect(await lost.text()).toContain('did not keep the cookie')
    }
  })

  it('T-18 refuse a form that a page of another origin sends', async () => {
    const sandbox = await start()
    const { consent } = await sandbox.describe()
    const post = (site: string) =>
      fetch(`${sandbox.origin}/sandbox/login`, {
        method: 'POST',
        body: new URLSearchParams(consent.credentials),
        headers: { 'sec-fetch-site': site },
        redirect: 'manual',
      })
    expect((await post('same-site')).status).toBe(403)
    expect((await post('cross-site')).status).toBe(403)
    expect((await post('same-origin')).status).toBe(303)
  })

  it.each(['/nothing', '/sandbox/revoke', '/sandbox'])('answer 404 at %s', async (path) => {
    expect((await fetch((await start()).origin + path)).status).toBe(404)
  })
})

describe('a database file', () => {
  it('outlives a restart on another port: the payment, its token and its client', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
    cleanups.push(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'sandbox.db')
    const first = await startSandbox({ port: 0, database: file, configuration: {}, warn: () => {} })
    const before = await first.describe()
    const client = await sandboxClient(before)
    const accessToken = await requestIncomingToken(client, before.authServer)
    const walletAddress = before.wallets[0]?.walletAddress ?? ''
    const payment = await client.incomingPayment.create({ url: before.resourceServer, accessToken }, { walletAddress })
    await first.stop()

    // Keeps the first port busy, so that the second sandbox cannot have it.
    const blocker = createServer().listen(Number(new URL(first.origin).port), '127.0.0.1')
    cleanups.push(() => new Promise((resolve) => blocker.close(resolve)))
    const second = await start({}, file)
    const after = await second.describe()
    expect(after.client.privateKeyPem).toBe(before.client.privateKeyPem)
    expect(second.origin).not.toBe(first.origin)
    const moved = (url: string) => second.origin + url.slice(first.origin.length)
    const again = await sandboxClient(after)
    expect(await again.incomingPayment.get({ url: moved(payment.id), accessToken })).toMatchObject({
      id: moved(payment.id),
      walletAddress: moved(walletAddress),
    })
  })
})

describe('clients of other servers on this machine', () => {
  async function requestFromElsewhere(
    sandbox: Sandbox,
  ): Promise<{ readonly keyFetches: number; readonly isGranted: boolean }> {
    const { client, authServer } = await sandbox.describe()
    const jwks = await (await fetch(`${client.walletAddress}/jwks.json`)).text()
    let keyFetches = 0
    const elsewhere = createServer((request, response) => {
      if (request.url === '/remote/jwks.json') keyFetches += 1
      response.setHeader('content-type', 'application/json').end(request.url === '/remote/jwks.json' ? jwks : '{}')
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => new Promise((resolve) => elsewhere.close(resolve)))
    const address = elsewhere.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const remote = await sandboxClient({ client: { ...client, walletAddress: `http://localhost:${port}/remote` } })
    const isGranted = await requestIncomingToken(remote, authServer).then(
      () => true,
      () => false,
    )
    return { keyFetches, isGranted }
  }

  it('are admitted by default', async () => {
    expect(await requestFromElsewhere(await start())).toEqual({ keyFetches: 1, isGranted: true })
  })

  it('T-1 are not fetched with loopbackKeys: false', async () => {
    expect(await requestFromElsewhere(await start({ loopbackKeys: false }))).toEqual({
      keyFetches: 0,
      isGranted: false,
    })
  })
})
