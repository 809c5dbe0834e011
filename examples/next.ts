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
  // Make it once with `openssl rand -base64 32`: it must be the same in every process, and after a restart. Each worker of
  // Next.js runs this file; without the variable each one makes a secret of its own: for trials only.
  secrets: [process.env['OPEN_PAYMENTS_SECRET'] ?? crypto.randomUUID()],
  storage: memoryStorage(),
  ledger: memoryLedger({ accounts: [{ ...account, balance: BigInt(10_000) }] }),
  walletAddresses: { find: async (walletAddress) => (walletAddress === alice ? account : undefined) },
  consent: consentPage({
    walletName: 'Example Wallet',
    // Your own login answers here; in this example everybody is Alice.
    authenticate: async () => ({ session: 'example', walletAddresses: [alice] }),
  }),
  settings: { policies: { loopbackHttp: true } },
})

// The money of a payment that a crash interrupted stays held until something calls `recover()`, and expired records stay
// until `sweep()`: call both from a cron job, or call `keepGoing(openPayments)` in a process that keeps running.

// Next.js, as app/op/[...path]/route.ts, with `skipTrailingSlashRedirect: true` in next.config.ts: a redirect would break
// signatures. Next rewrites queries, so a client must sign its query in the form that `URLSearchParams` writes.
const handle = (request: Request): Promise<Response> => openPayments.fetch(request, { waitUntil: after })

export { handle as DELETE, handle as GET, handle as OPTIONS, handle as POST }
