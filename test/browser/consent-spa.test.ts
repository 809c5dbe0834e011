import {
  type AuthenticatedClient,
  isFinalizedGrantWithAccessToken,
  isPendingGrant,
  type PendingGrant,
} from '@interledger/open-payments'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createWallet } from '../../examples/consent-spa/wallet.ts'
import { systemClock } from '../../src/runtime/system-clock.ts'
import { createClientKey, listen, officialClient } from '../examples/official-client.ts'
import { launchBrowser } from './chromium.ts'
import { expectGoodLooks } from './looks.ts'
import { watchContext } from './watched-browser.ts'

// The example of a consent screen in a single page, in a browser.

const system = systemClock()
let offset = 0
let browser: Browser
let wallet: Awaited<ReturnType<typeof listen>>
let shop: Awaited<ReturnType<typeof listen>>
let client: AuthenticatedClient
let watched: Awaited<ReturnType<typeof watchContext>>

beforeAll(async () => {
  browser = await launchBrowser()
  const key = createClientKey()
  const clock = { ...system, now: () => system.now() + offset }
  wallet = await listen((url) => createWallet(url, [key.jwk], { clock }).listener)
  shop = await listen(() => (_request, response) => response.end('back at the shop'))
  client = await officialClient(`${wallet.url}/shop`, key)
}, 60_000)
afterAll(async () => {
  await browser.close()
  await wallet.close()
  await shop.close()
})
afterEach(async () => {
  await watched.context.close()
  expect(await watched.complaints()).toEqual([])
})

const usd = (value: string) => ({ value, assetCode: 'USD', assetScale: 2 })
const LIMITS = { debitAmount: usd('5000'), interval: 'R11/2026-03-01T00:00:00Z/P1M' }

type GrantRequest = Parameters<AuthenticatedClient['grant']['request']>[1]
type OutgoingLimits = typeof LIMITS | { readonly receiveAmount: typeof LIMITS.debitAmount } | undefined

/** Asks Alice for payments within limits and, where `more` says so, for prices, or for as much once more. */
async function ask(limits: OutgoingLimits, more: 'prices' | 'money' | 'no more' = 'no more'): Promise<PendingGrant> {
  const identifier = `${wallet.url}/alice`
  const payments = { type: 'outgoing-payment' as const, actions: ['create' as const, 'read' as const], identifier }
  const grant = await client.grant.request({ url: `${wallet.url}/auth` }, {
    access_token: {
      access: [
        { ...payments, ...(limits && { limits }) },
        ...(more === 'money' ? [{ ...payments, actions: ['create' as const], ...(limits && { limits }) }] : []),
        ...(more === 'prices' ? [{ type: 'quote' as const, actions: ['create' as const, 'read' as const] }] : []),
      ],
    },
    interact: { start: ['redirect'], finish: { method: 'redirect', uri: `${shop.url}/return`, nonce: 'a nonce' } },
  } satisfies GrantRequest)
  if (!isPendingGrant(grant)) throw new Error('nobody is asked')
  return grant
}

/** What was granted in the end. */
async function grantedTo({ continue: { uri: url, access_token } }: PendingGrant, page: Page): Promise<unknown> {
  await page.waitForURL(`${shop.url}/return?hash=*`)
  offset += 5000
  const interact_ref = new URL(page.url()).searchParams.get('interact_ref') ?? ''
  const grant = await client.grant.continue({ url, accessToken: access_token.value }, { interact_ref })
  return isFinalizedGrantWithAccessToken(grant) ? grant.access_token.access : undefined
}

/** A browser that knows nothing yet, at an interaction. */
async function visit(grant: PendingGrant): Promise<Page> {
  watched = await watchContext(browser, { origins: [wallet.url, shop.url], ours: 'elsewhere' })
  const page = await watched.context.newPage()
  await page.goto(grant.interact.redirect)
  return page
}

async function logIn(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(name)
  await page.getByRole('button', { name: 'Log in' }).click()
}

async function visitAsAlice(grant: PendingGrant): Promise<Page> {
  const page = await visit(grant)
  await logIn(page, 'alice')
  await page.getByRole('heading', { name: 'The Bell Shop asks for your consent' }).waitFor()
  return page
}

