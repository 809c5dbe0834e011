import { createOpenPayments, keepGoing } from 'open-payments-server'
import { serveHandler } from 'open-payments-server/bun'
import { consentPage } from 'open-payments-server/consent'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'

const port = Number(Bun.env['PORT'] ?? 3000)
const url = `http://localhost:${port}`
const alice = `${url}/alice`
const account = { account: 'alice', assetCode: 'EUR', assetScale: 2 }

const openPayments = createOpenPayments({
  authServer: `${url}/auth`,
  resourceServer: url,
  // Without it every start makes a new one: for a trial only.
  secrets: [Bun.env['OPEN_PAYMENTS_SECRET'] ?? crypto.randomUUID()],
  storage: memoryStorage(),
  ledger: memoryLedger({ accounts: [{ ...account, balance: 10_000n }] }),
  walletAddresses: { find: async (walletAddress) => (walletAddress === alice ? account : undefined) },
  consent: consentPage({
    walletName: 'Example Wallet',
    // Everybody is Alice here: a wallet reads its own login.
    authenticate: async () => ({ session: 'example', walletAddresses: [alice] }),
  }),
  settings: { policies: { loopbackHttp: true } },
})

keepGoing(openPayments) // what a crash has interrupted goes on, what is over is deleted

// Whatever is not for Open Payments goes on to the wallet's own routes.
const fetch = serveHandler(openPayments, { next: () => new Response('the wallet itself\n') })

Bun.serve({ hostname: '127.0.0.1', port, fetch })
console.log(`Alice's wallet address is ${alice}`)
