import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import {
  createOpenPayments,
  type JsonWebKey,
  type OpenPayments,
  type OpenPaymentsOptions,
  type WalletAddress,
} from 'open-payments-server'
import { consentRedirect } from 'open-payments-server/consent'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { toNodeListener } from 'open-payments-server/node'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { createApi } from './api.ts'
import { createSessions } from './sessions.ts'

/** The page is static: who is logged in and what is asked for comes from the API. */
const PAGE = {
  '/consent': ['index.html', 'text/html; charset=utf-8'],
  '/consent.js': ['consent.js', 'text/javascript; charset=utf-8'],
  '/rights.js': ['rights.js', 'text/javascript; charset=utf-8'],
  '/consent.css': ['consent.css', 'text/css; charset=utf-8'],
} as const

const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'none'; " +
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/**
 * A wallet with a consent screen of its own. Alice and Bob are its customers; the shop is a client with an account
 * here, and `keys` are its own.
 */
export function createWallet(
  url: string,
  keys: readonly JsonWebKey[],
  options: Partial<OpenPaymentsOptions> = {},
): { readonly openPayments: OpenPayments; readonly listener: RequestListener } {
  const dollars = { assetCode: 'USD', assetScale: 2 }
  const accounts = new Map<string, WalletAddress>([
    [`${url}/alice`, { account: 'alice', ...dollars, publicName: 'Alice' }],
    [`${url}/bob`, { account: 'bob', ...dollars, publicName: 'Bob' }],
    [`${url}/shop`, { account: 'shop', ...dollars, publicName: 'The Bell Shop', keys }],
  ])
  const openPayments = createOpenPayments({
    authServer: `${url}/auth`,
    resourceServer: url,
    // Without this variable every start makes a new secret: for trials only.
    secrets: [process.env['OPEN_PAYMENTS_SECRET'] ?? crypto.randomUUID()],
    storage: memoryStorage(),
    ledger: memoryLedger({ accounts: [...accounts.values()].map((account) => ({ ...account, balance: 100_000n })) }),
    walletAddresses: { find: async (walletAddress) => accounts.get(walletAddress) },
    // After the `#`, so that the reference gets into no log and no other request.
    consent: consentRedirect({ url: (reference) => `${url}/consent#${reference}` }),
    settings: { policies: { loopbackHttp: true } }, // http on loopback, for development only
    ...options,
  })
  const people = ['alice', 'bob'].map((name) => ({ name, password: name, walletAddresses: [`${url}/${name}`] }))
  const api = createApi(openPayments.interactions, createSessions(people, url.startsWith('https:')))

  const showPage: RequestListener = (request, response) => {
    const path = request.url ?? '/'
    const file = Object.entries(PAGE).find(([known]) => known === path)?.[1]
    if (file === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': file[1], ...PAGE_HEADERS })
    response.end(readFileSync(new URL(`page/${file[0]}`, import.meta.url)))
  }
  const next: RequestListener = (request, response) =>
    (request.url?.startsWith('/api/') ? api : showPage)(request, response)
  return { openPayments, listener: toNodeListener(openPayments, { next }) }
}
