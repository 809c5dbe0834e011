import { describe, expect, it } from 'vitest'
import { decodeIlpPacket, encodeAmountTooLarge } from '../../adapters/ilp/packet.ts'
import { arrivingFor, minimumSend, type RailRate } from '../../src/protocol/price.ts'
import { turns } from '../support/turns.ts'
import type { Hop, Mishap } from './sender-path.ts'
import { inHttp, reject } from './sender-receiver.ts'
import { type SceneTerms, senderScene } from './sender-scene.ts'
import { EUR, PEER_ADDRESS, senderWorld, USD } from './sender-world.ts'

const ACCOUNT = `${PEER_ADDRESS}/EUR/2`
const BASIS = 10_000n

/** What a quote promises, as parts of ten thousand, and how many packets it took. */
async function quoted(terms: SceneTerms, to = USD) {
  const scene = await senderScene(terms)
  const before = scene.clock.now()
  const quote = await scene.world.quote(EUR, to)
  return { ...scene, quote, milliseconds: scene.clock.now() - before, count: scene.path.sent.length }
}

const rateOf = ({ quote }: Awaited<ReturnType<typeof quoted>>): number =>
  quote.ok ? Number((quote.rate.received * BASIS) / quote.rate.sent) : 0

function packetAmount(bytes: Uint8Array): bigint {
  const packet = decodeIlpPacket(bytes)
  return packet?.type === 'prepare' ? packet.amount : 0n
}

