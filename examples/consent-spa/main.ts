import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { createWallet } from './wallet.ts'

const port = Number(process.env['PORT'] ?? 3000)
const url = `http://localhost:${port}`

// The shop's key: the wallet has its public half; the private half is printed for the shop.
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const keyId = randomUUID()
const { x = '' } = publicKey.export({ format: 'jwk' })
const { listener } = createWallet(url, [{ kid: keyId, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x }])

createServer(listener).listen(port, '127.0.0.1', () => {
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  console.log(JSON.stringify({ client: { walletAddress: `${url}/shop`, keyId, privateKeyPem } }))
  console.error(`Alice's wallet address is ${url}/alice, her name and password are alice`)
})
