import type { DeliveryResult } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { readProgress } from '../../adapters/ilp/deliver-notes.ts'
import { turn, turns } from '../support/turns.ts'
import type { Mishap } from './sender-path.ts'
import { NOTHING, senderScene } from './sender-scene.ts'
import { senderWorld } from './sender-world.ts'

const HOPS = [{ most: 300n }, { numerator: 92n, denominator: 100n }]
/** Dies there, and once more a little later. */
type Deaths = readonly [first: number, second?: number]

/** A payment over a way that has to be found out, by processes that die where they are told; then by one that lives. */
async function playDeaths(isIdempotent: boolean, isFixedReceive: boolean, deaths: Deaths, pauseMilliseconds: number) {
  const scene = await senderScene({ isIdempotent, hops: HOPS })
  const { world, order, clock, path, receiver } = scene
  const delivery = order(700n, 637n, { isFixedReceive })
  let died = 0
  for (const diesAt of deaths) {
    const result = await world.deliver(delivery, diesAt)
    if (result !== undefined) break
    died += 1
    clock.advance(pauseMilliseconds)
  }
  const result = died === 0 ? undefined : await world.finish(delivery)
  const parted = [...receiver.taken.keys()].reduce((sum, condition) => sum + (path.amounts.get(condition) ?? 0n), 0n)
  return { ...scene, died, result, parted }
}

function expectDefinite(result: DeliveryResult | undefined, parted: bigint, total: bigint): void {
  expect(result).toMatchObject({ outcome: 'delivered', progress: { sent: parted, received: total, inFlight: NOTHING } })
}

describe.each([
  ['at once', 1],
  ['before what it had sent expires', 12_000],
  ['long after that', 3_600_000],
] as const)('a process that died, and another that goes on %s', (_, pause) => {
  it.each([true, false])(
    'with a peer that can be asked, brings the payment to its end (fixed receive: %s)',
    async (isFixedReceive) => {
      let diesAt = 1
      for (; ; diesAt++) {
        const { died, result, parted, receiver } = await playDeaths(true, isFixedReceive, [diesAt], pause)
        if (died === 0) break
        expectDefinite(result, parted, receiver.total())
        expect([...receiver.taken.values()].every(({ times }) => times === 1)).toBe(true)
        if (!isFixedReceive) expect(parted).toBe(700n)
      }
      expect(diesAt).toBeGreaterThan(12)
    },
  )

  it('with a peer that cannot be asked, sends nothing twice and says what it does not know', async () => {
    let [diesAt, unknown] = [1, 0]
    for (; ; diesAt++) {
      const { died, result, parted, receiver, world } = await playDeaths(false, false, [diesAt], pause)
      if (died === 0) break
      expect([...receiver.taken.values()].every(({ times }) => times === 1)).toBe(true)
      if (result?.outcome === 'unknown') {
        unknown += 1
        const { sent, received, inFlight } = result.progress
        expect(parted).toBeGreaterThanOrEqual(sent)
        expect(parted).toBeLessThanOrEqual(sent + inFlight.sent)
        expect(receiver.total()).toBeGreaterThanOrEqual(received)
      } else expectDefinite(result, parted, receiver.total())
      expect(world.progress().sent + world.progress().inFlight.sent).toBeLessThanOrEqual(700n)
    }
    expect(unknown).toBeGreaterThan(6)
  })
})

