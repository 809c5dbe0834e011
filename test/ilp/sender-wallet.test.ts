import type { Asset } from 'open-payments-server'
import { ilp, type SendToPeer } from 'open-payments-server/ilp'
import { describe, expect, it } from 'vitest'
import { decodeIlpPacket } from '../../adapters/ilp/packet.ts'
import { fakeRemoteReceivers } from '../support/fake-remote-receivers.ts'
import { ALICE, BASE, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'
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

/**
 * A wallet whose every part is real but for its peer, which leads to `receiver` over `hops`, and returns the packets for
 * the wallet itself, as any connector does.
 */
async function payingWallet(
  receiver: Awaited<ReturnType<typeof testReceiver>>,
  hops: readonly Hop[],
  receives?: { readonly asset: Asset; readonly incomingValue: undefined },
) {
  const send: SendToPeer = async (request) => {
    const packet = decodeIlpPacket(request.bytes)
    if (packet?.type !== 'prepare' || !packet.destination.startsWith('test.wallet.')) return path.send(request)
    const lines = { authorization: `Bearer ${PEER.incomingTokens[0]}`, 'content-type': 'application/octet-stream' }
    const { status, body } = await wallet.openPayments.handle({
      method: 'POST',
      target: '/ilp',
      source: undefined,
      headerLines: (name) => Object.entries(lines).flatMap(([line, value]) => (line === name ? [value] : [])),
      bytes: () => request.bytes,
    })
    return { status, bytes: body instanceof Uint8Array ? body : new Uint8Array() }
  }
  const rail = ilp({ address: 'test.wallet', peers: [PEER], send })
  const remoteReceivers = fakeRemoteReceivers()
  const { ilpAddress, sharedSecret } = receiver.details
  const { url } = remoteReceivers.add({ address: ilpAddress, sharedSecret, ...receives })
  const wallet = await testWallet({ paymentMethods: [rail], remoteReceivers })
  const path = testPath(receiver, wallet.clock, hops)
  return { wallet, rail, remoteReceivers, url }
}

describe('a payment over Interledger', () => {
  // Ten thousand units of the receiver are one unit that leaves.
  const FINE = { assetCode: 'USD', assetScale: 6 }
  const finely = async (receiver: Awaited<ReturnType<typeof testReceiver>>) => {
    const { wallet, rail, url } = await payingWallet(receiver, [{ numerator: 10_000n }], {
      asset: FINE,
      incomingValue: undefined,
    })
    const token = await spendingToken(wallet)
    return {
      quote: async (units: bigint) => {
        const asked = {
          walletAddress: ALICE,
          receiver: url,
          method: 'ilp',
          receiveAmount: { ...FINE, value: `${units}` },
        }
        const { status, body } = await wallet.send('POST', `${BASE}/quotes`, { token, json: asked })
        expect(status).toBe(201)
        return body
      },
      pay: async (quoteId: string) => {
        const order = { walletAddress: ALICE, quoteId }
        const { status, body } = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json: order })
        expect(status).toBe(201)
        await wallet.openPayments.drain()
        return (await wallet.send('GET', body.id, { token })).body
      },
      left: async () => (await rail.balance('test.peer')).sent,
    }
  }

  it.each([1n, 2_500n, 5_000n, 9_900n, 9_999n, 10_000n, 20_000n, 50_000n, 100_000n, 123_456n, 180_000n, 1_000_000n])(
    'QUO-5 of %d units fixed at the receiver arrives as it was quoted, over a peering in much larger units',
    async (units) => {
      for (const isExact of [false, true]) {
        const refuse = () => (isExact && receiver.total() >= units ? { code: 'F99', says: 0n } : undefined)
        const receiver = await testReceiver({ isIdempotent: true, refuse })
        const { quote, pay } = await finely(receiver)
        const { id, debitAmount } = await quote(units)
        expect(await pay(id)).toMatchObject({ failed: false, sentAmount: debitAmount })
        expect(receiver.total()).toBeGreaterThanOrEqual(units)
      }
    },
  )

  it.each([2n, 3n, 5n, 10n, 15n, 30n])(
    'T-47 of %d units to a receiver that names a better rate before it is paid than at the quote does not leave',
    async (units) => {
      let isQuoted = false
      const better = (amount: bigint): bigint => (isQuoted ? (amount * units) / (units - 1n) + 1n : amount)
      const receiver = await testReceiver({ isIdempotent: true, saysOfTest: better, says: () => 10n ** 12n })
      const { quote, pay, left } = await finely(receiver)
      const { id } = await quote(units * 9_900n)
      isQuoted = true
      // Up to a twentieth better is believed.
      expect(await pay(id)).toMatchObject({ failed: units <= 20n })
      expect((await left()) > 0n).toBe(units > 20n)
    },
  )

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

  it.each([
    ['when it is ordered', 1, 400],
    ['when it is read again', 2, 201],
  ])(
    'T-47 does not leave for a payment of this very server, which another server names as its own %s',
    async (_, reading, expected) => {
      const receiver = await testReceiver()
      const { wallet, rail, remoteReceivers, url } = await payingWallet(receiver, [])
      const { payment } = await incomingPayment(wallet)
      const [method] = payment.methods
      remoteReceivers.before = async () => {
        if (remoteReceivers.asked.length === reading)
          Object.assign(remoteReceivers.all[0] ?? {}, {
            address: method?.ilpAddress,
            sharedSecret: method?.sharedSecret,
          })
      }
      const token = await spendingToken(wallet)
      const order = { walletAddress: ALICE, incomingPayment: url, debitAmount: usd('100') }
      const { status, body } = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json: order })
      expect(status).toBe(expected)
      if (status === 400) expect(body.error.code).toBe('invalid_receiver')
      await wallet.openPayments.drain()
      expect(await rail.balance('test.peer')).toMatchObject({ sent: 0n, received: 0n })
      expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 0n })
      expect(await wallet.ledger.balance('alice')).toMatchObject({ held: 0n })
    },
  )
})
