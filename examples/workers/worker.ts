import { createOpenPayments, fetchKeyResolver, type OpenPayments } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { sqliteStorage } from 'open-payments-server/storage/sqlite'
import { fetchingNetwork } from './fetching-network.ts'
import { sqliteHandle } from './sqlite-handle.ts'

// Cloudflare Workers: one Durable Object is the whole wallet, on one thread beside a SQLite database of its own. No
// compatibility flag is needed; leave `@peculiar/webcrypto` out of the bundle, since Workers have Ed25519.
// Check its types with `@cloudflare/workers-types` and a `lib` without DOM, since DOM declares the same names differently.
export class Wallet {
  readonly #state: DurableObjectState
  readonly #openPayments: OpenPayments

  constructor(state: DurableObjectState, { ORIGIN: url, SECRET: secret }: Env) {
    const handle = sqliteHandle(state.storage)
    const ledger = sqliteLedger(handle)
    const alice = `${url}/alice`
    const account = { account: 'alice', assetCode: 'EUR', assetScale: 2 }
    this.#state = state
    this.#openPayments = createOpenPayments({
      authServer: `${url}/auth`,
      resourceServer: url,
      secrets: [secret],
      storage: sqliteStorage(handle),
      ledger,
      keyResolver: fetchKeyResolver({ network: fetchingNetwork }),
      walletAddresses: { find: async (walletAddress) => (walletAddress === alice ? account : undefined) },
      consent: consentPage({
        walletName: 'Example Wallet',
        // Your own login answers here; in this example everybody is Alice.
        authenticate: async () => ({ session: 'example', walletAddresses: [alice] }),
      }),
      // http on loopback, for development only.
      settings: { policies: { loopbackHttp: url.startsWith('http:') } },
    })
    state.blockConcurrencyWhile(async () => {
      await ledger.createAccount({ ...account, balance: 10_000n })
      // The work itself is not for here: if it failed, the object would answer no requests.
      await state.storage.setAlarm(Date.now())
    })
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    // Requests that are not for Open Payments go on to the wallet's own routes. If the directory fails, nobody can tell
    // which these are: `fetch` answers with a 5xx.
    const isOwned = await this.#openPayments.owns(request.method, pathname + search).catch(() => true)
    if (!isOwned) return new Response('the wallet itself\n')
    return this.#openPayments.fetch(request, { source: request.headers.get('cf-connecting-ip') ?? undefined })
  }

  /** Resumes interrupted payments and deletes expired records, now and every ten seconds. */
  async alarm(): Promise<void> {
    // First, because no alarm follows one that has failed several times. What fails here has been reported, and is tried
    // again by the next one.
    await this.#state.storage.setAlarm(Date.now() + 10_000)
    await Promise.allSettled([this.#openPayments.recover(), this.#openPayments.sweep()])
    // The object may be put to sleep, so this waits for what is still running.
    await this.#openPayments.drain()
  }
}

// biome-ignore lint/style/noDefaultExport: Workers call the default export of their entry, and no other
export default {
  fetch: (request: Request, { WALLET: wallet }: Env): Promise<Response> => wallet.getByName('wallet').fetch(request),
}

/** The bindings of the Worker. */
interface Env {
  readonly ORIGIN: string
  readonly SECRET: string
  readonly WALLET: DurableObjectNamespace
}
