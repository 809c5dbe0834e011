import fc from 'fast-check'
import type { DeliveryResult } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { leavingFor } from '../../src/protocol/price.ts'
import { checkProperty, PROPERTY_MILLISECONDS } from '../properties/property-parameters.ts'
import { turns } from '../support/turns.ts'
import { type Mishap, testPath } from './sender-path.ts'
import { FIXED_RECEIVE, NOTHING, type SceneTerms, senderScene } from './sender-scene.ts'
import { senderWorld } from './sender-world.ts'

/** From ten-thousandths of one asset to hundredths of another: of little next to nothing arrives. */
const HOPS = [{ numerator: 10_871n, denominator: 1_000_000n }]
const WANTED = 5_000n
/** A packet that only asks lives no longer. */
const TEST_MILLISECONDS = 10_000
/** What a quote at that rate makes of it, once a hundredth is kept back. */
const mostFor = (wanted: bigint): bigint => leavingFor(wanted, { sent: 100_000_000n, received: 10_871n * 99n })
/** What leaves for it where nothing is wasted, in packets of 200,000. */
const NEEDED = 459_982n

/** Nobody lies, keeps anything, or refuses for good. */
const OF_ALL: readonly Mishap[] = [
  'request lost',
  'reply lost',
  'failing afterwards',
  'reply garbled',
  'duplicated',
  'no connection',
  'busy',
  'no liquidity',
  'refused on the way',
]
const OF_MONEY: readonly Mishap[] = [...OF_ALL, 'fulfillment garbled', 'words garbled']
const befalling = (mishaps: readonly Mishap[]) =>
  fc.array(fc.option(fc.constantFrom(...mishaps), { nil: undefined, freq: 3 }), { maxLength: 40 })

/** A payment to somebody who takes what was asked for, and not a unit more in one who insists on it. */
async function scene(terms: SceneTerms = {}, wanted = WANTED) {
  const refuse = ({ amount: least }: { readonly amount: bigint }) =>
    least > wanted - played.receiver.total() ? { code: 'F99' } : undefined
  const played = await senderScene({
    ...{ isIdempotent: true, hops: HOPS, receiver: { refuse }, peer: { maxPacketAmount: 200_000n } },
    ...terms,
  })
  return { ...played, delivery: played.order(mostFor(wanted), wanted, FIXED_RECEIVE) }
}