it('asks who it is, and what it is that they allow', async () => {
  const page = await visit(await ask(LIMITS, 'prices'))
  await page.getByLabel('Name').fill('alice')
  await page.getByLabel('Password').fill('guessed')
  await page.keyboard.press('Enter')
  expect(await page.getByRole('alert').textContent()).toContain('do not fit')
  await expectGoodLooks(page, 'single page login')
  await logIn(page, 'alice')
  await page.getByRole('heading', { name: 'The Bell Shop asks for your consent' }).waitFor()
  const text = await page.getByRole('main').textContent()
  for (const part of [
    wallet.url,
    `${wallet.url}/shop`,
    'This does not mean that the wallet itself asks.',
    `${wallet.url}/alice`,
    'USD every month, 12 times',
    'anybody',
    'localhost',
    'March 1, 2027 at 12:00 AM UTC',
  ])
    expect(text).toContain(part)
  await expectGoodLooks(page, 'single page question')
})

it('LIM-10 promises no total where two rights to send money have one each', async () => {
  const page = await visitAsAlice(await ask({ receiveAmount: usd('500') }, 'money'))
  const text = (await page.getByRole('main').textContent()) ?? ''
  expect(text).toContain('2 rights to send money: what they let leave your account adds up')
  expect(text.split('USD for this right alone')).toHaveLength(3)
  expect(text).not.toContain('in total')
})

it('grants less where less is chosen', async () => {
  const grant = await ask(LIMITS, 'prices')
  const page = await visitAsAlice(grant)
  await page.getByLabel('At most leaves your account').fill('19.9')
  await page.getByRole('group', { name: 'Prices' }).getByLabel('Allow this').uncheck()
  await page.getByRole('button', { name: 'Approve' }).click()
  expect(await grantedTo(grant, page)).toMatchObject([
    { type: 'outgoing-payment', limits: { ...LIMITS, debitAmount: usd('1990') } },
  ])
  await page.goBack()
  expect(page.url()).not.toContain('/consent')
})

it('takes no amount that is none or too much, and approves nothing by the Enter key in a field', async () => {
  const page = await visitAsAlice(await ask(LIMITS))
  const amount = page.getByLabel('At most leaves your account')
  for (const wrong of ['50.01', '0', '', 'ten', '1.999', '-1', '1e3']) {
    await amount.fill(wrong)
    await page.getByRole('button', { name: 'Approve' }).click()
    expect(await amount.evaluate((input: HTMLInputElement) => input.matches(':focus:invalid'))).toBe(true)
  }
  await amount.fill('50,00')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.waitForURL(`${shop.url}/return?result=grant_rejected`)
})

it('is answered by the keyboard alone', async () => {
  const grant = await ask({ receiveAmount: usd('700') }, 'prices')
  const page = await visitAsAlice(grant)
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
  expect(await focused()).toBe('The Bell Shop asks for your consent')
  const reached = []
  for (let presses = 0; presses < 5; presses++) {
    await page.keyboard.press('Tab')
    reached.push(await page.evaluate(() => document.activeElement?.getAttribute('type') ?? 'amount'))
    if (presses === 2) await page.keyboard.press('Space')
  }
  expect(reached).toEqual(['checkbox', 'amount', 'checkbox', 'submit', 'submit'])
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  expect(await grantedTo(grant, page)).toMatchObject([{ limits: { receiveAmount: usd('700') } }])
})

it('wants something to be allowed, or a denial, and warns where there is no limit', async () => {
  const page = await visitAsAlice(await ask(undefined, 'prices'))
  expect(await page.getByRole('main').textContent()).toContain('there is no limit')
  for (const box of await page.getByLabel('Allow this').all()) await box.uncheck()
  await page.getByRole('button', { name: 'Approve' }).click()
  expect(await page.getByRole('alert').textContent()).toBe('Allow something, or deny.')
  await expectGoodLooks(page, 'single page without limit')
})

it('lets somebody else log in where it is not theirs, and says so where it was answered or is too late', async () => {
  const [answered, late] = [await ask(LIMITS), await ask(LIMITS)]
  const page = await visit(answered)
  await logIn(page, 'bob')
  await page.getByRole('heading', { name: 'not yours' }).waitFor()
  await expectGoodLooks(page, 'single page not yours')
  await page.getByRole('button', { name: 'Log out' }).click()
  await logIn(page, 'alice')
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.waitForURL(`${shop.url}/return?result=grant_rejected`)
  await page.goto(answered.interact.redirect)
  await page.getByRole('heading', { name: 'already answered' }).waitFor()
  await page.goto(late.interact.redirect)
  await page.getByRole('button', { name: 'Approve' }).waitFor()
  offset += 601_000
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('heading', { name: 'expired' }).waitFor()
  offset -= 601_000
})
