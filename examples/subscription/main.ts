import { createPrivateKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAuthenticatedClient } from '@interledger/open-payments'
import { charge } from './charge.ts'
import { awaitConsent, type Merchant, type Subscription, subscribe } from './subscribe.ts'

// The merchant's wallet address and the key that its wallet publishes for it: `client` of what `sandbox --json` prints.
const { client: account, wallets } = JSON.parse(readFileSync(process.argv[2] ?? 'sandbox.json', 'utf8'))
const client = await createAuthenticatedClient({
  walletAddressUrl: account.walletAddress,
  keyId: account.keyId,
  privateKey: createPrivateKey(account.privateKeyPem),
  useHttp: account.walletAddress.startsWith('http:'), // a wallet on this machine
  logLevel: 'silent',
})
const wallet = await client.walletAddress.get({ url: account.walletAddress })
const customer = await client.walletAddress.get({ url: process.argv[3] ?? wallets[0].walletAddress })

let subscription: Subscription | undefined
const save = async (changed: Subscription): Promise<void> => {
  subscription = changed
  writeFileSync('subscription.json', JSON.stringify(changed), { mode: 0o600 })
}
const merchant: Merchant = { client, wallet, save, now: Date.now, sleep }

// The period is a minute instead of a month here, so that nobody has to wait.
const price = { value: '100', assetCode: wallet.assetCode, assetScale: wallet.assetScale }
const start = new Date()
const pending = await subscribe(merchant, { customer, price }, `R/${start.toISOString()}/PT1M`)
console.log(`Open ${pending.interact.redirect}`)
await save({ customer, price, token: await awaitConsent(merchant, pending) })

while (subscription !== undefined) {
  const period = Math.floor((Date.now() - start.getTime()) / 60_000)
  const outcome = await charge(merchant, subscription, String(period))
  console.log(`period ${period}:`, outcome)
  if (outcome === 'ended') break
  await sleep(outcome === 'sent' ? 1000 : 20_000)
}