describe('a quote', () => {
  it('of a way one to one, in one asset, promises just that, with one packet', async () => {
    const { quote, count } = await quoted({ peer: { maxPacketAmount: 5_000n } }, EUR)
    expect(quote).toMatchObject({ ok: true, account: ACCOUNT, asset: EUR })
    expect(quote.ok && quote.rate.sent === quote.rate.received).toBe(true)
    expect(count).toBe(1)
  })

  it('of a way one to one to another asset keeps the slippage back', async () => {
    expect(rateOf(await quoted({}, USD))).toBe(9_900)
  })

  it('of a way that changes one asset keeps the slippage back', async () => {
    expect(rateOf(await quoted({ hops: [{ numerator: 98n, denominator: 100n }] }, EUR))).toBe(9_702)
  })

  it.each(['F99', 'F05'] as const)('understands receivers that answer a test with %s', async (testCode) => {
    const hops = [{ numerator: 3n, denominator: 2n }]
    const result = await quoted({ hops, receiver: { testCode } })
    expect(rateOf(result)).toBe(14_850)
    expect(result.count).toBe(1)
  })

  it.each([
    ['sixteen times what is to be paid', { ...EUR, value: 12_345n }, [197_520n]],
    ['as many units of another asset', { assetCode: 'JPY', assetScale: 0, value: 1_500n }, [2_400_000n]],
    ['and as many of a finer one', { assetCode: 'XAU', assetScale: 9, value: 25n * 10n ** 9n }, [40_000n]],
    ['enough to tell a rate', { ...EUR, value: 1n }, [10_000n]],
    ['what a packet can hold', { ...EUR, value: 2n ** 64n - 1n }, [2n ** 64n - 1n]],
    ['enough where nothing is said', undefined, [10n ** 12n]],
  ] as const)('begins with %s where the peer names no greatest packet', async (_, amount, expected) => {
    const { world, receiver, amounts } = await senderScene({ hops: [{ numerator: 91n, denominator: 100n }] })
    const quote = await world.quote(EUR, USD, receiver.details, amount)
    expect(amounts()).toEqual(expected)
    expect(quote).toMatchObject({ ok: true })
  })

  it('begins with the greatest packet of the peer, whatever is to be paid', async () => {
    const { world, receiver, amounts } = await senderScene({ peer: { maxPacketAmount: 777_000n } })
    await world.quote(EUR, USD, receiver.details, { ...EUR, value: 100n })
    expect(amounts()).toEqual([777_000n])
  })

  it('finds the greatest packet of every hop with one test for each', async () => {
    const hops: readonly Hop[] = [{ most: 1_000_000n }, { numerator: 2n, most: 500_000n }, { most: 30_000n }]
    const { amounts, quote } = await quoted({ hops })
    expect(amounts()).toEqual([10n ** 12n, 1_000_000n, 500_000n, 15_000n])
    expect(quote.ok && quote.rate).toEqual({ sent: 15_000n * BASIS, received: 30_000n * 9_900n })
  })

  it.each([
    ['any amount', { receivedAmount: 0n, maximumAmount: 5n }],
    ['just as much', { receivedAmount: 7n, maximumAmount: 7n }],
    ['more', { receivedAmount: 7n, maximumAmount: 9n }],
  ])('asks for half where a hop says that it takes %s, and does not', async (_, said) => {
    const { receiver, path, clock } = await senderScene()
    const tried: bigint[] = []
    const send: typeof path.send = async (request) => {
      tried.push(packetAmount(request.bytes))
      return tried.length === 1 ? inHttp(reject('F08', encodeAmountTooLarge(said))) : path.send(request)
    }
    expect(await senderWorld({ details: receiver.details, send, clock }).quote(EUR, EUR)).toMatchObject({ ok: true })
    expect(tried).toEqual([10n ** 12n, 10n ** 12n / 2n])
  })

  it('tells a rate exactly also where little of the first packet arrives', async () => {
    const hops = [{ numerator: 123n, denominator: 10n ** 12n }]
    const { amounts, quote } = await quoted({ hops })
    expect(amounts()).toEqual([10n ** 12n, 10n ** 18n])
    expect(quote.ok && quote.rate).toEqual({ sent: 10n ** 18n * BASIS, received: 123_000_000n * 9_900n })
  })

  it('is content with the first packet where just a thousand units arrive of it', async () => {
    for (const [numerator, count] of [
      [1000n, 1],
      [999n, 2],
    ] as const)
      expect((await quoted({ hops: [{ numerator, denominator: 10n ** 12n }] })).count).toBe(count)
  })

  it.each([1n, 7n, 9n, 123_457n])(
    'QUO-4 of the least amount that another one names lets that arrive: %s',
    async (part) => {
      const { world, receiver } = await senderScene({ hops: [{ numerator: part, denominator: 10n ** 9n }] })
      const rateFor = async (value: bigint): Promise<RailRate> => {
        const quote = await world.quote(EUR, USD, receiver.details, { ...EUR, value })
        if (!quote.ok) throw new Error(quote.detail)
        return quote.rate
      }
      const terms = { from: EUR, to: EUR, rate: { numerator: 1n, denominator: 1n }, basisPoints: 0, fixed: 0n }
      const least = minimumSend(terms, await rateFor(3n)) ?? 0n
      for (let amount = least; amount < least + 20n; amount++)
        expect(arrivingFor(amount, await rateFor(amount))).toBeGreaterThan(0n)
    },
  )

  it('is content with what it knows where finding out more takes longer', async () => {
    const hops = [{ numerator: 123n, denominator: 10n ** 12n }]
    const { quote, count, milliseconds } = await quoted({ hops, mishaps: [undefined, 'request lost'] })
    expect(quote.ok && quote.rate).toEqual({ sent: 10n ** 12n * BASIS, received: 123n * 9_900n })
    expect({ count, milliseconds }).toEqual({ count: 2, milliseconds: 0 })
  })

  it('promises no more than packets that are small and rounded can keep', async () => {
    const hops = [{ numerator: 95n, denominator: 100n, most: 10n }]
    const result = await quoted({ hops })
    expect(result.quote.ok && result.quote.rate).toEqual({ sent: 10n * BASIS, received: 9n * 9_900n })
    expect(result.count).toBe(2)
  })

  it('asks once more where liquidity is short, then for less and less', async () => {
    const { amounts } = await quoted({ mishaps: ['no liquidity', 'no liquidity', 'no liquidity'] })
    expect(amounts()).toEqual([10n ** 12n, 10n ** 12n, 10n ** 12n / 16n, 10n ** 12n / 4_096n])
  })

  it('waits a moment before it asks for the same again, and for less at once', async () => {
    expect((await quoted({ mishaps: ['no liquidity'] })).milliseconds).toBe(50)
    expect((await quoted({ mishaps: ['no liquidity', 'no liquidity', 'no liquidity'] })).milliseconds).toBe(50)
  })

  it.each<Mishap>(['request lost', 'no connection', 'busy', 'failing', 'reply garbled', 'tampered with'])(
    'is made although a packet met with: %s',
    async (mishap) => {
      const result = await quoted({ mishaps: [mishap] }, EUR)
      expect(rateOf(result)).toBe(10_000)
      expect(result.milliseconds).toBeLessThan(2_500)
    },
  )

  it.each([
    [
      'nobody answers',
      'unreachable: no connection',
      { mishaps: Array.from({ length: 30 }, (): Mishap => 'no connection') },
    ],
    ['everything is silent', 'unreachable: HTTP 503', { mishaps: Array.from({ length: 30 }, (): Mishap => 'failing') }],
    ['all is too much', 'busy: F08', { hops: [{ most: 0n }] }],
    ['nothing arrives', 'refused: nothing arrives', { hops: [{ numerator: 0n }] }],
    [
      'nothing arrives of what there is liquidity for',
      'busy: T04',
      { hops: [{ denominator: 10n ** 12n }], mishaps: Array.from({ length: 2 }, (): Mishap => 'no liquidity') },
    ],
  ])('is refused within its time where %s', async (_, detail, terms: SceneTerms) => {
    const { quote, milliseconds } = await quoted(terms)
    expect(quote).toMatchObject({ ok: false, reason: 'unreachable', detail })
    expect(milliseconds).toBeLessThanOrEqual(2_500)
  })

  it('is refused within its time also where only the second test gets no answer', async () => {
    const { receiver, clock } = await senderScene()
    let count = 0
    const send = async () => {
      if (++count > 1) return new Promise<never>(() => {})
      await clock.sleep(2_000)
      return inHttp(reject('T00'))
    }
    const started = clock.now()
    let refusedAt: number | undefined
    const quoting = senderWorld({ details: receiver.details, send, clock })
      .quote(EUR, EUR)
      .finally(() => {
        refusedAt = clock.now()
      })
    while (count < 2) await turns(1)
    clock.advance(started + 2_499 - clock.now())
    await turns(20)
    expect(refusedAt).toBeUndefined()
    clock.advance(1)
    await turns(20)
    expect(refusedAt).toBe(started + 2_500)
    expect(await quoting).toMatchObject({ ok: false, reason: 'unreachable' })
  })

  it('asks after longer and longer pauses where nobody answers', async () => {
    const { count } = await quoted({ mishaps: Array.from({ length: 30 }, (): Mishap => 'no connection') })
    // After 0, 50, 150, 350, 750 and 1,550 milliseconds.
    expect(count).toBe(6)
  })

  it('is refused with the third test whose refusal is final', async () => {
    const { quote, count } = await quoted({ mishaps: Array.from({ length: 30 }, (): Mishap => 'payment forgotten') })
    expect(quote).toEqual({ ok: false, reason: 'unreachable', detail: 'refused: F02' })
    expect(count).toBe(3)
  })

  it('tells the host which account leads nowhere', async () => {
    const { world } = await quoted({ mishaps: Array.from({ length: 30 }, (): Mishap => 'no connection') })
    expect(world.events).toMatchObject([{ type: 'rail_unavailable', railAccount: ACCOUNT, reason: 'unreachable' }])
  })

  it('is refused at once where the peer does not take the token, and the host is told', async () => {
    const { world, quote, count } = await quoted({ mishaps: ['token refused'] })
    expect(quote).toEqual({ ok: false, reason: 'unreachable', detail: 'unauthorized: HTTP 401' })
    expect(count).toBe(1)
    expect(world.events).toMatchObject([{ type: 'rail_unavailable', railAccount: ACCOUNT, reason: 'unauthorized' }])
  })

  it.each<Mishap>(['refused on the way', 'no liquidity', 'too large', 'payment forgotten'])(
    'does not blame the peer for what others answer behind it: %s',
    async (mishap) => {
      const { world, quote } = await quoted({ mishaps: Array.from({ length: 30 }, () => mishap) })
      expect(quote).toMatchObject({ ok: false, reason: 'unreachable' })
      expect(world.events).toEqual([])
    },
  )

  it('asks somebody no more for whom everything is a little too much', async () => {
    const { quote, count } = await quoted({ mishaps: Array.from({ length: 30 }, (): Mishap => 'a little too large') })
    expect(quote).toEqual({ ok: false, reason: 'unreachable', detail: 'busy: F08' })
    expect(count).toBeLessThan(10)
  })

  it('is made within its time where a peer far away has liquidity for little', async () => {
    const { receiver, path, clock } = await senderScene()
    const tried: bigint[] = []
    const send: typeof path.send = async (request) => {
      await clock.sleep(280)
      const amount = packetAmount(request.bytes)
      tried.push(amount)
      return amount > 50_000n ? inHttp(reject('T04')) : path.send(request)
    }
    const quote = await senderWorld({ details: receiver.details, send, clock }).quote(EUR, EUR)
    expect(quote.ok && quote.rate.sent === quote.rate.received).toBe(true)
    const parts = [1n, 1n, 16n, 4_096n, 4_096n * 65_536n]
    expect(tried).toEqual(parts.map((part) => 10n ** 12n / part))
  })

  it('is refused at once where nobody leads there, or by an address that is none', async () => {
    const lonely = await quoted({ peer: { isDefault: false } })
    expect(lonely).toMatchObject({
      quote: { ok: false, reason: 'unreachable', detail: "no peer for this address, or it is this server's own" },
      count: 0,
    })
    const scene = await senderScene()
    for (const change of [{ ilpAddress: 'nowhere' }, { ilpAddress: 'peer.config' }, { sharedSecret: 'short' }]) {
      const quote = await scene.world.quote(EUR, USD, { ...scene.receiver.details, ...change })
      expect(quote).toEqual({ ok: false, reason: 'unreachable', detail: 'its details are not valid' })
    }
    expect(scene.path.sent).toEqual([])
  })

  it('leaves nothing that a payment could be mixed up with', async () => {
    const { world, order, receiver, path } = await quoted({ isIdempotent: true }, EUR)
    await world.quote(EUR, EUR)
    expect(new Set(path.sent.map(({ data }) => JSON.stringify([...data]))).size).toBe(path.sent.length)
    expect(receiver.total()).toBe(0n)
    expect(await world.finish(order(100n, 100n))).toMatchObject({ outcome: 'delivered' })
    expect(receiver.total()).toBe(100n)
  })
})
