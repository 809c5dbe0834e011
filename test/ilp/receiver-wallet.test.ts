import { closeConnection, Int, PaymentType, pay, setupPayment, startQuote } from '@interledger/pay'
import type { OpenPaymentsOptions } from 'open-payments-server'
import { ilp, type SendToPeer } from 'open-payments-server/ilp'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { decodeIlpPacket, encodeIlpPacket, type IlpPrepare, type IlpReply } from '../../adapters/ilp/packet.ts'
import { deriveStreamKeys } from '../../adapters/ilp/stream-keys.ts'
import { decodeStreamPacket } from '../../adapters/ilp/stream-packet.ts'
import { fromBase64url } from '../../src/protocol/bytes.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { gate } from '../support/gate.ts'
import { lastSegment } from '../support/last-segment.ts'
import {
  AUTH,
  BASE,
  BOB,
  CAROL,
  cryptography,
  directedClient,
  incomingPayment,
  type TestWallet,
  testWallet,
  usd,
} from '../support/test-wallet.ts'
import { type Details, detailsOf, packetFor } from './packet-for.ts'
import { EUR_TOKEN, PEER, peerRequest, TOKEN } from './receiver-world.ts'
import { senderWorld } from './sender-world.ts'

/** A wallet whose every part is real but for the peers: packets come to it as their hosts would bring them. */
async function payableWallet(overrides: Partial<OpenPaymentsOptions> = {}, peer: Partial<typeof PEER> = {}) {
  const euros = { ...PEER, asset: { assetCode: 'EUR', assetScale: 2 }, incomingTokens: [EUR_TOKEN] }
  const rail = ilp({ address: 'test.wallet', peers: [{ ...PEER, ...peer }, euros] })
  const wallet = await testWallet({ paymentMethods: [rail], ...overrides })
  const bring = async (bytes: Uint8Array, token = TOKEN): Promise<Uint8Array> => {
    const { status, body } = await wallet.openPayments.handle(peerRequest(bytes, { authorization: `Bearer ${token}` }))
    if (status !== 200 || !(body instanceof Uint8Array)) throw new Error(`the packet was answered ${status}`)
    return body
  }
  return { wallet, rail, bring }
}

const replyIn = (bytes: Uint8Array): IlpReply | undefined => {
  const packet = decodeIlpPacket(bytes)
  return packet?.type === 'prepare' ? undefined : packet
}

/** What the receiver says to the sender alone: how much arrived. */
async function arrivedBy({ sharedSecret }: Details, bytes: Uint8Array): Promise<bigint | undefined> {
  const keys = await deriveStreamKeys(cryptography, fromBase64url(sharedSecret) ?? new Uint8Array())
  const reply = replyIn(bytes)
  const plain = reply?.type === 'fulfill' ? await keys.decrypt(reply.data) : undefined
  return plain && decodeStreamPacket(plain)?.amount
}

async function readPayment(wallet: TestWallet, id: string, token: string) {
  await wallet.openPayments.drain()
  return (await wallet.send('GET', id, { token })).body
}

