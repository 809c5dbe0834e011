import { fetchKeyResolver, isConfigurationError } from 'open-payments-server'
import { serveHandler } from 'open-payments-server/bun'
import { consentPage, consentRedirect } from 'open-payments-server/consent'
import { openPaymentsMiddleware } from 'open-payments-server/express'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { toNodeListener } from 'open-payments-server/node'
import { postgresStorage } from 'open-payments-server/storage/postgres'
import { sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'

/** Calls it as plain JavaScript does, and answers what it says. */
async function refusalOf(make: unknown, ...given: readonly unknown[]): Promise<string> {
  if (typeof make !== 'function') return 'no function'
  try {
    await make(...given)
  } catch (error) {
    if (!isConfigurationError(error)) throw error
    return error.message
  }
  return 'accepted'
}

const PAGE = { walletName: 'Harbour Bank', authenticate: async () => undefined }
const ROW = { account: 'alice', assetCode: 'USD', assetScale: 2, balance: 100n }
const POOL = { connect: () => Promise.reject(new Error('no server')) }
const SERVER = { owns: async () => true }
const CONNECTION = { exec: () => 0, prepare: () => 0 }
const NO_CONNECTION =
  'SQLite: the first argument must be an open connection, such as `await openSqlite(path)`, not a path or a promise'
const NO_DATABASE = 'the database of postgresStorage must be a Pool of pg or an instance of postgres'
const NO_HOME = 'consentPage: homeUrl must be an absolute http or https URL'
const NO_NAME = 'consentPage: walletName must be a non-empty string'
const NO_WAIT = 'SQLite: busyTimeoutSeconds must be from 0 to 86400'
const NO_ANSWER_TIME = 'postgresStorage: answerSeconds must be above 0, and at most 86400'

const MISTAKES: readonly (readonly [string, unknown, readonly unknown[], string])[] = [
  ['consentPage', consentPage, [], 'the options of consentPage() must be an object, not undefined'],
  ['consentPage', consentPage, [{}], 'consentPage: authenticate must be a function'],
  ['consentPage', consentPage, [{ ...PAGE, authenticate: '/login' }], 'consentPage: authenticate must be a function'],
  ...[undefined, '', 42].map((walletName) => ['consentPage', consentPage, [{ ...PAGE, walletName }], NO_NAME] as const),
  ['consentPage', consentPage, [{ ...PAGE, loginURL: '/login' }], 'consentPage.loginURL is not an option'],
  ...[42, '', 'wallet.example', '/', '//wallet.example', 'https:wallet.example', 'https://', 'javascript:alert()'].map(
    (homeUrl) => ['consentPage', consentPage, [{ ...PAGE, homeUrl }], NO_HOME] as const,
  ),
  ['consentPage', consentPage, [{ ...PAGE, homeUrl: 'http://localhost:3000/home' }], 'accepted'],
  ['consentPage', consentPage, [PAGE], 'accepted'],
  ['consentRedirect', consentRedirect, [], 'the options of consentRedirect() must be an object, not undefined'],
  ['consentRedirect', consentRedirect, [{}], 'consentRedirect: url must be a function'],
  ['consentRedirect', consentRedirect, [{ URL: () => '/' }], 'consentRedirect.URL is not an option'],
  ['memoryLedger', memoryLedger, [[ROW]], 'the options of memoryLedger() must be an object, not a list'],
  ['memoryLedger', memoryLedger, [null], 'the options of memoryLedger() must be an object, not null'],
  ['memoryLedger', memoryLedger, [{ accounts: [null] }], 'memoryLedger: accounts[0] must be an object, not null'],
  ['memoryLedger', memoryLedger, [{ account: [ROW] }], 'memoryLedger.account is not an option'],
  ['memoryLedger', memoryLedger, [{ accounts: ROW }], 'memoryLedger: accounts must be a list'],
  [
    'memoryLedger',
    memoryLedger,
    [{ accounts: [{ ...ROW, balance: 100 }] }],
    'memoryLedger: accounts[0].balance must be a bigint, such as 100n',
  ],
  [
    'memoryLedger',
    memoryLedger,
    [{ accounts: [ROW, { ...ROW, account: undefined }] }],
    'memoryLedger: accounts[1].account must be a string that is not empty',
  ],
  [
    'memoryLedger',
    memoryLedger,
    [{ accounts: [{ ...ROW, assetScale: '2' }] }],
    'memoryLedger: accounts[0].assetScale must be an integer from 0 to 255, not "2"',
  ],
  [
    'memoryLedger',
    memoryLedger,
    [{ accounts: [{ ...ROW, assetCode: 840 }] }],
    'memoryLedger: accounts[0].assetCode must be a string of 1 to 12 visible ASCII characters, not 840',
  ],
  ['memoryLedger', memoryLedger, [{ accounts: [ROW] }], 'accepted'],
  ['sqliteStorage', sqliteStorage, [], NO_CONNECTION],
  ['sqliteStorage', sqliteStorage, [null], NO_CONNECTION],
  ['sqliteStorage', sqliteStorage, ['x.db'], NO_CONNECTION],
  ['sqliteStorage', sqliteStorage, [Promise.resolve({})], NO_CONNECTION],
  ['sqliteLedger', sqliteLedger, ['x.db'], NO_CONNECTION],
  ['sqliteStorage', sqliteStorage, [CONNECTION, { busyTimeout: 60 }], 'SQLite.busyTimeout is not an option'],
  ['sqliteLedger', sqliteLedger, [CONNECTION, { busyTimeout: 60 }], 'SQLite.busyTimeout is not an option'],
  ...[-1, Number.NaN, 1e7, '5 seconds', '5', null].map(
    (busyTimeoutSeconds) => ['sqliteStorage', sqliteStorage, [CONNECTION, { busyTimeoutSeconds }], NO_WAIT] as const,
  ),
  ['postgresStorage', postgresStorage, [], NO_DATABASE],
  ['postgresStorage', postgresStorage, ['postgres://user:password@host/x'], NO_DATABASE],
  ['postgresStorage', postgresStorage, [POOL, null], 'the options of postgresStorage() must be an object, not null'],
  [
    'postgresStorage',
    postgresStorage,
    [POOL, Promise.resolve({ prepare: false })],
    'the options of postgresStorage() is a promise: await it',
  ],
  ['postgresStorage', postgresStorage, [POOL, { prepared: false }], 'postgresStorage.prepared is not an option'],
  ['postgresStorage', postgresStorage, [POOL, { prepare: 'false' }], 'postgresStorage: prepare must be true or false'],
  ...[0, -1, Number.NaN, 1e7, '30'].map(
    (answerSeconds) => ['postgresStorage', postgresStorage, [POOL, { answerSeconds }], NO_ANSWER_TIME] as const,
  ),
  ...Object.entries({ toNodeListener, openPaymentsMiddleware, serveHandler }).flatMap(
    ([name, mount]) =>
      [
        [name, mount, [SERVER, { sources: () => undefined }], `${name}.sources is not an option`],
        [name, mount, [SERVER, { source: '127.0.0.1' }], `${name}.source must be a function`],
        [name, mount, [SERVER, null], `the options of ${name}() must be an object, not null`],
        [name, mount, [SERVER, { source: undefined }], 'accepted'],
      ] as const,
  ),
  ['fetchKeyResolver', fetchKeyResolver, [{ loopback: true }], 'fetchKeyResolver.loopback is not an option'],
  ['fetchKeyResolver', fetchKeyResolver, [null], 'the options of fetchKeyResolver() must be an object, not null'],
  [
    'fetchKeyResolver',
    fetchKeyResolver,
    [{ loopbackHttp: 'false' }],
    'fetchKeyResolver.loopbackHttp must be true or false',
  ],
  [
    'fetchKeyResolver',
    fetchKeyResolver,
    [{ clock: Date }],
    'fetchKeyResolver.clock is a function, not an object with now(): if it makes one, call it',
  ],
  ['fetchKeyResolver', fetchKeyResolver, [{ network: {} }], 'fetchKeyResolver.network.resolveHost must be a function'],
  ['fetchKeyResolver', fetchKeyResolver, [{ loopbackHttp: true }], 'accepted'],
]

it.each(MISTAKES)('%s says what is wrong with its options', async (_, make, given, message) => {
  expect(await refusalOf(make, ...given)).toBe(message)
})
