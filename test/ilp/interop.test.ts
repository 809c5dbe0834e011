import { randomBytes } from 'node:crypto'
import { PaymentError, pay, setupPayment, startQuote } from '@interledger/pay'
import { StreamServer } from '@interledger/stream-receiver'
import { deserializeIlpPrepare, isFulfill, isReject, serializeIlpFulfill, serializeIlpReject } from 'ilp-packet'
import type { Delivery, IlpPaymentMethod } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { decodeIlpPacket, encodeIlpPacket, type IlpPrepare, type IlpReply } from '../../adapters/ilp/packet.ts'
import { toBase64url } from '../../src/protocol/bytes.ts'
import { arrivingFor, leavingFor } from '../../src/protocol/price.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { PAYMENT, peerRequest, type ReceiverWorld, receiverWorld } from './receiver-world.ts'
import { type Hop, type Mishap, testPath } from './sender-path.ts'
import { NOTHING } from './sender-scene.ts'
import { EUR, PEER_ADDRESS, senderWorld, USD } from './sender-world.ts'

function deliveryTo(details: IlpPaymentMethod, sent: bigint, received: bigint, isFixedReceive = false): Delivery {
  return {
    id: '0123456789abcdef0123456789abcdef',
    details,
    account: `${PEER_ADDRESS}/EUR/2`,
    sendAmount: { ...EUR, value: sent },
    receiveAmount: { ...(sent === received ? EUR : USD), value: received },
    rate: { sent, received },
    isFixedReceive,
    isOver: false,
    sendUntil: Number.POSITIVE_INFINITY,
  }
}

/** The published receiver, at the end of some hops. */
function publishedReceiver(hops: readonly Hop[] = [], mishaps: readonly (Mishap | undefined)[] = []) {
  const server = new StreamServer({ serverSecret: randomBytes(32), serverAddress: 'test.receiver' })
  const { ilpAddress, sharedSecret } = server.generateCredentials({ asset: { code: 'USD', scale: 2 } })
  const details: IlpPaymentMethod = { type: 'ilp', ilpAddress, sharedSecret: toBase64url(sharedSecret) }
  const clock = fakeClock()
  let total = 0n
  const answer = async (prepare: IlpPrepare, amount: bigint): Promise<IlpReply> => {
    const theirs = deserializeIlpPrepare(Buffer.from(encodeIlpPacket({ ...prepare, amount })))
    const said = server.createReply(theirs)
    if ('accept' in said) total += amount
    const reply = 'accept' in said ? said.accept() : said
    const octets = isFulfill(reply)
      ? serializeIlpFulfill(reply)
      : isReject(reply)
        ? serializeIlpReject(reply)
        : undefined
    const packet = octets && decodeIlpPacket(octets)
    if (packet === undefined || packet.type === 'prepare') throw new Error('no reply')
    return packet
  }
  const path = testPath({ answer }, clock, hops, (_, index) => mishaps[index])
  const world = senderWorld({ details, send: path.send, clock })
  return { details, path, world, total: () => total }
}

describe('the sender pays the published receiver', () => {
  const ways: readonly (readonly [string, readonly Hop[]])[] = [
    ['directly', []],
    ['over a connector that takes little at once', [{ most: 37n }]],
    ['over one that exchanges', [{ numerator: 92n, denominator: 100n }]],
    [
      'over two of them',
      [
        { numerator: 3n, denominator: 2n, most: 500n },
        { numerator: 2n, denominator: 7n, most: 600n },
      ],
    ],
  ]

  it.each(ways)('a fixed amount, %s', async (_, hops) => {
    const { details, world, total } = publishedReceiver(hops)
    const quote = await world.quote(EUR, hops.length === 0 ? EUR : USD)
    const received = quote.ok ? arrivingFor(5_000n, quote.rate) : 0n
    const result = await world.finish(deliveryTo(details, 5_000n, received))
    expect(result).toMatchObject({ outcome: 'delivered', progress: { received: total(), inFlight: NOTHING } })
    expect(total()).toBeGreaterThanOrEqual(received)
    expect(received).toBeGreaterThan(1_000n)
  })

  it.each(ways)('so that a fixed amount arrives, %s', async (_, hops) => {
    const { details, world, total } = publishedReceiver(hops)
    const quote = await world.quote(EUR, hops.length === 0 ? EUR : USD)
    const sent = quote.ok ? leavingFor(2_000n, quote.rate) : 0n
    const result = await world.finish(deliveryTo(details, sent, 2_000n, true))
    expect(result).toMatchObject({ outcome: 'delivered', progress: { received: total(), inFlight: NOTHING } })
    expect(total()).toBeGreaterThanOrEqual(2_000n)
    expect(total()).toBeLessThanOrEqual(2_002n)
  })

  it('and counts nothing twice where a reply is lost: that it leaves to the host', async () => {
    const { details, world, total, path } = publishedReceiver([], ['reply lost'])
    const result = await world.finish(deliveryTo(details, 1_000n, 1_000n))
    expect(result).toMatchObject({ outcome: 'unknown', progress: { ...NOTHING, inFlight: { sent: 1_000n } } })
    expect(total()).toBe(1_000n)
    expect(path.sent).toHaveLength(1)
  })

  it('and not at all where the rate is worse than it may be', async () => {
    const { details, world, total } = publishedReceiver([{ numerator: 9n, denominator: 10n }])
    const result = await world.finish(deliveryTo(details, 1_000n, 901n))
    expect(result).toMatchObject({
      outcome: 'ended',
      reason: 'rate_too_low',
      progress: { ...NOTHING, inFlight: NOTHING },
    })
    expect(total()).toBe(0n)
  })
})

