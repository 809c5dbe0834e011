import { createOpenPayments, fetchKeyResolver } from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { type SqliteHandle, sqliteStorage } from 'open-payments-server/storage/sqlite'
import {
  type LedgerUnderTest,
  ledgerContract,
  type StorageUnderTest,
  storageContract,
} from 'open-payments-server/testing'
import { sqliteHandle } from '../../examples/workers/sqlite-handle.ts'
import { walletOf } from '../ledger/contract-wallet.ts'
import { fakeRail } from '../support/fake-rail.ts'
import { failingHandle, nextFailure } from '../support/next-failure.ts'

// A Worker that runs one case of a contract in each Durable Object, on the database of that object: `/storage` and
// `/ledger` list the cases, with a name in the query they run one. `/key-resolver` and
// `/remote-receivers` try to make what fetches keys and incoming payments elsewhere.
export class Wallet {
  readonly #state: DurableObjectState

  constructor(state: DurableObjectState) {
    this.#state = state
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/key-resolver') return tryToMake(() => fetchKeyResolver())
    if (pathname === '/remote-receivers') return tryToMake(makeWallet)
    const handle = sqliteHandle(this.#state.storage)
    const cases =
      pathname === '/storage'
        ? storageContract().map(({ name, run }) => ({ name, run: () => run(async () => storageUnderTest(handle)) }))
        : ledgerContract().map(({ name, run }) => ({ name, run: () => run(() => ledgerUnderTest(handle)) }))
    const name = searchParams.get('name')
    if (name === null) return Response.json(cases.map((one) => one.name))
    const found = cases.find((one) => one.name === name)
    if (found === undefined) return new Response('there is no such case', { status: 404 })
    return found.run().then(
      () => new Response('kept'),
      (error: Error) => new Response(error.stack ?? error.message, { status: 500 }),
    )
  }
}

function storageUnderTest(handle: SqliteHandle): StorageUnderTest {
  const failure = nextFailure()
  return { ...sqliteStorage(failingHandle(handle, failure)), failNext: failure.failNext }
}

async function ledgerUnderTest(handle: SqliteHandle): Promise<LedgerUnderTest> {
  const failure = nextFailure()
  return { ...walletOf(sqliteLedger(failingHandle(handle, failure))), failNext: failure.failNext }
}

function tryToMake(make: () => unknown): Response {
  try {
    make()
    return new Response('it was made')
  } catch (error) {
    return new Response(String(error))
  }
}

/** All that a wallet on such a host has to bring, but for what reads incoming payments elsewhere. */
function makeWallet(): void {
  createOpenPayments({
    authServer: 'https://auth.wallet.example',
    resourceServer: 'https://wallet.example',
    secrets: ['a secret of the tests, long enough to be one'],
    storage: memoryStorage(),
    ledger: memoryLedger({ accounts: [] }),
    walletAddresses: { find: async () => undefined },
    consent: { respond: async () => ({ status: 200, headers: {} }) },
    keyResolver: {
      keySet: async () => ({ ok: false, reason: 'unreachable' }),
      publicName: async () => undefined,
    },
    paymentMethods: [fakeRail()],
  })
}

// biome-ignore lint/style/noDefaultExport: Workers call the default export of their entry, and no other
export default {
  fetch: (request: Request, { WALLET: wallet }: { readonly WALLET: DurableObjectNamespace }): Promise<Response> =>
    wallet.getByName(request.url).fetch(request),
}
