import fc from 'fast-check'
import type { DeliveryResult } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { smaller } from '../../adapters/ilp/send-money-amounts.ts'
import { arrivingFor, ceilDivide, leavingFor } from '../../src/protocol/price.ts'
import { checkProperty, PROPERTY_MILLISECONDS } from '../properties/property-parameters.ts'
import type { Hop, Mishap } from './sender-path.ts'
import { NOTHING, type SceneTerms, senderScene } from './sender-scene.ts'
import { EUR, USD } from './sender-world.ts'

const MISHAPS: readonly Mishap[] = [
  'request lost',
  'reply lost',
  'silence',
  'reply silent',
  'far too late',
  'duplicated',
  'no connection',
  'busy',
  'failing',
  'failing afterwards',
  'reply garbled',
  'fulfillment garbled',
  'fulfillment made up',
  'slow',
  'no liquidity',
  'too large',
  'refused on the way',
  'tampered with',
  'words garbled',
]
/** What cannot be made good where a packet cannot be asked about again: it counts twice, or nobody says how much arrived. */
const FOR_GOOD: readonly (Mishap | undefined)[] = ['duplicated', 'words garbled']
/** What takes so long that nobody asks once more how much arrived. */
const LONG: readonly Mishap[] = ['silence', 'reply silent', 'far too late', 'slow']
const isWordLost = (mishaps: Fate['mishaps']): boolean =>
  mishaps.includes('words garbled') && LONG.some((mishap) => mishaps.includes(mishap))

/** A payment, and a way of hops that take so much at once, or more. */
const orderOver = (smallest: bigint) =>
  fc.record({
    isIdempotent: fc.boolean(),
    isFixedReceive: fc.boolean(),
    hops: fc.array(hopWith(smallest), { maxLength: 2 }),
    amount: fc.bigInt(1n, 6_000n),
    maxPacketAmount: fc.bigInt(smallest, 5_000n),
  })
type Order = ReturnType<typeof orderOver> extends fc.Arbitrary<infer T> ? T : never

const hopWith = (smallest: bigint): fc.Arbitrary<Hop> =>
  fc.record({
    numerator: fc.bigInt(1n, 300n),
    denominator: fc.bigInt(50n, 150n),
    most: fc.oneof(fc.constant(10n ** 12n), fc.bigInt(smallest, 5_000n)),
  })

/** What befalls it: the first packets, and the first processes. */
const fate = fc.record({
  mishaps: fc.array(fc.option(fc.constantFrom(...MISHAPS), { nil: undefined, freq: 3 }), { maxLength: 30 }),
  deaths: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 4 }),
})
type Fate = typeof fate extends fc.Arbitrary<infer T> ? T : never

/** Plays a payment to its end; `undefined` where there is nothing to be paid over such a way. */
async function play(terms: Order, { mishaps, deaths }: Fate) {
  const { isIdempotent, isFixedReceive, hops, amount, maxPacketAmount } = terms
  const whichHappen: (Mishap | undefined)[] = []
  const setting: SceneTerms = { isIdempotent, hops, mishaps: whichHappen, peer: { maxPacketAmount, isIdempotent } }
  const scene = await senderScene(setting)
  const { world, path, receiver } = scene
  const quote = await world.quote(EUR, USD)
  if (!quote.ok) return undefined
  const sent = isFixedReceive ? leavingFor(amount, quote.rate) : amount
  const received = isFixedReceive ? amount : arrivingFor(amount, quote.rate)
  if (received === 0n) return undefined
  const known = isIdempotent ? mishaps : mishaps.filter((mishap) => !FOR_GOOD.includes(mishap))
  whichHappen.push(...path.sent.map(() => undefined), ...known)
  const delivery = scene.order(sent, received, { isFixedReceive, receiveAmount: { ...USD, value: received } })
  const result = await untilDecided(scene, delivery, deaths)
  await path.settled()
  const parted = [...receiver.taken.keys()].reduce((sum, condition) => sum + (path.amounts.get(condition) ?? 0n), 0n)
  return { ...scene, result, parted, sent, received }
}

const arrivingOver = (hops: readonly Hop[], amount: bigint): bigint =>
  hops.reduce((left, { numerator = 1n, denominator = 1n }) => (left * numerator) / denominator, amount)