/** What the published sender sends through: an in-process connector to this library's receiver. */
function pluginTo(world: ReceiverWorld, { numerator = 1n, denominator = 1n, most }: Hop = {}) {
  // It reads the clock of the machine.
  world.clock.advance(Date.now() - world.clock.now())
  const clock = fakeClock()
  const answer = async (prepare: IlpPrepare, amount: bigint): Promise<IlpReply> => {
    const response = await world.rail.endpoint?.handle(peerRequest(encodeIlpPacket({ ...prepare, amount })))
    const packet = response?.body instanceof Uint8Array ? decodeIlpPacket(response.body) : undefined
    if (packet === undefined || packet.type === 'prepare') throw new Error(`HTTP ${response?.status}`)
    return packet
  }
  const hop: Hop = { numerator, denominator, ...(most !== undefined && { most }) }
  const { send, sent } = testPath({ answer }, clock, [hop])
  return {
    sent,
    sendData: async (data: Buffer): Promise<Buffer> => {
      const { bytes } = await send({ url: '', token: '', bytes: data, signal: new AbortController().signal })
      return Buffer.from(bytes)
    },
  }
}

const total = ({ transfers }: ReceiverWorld): bigint =>
  transfers.reduce((sum, { amount, isRefused }) => sum + (isRefused === true ? 0n : amount.value), 0n)

async function payWithPublished(world: ReceiverWorld, hop: Hop, amount: { toSend?: bigint; toDeliver?: bigint }) {
  const plugin = pluginTo(world, hop)
  const destination = await setupPayment({
    plugin,
    destinationAddress: `test.wallet.${PAYMENT.address}`,
    sharedSecret: Buffer.from(PAYMENT.sharedSecret, 'base64url'),
    destinationAsset: { code: 'USD', scale: 2 },
  })
  const quote = await startQuote({
    plugin,
    destination,
    sourceAsset: { code: 'EUR', scale: 2 },
    prices: { EUR: Number(hop.numerator ?? 1n), USD: Number(hop.denominator ?? 1n) },
    ...(amount.toSend !== undefined && { amountToSend: amount.toSend }),
    ...(amount.toDeliver !== undefined && { amountToDeliver: amount.toDeliver }),
  })
  return { plugin, quote, progress: await pay({ plugin, destination, quote }) }
}

