import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bank, logIn, openBank, type Pending } from './bank.ts'
import { expectGoodLooks } from './looks.ts'
import { useBrowser } from './watched-browser.ts'

const openContext = useBrowser()

let bank: Bank
beforeAll(async () => {
  bank = await openBank()
})
afterAll(() => bank.stop())

const usd = (value: string) => ({ value, assetCode: 'USD', assetScale: 2 })

function spending(limits?: Readonly<Record<string, unknown>>) {
  return {
    type: 'outgoing-payment',
    actions: ['create', 'read', 'list'],
    identifier: `${bank.origin}/alice`,
    ...(limits && { limits }),
  }
}

const askForMoney = (): Promise<Pending> =>
  bank.ask([spending({ debitAmount: usd('12000') }), { type: 'quote', actions: ['create', 'read'] }])

/** What a customer sees at an interaction. */
async function show({ url }: Pick<Pending, 'url'>, customer = 'alice'): Promise<Page> {
  const context = await openContext({ origins: [bank.origin, bank.shop.origin], ours: bank.origin })
  await logIn(bank, context, customer)
  const page = await context.newPage()
  await page.goto(url)
  return page
}

// Each is looked at seven times.
const LONG = { timeout: 60_000 }

describe('the question', LONG, () => {
  const questions: Readonly<Record<string, () => Promise<Pending>>> = {
    'a payment': askForMoney,
    'a subscription': () =>
      bank.ask([spending({ debitAmount: usd('1999'), interval: 'R11/2026-03-01T00:00:00Z/P1M' })]),
    'a subscription without an end': () =>
      bank.ask([spending({ debitAmount: usd('1999'), interval: 'R/2026-01-01T00:00:00Z/P1M' })]),
    'several budgets': () =>
      bank.ask([
        spending({ debitAmount: usd('1000') }),
        spending({ debitAmount: usd('1200'), interval: 'R/2026-01-01T00:00:00Z/P1M' }),
      ]),
    'money without a limit': () => bank.ask([spending()]),
    'money by a client that polls': () =>
      bank.ask([spending({ debitAmount: usd('1') })], { interact: { start: ['redirect'] } }),
    identity: () =>
      bank.ask([], {
        access_token: undefined,
        subject: { sub_ids: [{ format: 'uri', id: `${bank.origin}/alice` }] },
      }),
    'all there is': () =>
      bank.ask(
        [
          {
            ...spending({
              receiveAmount: usd('18446744073709551615'),
              receiver: `https://shop.example/incoming-payments/${'x'.repeat(300)}`,
              interval: 'R/P18M/2031-01-01T00:00:00Z',
            }),
            actions: ['create', 'read-all', 'list-all'],
          },
          {
            type: 'incoming-payment',
            actions: ['create', 'complete', 'read-all', 'list-all'],
            identifier: `${bank.origin}/alice`,
          },
          { type: 'quote', actions: ['create', 'read-all'] },
        ],
        { subject: { sub_ids: [{ format: 'uri', id: `${bank.origin}/alice` }] } },
      ),
  }
  it.each(Object.entries(questions))('for %s', async (name, ask) => {
    await expectGoodLooks(await show(await ask()), name)
  })
})

it('INT-11 no name draws over the address that is checked', LONG, async () => {
  const page = await show(await askForMoney())
  const checked = page.locator('.asker')
  const before = await checked.screenshot()
  for (const mark of ['\u0323', '\u0332', '\u0e38']) {
    await page.locator('h1').evaluate((heading, marks) => heading.append(marks), `A${mark.repeat(99)}`)
    expect((await checked.screenshot()).equals(before)).toBe(true)
  }
})

describe('a page that tells', LONG, () => {
  async function expectNotice(page: Page, heading: string): Promise<void> {
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(heading)
    expect(await page.getByRole('link', { name: 'Go to Harbour Bank' }).count()).toBe(1)
    await expectGoodLooks(page, heading)
  }

  it('of an unknown request', async () => {
    await expectNotice(await show({ url: `${bank.origin}/auth/interact/unknown` }), 'We do not know this request')
  })

  it('of an expired request', async () => {
    const pending = await askForMoney()
    bank.wallet.clock.advance(600_000)
    await expectNotice(await show(pending), 'This request has expired')
  })

  it.each([
    ['Approve', 'You approved the request'],
    ['Deny', 'You denied the request'],
  ])('of an answer where the client polls, and once only: %s', async (button, heading) => {
    const page = await show(await bank.ask([spending()], { interact: { start: ['redirect'] } }))
    await page.getByRole('button', { name: button }).click()
    await expectNotice(page, heading)
    // Sends the form again.
    await page.reload()
    await expectNotice(page, 'This request was already answered')
  })

  it('of somebody else’s account', async () => {
    await expectNotice(await show(await askForMoney(), 'bob'), 'This request is about an account that is not yours')
  })

  it('of a request that was opened elsewhere', async () => {
    const pending = await askForMoney()
    await show(pending)
    await expectNotice(await show(pending), 'This request was opened elsewhere')
  })

  it('of a missing login', async () => {
    await expectNotice(await show(await askForMoney(), 'nobody'), 'Please log in')
  })

  it('of an answer that could not be checked', async () => {
    const page = await show(await askForMoney())
    await page.locator('input[name=csrf]').evaluate((input: HTMLInputElement) => {
      input.value = 'another'
    })
    await page.getByRole('button', { name: 'Approve' }).click()
    await expectNotice(page, 'We could not check your answer')
  })
})
