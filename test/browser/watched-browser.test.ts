import { createServer, type Server } from 'node:http'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from './chromium.ts'
import { findIllegible, findViolations } from './looks.ts'
import { findMissingProtection, watchContext } from './watched-browser.ts'

// What the other tests of this folder rely on: that a page which does wrong is seen to.

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
}
const START =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title><main><h1>A page of a test</h1>'

let browser: Browser
let server: Server
let origin = ''
let body = ''
beforeAll(async () => {
  server = createServer((_, response) => response.writeHead(200, HEADERS).end(START + body))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  origin = `http://localhost:${typeof address === 'object' ? address?.port : undefined}`
  browser = await launchBrowser()
}, 60_000)
afterEach(() => {
  body = ''
})
afterAll(async () => {
  await browser?.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function complaintsOf(content: string, ours = origin): Promise<readonly string[]> {
  body = content
  const { context, complaints } = await watchContext(browser, { origins: [origin], ours })
  const page = await context.newPage()
  await page.goto(origin)
  await context.close()
  return complaints()
}

describe('the watch over a page', () => {
  it('has nothing to say of a page that does nothing', async () => {
    expect(await complaintsOf('')).toEqual([])
  })

  it.each([
    ['an inline style', '<p style="color:red">a</p>', /inline style/],
    ['an inline script', '<script>1</script>', /inline script/],
    ['an inline handler', '<img alt="" src="/a" onerror="1">', /Content Security Policy/],
    ['a style sheet', '<style>p { color: red }</style>', /inline style/],
    ['an image from elsewhere', '<img alt="" src="http://localhost:1/a">', /Content Security Policy/],
  ])('sees %s', async (_, content, complaint) => {
    expect(await complaintsOf(content)).toEqual(expect.arrayContaining([expect.stringMatching(complaint)]))
  })

  it('sees what is loaded from elsewhere', async () => {
    const { context, complaints } = await watchContext(browser, { origins: [], ours: origin })
    await (await context.newPage()).goto(origin)
    await context.close()
    expect(complaints()).toContain(`loads ${origin}/`)
  })

  it('sees an error of a script', async () => {
    const { context, complaints } = await watchContext(browser, { origins: [origin], ours: origin })
    const page = await context.newPage()
    await page.goto(origin)
    const thrown = page.waitForEvent('pageerror')
    await page.evaluate(() => {
      setTimeout(() => {
        throw new Error('broken')
      })
    })
    await thrown
    await context.close()
    expect(complaints()).toEqual([expect.stringContaining('broken')])
  })
})

describe('the headers of a page', () => {
  it('are all there', () => expect(findMissingProtection(HEADERS)).toEqual([]))

  it.each(Object.keys(HEADERS))('are missed without %s', (name) => {
    expect(findMissingProtection({ ...HEADERS, [name]: 'x' })).not.toEqual([])
  })

  it.each([
    [`style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='`, `style-src 'unsafe-inline'`],
    [`style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='`, 'style-src https:'],
    [`default-src 'none'`, `default-src 'self'`],
    [`base-uri 'none'`, ''],
    [`frame-ancestors 'none'`, `frame-ancestors 'self'`],
    [`form-action 'self'`, ''],
    [`form-action 'self'`, `form-action 'self'; script-src 'self'`],
  ])('are missed with %s as %s', (part, other) => {
    const policy = HEADERS['content-security-policy'].replace(part, other)
    expect(findMissingProtection({ ...HEADERS, 'content-security-policy': policy })).not.toEqual([])
  })
})

describe('what is wrong to the eye', () => {
  async function find(search: (page: Page) => Promise<readonly string[]>, content: string): Promise<string> {
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } })
    try {
      await page.setContent(START + content)
      return (await search(page)).join()
    } finally {
      await page.close()
    }
  }

  it('is not found where nothing is', async () => {
    expect(await find(findViolations, '<p>Text</p>')).toBe('')
    expect(await find(findIllegible, '<p>Text</p>')).toBe('')
  })

  it.each([
    ['a weak contrast', '<p style="color:#999">Text</p>', /^color-contrast/],
    ['a field without a name', '<input>', /^label/],
    ['two headings', '<h3>Too deep</h3>', /^heading-order/],
    ['targets side by side', '<button style="width:9px;height:9px;padding:0">a</button>'.repeat(2), /^target-size/],
  ])('is found by axe: %s', async (_, content, message) => {
    expect(await find(findViolations, content)).toMatch(message)
  })

  it.each([
    ['small letters', '<p style="font-size:15px">Text</p>', /is written in 15px/],
    ['a page that is too wide', '<p style="width:400px">Text</p>', /^scrolls sideways/],
    ['what sticks out', '<p style="margin-left:-20px">Text</p>', /sticks out/],
    ['text that is cut off', `<p style="overflow:hidden">${'x'.repeat(200)}</p>`, /overflows/],
    ['a button for no finger', '<button style="width:99px;height:30px">Text</button>', /is 99×30/],
    ['a transition', '<p style="transition:color 1s">Text</p>', /moves/],
    ['what moves', '<style>@keyframes a { to { opacity: 0 } } p { animation: a 9s }</style><p>Text</p>', /moves/],
  ])('is found at a glance: %s', async (_, content, message) => {
    expect(await find(findIllegible, content)).toMatch(message)
  })
})