describe('several processes', () => {
  it('that die one after the other bring a payment to its end', async () => {
    for (let diesAt = 3; diesAt < 13; diesAt += 4) {
      for (let again = 1; again < 10; again += 3) {
        const { result, parted, receiver, died } = await playDeaths(true, false, [diesAt, again], 2_000)
        if (died > 0) expectDefinite(result, parted, receiver.total())
        expect(receiver.total()).toBe(receiver.taken.size === 0 ? 0n : 644n)
      }
    }
  })

  it('that deliver at once: only one gets anything recorded, and only that one sends', async () => {
    const { world, order, receiver, path } = await senderScene({ isIdempotent: true, peer: { maxPacketAmount: 100n } })
    const delivery = order(1000n, 1000n)
    const results = await Promise.allSettled([world.deliver(delivery), world.deliver(delivery)])
    expect(results).toMatchObject([
      { status: 'fulfilled', value: { outcome: 'delivered' } },
      { status: 'rejected', reason: { message: 'another worker has this payment' } },
    ])
    expect(path.sent).toHaveLength(10)
    expect(receiver.total()).toBe(1000n)
  })

  it('that lost a payment half way let what is in the air come back, and send nothing more', async () => {
    const { world, order, receiver, path } = await senderScene({ isIdempotent: true, peer: { maxPacketAmount: 10n } })
    const delivery = order(1000n, 1000n)
    const lost = world.deliver(delivery)
    while (path.sent.length < 30) await turn()
    const winner = world.deliver(delivery)
    const results = await Promise.allSettled([lost, winner])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await world.finish(delivery)).toMatchObject({ outcome: 'delivered', progress: { sent: 1000n } })
    expect(receiver.total()).toBe(1000n)
  })
})