describe('the published sender pays the receiver', () => {
  const hops: readonly (readonly [string, Hop])[] = [
    ['directly', {}],
    ['over a connector that takes little at once', { most: 150n }],
    ['over one that exchanges', { numerator: 92n, denominator: 100n, most: 400n }],
  ]

  it.each(hops)('a fixed amount, %s', async (_, hop) => {
    const world = receiverWorld()
    const { progress } = await payWithPublished(world, hop, { toSend: 900n })
    expect(progress).toMatchObject({ amountSent: 900n, amountDelivered: total(world), sourceAmountInFlight: 0n })
    expect(progress.error).toBeUndefined()
    expect(total(world)).toBeGreaterThanOrEqual((900n * (hop.numerator ?? 1n)) / (hop.denominator ?? 1n) - 3n)
  })

  it.each(hops)('so that a fixed amount arrives, %s', async (_, hop) => {
    const world = receiverWorld()
    const { progress } = await payWithPublished(world, hop, { toDeliver: 800n })
    expect(progress.error).toBeUndefined()
    expect(progress.amountDelivered).toBe(total(world))
    expect(total(world)).toBeGreaterThanOrEqual(800n)
    expect(total(world)).toBeLessThanOrEqual(802n)
  })

  it('and is told where it takes nothing any more', async () => {
    const world = receiverWorld()
    world.take = async () => 'not_payable'
    const { progress } = await payWithPublished(world, {}, { toSend: 900n })
    expect(progress).toMatchObject({ error: PaymentError.ClosedByReceiver, amountDelivered: 0n })
  })
})

/** Both ends are of this library. */
function ownEnds(mishaps: readonly (Mishap | undefined)[], maxPacketAmount = 400n, peerAddress = 'test.wallet') {
  const receiver = receiverWorld({}, { maxPacketAmount })
  const details: IlpPaymentMethod = {
    type: 'ilp',
    ilpAddress: `test.wallet.${PAYMENT.address}`,
    sharedSecret: PAYMENT.sharedSecret,
  }
  const answer = async (prepare: IlpPrepare): Promise<IlpReply> => {
    const packet = decodeIlpPacket(await reply(prepare))
    if (packet === undefined || packet.type === 'prepare') throw new Error('no reply')
    return packet
  }
  const reply = async (prepare: IlpPrepare): Promise<Uint8Array> => {
    const response = await receiver.rail.endpoint?.handle(peerRequest(encodeIlpPacket(prepare)))
    return response?.body instanceof Uint8Array ? response.body : new Uint8Array()
  }
  const path = testPath({ answer }, receiver.clock, [], (_, index) => mishaps[index])
  const peer = { address: peerAddress, isDefault: true, isIdempotent: true }
  const world = senderWorld({ details, send: path.send, clock: receiver.clock, peer })
  const delivery = { ...deliveryTo(details, 1_000n, 1_000n), account: `${peerAddress}/EUR/2` }
  /** Each transfer counts once, however often it was told. */
  const arrived = () =>
    new Map(
      receiver.transfers.flatMap(({ id, amount, isRefused }) =>
        isRefused === true ? [] : [[id, amount.value] as const],
      ),
    )
  return { receiver, path, world, delivery, arrived: () => [...arrived().values()].reduce((sum, one) => sum + one, 0n) }
}

describe('the sender pays the receiver of this library', () => {
  it('in packets that its peer takes', async () => {
    const { world, delivery, arrived, path } = ownEnds([])
    expect(await world.finish(delivery)).toMatchObject({
      outcome: 'delivered',
      progress: { sent: 1_000n, received: 1_000n },
    })
    expect(path.sent.map(({ amount }) => Number(amount)).sort()).toEqual([1000, 200, 400, 400])
    expect(arrived()).toBe(1_000n)
  })

  it.each<readonly (Mishap | undefined)[]>([
    [undefined, 'reply lost'],
    [undefined, 'request lost', 'request lost', 'request lost'],
    [undefined, 'silence', 'silence'],
    [undefined, 'reply silent', 'reply silent'],
    [undefined, 'far too late', 'duplicated'],
    [undefined, 'reply lost', 'refused on the way', 'tampered with', 'no liquidity'],
    ['request lost', 'tampered with'],
  ])('and knows in the end what became of each, whatever befell them: %s %s %s', async (...mishaps) => {
    const { world, delivery, arrived, path } = ownEnds(mishaps)
    const result = await world.finish(delivery)
    await path.settled()
    expect(result).toMatchObject({
      outcome: 'delivered',
      progress: { sent: 1_000n, received: 1_000n, inFlight: NOTHING },
    })
    expect(arrived()).toBe(1_000n)
  })

  it.each<Mishap>(['emptied', 'under another condition'])(
    'T-51 and nothing twice where somebody on the way shows a packet that was taken again, %s',
    async (mishap) => {
      const { world, delivery, arrived } = ownEnds(['reply lost', mishap], 1_000n, PEER_ADDRESS)
      expect(await world.finish(delivery)).toMatchObject({ outcome: 'delivered', progress: { sent: 1_000n } })
      expect(arrived()).toBe(1_000n)
    },
  )
})
