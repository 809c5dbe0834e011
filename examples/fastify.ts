import { createServer } from 'node:http'
import fastify from 'fastify'
import { createOpenPayments, keepGoing } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { toNodeListener } from 'open-payments-server/node'
import { memoryStorage } from 'open-payments-server/storage/memory'

const port = Number(process.env['PORT'] ?? 3000)
const url = `http://localhost:${port}`
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

// In front of Fastify, so that none of its content type parsers reads a body first: signatures cover the raw bytes.
const app = fastify({ serverFactory: (next) => createServer(toNodeListener(openPayments, { next })) })

app.get('/account', async () => 'the wallet itself\n')

await app.listen({ port, host: '127.0.0.1' })
console.log(`Alice's wallet address is ${alice}`)
