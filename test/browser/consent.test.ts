import { EventEmitter, once } from 'node:events'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Bank, logIn, openBank, type Pending } from './bank.ts'
import { expectLegible } from './looks.ts'
import { expectHeading, useBrowser, type WatchOptions } from './watched-browser.ts'

const openContext = useBrowser()

let bank: Bank
beforeAll(async () => {
  bank = await openBank()
})
afterEach(() => bank.shop.visits.splice(0))
afterAll(() => bank.stop())

const usd = (value: string) => ({ value, assetCode: 'USD', assetScale: 2 })

/** A browser that is logged in, or not. */
async function enter(customer?: string, options: Partial<WatchOptions> = {}): Promise<BrowserContext> {
  const context = await openContext({ origins: [bank.origin, bank.shop.origin], ours: bank.origin, ...options })
  if (customer !== undefined) await logIn(bank, context, customer)
  return context
}

/** The shop asks to send money from Alice’s account. */
function ask(limits: Readonly<Record<string, unknown>> = { debitAmount: usd('12000') }): Promise<Pending> {
  return bank.ask([
    { type: 'outgoing-payment', actions: ['create', 'read'], identifier: `${bank.origin}/alice`, limits },
  ])
}

async function open(context: BrowserContext, { url }: Pending): Promise<Page> {
  const page = await context.newPage()
  await page.goto(url)
  return page
}

/** Lets the half second pass in which a mouse presses nothing yet. */
async function endWaiting(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) animation.finish()
  })
}

async function press(page: Page, name: 'Approve' | 'Deny'): Promise<void> {
  await page.getByRole('main').hover({ position: { x: 5, y: 5 } })
  await endWaiting(page)
  await page.getByRole('button', { name }).click()
}

const QUESTION = 'Mia’s Bicycles asks to send money from your account'
const USED = 'This request was already answered'

/** The one finish redirect that reached the shop. */
function finish(): URL {
  const [visit, ...others] = bank.shop.visits
  expect(others).toEqual([])
  if (visit === undefined) throw new Error('nobody came to the shop')
  return visit.url
}

/** Expects that the shop was told of an approval, and gets its token. */
async function expectApproved(pending: Pending): Promise<void> {
  const redirect = finish()
  expect(bank.isGenuine(pending, redirect)).toBe(true)
  const answer = await bank.proceed(pending, redirect.searchParams.get('interact_ref'))
  expect(answer.status).toBe(200)
  expect(answer.body.access_token.value).toMatch(/./)
}

async function expectNothingGranted(pending: Pending): Promise<void> {
  expect((await bank.proceed(pending, null)).body.access_token).toBeUndefined()
}

