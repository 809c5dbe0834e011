import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createOpenPayments, keepGoing } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'

const port = Number(process.env['PORT'] ?? 3000)
const url = `http://localhost:${port}/op`
const alice = `${url}/alice`
const account = { account: 'alice', assetCode: 'EUR', assetScale: 2 }

const openPayments = createOpenPayments({
  authServer: `${url}/auth`,
  resourceServer: url,
  // Without this variable every start makes a new secret: for trials only.
  secrets: [process.env['OPEN_PAYMENTS_SECRET'] ?? crypto.randomUUID()],
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

const app = new Hono()

// This works on every runtime. On Node alone, put `toNodeListener` in front instead, as the README says: wallet addresses may
// then be anywhere, and orders are held back while an earlier answer may end the connection.
//
// `replaceRequest: false` keeps the prefix in the path: the signature covers it.
app.mount('/op', (request) => openPayments.fetch(request), { replaceRequest: false })
app.get('/account', (context) => context.text('the wallet itself\n'))

serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, () => console.log(`Alice's wallet address is ${alice}`))
