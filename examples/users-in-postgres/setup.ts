import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { postgresLedgerSchema } from '../postgres-ledger.ts'
import { createPeople, peopleSchema } from './people.ts'

// Makes the tables and two customers, once; a real wallet has migrations and a page for that. Open Payments makes its own tables.
const { DATABASE_URL, WALLET_URL = 'http://localhost:3000' } = process.env
const pool = new Pool({ connectionString: DATABASE_URL })
await pool.query(`${postgresLedgerSchema};${peopleSchema}`)

// The shop is a client, too: the wallet has its public key; the private key is printed for it.
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const keyId = randomUUID()
const { x = '' } = publicKey.export({ format: 'jwk' })
const keys = [{ kid: keyId, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x }] as const
const shop = `${WALLET_URL}/shop`
const people = createPeople(pool)
await people.add({ name: 'alice', password: 'alice', walletAddress: `${WALLET_URL}/alice`, balance: 100_000n })
await people.add({ name: 'shop', password: randomUUID(), walletAddress: shop, balance: 0n, keys })
await pool.end()

const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' })
console.log(JSON.stringify({ client: { walletAddress: shop, keyId, privateKeyPem } }))
