import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createSigningKey, signedRequest } from 'open-payments-server/testing'
import sodium from 'sodium-native'
import { memoryStorage } from '../adapters/storage/memory.ts'
import { layoutOf } from '../adapters/storage/sql/layout.ts'
import { decodeRecord, encodeRecord } from '../adapters/storage/sql/rows.ts'
import { openSqlite, sqliteStorage } from '../adapters/storage/sqlite.ts'
import { parseJson } from '../src/http/body.ts'
import { parseBody } from '../src/http/endpoint.ts'
import { respond } from '../src/http/respond.ts'
import { createRouter } from '../src/http/router.ts'
import { parseStrictDictionary } from '../src/http-signatures/dictionary.ts'
import { readSignatures, verifySignatures } from '../src/http-signatures/verify-signature.ts'
import { sealAddress } from '../src/payments/rail/seal-address.ts'
import type { Storage } from '../src/ports/storage.ts'
import { CreateIncomingPayment, type IncomingPayment, incomingPaymentToWire } from '../src/protocol/incoming-payment.ts'
import { parseKeySet } from '../src/protocol/json-web-key.ts'
import { canonicalWalletAddress } from '../src/protocol/wallet-address.ts'
import { resourceServerRoutes } from '../src/resource-server/routes.ts'
import { derivedSecrets } from '../src/runtime/derived-secrets.ts'
import { webCryptography } from '../src/runtime/web-crypto.ts'
import { sodiumCryptography } from '../test/docs/sodium-cryptography.ts'
import { usd } from './grant-all.ts'
import { say } from './say.ts'
import { median } from './statistics.ts'
import { BASE } from './wallet.ts'

// The parts of POST /incoming-payments, each for itself in this process: CPU of one call.

const cryptography = webCryptography()
const libsodium = sodiumCryptography(sodium)
const key = await createSigningKey(cryptography, 'bench')
const body = { walletAddress: `${BASE}/shop`, incomingAmount: usd('1000000'), metadata: { order: '12345' } }
const url = `${BASE}/incoming-payments`
const created = Math.floor(Date.now() / 1000)
const token = Buffer.from(cryptography.randomBytes(32)).toString('base64url')
const request = await signedRequest({ method: 'POST', url, key, cryptography, created, token, json: body })
const message = {
  method: 'POST',
  targetUris: [url],
  headerLines: (name: string) => request.headerLines(name),
  body: request.body,
}
const rules = {
  profile: 'open-payments',
  legacySyntax: [],
  ageSeconds: 60,
  skewSeconds: 10,
  now: Date.now(),
} as const
const read = await readSignatures(message, rules, cryptography)
if (!read.ok) throw new Error(read.reason)
const { candidates } = read
const secrets = derivedSecrets(['a secret of the benchmark, long enough'], cryptography)
const secretId = await secrets.currentId()
const match = createRouter(resourceServerRoutes(), {
  'auth-server': '/auth',
  'resource-server': '',
  'wallet-address-server': '',
})

const newPayment = (): IncomingPayment => ({
  id: secrets.randomId(),
  walletAddress: body.walletAddress,
  account: 'bob',
  client: `${BASE}/client`,
  state: 'pending',
  createdAt: Date.now(),
  expiresAt: Date.now() + 1000,
  incomingAmount: { ...body.incomingAmount, value: 1_000_000n },
  received: { ...body.incomingAmount, value: 0n },
  reserved: { ...body.incomingAmount, value: 0n },
  metadata: body.metadata,
  secretId,
})

const payment = newPayment()
const layout = layoutOf('incoming-payment')
const folder = mkdtempSync(join(tmpdir(), 'bench-'))
const database = await openSqlite(join(folder, 'parts.db'))
const sqlite = sqliteStorage(database)
await sqlite.commit([{ action: 'insert', kind: 'incoming-payment', value: payment }])
const row = Object.values(database.prepare('SELECT * FROM op_incoming_payment').get() ?? {})

const insert = (storage: Storage) => () =>
  storage.commit([{ action: 'insert', kind: 'incoming-payment', value: newPayment(), isListed: true, dueAt: 1 }])

/** What is measured, and how many calls run at once. */
const PARTS: readonly (readonly [name: string, call: () => unknown, atOnce?: number])[] = [
  ['route', () => match('POST', '/incoming-payments')],
  ['structured fields: Signature-Input', () => parseStrictDictionary(request.headerLines('signature-input')[0] ?? '')],
  ['signature headers, digest and signature base', () => readSignatures(message, rules, cryptography)],
  ['signature, Ed25519', () => verifySignatures(candidates, async () => ({ key: key.jwk }), cryptography)],
  ['the same, libsodium', () => verifySignatures(candidates, async () => ({ key: key.jwk }), libsodium)],
  ['key set', () => parseKeySet({ keys: [key.jwk] })],
  ['digest of a token', () => secrets.digest(token)],
  ['JSON in', () => parseJson(request.body)],
  ['schema', () => parseBody(CreateIncomingPayment, body)],
  ['wallet address', () => canonicalWalletAddress(body.walletAddress, { loopbackHttp: false })],
  ['random id', () => secrets.randomId()],
  ['secret derived', () => secrets.derive(secretId, 'shared-secret', payment.id)],
  ['address sealed', () => sealAddress(secrets, payment)],
  ['record to row', () => encodeRecord(layout, payment, { dueAt: 1 })],
  ['row to record', () => decodeRecord('incoming-payment', layout, row)],
  ['SQLite: read of one record', () => sqlite.get([{ kind: 'incoming-payment', id: payment.id }])],
  ['SQLite: commit of one record, alone', insert(sqlite)],
  ['SQLite: commit of one record, 32 at a time', insert(sqlite), 32],
  ['memory: commit of one record', insert(memoryStorage())],
  ['JSON out', () => respond({ status: 201, body: incomingPaymentToWire(payment, `${url}/${payment.id}`) })],
]

const PASS_MILLISECONDS = 150
const PASSES = 5

/** Microseconds of CPU for one call, over at least the time of a pass. */
async function passOf(call: () => unknown, atOnce: number): Promise<number> {
  const started = performance.now()
  const before = process.cpuUsage()
  let calls = 0
  while (performance.now() - started < PASS_MILLISECONDS) {
    for (let round = 0; round < 10; round++) {
      if (atOnce === 1) await call()
      else await Promise.all(Array.from({ length: atOnce }, call))
    }
    calls += 10 * atOnce
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

say(`${process.version}\n${'part'.padEnd(50)} CPU µs  (of passes)`)
for (const [name, call, atOnce = 1] of PARTS) {
  const passes: number[] = []
  for (let pass = 0; pass <= PASSES; pass++) passes.push(await passOf(call, atOnce))
  const kept = passes.slice(1)
  const range = `${Math.min(...kept).toFixed(1)}-${Math.max(...kept).toFixed(1)}`
  say(`${name.padEnd(50)} ${median(kept).toFixed(1).padStart(6)}  ${range}`)
}
database.close()
rmSync(folder, { recursive: true, force: true })