describe('an incoming payment at a wallet with the rail', () => {
  it('INC-5 is paid by packets, once each, and completed', async () => {
    const { wallet, rail, bring } = await payableWallet()
    const { payment, token } = await incomingPayment(wallet, { incomingAmount: usd('100') })
    const details = detailsOf(payment)
    const first = await packetFor(details, 60n, wallet.clock.now())
    for (let times = 0; times < 3; times++) expect(replyIn(await bring(first))).toMatchObject({ type: 'fulfill' })
    expect(await readPayment(wallet, payment.id, token)).toMatchObject({ receivedAmount: usd('60'), completed: false })
    const second = await packetFor(details, 40n, wallet.clock.now(), 2n)
    expect(replyIn(await bring(second))).toMatchObject({ type: 'fulfill' })
    const paid = await readPayment(wallet, payment.id, token)
    expect(paid).toMatchObject({ receivedAmount: usd('100'), completed: true })
    // Its sender never got the answer, and asks again, long after.
    wallet.clock.advance(3_600_000)
    expect(replyIn(await bring(second))).toMatchObject({ type: 'fulfill' })
    const late = await packetFor(details, 1n, wallet.clock.now(), 3n)
    expect(replyIn(await bring(late))).toMatchObject({ type: 'reject', code: 'F99' })
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 100n })
    expect(await rail.balance('test.peer', PEER.asset)).toMatchObject({ sent: 0n, received: 100n, owed: 100n })
    expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'incoming_payment.completed' }))
  })

  it('T-49 is not paid by a packet that expires while the wallet is asked, not even when that is known', async () => {
    const { wallet, bring } = await payableWallet()
    const { payment, token } = await incomingPayment(wallet, { incomingAmount: usd('100') })
    const packet = await packetFor(detailsOf(payment), 60n, wallet.clock.now())
    const { account } = wallet.ledger
    wallet.ledger.account = async (name) => {
      // Within its deadline, of which the directory has another one.
      wallet.clock.advance(2900)
      return account(name)
    }
    wallet.clock.advance(27_000)
    for (let times = 0; times < 2; times++)
      expect(replyIn(await bring(packet))).toMatchObject({ type: 'reject', code: 'R00' })
    expect(await readPayment(wallet, payment.id, token)).toMatchObject({ receivedAmount: usd('0') })
    const next = await packetFor(detailsOf(payment), 60n, wallet.clock.now(), 2n)
    expect(replyIn(await bring(next))).toMatchObject({ type: 'fulfill' })
    expect(await readPayment(wallet, payment.id, token)).toMatchObject({ receivedAmount: usd('60') })
  })

  it('INC-4 is not found by a hop: its address does not tell the id by which anybody may read its secret', async () => {
    const { wallet } = await payableWallet()
    const { payment } = await incomingPayment(wallet, { incomingAmount: usd('100') })
    const [prefix, wallets, last = '', ...more] = detailsOf(payment).ilpAddress.split('.')
    expect([prefix, wallets, ...more]).toEqual(['test', 'wallet'])
    const hop = await directedClient('hop')
    const access = [{ type: 'incoming-payment', actions: ['read-all'] }]
    const { body } = await wallet.send('POST', `${AUTH}/`, {
      as: hop,
      json: { client: hop.client, access_token: { access } },
    })
    const asHop = { as: hop, token: body.access_token.value }
    // Whoever knows the payment may read it: so a hop must not.
    expect((await wallet.send('GET', payment.id, asHop)).body.methods).toEqual(payment.methods)
    const octets = Buffer.from(last, 'base64url').toString('hex')
    expect(`${last} ${octets}`).not.toContain(lastSegment(payment.id))
    for (let at = 0; at + 32 <= octets.length; at++) {
      const { status } = await wallet.send('GET', `${BASE}/incoming-payments/${octets.slice(at, at + 32)}`, asHop)
      expect(status).toBe(404)
    }
    expect((await wallet.send('GET', `${BASE}/incoming-payments/${last}`, asHop)).status).toBe(404)
  })

  it('INC-4 is paid at its address until its secret is configured no more', async () => {
    const storage = memoryStorage()
    const secrets = ['the first secret of this server, long enough', 'the second secret of this server, long enough']
    const before = await payableWallet({ storage, secrets: secrets.slice(0, 1) })
    const { payment } = await incomingPayment(before.wallet)
    const replyOf = async ({ wallet, bring }: Awaited<ReturnType<typeof payableWallet>>, sequence: bigint) =>
      replyIn(await bring(await packetFor(detailsOf(payment), 10n, wallet.clock.now(), sequence)))
    expect(await replyOf(before, 1n)).toMatchObject({ type: 'fulfill' })
    expect(await replyOf(await payableWallet({ storage, secrets: secrets.toReversed() }), 2n)).toMatchObject({
      type: 'fulfill',
    })
    expect(await replyOf(await payableWallet({ storage, secrets: secrets.slice(1) }), 3n)).toMatchObject({
      code: 'F02',
    })
  })

  it('INC-8 takes no more than remains, whoever sends it', async () => {
    const { wallet, bring } = await payableWallet()
    const { payment, token } = await incomingPayment(wallet, { incomingAmount: usd('100') })
    const details = detailsOf(payment)
    // Both count from one, and know nothing of each other.
    const packets = await Promise.all([60n, 60n].map((amount) => packetFor(details, amount, wallet.clock.now())))
    const replies = (await Promise.all(packets.map((packet) => bring(packet)))).map(replyIn)
    expect(replies.map((reply) => reply?.type).sort()).toEqual(['fulfill', 'reject'])
    expect(replies).toContainEqual(expect.objectContaining({ type: 'reject', code: 'F99' }))
    expect(await readPayment(wallet, payment.id, token)).toMatchObject({ receivedAmount: usd('60') })
  })

  it('INC-13 is paid nothing while its wallet address has another account, and the rest afterwards', async () => {
    const { wallet, bring } = await payableWallet()
    const { payment, token } = await incomingPayment(wallet, { incomingAmount: usd('100') })
    const codes: unknown[] = []
    for (const [index, account] of ['bob', 'alice', 'bob'].entries()) {
      wallet.directory.set(BOB, { account, assetCode: 'USD', assetScale: 2 })
      const reply = replyIn(await bring(await packetFor(detailsOf(payment), 50n, wallet.clock.now(), BigInt(index))))
      codes.push(reply?.type === 'reject' ? reply.code : reply?.type)
    }
    // One that a sender tries again with another packet: it does not end the payment.
    expect(codes).toEqual(['fulfill', 'T00', 'fulfill'])
    expect(await readPayment(wallet, payment.id, token)).toMatchObject({ receivedAmount: usd('100'), completed: true })
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 100n })
  })

  it('is taken up to the limit of the peer', async () => {
    const { wallet, bring } = await payableWallet({}, { limits: { receiving: 100n } })
    const { payment } = await incomingPayment(wallet)
    const replies: unknown[] = []
    for (const [index, amount] of [60n, 41n, 40n].entries()) {
      const packet = await packetFor(detailsOf(payment), amount, wallet.clock.now(), BigInt(index))
      const reply = replyIn(await bring(packet))
      replies.push(reply?.type === 'reject' ? reply.code : reply?.type)
    }
    expect(replies).toEqual(['fulfill', 'T04', 'fulfill'])
  })

  it('QUO-8 is paid in another asset, at the price of the wallet', async () => {
    const pricing = { price: async () => ({ rate: '1.08' }) }
    const { wallet, rail, bring } = await payableWallet({ pricing })
    const { payment, token } = await incomingPayment(wallet)
    const packet = await packetFor(detailsOf(payment), 100n, wallet.clock.now())
    expect(replyIn(await bring(packet, EUR_TOKEN))).toMatchObject({ type: 'fulfill' })
    expect(await readPayment(wallet, payment.id, token)).toMatchObject({ receivedAmount: usd('108') })
    expect(await rail.balance('test.peer', { assetCode: 'EUR', assetScale: 2 })).toMatchObject({ received: 100n })
  })

  it('INC-5 says again what arrived, whatever the price is by then, or if there is none', async () => {
    let price = async () => ({ rate: '1.08' })
    const { wallet, bring } = await payableWallet({ pricing: { price: () => price() } })
    const details = detailsOf((await incomingPayment(wallet)).payment)
    const packet = await packetFor(details, 100n, wallet.clock.now())
    const other = await packetFor(details, 1n, wallet.clock.now(), 2n)
    expect(await arrivedBy(details, await bring(packet, EUR_TOKEN))).toBe(108n)
    price = async () => ({ rate: '1.2' })
    expect(await arrivedBy(details, await bring(packet, EUR_TOKEN))).toBe(108n)
    price = () => Promise.reject(new Error('no market'))
    expect(await arrivedBy(details, await bring(packet, EUR_TOKEN))).toBe(108n)
    await expect(bring(other, EUR_TOKEN)).rejects.toThrow('500')
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 108n })
  })

  it('T-49 is fulfilled again where a clock is so far behind that it would expire too far ahead', async () => {
    const storage = memoryStorage()
    const [before, after] = [await payableWallet({ storage }), await payableWallet({ storage })]
    const details = detailsOf((await incomingPayment(before.wallet)).payment)
    before.wallet.clock.advance(2 * 3_600_000)
    const packet = await packetFor(details, 60n, before.wallet.clock.now())
    const fresh = await packetFor(details, 60n, before.wallet.clock.now(), 2n)
    expect(replyIn(await before.bring(packet))).toMatchObject({ type: 'fulfill' })
    await before.wallet.openPayments.drain()
    expect(replyIn(await after.bring(packet))).toMatchObject({ type: 'fulfill' })
    expect(replyIn(await after.bring(fresh))).toMatchObject({ type: 'reject', code: 'T00' })
  })

  it('T-49 is paid once by a sender whose packet one process still looks at while the clock of another is behind', async () => {
    const storage = memoryStorage()
    const [right, behind] = [await payableWallet({ storage }), await payableWallet({ storage })]
    const { payment } = await incomingPayment(right.wallet)
    right.wallet.clock.advance(3_600_000)
    const slow = gate()
    const { account } = right.wallet.ledger
    right.wallet.ledger.account = async (name) => {
      await slow.opened
      return account(name)
    }
    let [first, isAnswered]: [Promise<Uint8Array> | undefined, boolean] = [undefined, false]
    const send: SendToPeer = async ({ bytes }) => {
      if (first === undefined) {
        first = right.bring(bytes)
        throw new Error('the connection broke')
      }
      const reply = await (isAnswered ? right : behind).bring(bytes)
      isAnswered = true
      slow.open()
      await first
      return { status: 200, bytes: reply }
    }
    const clock = fakeClock()
    clock.advance(right.wallet.clock.now() - clock.now())
    const details = { ...detailsOf(payment), type: 'ilp' } as const
    const sender = senderWorld({ details, send, clock, peer: { address: 'test.wallet', isIdempotent: true } })
    const amount = { ...PEER.asset, value: 60n }
    const result = await sender.finish({
      ...{ id: '0123456789abcdef0123456789abcdef', details, account: 'test.wallet/EUR/2' },
      ...{ sendAmount: amount, receiveAmount: amount, rate: { sent: 1n, received: 1n } },
      ...{ isFixedReceive: false, isOver: false, sendUntil: Number.POSITIVE_INFINITY },
    })
    expect(await right.rail.balance('test.peer', PEER.asset)).toMatchObject({ received: 60n })
    expect(result).toMatchObject({ outcome: 'delivered', progress: { sent: 60n } })
  })

  it('T-49 is not refused in its own words where it was taken, and comes again as another transfer', async () => {
    const storage = memoryStorage()
    const before = await payableWallet({ storage })
    const details = detailsOf((await incomingPayment(before.wallet, { incomingAmount: usd('60') })).payment)
    const packet = await packetFor(details, 60n, before.wallet.clock.now())
    expect(replyIn(await before.bring(packet))).toMatchObject({ type: 'fulfill' })
    await before.wallet.openPayments.drain()
    // The peer has another address by now, and so another account; or somebody on the way brings another amount.
    const after = await payableWallet({ storage }, { address: 'test.renamed' })
    const prepare = decodeIlpPacket(packet)
    if (prepare?.type !== 'prepare') throw new Error('it is a prepare')
    for (const [wallet, bytes] of [
      [after, packet],
      [before, encodeIlpPacket({ ...prepare, amount: 61n })],
      [before, encodeIlpPacket({ ...prepare, amount: 59n })],
      [before, encodeIlpPacket({ ...prepare, amount: 0n })],
    ] as const)
      expect(replyIn(await wallet.bring(bytes))).toMatchObject({ code: 'T00', data: new Uint8Array() })
    const test = encodeIlpPacket({ ...prepare, executionCondition: new Uint8Array(32) })
    expect(replyIn(await before.bring(test))).toMatchObject({ code: 'F05', data: new Uint8Array() })
    expect(replyIn(await before.bring(packet))).toMatchObject({ type: 'fulfill' })
    expect(await before.wallet.ledger.balance('bob')).toMatchObject({ total: 60n })
  })

  it.each<[string, (prepare: IlpPrepare) => Partial<IlpPrepare>]>([
    ['without its amount', () => ({ amount: 0n })],
    ['with less of it', ({ amount }) => ({ amount: amount - 1n })],
    ['expired for nearly a day', ({ expiresAt }) => ({ expiresAt: expiresAt - 24 * 3_600_000 - 10_000 })],
    ['expired for years', () => ({ expiresAt: 0 })],
  ])('T-49 is not paid by a packet that was refused in its own words when somebody brought it %s', async (_, alter) => {
    const { wallet, bring } = await payableWallet()
    const details = detailsOf((await incomingPayment(wallet)).payment)
    const packet = await packetFor(details, 60n, wallet.clock.now())
    const prepare = decodeIlpPacket(packet)
    if (prepare?.type !== 'prepare') throw new Error('it is a prepare')
    const refusal = replyIn(await bring(encodeIlpPacket({ ...prepare, ...alter(prepare) })))
    expect(refusal?.type).toBe('reject')
    expect(refusal?.data).not.toHaveLength(0)
    wallet.clock.advance(20_000)
    await wallet.openPayments.sweep()
    expect(replyIn(await bring(packet))).toMatchObject({ code: 'R00' })
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 0n })
  })

  it('answers at its path beside all other routes', async () => {
    const { wallet } = await payableWallet()
    expect(await wallet.openPayments.owns('POST', '/ilp')).toBe(true)
    expect(await wallet.openPayments.owns('GET', '/ilp')).toBe(false)
    expect(await wallet.openPayments.handle(peerRequest(new Uint8Array(), { authorization: [] }))).toMatchObject({
      status: 401,
    })
    const { status } = await wallet.send('GET', BOB, {})
    expect(status).toBe(200)
  })
})