describe('a person who is asked for money', () => {
  it('INT-11 reads who asks, how much, how often, until when, from where and what comes next', async () => {
    const receiver = 'https://shop.example/incoming-payments/1'
    const limits = { debitAmount: usd('123456'), interval: 'R11/2026-03-01T00:00:00Z/P1M', receiver }
    const page = await open(await enter('alice'), await ask(limits))
    await expectHeading(page, QUESTION)
    expect(await page.locator('.asker').textContent()).toContain(`${bank.origin}/shop`)
    expect(await page.locator('.ceiling').textContent()).toBe('Leaves your account, at most 1,234.56 USD every month')
    const facts = await page
      .locator('dl div')
      .evaluateAll((rows) => rows.map((row) => [...row.children].map(({ textContent }) => textContent)))
    expect(facts).toEqual([
      ['From', `${bank.origin}/alice`],
      ['To', receiver],
      ['How often', 'Every month, 12 times in all'],
      ['Began', '1 March 2026 at 00:00 UTC'],
      ['Ends', '1 March 2027 at 00:00 UTC'],
      ['Asked by', `${bank.origin}/shop Checked: the request is signed with its key`],
      ['Answer until', '1 March 2026 at 12:10 UTC'],
      ['Afterwards', `Your browser goes to ${new URL(bank.shop.origin).host}`],
    ])
    expect(await page.getByText('Signed in as Alice Example').isVisible()).toBe(true)
  })

  it('INT-8 INT-13 T-44 approves: the shop gets a reference and the right hash, and nothing of the page', async () => {
    const pending = await ask()
    const page = await open(await enter('alice'), pending)
    await press(page, 'Approve')
    await expectHeading(page, 'Thank you')
    expect(bank.shop.visits[0]?.referer).toBeUndefined()
    expect(finish().searchParams.get('order')).toBe('7')
    await expectApproved(pending)
  })

  it('D7 denies: the shop learns that, and gets no token', async () => {
    const pending = await ask()
    const page = await open(await enter('alice'), pending)
    await press(page, 'Deny')
    await expectHeading(page, 'Thank you')
    expect([...finish().searchParams]).toEqual([
      ['order', '7'],
      ['result', 'grant_rejected'],
    ])
    await expectNothingGranted(pending)
  })

  it('INT-3 goes back after the answer, and finds no button to press again', async () => {
    const pending = await ask()
    const page = await open(await enter('alice'), pending)
    await press(page, 'Approve')
    await expectHeading(page, 'Thank you')
    await page.goBack()
    await expectHeading(page, USED)
    expect(await page.getByRole('button').count()).toBe(0)
    await expectApproved(pending)
  })

  it.each([
    ['Approve', 'Deny'],
    ['Deny', 'Approve'],
  ] as const)('INT-3 opens the link twice, and only the first answer counts: %s, then %s', async (first, second) => {
    const pending = await ask()
    const context = await enter('alice')
    const [one, other] = [await open(context, pending), await open(context, pending)]
    await press(one, first)
    await expectHeading(one, 'Thank you')
    await press(other, second)
    await expectHeading(other, USED)
    if (first === 'Approve') await expectApproved(pending)
    else await expectNothingGranted(pending)
  })

  it('INT-3 INT-4 waits until it expired: an answer comes too late, and the shop is told nothing', async () => {
    const pending = await ask()
    const page = await open(await enter('alice'), pending)
    bank.wallet.clock.advance(600_000)
    await press(page, 'Approve')
    await expectHeading(page, 'This request has expired')
    expect(await page.getByRole('link', { name: 'Go to Harbour Bank' }).getAttribute('href')).toBe(`${bank.origin}/`)
    expect(bank.shop.visits).toEqual([])
    await expectNothingGranted(pending)
  })

  it('reloads, and can still answer', async () => {
    const pending = await ask()
    const page = await open(await enter('alice'), pending)
    await page.reload()
    await expectHeading(page, QUESTION)
    await press(page, 'Approve')
    await expectApproved(pending)
  })

  it('needs no script', async () => {
    const pending = await ask()
    const page = await open(await enter('alice', { javaScriptEnabled: false }), pending)
    await page.getByRole('button', { name: 'Approve' }).click()
    await expectHeading(page, 'Thank you')
    await expectApproved(pending)
  })
})

describe('the keyboard alone', () => {
  /** What has the focus, by its name; and it shows. */
  async function focused(page: Page): Promise<string> {
    const { name, style, width } = await page.evaluate(() => {
      const element = document.activeElement ?? document.body
      const { outlineStyle, outlineWidth } = getComputedStyle(element)
      return { name: element.textContent, style: outlineStyle, width: Number.parseFloat(outlineWidth) }
    })
    expect(style).toBe('solid')
    expect(width).toBeGreaterThanOrEqual(3)
    return name
  }

  it.each([
    ['Approve', 'Enter'],
    ['Approve', 'Space'],
    ['Deny', 'Enter'],
    ['Deny', 'Space'],
  ] as const)('reaches everything in order, and presses %s with %s', async (button, key) => {
    const pending = await ask()
    const page = await open(await enter('alice'), pending)
    const order: string[] = []
    for (const _ of ['link', 'first', 'second']) {
      await page.keyboard.press('Tab')
      order.push(await focused(page))
    }
    expect(order).toEqual(['Harbour Bank', 'Approve', 'Deny'])
    if (button === 'Approve') await page.keyboard.press('Shift+Tab')
    await page.keyboard.press(key)
    await page.waitForURL(`${bank.shop.origin}/**`)
    if (button === 'Approve') await expectApproved(pending)
    else expect(finish().searchParams.get('result')).toBe('grant_rejected')
  })

  it('is taken nowhere by Enter before a button is chosen', async () => {
    const page = await open(await enter('alice'), await ask())
    await page.keyboard.press('Enter')
    await page.keyboard.press('Space')
    await page.reload()
    await expectHeading(page, QUESTION)
  })
})

