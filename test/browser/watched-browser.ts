import type { Browser, BrowserContext, BrowserContextOptions, Page, Response } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { launchBrowser } from './chromium.ts'

/** What a browser may do, beside how it is. */
export interface WatchOptions extends BrowserContextOptions {
  /** Whose pages it visits: nothing may be loaded from anywhere else. */
  readonly origins: readonly string[]
  /** Whose pages are ours, and carry every header that protects them. */
  readonly ours: string
  /** What the browser is meant to say on its console. */
  readonly expected?: RegExp
}

/** The parts of a content security policy by their names; of all policies in one header, each directive once. */
export function directivesOf(policy: string): ReadonlyMap<string, string> {
  return new Map(
    policy
      .split(/[;,]/)
      .map((part) => part.trim().split(/\s+/))
      .map(([name = '', ...values]) => [name, values.join(' ')]),
  )
}

/** What the headers of a page lack. @spec INT-9 */
export function findMissingProtection(headers: Readonly<Record<string, string>>): readonly string[] {
  const policy = headers['content-security-policy'] ?? ''
  const directives = directivesOf(policy)
  const expected: readonly (readonly [string, boolean])[] = [
    [`default-src 'none'`, directives.get('default-src') === `'none'`],
    [`base-uri 'none'`, directives.get('base-uri') === `'none'`],
    [`frame-ancestors 'none'`, directives.get('frame-ancestors') === `'none'`],
    ['form-action', directives.has('form-action')],
    ['only a hash in style-src', /^'sha256-[\w+/]+=*'$/.test(directives.get('style-src') ?? '')],
    ['nothing unsafe', !policy.includes('unsafe')],
    ['no source beside', [...directives.keys()].every((name) => !/^(?:script|img|connect|font|frame)-src/.test(name))],
    ['referrer-policy: no-referrer', headers['referrer-policy'] === 'no-referrer'],
    ['x-frame-options: DENY', headers['x-frame-options'] === 'DENY'],
    ['x-content-type-options: nosniff', headers['x-content-type-options'] === 'nosniff'],
    ['cache-control: no-store', headers['cache-control'] === 'no-store'],
    ['a charset', headers['content-type'] === 'text/html; charset=utf-8'],
  ]
  return expected.filter(([, holds]) => !holds).map(([name]) => name)
}

function checkResponse(response: Response, ours: string): readonly string[] {
  const headers = response.headers()
  const isPage = response.request().isNavigationRequest() && headers['content-type']?.startsWith('text/html')
  if (!isPage || new URL(response.url()).origin !== ours) return []
  return findMissingProtection(headers).map((name) => `${response.url()} lacks ${name}`)
}

/** Opens a browser's profile that knows nothing, and writes down what a page should not do. */
export async function watchContext(
  browser: Browser,
  { origins, ours, expected, ...options }: WatchOptions,
): Promise<{ readonly context: BrowserContext; complaints(): readonly string[] }> {
  const context = await browser.newContext(options)
  const complaints: string[] = []
  context.on('request', (request) => {
    if (!origins.includes(new URL(request.url()).origin)) complaints.push(`loads ${request.url()}`)
  })
  context.on('response', (response) => complaints.push(...checkResponse(response, ours)))
  // Blocked by a policy, too: the browser says so here, also where no script may run.
  context.on('console', (message) => {
    const text = message.text()
    const isMeant =
      /^Failed to load resource: the server responded with a status of 4\d\d/.test(text) || expected?.test(text)
    if (['error', 'warning'].includes(message.type()) && !isMeant) complaints.push(`says ${text}`)
  })
  context.on('weberror', (error) => complaints.push(`throws ${error.error()}`))
  return { context, complaints: () => complaints }
}

/**
 * A browser for the tests of a file. Each call opens a profile of its own; after the test it is closed, and must have
 * nothing to complain of: something loaded from elsewhere, something blocked or wrong on the console, a page of ours
 * without its headers.
 */
export function useBrowser(): (options: WatchOptions) => Promise<BrowserContext> {
  let browser: Browser | undefined
  const watched: Awaited<ReturnType<typeof watchContext>>[] = []
  beforeAll(async () => {
    browser = await launchBrowser()
  }, 60_000)
  afterEach(async () => {
    const closing = watched.splice(0)
    await Promise.all(closing.map(({ context }) => context.close()))
    expect(closing.flatMap((one) => one.complaints())).toEqual([])
  })
  afterAll(() => browser?.close())
  return async (options) => {
    if (browser === undefined) throw new Error('the browser runs during tests only')
    const opened = await watchContext(browser, options)
    watched.push(opened)
    return opened.context
  }
}

/** Waits until the page is the one asked for and whole: a browser that is still on its way to it cannot be sent back. */
export async function expectHeading(page: Page, text: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: text, exact: true }).waitFor()
  await page.waitForLoadState('load')
}
