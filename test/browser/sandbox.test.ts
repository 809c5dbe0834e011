import { createHash, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import {
  type AuthenticatedClient,
  isFinalizedGrantWithAccessToken,
  isPendingGrant,
  type PendingGrant,
} from '@interledger/open-payments'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sandbox, type SandboxDescription, startSandbox } from '../../examples/sandbox/server.ts'
import { systemClock } from '../../src/runtime/system-clock.ts'
import { sandboxClient } from '../sandbox/sandbox-client.ts'
import { expectGoodLooks } from './looks.ts'
import { expectHeading, useBrowser, type WatchOptions } from './watched-browser.ts'

const openContext = useBrowser()

// The clock of the sandbox can be moved, so that nobody waits for a `wait`.
const system = systemClock()
let offset = 0
const clock = { ...system, now: () => system.now() + offset }

let sandbox: Sandbox
let description: SandboxDescription
let client: AuthenticatedClient
let shop: Server
let shopOrigin = ''
beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, database: ':memory:', configuration: {}, warn: () => undefined, clock })
  description = await sandbox.describe()
  client = await sandboxClient(description)
  shop = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<h1>Thank you</h1>'))
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  const address = shop.address()
  shopOrigin = `http://localhost:${typeof address === 'object' ? address?.port : undefined}`
})
afterAll(async () => {
  await sandbox.stop()
  shop.closeAllConnections()
  await new Promise((resolve) => shop.close(resolve))
})

async function visit(url: string, options: Partial<WatchOptions> = {}): Promise<Page> {
  const context = await openContext({ origins: [sandbox.origin, shopOrigin], ours: sandbox.origin, ...options })
  const page = await context.newPage()
  await page.goto(url)
  return page
}