describe('a browser that may not answer', () => {
  it('INT-10 is another one of the same person: the first can still answer', async () => {
    const pending = await ask()
    const page = await open(await enter('alice'), pending)
    await expectHeading(await open(await enter('alice'), pending), 'This request was opened elsewhere')
    await press(page, 'Approve')
    await expectApproved(pending)
  })

  it('INT-10 belongs to somebody else, who learns nothing and locks nobody out', async () => {
    const pending = await ask()
    const stranger = await open(await enter('bob'), pending)
    await expectHeading(stranger, 'This request is about an account that is not yours')
    expect(await stranger.locator('body').textContent()).not.toContain('Mia')
    expect(await stranger.getByText('Signed in as Bob').isVisible()).toBe(true)
    const page = await open(await enter('alice'), pending)
    await press(page, 'Approve')
    await expectApproved(pending)
  })

  it('is logged in as nobody, and may once it is', async () => {
    const pending = await ask()
    const context = await enter()
    const page = await open(context, pending)
    await expectHeading(page, 'Please log in')
    await logIn(bank, context, 'alice')
    await page.reload()
    await press(page, 'Approve')
    await expectApproved(pending)
  })

  it('INT-10 changed its login in between, and decides nothing', async () => {
    const pending = await ask()
    const context = await enter('alice')
    const page = await open(context, pending)
    await context.clearCookies()
    await logIn(bank, context, 'bob')
    await press(page, 'Approve')
    await expectHeading(page, 'This request is about an account that is not yours')
    expect(bank.shop.visits).toEqual([])
  })

  it('T-18 is sent by a page of the shop, and is led back to the question', async () => {
    const pending = await ask()
    const page = await open(await enter('alice'), pending)
    await page.goto(bank.shop.origin)
    await page.setContent(
      `<form method="post" action="${pending.url}"><button name="decision" value="approve">Win</button></form>`,
    )
    await page.getByRole('button', { name: 'Win' }).click()
    await expectHeading(page, 'We could not check your answer')
    await page.getByRole('link', { name: 'Open the request again' }).click()
    await expectHeading(page, QUESTION)
  })
})

it('T-18 INT-9 is shown in no frame', async () => {
  const pending = await ask()
  const page = await (await enter('alice', { expected: /frame-ancestors/ })).newPage()
  await page.goto(bank.shop.origin)
  const complaint = page.waitForEvent('console')
  await page.setContent(`<iframe title="The question" src="${pending.url}"></iframe>`)
  expect((await complaint).text()).toContain(`"frame-ancestors 'none'"`)
  expect(await page.frameLocator('iframe').locator('h1').count()).toBe(0)
})

it.each(['#request', '#right-0'])(
  'T-18 T-19 is shown from its beginning, and the focus begins there, whatever fragment the client adds: %s',
  async (fragment) => {
    const pending = await ask()
    const page = await (await enter('alice')).newPage()
    await page.setViewportSize({ width: 390, height: 400 })
    await page.goto(bank.shop.origin)
    // Not every browser knows that header: without it the page has to have nothing that a fragment could name.
    await page.route(/interact/, async (route) => {
      const response = await route.fetch()
      const { 'document-policy': _, ...headers } = response.headers()
      await route.fulfill({ response, headers })
    })
    await page.setContent(`<a href="${pending.url}${fragment}">Pay</a>`)
    await page.getByRole('link').click()
    await expectHeading(page, QUESTION)
    expect(await page.evaluate(() => [scrollY, document.body.scrollHeight > 2 * innerHeight])).toEqual([0, true])
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Harbour Bank')
  },
)

it('T-18 is not pressed by the second half of a double click that began on another window', async () => {
  const pending = await ask()
  const context = await enter('alice')
  const page = await open(context, pending)
  await page.getByRole('button', { name: 'Approve' }).scrollIntoViewIfNeeded()
  const box = await page.getByRole('button', { name: 'Approve' }).boundingBox()
  const place = { x: (box?.x ?? 0) + 20, y: (box?.y ?? 0) + 20, button: 'left', clickCount: 1 } as const
  const devices = await context.newCDPSession(page)
  await devices.send('Animation.setPlaybackRate', { playbackRate: 0 })
  await endWaiting(page)
  const pressAtOnce = async () => {
    await devices.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...place })
    await devices.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...place })
  }
  // The mouse comes out of nowhere, already over the button.
  await pressAtOnce()
  await page.reload()
  await expectHeading(page, QUESTION)
  await page.getByRole('button', { name: 'Approve' }).scrollIntoViewIfNeeded()
  // The same press, once the mouse has been there for its half second.
  await page.mouse.move(place.x, place.y)
  await endWaiting(page)
  await pressAtOnce()
  await page.waitForURL(`${bank.shop.origin}/**`)
  await expectApproved(pending)
})

