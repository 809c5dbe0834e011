import { ilp } from 'open-payments-server/ilp'
import { describe, expect, it } from 'vitest'
import { fakeRemoteReceivers } from '../support/fake-remote-receivers.ts'
import { ALICE, BASE, spendingToken, testWallet, usd } from '../support/test-wallet.ts'
import { type Hop, testPath } from './sender-path.ts'
import { testReceiver } from './sender-receiver.ts'

const PEER = {
  address: 'test.peer',
  url: 'https://peer.example/ilp',
  outgoingToken: 'outgoing-token-of-the-test',
  incomingTokens: ['incoming-token-of-the-test'],
  asset: { assetCode: 'USD', assetScale: 2 },
  isDefault: true,
  isIdempotent: true,
}

/** A wallet whose every part is real but for its peer, which leads to `receiver` over `hops`. */
async function payingWallet(receiver: Awaited<ReturnType<typeof testReceiver>>, hops: readonly Hop[]) {
  const rail = ilp({ address: 'test.wallet', peers: [PEER], send: (request) => path.send(request) })
  const remoteReceivers = fakeRemoteReceivers()
  const { ilpAddress, sharedSecret } = receiver.details
  const { url } = remoteReceivers.add({ address: ilpAddress, sharedSecret })
  const wallet = await testWallet({ paymentMethods: [rail], remoteReceivers })
  const path = testPath(receiver, wallet.clock, hops)
  return { wallet, rail, url }
}

describe('a payment over Interledger', () => {
  it('T-47 to a receiver that refuses all at once, takes crumbs and says that all has arrived costs what has left', async () => {
    const hop: { most?: bigint } = {}
    const refuse = () => {
      if (hop.most !== undefined) return undefined
      hop.most = 50n
      return { code: 'F99', says: 0n }
    }
    const receiver = await testReceiver({ isIdempotent: true, refuse, says: () => 10n ** 12n })
    const { wallet, rail, url } = await payingWallet(receiver, [hop])
    const token = await spendingToken(wallet, { debitAmount: usd('50000') })
    const order = { walletAddress: ALICE, incomingPayment: url, debitAmount: usd('50000') }
    const { status, body } = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json: order })
    expect(status).toBe(201)
    await wallet.openPayments.drain()
    const { body: paid } = await wallet.send('GET', body.id, { token })
    expect(paid).toMatchObject({ failed: false, sentAmount: usd('50000') })
    expect(await rail.balance('test.peer')).toMatchObject({ sent: 50_000n })
    expect(receiver.total()).toBe(50_000n)
  })
})