describe('a payment that is to deliver an amount, over an exchange', () => {
  it('counts what arrives, and sends what that takes', async () => {
    const { world, delivery, receiver } = await scene()
    const result = await world.deliver(delivery)
    expect(result).toMatchObject({ outcome: 'delivered', progress: { sent: NEEDED, received: WANTED } })
    expect(receiver.total()).toBe(WANTED)
  })

  it.each([2n, 1000n, 100_000n])(
    'does not begin where tests fare %d times as well as money, and begun is neither cut into crumbs nor ended early',
    async (times) => {
      const { receiver, ...played } = await scene()
      let [fare, settled] = [times, 0n]
      const path = testPath(
        {
          answer: (prepare, amount, now) =>
            receiver.answer(prepare, prepare.expiresAt - now <= TEST_MILLISECONDS ? amount * fare : amount, now),
        },
        played.clock,
        HOPS,
      )
      const world = senderWorld({
        details: receiver.details,
        send: path.send,
        clock: played.clock,
        peer: {
          ...{ isIdempotent: true, maxPacketAmount: 200_000n },
          ...{ limits: { sending: 200_000n }, settled: () => settled },
        },
      })
      const unbegun = { outcome: 'ended', reason: 'rate_moved', progress: NOTHING }
      expect(await world.deliver(played.delivery)).toMatchObject(unbegun)
      expect(receiver.total()).toBe(0n)
      fare = 1n
      expect(await world.deliver(played.delivery)).toMatchObject({ outcome: 'later' })
      ;[fare, settled] = [times, -1_000_000n]
      expect(await world.deliver(played.delivery)).toMatchObject({ outcome: 'delivered' })
      expect(receiver.total()).toBe(WANTED)
      expect(path.sent.length).toBeLessThan(30)
    },
  )

  it('goes on where tests fare too well also while all that has left is still in the air', async () => {
    const { receiver, delivery, clock } = await scene()
    let [fare, settled] = [1n, 0n]
    const answer: typeof receiver.answer = (prepare, amount, now) =>
      receiver.answer(prepare, prepare.expiresAt - now <= TEST_MILLISECONDS ? amount * fare : amount, now)
    const world = senderWorld({
      ...{ details: receiver.details, clock, send: testPath({ answer }, clock, HOPS).send },
      peer: {
        ...{ isIdempotent: true, maxPacketAmount: 200_000n },
        ...{ limits: { sending: 200_000n }, settled: () => settled },
      },
    })
    for (let diesAt = 1; world.records.length === 0; diesAt++) await world.deliver(delivery, diesAt)
    expect(world.progress()).toMatchObject({ ...NOTHING, inFlight: { sent: 200_000n } })
    ;[fare, settled] = [1000n, -1_000_000n]
    expect(await world.finish(delivery)).toMatchObject({ outcome: 'delivered' })
    expect(receiver.total()).toBe(WANTED)
  })

  it('begins where a unit more arrives than rounding left when the price was made', async () => {
    const { world, order, receiver } = await scene({
      hops: [{ numerator: 11n, denominator: 100n }],
      peer: { maxPacketAmount: 100n },
    })
    // The price says 10 of 100.
    expect(await world.deliver(order(1000n, 99n, FIXED_RECEIVE))).toMatchObject({ outcome: 'delivered' })
    expect(receiver.total()).toBe(99n)
  })

  it.each([
    ['as many units of another asset', 'USD', 101n, 1000n, 1000n, 991n],
    ['fewer units of the same asset', 'EUR', 100n, 1010n, 1000n, 1000n],
  ])('asks first what arrives also of %s', async (_, assetCode, percent, most, wanted, needed) => {
    const hops = [{ numerator: percent, denominator: 100n }]
    const { world, order, amounts } = await senderScene({ hops })
    const receiveAmount = { assetCode, assetScale: 2, value: wanted }
    const result = await world.deliver(order(most, wanted, { ...FIXED_RECEIVE, receiveAmount }))
    expect(result).toMatchObject({ outcome: 'delivered', progress: { sent: needed, received: wanted } })
    expect(amounts()).toEqual([most, needed])
  })

  it('asks with no more than is to leave, whatever the peer takes', async () => {
    const hops = [{ numerator: 92n, denominator: 100n }]
    const { world, order, amounts } = await senderScene({ hops, peer: { maxPacketAmount: 5_000n } })
    expect(await world.deliver(order(1010n, 910n, FIXED_RECEIVE))).toMatchObject({ outcome: 'delivered' })
    expect(amounts()).toEqual([1010n, 990n])
  })

  it('goes on where rounding leaves nothing of what is worth less than a unit, and its receiver takes that', async () => {
    // In the middle is an asset of which there are few units: a whole unit of the receiver would arrive but for those.
    const hops = [{ denominator: 10n }, { numerator: 11n, denominator: 100n }]
    const terms = { hops, receiver: { isCareless: true }, peer: { maxPacketAmount: 10_000n } }
    const { world, order, receiver, amounts } = await scene(terms)
    const result = await world.deliver(order(10_193n, 111n, FIXED_RECEIVE))
    expect(result).toMatchObject({ outcome: 'delivered', progress: { received: 111n, inFlight: NOTHING } })
    // The first asks; the next two leave together.
    expect(amounts()).toHaveLength(4)
    expect(amounts()).toEqual(expect.arrayContaining([10_000n, 91n, 102n]))
    expect(receiver.total()).toBe(111n)
  })

  it('goes by the rate of the price where no more arrives of what it asks with than has to', async () => {
    const { world, order, amounts } = await senderScene({ hops: [{ numerator: 9n, denominator: 10n }] })
    expect(await world.deliver(order(1000n, 900n, FIXED_RECEIVE))).toMatchObject({ outcome: 'delivered' })
    expect(amounts()).toEqual([1000n, 990n, 10n])
  })

  it.each([
    ['no connection', 'unreachable', 1],
    ['token refused', 'unauthorized', 1],
    ['refused on the way', 'R00', 0],
  ] as const)('waits where all that it asks with meets: %s', async (mishap, reason, told) => {
    const { world, delivery } = await scene({ testMishap: () => mishap })
    expect(await world.deliver(delivery)).toEqual({ outcome: 'later', reason })
    expect(world.events).toMatchObject(told === 1 ? [{ type: 'rail_unavailable', reason }] : [])
  })

  it('asks for five seconds at most', async () => {
    const { receiver, delivery, clock } = await scene()
    let isAsked = false
    const send = () => {
      isAsked = true
      return new Promise<never>(() => {})
    }
    let result: DeliveryResult | undefined
    const delivering = senderWorld({ details: receiver.details, clock, send })
      .deliver(delivery)
      .then((answer) => {
        result = answer
      })
    while (!isAsked) await turns(1)
    clock.advance(4_999)
    await turns(20)
    expect(result).toBeUndefined()
    clock.advance(1)
    await delivering
    expect(result).toEqual({ outcome: 'later', reason: 'unreachable' })
  })

  it.each([101n, 103n, 106n, 110n, 120n])(
    'has arrived where the receiver has all sooner than it could tell, at %d %% of the rate, and takes no more',
    async (better) => {
      let [percent, settled] = [100n, 0n]
      const changing = {
        get numerator() {
          return 9n * percent
        },
        denominator: 1000n,
      }
      for (const isAskedAgain of [true, false]) {
        ;[percent, settled] = [100n, 0n]
        const played = await senderScene({
          ...{ isIdempotent: true, hops: [changing] },
          peer: { maxPacketAmount: 5_000n, limits: { sending: 50_000n }, settled: () => settled },
          receiver: {
            refuse() {
              if (!isAskedAgain) percent = better
              return played.receiver.total() >= 100_000n ? { code: 'F99' } : undefined
            },
          },
        })
        if (!isAskedAgain) settled = -1_000_000n
        const delivery = played.order(
          leavingFor(100_000n, { sent: 100_000n, received: 900n * 99n }),
          100_000n,
          FIXED_RECEIVE,
        )
        if (isAskedAgain) {
          expect(await played.world.deliver(delivery)).toEqual({ outcome: 'later', reason: 'sending_limit' })
          ;[percent, settled] = [better, -1_000_000n]
        }
        expect(await played.world.finish(delivery)).toMatchObject({ outcome: 'delivered' })
        expect(played.receiver.total()).toBeGreaterThanOrEqual(100_000n)
      }
    },
  )

  it.each([1, 2, 3, 4, 5])(
    'forgets nothing of what it knows of the way where liquidity is short %d times while it asks again',
    async (times) => {
      let died = true
      for (let diesAt = 1; died; diesAt++) {
        let shortages = 0
        const testMishap = () => (shortages-- > 0 ? 'no liquidity' : undefined)
        const { world, delivery, receiver, clock } = await scene({ testMishap })
        died = (await world.deliver(delivery, diesAt)) === undefined
        if (!died) break
        shortages = times
        clock.advance(1_000)
        const result = await world.finish(delivery)
        expect(result).toMatchObject({ outcome: 'delivered', progress: { received: WANTED, inFlight: NOTHING } })
        expect(receiver.total()).toBe(WANTED)
      }
    },
  )

  it('asks for a word that got lost while it asked what arrives, so that nothing is missing in the end', async () => {
    const mishaps = [undefined, undefined, 'words garbled'] as const
    const { world, delivery, receiver, clock } = await scene({ mishaps }, 8_697n)
    // What is recorded by then has not left, and leaves in the next call beside the test.
    await world.deliver(delivery, 4)
    clock.advance(1_000)
    const result = await world.finish(delivery)
    expect(result).toMatchObject({ outcome: 'delivered', progress: { received: 8_697n, inFlight: NOTHING } })
    expect(receiver.total()).toBe(8_697n)
  })

  it('sends no more than it takes also where the rate falls while nobody is there', async () => {
    let died = true
    for (let diesAt = 1; died; diesAt++) {
      const hop = { numerator: 10_871n, denominator: 1_000_000n }
      const { world, delivery, receiver, clock } = await scene({ hops: [hop] })
      died = (await world.deliver(delivery, diesAt)) === undefined
      if (!died) break
      hop.numerator = 10_800n
      clock.advance(1_000)
      expect(await world.finish(delivery)).toMatchObject({ outcome: 'delivered' })
      expect(receiver.total()).toBe(WANTED)
    }
  })

  it('T-47 sends no more than it takes where the rate falls while nobody is there, to a receiver that would take more', async () => {
    let died = true
    for (let diesAt = 1; died; diesAt++) {
      const hop = { numerator: 10_871n, denominator: 1_000_000n }
      const mishaps: Mishap[] = []
      let settled = 0n
      const { world, delivery, receiver, path } = await scene({
        ...{ hops: [hop], receiver: {}, mishaps, testMishap: () => undefined },
        peer: { maxPacketAmount: 200_000n, limits: { sending: 400_000n }, settled: () => settled },
      })
      died = (await world.deliver(delivery, diesAt)) === undefined
      hop.numerator = 10_800n
      settled = -1_000_000n
      // What became of the two that have left is not known before more is planned.
      for (let ahead = 0; ahead < 40; ahead++) mishaps[path.sent.length + ahead] = 'reply lost'
      expect(await world.finish(delivery)).toMatchObject({ outcome: 'delivered' })
      expect(receiver.total()).toBeGreaterThanOrEqual(WANTED)
      expect(receiver.total(), `dies at ${diesAt}`).toBeLessThanOrEqual(WANTED + 1n)
    }
  })

  it('counts all that arrives also where it has asked with a small part of it, and rounding hides more of that', async () => {
    // In the middle is an asset of which there are few units: the greatest packet is whole ones, what is asked with is not.
    const hops = [{ denominator: 64n }, { numerator: 64n }]
    const shortages: (Mishap | undefined)[] = ['no liquidity', 'no liquidity']
    const testMishap = () => shortages.shift()
    const terms = { hops, testMishap, peer: { maxPacketAmount: 200_000n } }
    const { world, order, receiver } = await scene(terms, 1_000_000n)
    const result = await world.deliver(order(1_010_102n, 1_000_000n, FIXED_RECEIVE))
    expect(result).toMatchObject({ outcome: 'delivered', progress: { sent: 1_000_000n, received: 1_000_000n } })
    expect(receiver.total()).toBe(1_000_000n)
  })

  it(
    'is completed to the unit, whatever honest networks and processes do',
    async () => {
      const fate = fc.record({
        mishaps: befalling(OF_MONEY),
        tests: befalling(OF_ALL),
        deaths: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 3 }),
        wanted: fc.bigInt(40n, 12_000n),
      })
      await checkProperty(60, fate, async ({ mishaps, tests, deaths, wanted }) => {
        const following = tests.values()
        const testMishap = () => following.next().value
        const { world, delivery, receiver, clock } = await scene({ mishaps, testMishap }, wanted)
        for (const diesAt of deaths) {
          await world.deliver(delivery, diesAt)
          clock.advance(1_000)
        }
        const result = await world.finish(delivery, 200)
        expect(result).toMatchObject({ outcome: 'delivered', progress: { inFlight: NOTHING } })
        expect(receiver.total()).toBeGreaterThanOrEqual(wanted)
        expect(receiver.total()).toBeLessThanOrEqual(wanted + 1n)
      })
    },
    PROPERTY_MILLISECONDS,
  )

  it('is not ended by a lack of liquidity while it asks', async () => {
    const mishaps: readonly Mishap[] = ['no liquidity']
    const { world, order } = await scene({ mishaps })
    const result = await world.finish(order(90_000n, 968n, FIXED_RECEIVE))
    expect(result).toMatchObject({ outcome: 'delivered', progress: { inFlight: NOTHING } })
  })
})