type Scene = Awaited<ReturnType<typeof senderScene>>

async function untilDecided(
  { world }: Scene,
  delivery: Parameters<Scene['world']['deliver']>[0],
  deaths: readonly number[],
): Promise<Exclude<DeliveryResult, { readonly outcome: 'later' | 'pending' }>> {
  for (let call = 0; call < 100; call++) {
    const result = await world.deliver(delivery, deaths[call])
    if (result?.outcome === 'pending') throw new Error('the host has nothing to decide here')
    if (result !== undefined && result.outcome !== 'later') return result
    world.clock.advance(result === undefined ? 1_000 : 4_000)
  }
  throw new Error('no decision after 100 calls')
}

/** Of one packet every hop rounds away less than a unit, of which those after it make what they make of one. */
const roundedOver = (hops: readonly Hop[]): bigint =>
  hops.reduce((lost, { numerator = 1n, denominator = 1n }) => ceilDivide(lost * numerator, denominator) + 1n, 0n)

describe('whatever befalls packets and processes', () => {
  it(
    'nothing is paid twice, and what the sender counts is what the receiver counts',
    async () => {
      const outcomes = new Set<string>()
      await checkProperty(80, fc.tuple(orderOver(40n), fate), async ([terms, befalls]) => {
        const played = await play(terms, befalls)
        if (played === undefined) return
        const { result, parted, receiver, received } = played
        const { progress } = result
        outcomes.add(result.outcome)
        const taken = [...receiver.taken.values()]
        expect(taken.every(({ times }) => times === 1)).toBe(true)
        expect(taken.every((packet) => packet.received >= packet.least)).toBe(true)
        expect(progress.received).toBeLessThanOrEqual(receiver.total())
        if (result.outcome !== 'unknown') {
          // Where enough is enough, no word of the receiver is taken for more than the way brings, nor for less but for what
          // hops round, and for what is more than enough.
          const rounded = BigInt(taken.length) * roundedOver(terms.hops)
          const least = taken.reduce((sum, packet) => sum + packet.least, 0n)
          const all = terms.isFixedReceive ? smaller(receiver.total() - rounded, received) : receiver.total()
          const heard = isWordLost(befalls.mishaps) ? least : all
          expect(progress.received).toBeGreaterThanOrEqual(heard)
        }
        if (result.outcome !== 'unknown') expect(progress).toMatchObject({ sent: parted, inFlight: NOTHING })
        else {
          expect(terms.isIdempotent).toBe(false)
          expect(parted).toBeGreaterThanOrEqual(progress.sent)
          expect(parted).toBeLessThanOrEqual(progress.sent + progress.inFlight.sent)
        }
        if (result.outcome === 'delivered') expect(receiver.total()).toBeGreaterThanOrEqual(received)
      })
      expect([...outcomes]).toEqual(expect.arrayContaining(['delivered', 'unknown']))
    },
    PROPERTY_MILLISECONDS,
  )

  it(
    'a way on which nothing befalls them carries what was quoted, however it rounds',
    async () => {
      // Below that, what several hops round is more than the slippage.
      const enough = 1_000n
      await checkProperty(100, orderOver(200n), async (terms) => {
        const played = await play(terms, { mishaps: [], deaths: [] })
        // Nor is one paid in thousands of packets.
        if (played === undefined || played.received < enough || played.sent > 100_000n) return
        const { result, receiver, received, sent, parted } = played
        expect(result.outcome).toBe('delivered')
        expect(receiver.total()).toBeGreaterThanOrEqual(received)
        expect(parted).toBeLessThanOrEqual(sent)
        // What does not leave is worth nothing where it would arrive.
        if (!terms.isFixedReceive) expect(arrivingOver(terms.hops, sent - parted)).toBe(0n)
      })
    },
    PROPERTY_MILLISECONDS,
  )
})

describe('the packets of a payment', () => {
  it('are made again octet for octet, and by nobody else', async () => {
    const { world, path, order: orderOf, receiver } = await senderScene({ isIdempotent: true, mishaps: ['reply lost'] })
    await world.finish(orderOf(700n, 700n))
    const [first, second] = path.sent
    expect(second).toEqual(first)
    expect(receiver.taken.size).toBe(1)
  })
})