async function fillIn(page: Page, password = 'sandbox'): Promise<void> {
  await page.getByLabel('User name').fill('sandbox')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

const NONCE = randomUUID()
const usd = (value: string) => ({ value, assetCode: 'USD', assetScale: 2 })
const QUESTION = 'Sandbox client asks to send money from your account'

/** Asks Alice for 20.00 USD a month. */
async function ask(): Promise<PendingGrant> {
  const identifier = description.wallets[0]?.walletAddress ?? ''
  const limits = { debitAmount: usd('2000'), interval: 'R/2026-01-01T00:00:00Z/P1M' }
  const grant = await client.grant.request(
    { url: description.authServer },
    {
      access_token: {
        access: [
          { type: 'outgoing-payment', actions: ['create', 'read'], identifier, limits },
          { type: 'quote', actions: ['create', 'read'] },
        ],
      },
      interact: { start: ['redirect'], finish: { method: 'redirect', uri: `${shopOrigin}/thanks`, nonce: NONCE } },
    },
  )
  if (!isPendingGrant(grant)) throw new Error('nobody is asked')
  return grant
}

/** Checks the finish redirect as a client must, and gets the token. */
async function finish(grant: PendingGrant, page: Page): Promise<string> {
  await page.waitForURL(`${shopOrigin}/**`)
  const { searchParams } = new URL(page.url())
  const interact_ref = searchParams.get('interact_ref') ?? ''
  const text = [NONCE, grant.interact.finish, interact_ref, description.authServer].join('\n')
  expect(searchParams.get('hash')).toBe(createHash('sha256').update(text).digest('base64'))
  offset += (grant.continue.wait ?? 5) * 1000
  const { uri, access_token } = grant.continue
  const continued = await client.grant.continue({ url: uri, accessToken: access_token.value }, { interact_ref })
  if (!isFinalizedGrantWithAccessToken(continued)) throw new Error('not issued')
  return continued.access_token.value
}

/** Pays 15.00 USD from Alice’s account to Bob’s. */
async function pay(accessToken: string): Promise<void> {
  const { authServer, resourceServer, wallets } = description
  const [payer, payee] = wallets.map(({ walletAddress }) => walletAddress)
  const access = [{ type: 'incoming-payment' as const, actions: ['create' as const] }]
  const grant = await client.grant.request({ url: authServer }, { access_token: { access } })
  if (!isFinalizedGrantWithAccessToken(grant)) throw new Error('not issued at once')
  const incoming = await client.incomingPayment.create(
    { url: resourceServer, accessToken: grant.access_token.value },
    { walletAddress: payee ?? '', incomingAmount: usd('1500') },
  )
  const quote = await client.quote.create(
    { url: resourceServer, accessToken },
    { walletAddress: payer ?? '', receiver: incoming.id, method: 'ilp' },
  )
  await client.outgoingPayment.create(
    { url: resourceServer, accessToken },
    { walletAddress: payer ?? '', quoteId: quote.id },
  )
  await sandbox.openPayments.drain()
}

// Some of these pages are looked at seven times.
const LONG = { timeout: 60_000 }

describe('the person of the sandbox', LONG, () => {
  it('INT-8 INT-13 logs in, reads, approves, sees what was paid, and takes the grant back', async () => {
    const grant = await ask()
    const page = await visit(grant.interact.redirect)
    await fillIn(page)
    await expectHeading(page, QUESTION)
    expect(await page.locator('.ceiling').textContent()).toContain('20.00 USD every month')
    await page.getByRole('button', { name: 'Approve' }).click()
    await pay(await finish(grant, page))
    await page.goto(sandbox.origin)
    await expectHeading(page, 'Your accounts')
    for (const text of ['985.00 USD', '515.00 USD', '-15.00 USD', '15.00 USD'])
      expect(await page.getByText(text, { exact: true }).count()).toBe(1)
    expect(await page.getByText('outgoing-payment: create, read, sends up to 20.00 USD, per R/').count()).toBe(1)
    await expectGoodLooks(page, 'sandbox home')
    await page.getByRole('button', { name: `Revoke the grant of ${description.client.walletAddress}` }).click()
    await page.getByText('Nobody.').waitFor()
    await expectGoodLooks(page, 'sandbox home without grants')
  })

  it('D7 denies, by the keyboard alone, from the login on', async () => {
    const page = await visit((await ask()).interact.redirect)
    await page.locator('input[name=username]:focus').waitFor()
    await page.keyboard.type('sandbox')
    await page.keyboard.press('Tab')
    await page.keyboard.type('sandbox')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: QUESTION }).waitFor()
    for (const _ of ['home', 'approve', 'deny']) await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.waitForURL(`${shopOrigin}/**`)
    expect(page.url()).toBe(`${shopOrigin}/thanks?result=grant_rejected`)
  })

  it('needs no script', async () => {
    const grant = await ask()
    const page = await visit(grant.interact.redirect, { javaScriptEnabled: false })
    await fillIn(page)
    await page.getByRole('button', { name: 'Approve' }).click()
    await finish(grant, page)
  })

  it('is told where the browser keeps no cookie', async () => {
    const page = await visit(sandbox.origin)
    await page.route('**/sandbox/login*', async (route) => {
      const response = await route.fetch({ maxRedirects: 0 })
      const { 'set-cookie': _, ...headers } = response.headers()
      await page.context().clearCookies()
      await route.fulfill({ response, headers })
    })
    await fillIn(page)
    expect(await page.getByRole('alert').textContent()).toContain('did not keep the cookie')
    await expectGoodLooks(page, 'sandbox without cookies')
    await page.unroute('**/sandbox/login*')
    await fillIn(page)
    await expectHeading(page, 'Your accounts')
  })

  it('goes back after the login without having to log in again, and after the logout to no balance', async () => {
    const page = await visit(sandbox.origin)
    await fillIn(page)
    await expectHeading(page, 'Your accounts')
    await page.goBack()
    await expectHeading(page, 'Your accounts')
    await page.getByRole('button', { name: 'Log out' }).click()
    await expectHeading(page, 'Log in')
    await page.goBack()
    await expectHeading(page, 'Log in')
  })
})

describe('a page of the sandbox', LONG, () => {
  it('asks who it is, and again after a wrong password', async () => {
    const page = await visit(sandbox.origin)
    await expectHeading(page, 'Log in')
    await expectGoodLooks(page, 'sandbox login')
    await fillIn(page, 'wrong')
    expect(await page.getByRole('alert').textContent()).toContain('do not belong together')
    await expectGoodLooks(page, 'sandbox wrong password')
  })

  it('that is not there leads home', async () => {
    const page = await visit(`${sandbox.origin}/nothing`)
    await expectHeading(page, 'There is nothing here')
    await expectGoodLooks(page, 'sandbox nothing')
    await page.getByRole('link', { name: 'Go to your accounts' }).click()
    await expectHeading(page, 'Log in')
  })

  it('T-18 takes no form of another site', async () => {
    const page = await visit(shopOrigin)
    await page.setContent(
      `<form method="post" action="${sandbox.origin}/sandbox/login"><input name="username" value="sandbox"><button>Win</button></form>`,
    )
    await page.getByRole('button', { name: 'Win' }).click()
    await expectHeading(page, 'This form is not ours')
    await expectGoodLooks(page, 'sandbox foreign form')
  })
})
