import { after } from 'next/server'
import { createOpenPayments } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'

const url = `http://localhost:${process.env['PORT'] ?? 3000}/op`
const alice = `${url}/alice`
const account = { account: 'alice', assetCode: 'EUR', assetScale: 2 }

const openPayments = createOpenPayments({
  authServer: `${url}/auth`,
  resourceServer: url,
  // From `openssl rand -base64 32`: the same in every process, and after a restart. Each worker of Next.js runs this file, and
  // without it has one of its own, for a trial only.
  secrets: [process.env['OPEN_PAYMENTS_SECRET'] ?? crypto.randomUUID()],
  storage: memoryStorage(),
  ledger: memoryLedger({ accounts: [{ ...account, balance: BigInt(10_000) }] }),
  walletAddresses: { find: async (walletAddress) => (walletAddress === alice ? account : undefined) },
  consent: consentPage({
    walletName: 'Example Wallet',
    // Everybody is Alice here: a wallet reads its own login.
    authenticate: async () => ({ session: 'example', walletAddresses: [alice] }),
  }),
  settings: { policies: { loopbackHttp: true } },
})

// A payment that a crash interrupts stays held until something calls `recover()`, and what is over is kept until `sweep()`:
// call both from a cron job, or give `openPayments` to `keepGoing` where a process goes on running.

// Next.js, as app/op/[...path]/route.ts, with `skipTrailingSlashRedirect: true` in next.config.ts: a redirect would break
// signatures. Next writes queries anew, so a client must have signed its query as `URLSearchParams` writes it.
const handle = (request: Request): Promise<Response> => openPayments.fetch(request, { waitUntil: after })

export { handle as DELETE, handle as GET, handle as OPTIONS, handle as POST }
