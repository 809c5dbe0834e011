import { createHash, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { Consent, HttpRequest, WalletAddress } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { toNodeListener } from 'open-payments-server/node'
import type { BrowserContext } from 'playwright-core'
import { type Answer, type TestWallet, testWallet } from '../support/test-wallet.ts'

/** Where the client wants the browser back: a site of its own, on another origin. */
export interface Shop {
  readonly origin: string
  /** Every page that a browser asked it for, and where the browser said that it came from. */
  readonly visits: { readonly url: URL; readonly referer: string | undefined }[]
}

/** A grant that waits for its owner. */
export interface Pending {
  /** Where the owner is sent. */
  readonly url: string
  readonly answer: Answer
}

/** A wallet on a port, its clock standing still, and a shop that asks its customers for consent. */
export interface Bank {
  readonly origin: string
  readonly wallet: TestWallet
  readonly shop: Shop
  /** Requests a grant as the shop. */
  ask(access: readonly unknown[], members?: Readonly<Record<string, unknown>>): Promise<Pending>
  /** Continues a grant as the shop, as soon as the server wants it to. */
  proceed(pending: Pending, interactRef: string | null): Promise<Answer>
  /** Whether the parameters of a finish redirect prove that they come from this server. */
  isGenuine(pending: Pending, finish: URL): boolean
  stop(): Promise<void>
}

/** How a bank is. */
export interface BankOptions {
  /** What the shop calls itself. */
  readonly shopName?: string | undefined
  /** The screen that asks; default: the page of the library. */
  readonly consent?: (authenticate: Parameters<typeof consentPage>[0]['authenticate']) => Consent
}

const NONCE = 'the nonce of the shop'
const CUSTOMERS = ['alice', 'bob']

interface Site {
  readonly origin: string
  readonly server: Server
  stop(): Promise<void>
}

async function openSite(): Promise<Site> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    origin: `http://localhost:${port}`,
    server,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function openShop(): Promise<Shop & Site> {
  const site = await openSite()
  const visits: Shop['visits'] = []
  site.server.on('request', (request, response) => {
    if (request.url !== '/favicon.ico')
      visits.push({ url: new URL(request.url ?? '', site.origin), referer: request.headers.referer })
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end('<!doctype html><title>The shop</title><h1>Thank you</h1>')
  })
  return { ...site, visits }
}

/** Who is logged in: the first half of a cookie that nobody can guess. */
function customerOf(request: HttpRequest): { readonly session: string; readonly customer: string } | undefined {
  const session = /\bsession=((\w+)\.[\w-]+)/.exec(request.headerLines('cookie').join('; '))
  const [, value, customer] = session ?? []
  return value !== undefined && customer !== undefined && CUSTOMERS.includes(customer)
    ? { session: value, customer }
    : undefined
}

/** Logs a browser in at the bank, in a session of its own. */
export async function logIn(
  { origin }: Pick<Bank, 'origin'>,
  context: BrowserContext,
  customer: string,
): Promise<void> {
  await context.addCookies([{ name: 'session', value: `${customer}.${randomUUID()}`, url: origin, httpOnly: true }])
}

/** Opens a bank. Alice and Bob have an account each. */
export async function openBank({ shopName = 'Mia’s Bicycles', consent }: BankOptions = {}): Promise<Bank> {
  const [site, shop] = await Promise.all([openSite(), openShop()])
  const { origin } = site
  const account = (name: string): WalletAddress => ({ account: name, assetCode: 'USD', assetScale: 2 })
  const directory = new Map(CUSTOMERS.map((name) => [`${origin}/${name}`, account(name)]))
  const authenticate: Parameters<typeof consentPage>[0]['authenticate'] = async (request) => {
    const who = customerOf(request)
    if (who === undefined) return undefined
    const { session, customer } = who
    return { session, walletAddresses: [`${origin}/${customer}`], name: customer === 'alice' ? 'Alice Example' : 'Bob' }
  }
  const wallet = await testWallet({
    authServer: `${origin}/auth`,
    resourceServer: origin,
    walletAddresses: { find: async (url) => directory.get(url) },
    consent:
      consent?.(authenticate) ?? consentPage({ walletName: 'Harbour Bank', homeUrl: `${origin}/`, authenticate }),
    settings: { policies: { loopbackHttp: true } },
  })
  const { key } = wallet.client
  directory.set(`${origin}/shop`, { ...account('bob'), publicName: shopName, keys: [key.jwk] })
  const as = { key, client: `${origin}/shop` }
  site.server.on('request', toNodeListener(wallet.openPayments))
  return {
    origin,
    wallet,
    shop,
    async ask(access, members = {}) {
      const interact = {
        start: ['redirect'],
        finish: { method: 'redirect', uri: `${shop.origin}/thanks?order=7`, nonce: NONCE },
      }
      const json = { access_token: { access }, client: as.client, interact, ...members }
      const answer = await wallet.send('POST', `${origin}/auth/`, { as, json })
      return { url: answer.body.interact.redirect, answer }
    },
    async proceed({ answer }, interactRef) {
      wallet.clock.advance(5000)
      const { uri, access_token } = answer.body.continue
      return wallet.send('POST', uri, {
        as,
        token: access_token.value,
        ...(interactRef !== null && { json: { interact_ref: interactRef } }),
      })
    },
    isGenuine({ answer }, { searchParams }) {
      const reference = searchParams.get('interact_ref') ?? ''
      const text = [NONCE, answer.body.interact.finish, reference, `${origin}/auth`].join('\n')
      return reference !== '' && searchParams.get('hash') === createHash('sha256').update(text).digest('base64')
    },
    async stop() {
      await Promise.all([site.stop(), shop.stop()])
      await wallet.openPayments.drain()
    },
  }
}
