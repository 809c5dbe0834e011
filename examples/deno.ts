import { createOpenPayments, keepGoing } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { serveHandler } from 'open-payments-server/deno'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'

const port = Number(Deno.env.get('PORT') ?? 3000)
const url = `http://localhost:${port}`
const alice = `${url}/alice`
const account = { account: 'alice', assetCode: 'EUR', assetScale: 2 }

const openPayments = createOpenPayments({
  authServer: `${url}/auth`,
  resourceServer: url,
  // Without this variable every start makes a new secret: for trials only.
  secrets: [Deno.env.get('OPEN_PAYMENTS_SECRET') ?? crypto.randomUUID()],
  storage: memoryStorage(),
  ledger: memoryLedger({ accounts: [{ ...account, balance: 10_000n }] }),
  walletAddresses: { find: async (walletAddress) => (walletAddress === alice ? account : undefined) },
  consent: consentPage({
    walletName: 'Example Wallet',
    // Your own login answers here; in this example everybody is Alice.
    authenticate: async () => ({ session: 'example', walletAddresses: [alice] }),
  }),
  settings: { policies: { loopbackHttp: true } },
})

keepGoing(openPayments) // resumes interrupted payments and deletes expired records

// Requests that are not for Open Payments go on to the wallet's own routes.
const handler = serveHandler(openPayments, { next: () => new Response('the wallet itself\n') })

Deno.serve({ hostname: '127.0.0.1', port, onListen: () => console.log(`Alice's wallet address is ${alice}`) }, handler)