describe('the published sender @interledger/pay', () => {
  const SOURCE = { code: 'USD', scale: 2 }

  async function published(overrides: Partial<OpenPaymentsOptions> = {}, peer: Partial<typeof PEER> = {}) {
    const { wallet, rail, bring } = await payableWallet(overrides, peer)
    // It reads the clock of the machine.
    wallet.clock.advance(Date.now() - wallet.clock.now())
    let packets = 0
    const plugin = {
      connect: async () => undefined,
      disconnect: async () => undefined,
      isConnected: () => true,
      registerDataHandler: () => undefined,
      deregisterDataHandler: () => undefined,
      sendData: async (data: Buffer) => {
        packets++
        return Buffer.from(await bring(new Uint8Array(data)))
      },
    }
    return { wallet, rail, plugin, packets: () => packets }
  }

  const setUp = (plugin: Parameters<typeof pay>[0]['plugin'], { ilpAddress, sharedSecret }: Details) =>
    setupPayment({
      plugin,
      destinationAddress: ilpAddress,
      sharedSecret: Buffer.from(sharedSecret, 'base64url'),
    })

  it('pays a fixed amount that arrives, in packets as large as the account takes', async () => {
    const { wallet, plugin, packets } = await published({}, { maxPacketAmount: 300n })
    const { payment, token } = await incomingPayment(wallet, { incomingAmount: usd('1000') })
    const destination = await setUp(plugin, detailsOf(payment))
    expect(destination.destinationAsset).toEqual(SOURCE)
    const quote = await startQuote({ plugin, destination, sourceAsset: SOURCE, amountToDeliver: 1000n, slippage: 0 })
    expect([quote.paymentType, quote.maxPacketAmount]).toEqual([PaymentType.FixedDelivery, 300n])
    const before = packets()
    const result = await pay({ plugin, destination, quote })
    await closeConnection(plugin, destination)
    expect(result).toMatchObject({ amountSent: 1000n, amountDelivered: 1000n, sourceAmountInFlight: 0n })
    expect(result.error).toBeUndefined()
    expect(packets() - before).toBeLessThan(10)
    const paid = await readPayment(wallet, payment.id, token)
    expect(paid).toMatchObject({ receivedAmount: usd('1000'), completed: true })
  })

  it('pays what it sends across assets, and learns what arrived', async () => {
    const pricing = { price: async () => ({ rate: '0.925' }) }
    const { wallet, rail, plugin } = await published({ pricing })
    const { payment, token } = await incomingPayment(wallet, { walletAddress: CAROL })
    const destination = await setUp(plugin, detailsOf(payment))
    const prices = { USD: 0.925, EUR: 1 }
    const amountToSend = Int.from(999n)
    if (amountToSend === undefined) throw new Error('no amount')
    const quote = await startQuote({ plugin, destination, sourceAsset: SOURCE, amountToSend, prices, slippage: 0.01 })
    const result = await pay({ plugin, destination, quote })
    expect(result).toMatchObject({ amountSent: 999n, amountDelivered: 92_407n })
    const paid = await readPayment(wallet, payment.id, token)
    expect(paid.receivedAmount).toEqual({ value: '92407', assetCode: 'EUR', assetScale: 4 })
    expect(await rail.balance('test.peer', PEER.asset)).toMatchObject({ received: 999n })
  })

  it('is told that a payment takes nothing more, and ends at once', async () => {
    const { wallet, plugin } = await published()
    const { payment, token } = await incomingPayment(wallet)
    const destination = await setUp(plugin, detailsOf(payment))
    const quote = await startQuote({ plugin, destination, sourceAsset: SOURCE, amountToSend: 10n, slippage: 0 })
    await wallet.send('POST', `${BASE}/incoming-payments/${lastSegment(payment.id)}/complete`, { token })
    expect(await pay({ plugin, destination, quote })).toMatchObject({ error: 'ClosedByReceiver', amountSent: 0n })
  })

  it('is told how much may still come, and ends at once', async () => {
    const { wallet, plugin } = await published()
    const { payment } = await incomingPayment(wallet, { incomingAmount: usd('10') })
    const destination = await setUp(plugin, detailsOf(payment))
    const quote = await startQuote({ plugin, destination, sourceAsset: SOURCE, amountToDeliver: 20n, slippage: 0 })
    expect(await pay({ plugin, destination, quote })).toMatchObject({ error: 'IncompatibleReceiveMax', amountSent: 0n })
  })
})