it.each(['Approve', 'Deny'])(
  'INT-3 sends one answer if %s is pressed twice at once, by which the browser leaves',
  async (name) => {
    const pending = await ask()
    const context = await enter('alice')
    const page = await open(context, pending)
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url())
    })
    await page.getByRole('main').hover({ position: { x: 5, y: 5 } })
    await endWaiting(page)
    // Between the two presses the first has been sent, no answer has come yet, and no time passes for the style sheet.
    const mouse = new EventEmitter()
    const pressedAgain = once(mouse, 'pressed again')
    await page.route(pending.url, async (route) => {
      await pressedAgain
      await route.continue()
    })
    const devices = await context.newCDPSession(page)
    await devices.send('Animation.setPlaybackRate', { playbackRate: 0 })
    await page.getByRole('button', { name }).scrollIntoViewIfNeeded()
    const box = await page.getByRole('button', { name }).boundingBox()
    const place = [(box?.x ?? 0) + 20, (box?.y ?? 0) + 20] as const
    await Promise.all([page.waitForRequest(pending.url), page.mouse.click(...place)])
    await page.mouse.click(...place)
    mouse.emit('pressed again')
    await page.waitForURL(`${bank.shop.origin}/**`)
    expect(sent).toEqual([pending.url])
  },
)

it('INT-3 answers a short press after one that was let go beside the button', async () => {
  const pending = await ask()
  const page = await open(await enter('alice'), pending)
  const button = page.getByRole('button', { name: 'Approve' })
  await button.scrollIntoViewIfNeeded()
  const box = await button.boundingBox()
  const place = [(box?.x ?? 0) + 20, (box?.y ?? 0) + 20] as const
  await page.mouse.move(...place)
  await endWaiting(page)
  await page.mouse.down()
  await page.mouse.move(2, 2)
  await page.mouse.up()
  await page.mouse.move(...place)
  await endWaiting(page)
  await page.mouse.down()
  // The browser draws the pressed button, as it does within any press of a person.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  await page.mouse.up()
  await page.waitForURL(`${bank.shop.origin}/**`)
  await expectApproved(pending)
})

describe('a client with a name of its own choice', () => {
  const names: readonly (readonly [string, string, string])[] = [
    [
      'markup',
      '<img src=x onerror="document.title=1"><script>alert(1)</script>',
      '<img src=x onerror="document.title=1"><script>alert(1)</script>',
    ],
    ['writing that turns around', 'Mia\u202e knaB ruobraH', 'Mia knaB ruobraH'],
    ['a name without an end', 'W'.repeat(500), 'W'.repeat(100)],
    ['quotes and entities', `"'&lt;b&gt;`, `"'&lt;b&gt;`],
    ['another language', 'متجر الدراجات', 'متجر الدراجات'],
    ['the name of the bank', 'Harbour Bank', 'Harbour Bank'],
  ]
  it.each(names)('INT-2 INT-11 of %s shows it as text, with its address beside it', async (_, shopName, shown) => {
    const other = await openBank({ shopName })
    try {
      const context = await openContext({ origins: [other.origin], ours: other.origin })
      await logIn(other, context, 'alice')
      const page = await context.newPage()
      await page.setViewportSize({ width: 320, height: 640 })
      const pending = await other.ask([
        { type: 'outgoing-payment', actions: ['create'], identifier: `${other.origin}/alice` },
      ])
      await page.goto(pending.url)
      expect(await page.locator('h1 bdi').textContent()).toBe(shown)
      expect(await page.title()).toBe(`${shown} asks to send money from your account – Harbour Bank`)
      expect(await page.locator('.asker').textContent()).toBe(
        `${other.origin}/shop The name is its own choice; this address is checked.`,
      )
      expect(await page.getByText('This does not mean that Harbour Bank itself asks.').isVisible()).toBe(true)
      expect(await page.locator('img, script').count()).toBe(0)
      await expectLegible(page)
    } finally {
      await other.stop()
    }
  })
})
