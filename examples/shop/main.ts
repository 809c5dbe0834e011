import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createAuthenticatedClient } from '@interledger/open-payments'
import { createShop } from './shop.ts'

// The shop's wallet address and the key that its wallet publishes for it: `client` of what `sandbox --json` prints.
const { client: shop } = JSON.parse(readFileSync(process.argv[2] ?? 'sandbox.json', 'utf8'))
const port = Number(process.env['PORT'] ?? 3001)
const url = `http://localhost:${port}`

const client = await createAuthenticatedClient({
  walletAddressUrl: shop.walletAddress,
  keyId: shop.keyId,
  privateKey: createPrivateKey(shop.privateKeyPem),
  useHttp: shop.walletAddress.startsWith('http:'), // a wallet on this machine
  logLevel: 'silent',
})
const walletAddress = await client.walletAddress.get({ url: shop.walletAddress })

createServer(createShop(client, walletAddress, url)).listen(port, '127.0.0.1', () =>
  console.log(`The shop is at ${url}`),
)
