import { createOpenPayments, type OpenPayments, type OpenPaymentsOptions } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { type PgPool, postgresStorage } from 'open-payments-server/storage/postgres'
import { type SqliteHandle, sqliteStorage } from 'open-payments-server/storage/sqlite'

/** The smallest server that compiles. */
export const options: OpenPaymentsOptions = {
  authServer: 'https://wallet.example/auth',
  resourceServer: 'https://wallet.example',
  secrets: ['at least 32 characters, from openssl rand'],
  storage: memoryStorage(),
  ledger: memoryLedger({ accounts: [{ account: 'alice', assetCode: 'EUR', assetScale: 2, balance: 10_000n }] }),
  walletAddresses: { find: async (address) => ({ account: address, assetCode: 'EUR', assetScale: 2 }) },
  consent: consentPage({ walletName: 'Wallet', authenticate: async () => ({ redirect: '/login' }) }),
}

/** What it makes. */
export const openPayments: OpenPayments = createOpenPayments(options)

/** What has no default must be given. */
export function requires(): void {
  // @ts-expect-error a ledger
  createOpenPayments({ ...options, ledger: undefined })
  const { storage, ...withoutStorage } = options
  // @ts-expect-error a storage
  createOpenPayments(withoutStorage)
  const { walletAddresses, ...withoutDirectory } = { ...options, storage }
  // @ts-expect-error wallet addresses
  createOpenPayments(withoutDirectory)
  const { consent, ...withoutConsent } = { ...options, walletAddresses }
  // @ts-expect-error a consent
  createOpenPayments(withoutConsent)
  const { secrets, ...withoutSecrets } = { ...options, consent }
  // @ts-expect-error secrets
  createOpenPayments(withoutSecrets)
  // @ts-expect-error a list of secrets, so that they can be rotated
  createOpenPayments({ ...options, secrets: secrets.join() })
  // @ts-expect-error an option that is left out has a default, one that is undefined is a mistake
  createOpenPayments({ ...options, pricing: undefined })
}

/** What is misspelled is found. */
export function refusesMisspellings(): void {
  // @ts-expect-error onEvent
  createOpenPayments({ ...options, onEvents: () => undefined })
  // @ts-expect-error lifetimes
  createOpenPayments({ ...options, settings: { lifetime: { quoteSeconds: 60 } } })
  // @ts-expect-error quoteSeconds
  createOpenPayments({ ...options, settings: { lifetimes: { quoteSecond: 60 } } })
  // @ts-expect-error bodyBytes
  createOpenPayments({ ...options, settings: { limits: { bodySize: 1024 } } })
  // @ts-expect-error loopbackHttp
  createOpenPayments({ ...options, settings: { policies: { loopbackHTTP: true } } })
  // @ts-expect-error cap
  createOpenPayments({ ...options, settings: { policies: { excessReceipt: 'capped' } } })
  // @ts-expect-error a number
  createOpenPayments({ ...options, settings: { lifetimes: { quoteSeconds: '60' } } })
}

/** A URL, a number or a setting that is `undefined`, as from an environment, has its default. */
export function takesUndefinedSettings(
  quoteSeconds: number | undefined,
  walletAddressServer: string | undefined,
  pool: PgPool,
  handle: SqliteHandle,
): void {
  createOpenPayments({ ...options, settings: { lifetimes: { quoteSeconds }, limits: undefined } })
  createOpenPayments({ ...options, walletAddressServer })
  void postgresStorage(pool, { answerSeconds: quoteSeconds, prepare: undefined })
  sqliteStorage(handle, { busyTimeoutSeconds: quoteSeconds })
}

/** What a login or a web page may leave out, it may also leave undefined. */
export function takesUndefinedText(limit: number | undefined): void {
  const person = { session: 'a', walletAddresses: [], name: readText() }
  consentPage({ walletName: 'Wallet', authenticate: async () => person, homeUrl: undefined })
  void openPayments.grants.list('https://wallet.example/alice', { limit, after: undefined })
}

/** A column that may be empty. */
declare function readText(): string | null | undefined

/** Money never leaves without its owner, whatever a host configures. */
export function neverWithoutInteraction(): void {
  createOpenPayments({ ...options, settings: { policies: { withoutInteraction: ['quote'] } } })
  // @ts-expect-error outgoing payments always ask
  createOpenPayments({ ...options, settings: { policies: { withoutInteraction: ['outgoing-payment'] } } })
}

/** What a directory answers. */
export function findsWalletAddresses(): void {
  createOpenPayments({ ...options, walletAddresses: { find: async () => undefined } })
  createOpenPayments({ ...options, walletAddresses: { find: async () => null } })
  const account = { account: 'alice', assetCode: 'EUR', assetScale: 2 }
  const stored: string = 'from a database'
  createOpenPayments({
    ...options,
    walletAddresses: { find: async () => ({ ...account, keys: [{ kid: 'a', kty: stored, crv: stored, x: stored }] }) },
  })
  const absent: string | null | undefined = readText()
  const found = { ...account, publicName: absent, isActive: undefined, keys: undefined }
  createOpenPayments({ ...options, walletAddresses: { find: async () => found } })
  // @ts-expect-error a key has an id
  createOpenPayments({ ...options, walletAddresses: { find: async () => ({ ...account, keys: [{ kty: 'OKP' }] }) } })
  // @ts-expect-error an account belongs to an asset
  createOpenPayments({ ...options, walletAddresses: { find: async () => ({ account: 'alice' }) } })
  // @ts-expect-error a promise, since a directory is asked over a network
  createOpenPayments({ ...options, walletAddresses: { find: () => undefined } })
}

/** What a ledger answers of an account. */
export function readsLedgerAccounts(): void {
  const { ledger } = options
  createOpenPayments({ ...options, ledger: { ...ledger, account: async () => undefined } })
  createOpenPayments({ ...options, ledger: { ...ledger, account: async () => null } })
  // @ts-expect-error an account may send and receive, or not
  createOpenPayments({ ...options, ledger: { ...ledger, account: async () => ({ assetCode: 'USD', assetScale: 2 }) } })
}

/** What a price is. */
export function prices(): void {
  createOpenPayments({ ...options, pricing: { price: async () => ({ rate: '1.08', fee: { fixed: 30n } }) } })
  // @ts-expect-error a rate is an exact decimal, never a float
  createOpenPayments({ ...options, pricing: { price: async () => ({ rate: 1.08 }) } })
  // @ts-expect-error a fee is an amount, never a float
  createOpenPayments({ ...options, pricing: { price: async () => ({ rate: '1', fee: { fixed: 0.3 } }) } })
}