describe('what is written down', () => {
  it('says of what is in flight how much left, and the least that arrives of it', async () => {
    const { world, order } = await senderScene({ hops: HOPS.slice(1) })
    expect(await world.deliver(order(1000n, 910n))).toMatchObject({ outcome: 'delivered' })
    expect(world.records[0]?.inFlight).toEqual({ sent: 1000n, received: 910n })
  })

  it('holds what arrived by the receiver’s word, so that it has all also by the words of two calls', async () => {
    let [percent, settled] = [100n, 0n]
    const changing = {
      get numerator() {
        return 9n * percent
      },
      denominator: 1000n,
    }
    const { world, order, receiver } = await senderScene({
      ...{ isIdempotent: true, hops: [changing] },
      peer: { maxPacketAmount: 5_000n, limits: { sending: 100_000n }, settled: () => settled },
      receiver: {
        refuse() {
          percent = 110n
          return receiver.total() >= 100_000n ? { code: 'F99' } : undefined
        },
      },
    })
    const delivery = order(112_234n, 100_000n, { isFixedReceive: true })
    expect(await world.deliver(delivery)).toEqual({ outcome: 'later', reason: 'sending_limit' })
    expect(receiver.total()).toBeLessThan(100_000n)
    settled = -1_000_000n
    expect(await world.finish(delivery)).toMatchObject({ outcome: 'delivered' })
  })

  it('is written every five seconds while packets are in the air, even if a limit has just left no room for more', async () => {
    const { clock, receiver, path, order } = await senderScene()
    const [begunAt, unaborted] = [clock.now(), new AbortController().signal]
    let [left, asked] = [0, 0]
    // One comes back shortly before five seconds, the others long after.
    const send: typeof path.send = async (request) => {
      await clock.sleep(++left === 1 ? 4_900 : 9_000, unaborted)
      return path.send(request)
    }
    const settled = () => {
      asked++
      return 0n
    }
    const written: number[] = []
    const keep = async (): Promise<void> => {
      written.push(clock.now() - begunAt)
    }
    const peer = { maxPacketAmount: 100n, limits: { sending: 500n }, settled }
    const world = senderWorld({ details: receiver.details, send, clock, keep, peer })
    const delivering = world.deliver(order(1000n, 1000n))
    while (left < 5) await turn()
    clock.advance(4_900)
    while (asked < 2) await turn()
    await turns(20)
    clock.advance(100)
    await turns(20)
    expect(written).toEqual([0, 5_000])
    clock.advance(4_000)
    expect(await delivering).toEqual({ outcome: 'later', reason: 'sending_limit' })
  })

  it('of packets that cannot be asked about is unknown once the last of them has expired, and a margin', async () => {
    const { world, order, clock } = await senderScene()
    const packets = [1_000, 31_000].map((life, at) => [`${at}`, '100', '100', `${clock.now() + life}`])
    const inFlight = { sent: 200n, received: 200n }
    const left = { ...NOTHING, inFlight, notes: JSON.stringify({ next: '2', packets }) }
    clock.advance(40_999)
    const waiting = { outcome: 'later', reason: 'in_flight' }
    expect(await world.deliverFrom(left, order(1000n, 1000n))).toEqual(waiting)
    clock.advance(1)
    const unknown = { outcome: 'unknown', progress: { ...NOTHING, inFlight } }
    expect(await world.deliverFrom(left, order(1000n, 1000n))).toMatchObject(unknown)
  })

  it('of packets that can be asked about is asked about for a day after they have expired, and unknown then', async () => {
    const mishaps = Array.from({ length: 200 }, (): Mishap => 'no connection')
    const { world, order, clock } = await senderScene({ isIdempotent: true, mishaps })
    const inFlight = { sent: 100n, received: 100n }
    const packets = [['1', '100', '100', `${clock.now()}`]]
    const left = { ...NOTHING, inFlight, notes: JSON.stringify({ next: '2', packets }) }
    // A call lasts less than a minute.
    clock.advance(24 * 3600 * 1000 + 10_000 - 60_000)
    expect(await world.deliverFrom(left, order(1000n, 1000n))).toMatchObject({ outcome: 'later' })
    clock.advance(60_000)
    const unknown = { outcome: 'unknown', progress: { ...NOTHING, inFlight } }
    expect(await world.deliverFrom(left, order(1000n, 1000n))).toMatchObject(unknown)
  })

  it('never uses a sequence twice, however often it is gone on with', async () => {
    const { world, order, path, read } = await senderScene({ isIdempotent: true, hops: [{ most: 100n }] })
    for (const diesAt of [9, 7, 5, 11]) {
      await world.deliver(order(1400n, 1400n), diesAt)
      world.clock.advance(1_000)
    }
    await world.finish(order(1400n, 1400n))
    const conditions = new Map<bigint, Set<string>>()
    for (const prepare of path.sent) {
      const packet = await read(prepare)
      if (packet === undefined) continue
      const known = conditions.get(packet.sequence) ?? new Set()
      conditions.set(packet.sequence, known.add(JSON.stringify([...prepare.data])))
    }
    expect(conditions.size).toBeGreaterThan(14)
    expect([...conditions.values()].every(({ size }) => size === 1)).toBe(true)
  })

  it('is refused where it is not what was written', async () => {
    const { world, order } = await senderScene()
    const garbled = { sent: 0n, received: 0n, inFlight: { sent: 1n, received: 1n }, notes: '{"next":1}' }
    await expect(world.deliverFrom(garbled, order(1000n, 1000n))).rejects.toThrow('notes')
    const packet = ['7', '5', '4', '9']
    const whole = { next: '7', packets: [packet], rate: ['1', '1'], said: '4' }
    const damaged = ['', ' ', '0x10', '-1', 'many'].flatMap((text) => [
      { ...whole, next: text },
      { ...whole, said: text },
      ...[0, 1].map((at) => ({ ...whole, rate: whole.rate.with(at, text) })),
      ...packet.map((_, at) => ({ ...whole, packets: [packet.with(at, text)] })),
    ])
    const readsFrom = (notes: unknown): unknown =>
      readProgress('0'.repeat(32), { ...garbled, notes: JSON.stringify(notes) })
    expect(readsFrom(whole)).toMatchObject({ nextSequence: 7n, said: 4n, packets: [{ amount: 5n, expiresAt: 9 }] })
    for (const notes of [...damaged, { ...whole, next: 7 }, { ...whole, said: 4 }])
      expect(() => readsFrom(notes), JSON.stringify(notes)).toThrow(TypeError)
  })
})
