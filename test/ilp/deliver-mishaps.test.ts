import type { DeliveryResult } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import type { Mishap } from './sender-path.ts'
import { delivered, senderScene } from './sender-scene.ts'
import { senderWorld } from './sender-world.ts'

describe('a packet', () => {
  const LOST: readonly Mishap[] = [
    'request lost',
    'reply lost',
    'failing',
    'failing afterwards',
    'reply garbled',
    'fulfillment made up',
  ]
  const SILENT: readonly Mishap[] = ['silence', 'reply silent', 'fulfillment garbled', 'fulfillment made up', 'slow']
  const HARMLESS: readonly Mishap[] = ['no connection', 'busy', 'no liquidity', 'too large', 'refused on the way']

  it.each([...LOST, ...SILENT])('that is asked about is decided in the end: %s', async (mishap) => {
    const { world, order, receiver } = await senderScene({
      isIdempotent: true,
      mishaps: [mishap],
      peer: { maxPacketAmount: 400n },
    })
    expect(await world.finish(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
    expect([...receiver.taken.values()].map(({ times }) => times)).toEqual([1, 1, 1])
    expect(receiver.total()).toBe(1000n)
  })

  it.each(LOST)('that cannot be asked about stays unknown, and nothing more leaves: %s', async (mishap) => {
    const { world, order, clock, path } = await senderScene({ mishaps: [mishap], peer: { maxPacketAmount: 40n } })
    const before = clock.now()
    const first = await world.deliver(order(1000n, 1000n))
    expect(first).toEqual({ outcome: 'later', reason: 'in_flight' })
    const left = path.sent.length
    const result: DeliveryResult = await world.finish(order(1000n, 1000n))
    expect(result).toMatchObject({ outcome: 'unknown', progress: { inFlight: { sent: 40n, received: 40n } } })
    expect(clock.now() - before).toBeGreaterThanOrEqual(40_000)
    expect(path.sent).toHaveLength(left)
    expect(left).toBeLessThan(17)
  })

  it.each([...HARMLESS, 'tampered with'] as const)(
    'that was certainly not taken is made up for: %s',
    async (mishap) => {
      const { world, order, receiver, clock } = await senderScene({
        mishaps: [mishap],
        peer: { maxPacketAmount: 400n },
      })
      const before = clock.now()
      expect(await world.deliver(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
      expect(clock.now() - before).toBeLessThan(1000)
      expect(receiver.total()).toBe(1000n)
    },
  )

  it('that comes long after it was asked about again is the same packet', async () => {
    const { world, order, receiver, path } = await senderScene({ isIdempotent: true, mishaps: ['far too late'] })
    expect(await world.finish(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
    await path.settled()
    expect(path.sent.length).toBeGreaterThan(1)
    expect(receiver.total()).toBe(1000n)
  })

  it('that somebody on the way refuses after its reply was lost is asked about until its receiver answers', async () => {
    const mishaps = ['reply lost', 'refused on the way', 'no liquidity', 'busy', 'no connection'] as const
    const { world, order, receiver } = await senderScene({ isIdempotent: true, mishaps })
    expect(await world.finish(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
    expect(receiver.total()).toBe(1000n)
  })

  it.each(['busy', 'reply lost'] as const)(
    'waits for no clock that was set back, but for a later call: %s',
    async (mishap) => {
      const scene = await senderScene({ isIdempotent: true, mishaps: [mishap] })
      const { receiver, path, clock, order } = scene
      let isSetBack = false
      const sleep: typeof clock.sleep = (milliseconds, signal) => {
        if (signal === undefined && !isSetBack) clock.advance(-3 * 3600 * 1000)
        isSetBack ||= signal === undefined
        return clock.sleep(milliseconds, signal)
      }
      const { details } = receiver
      const peer = { isIdempotent: true }
      const world = senderWorld({ details, send: path.send, clock: { ...clock, sleep }, peer })
      const before = clock.now()
      expect(await world.deliver(order(1000n, 1000n))).toEqual({ outcome: 'later', reason: 'no_progress' })
      expect(clock.now()).toBeLessThan(before)
      expect(await world.finish(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
      expect(receiver.total()).toBe(1000n)
    },
  )

  it('of one payment is never that of another to the same receiver', async () => {
    const { world, order, receiver, path, clock, read } = await senderScene({ isIdempotent: true })
    const other = senderWorld({ details: receiver.details, send: path.send, clock })
    const alike = senderWorld({ details: receiver.details, send: path.send, clock })
    await world.deliver(order(1000n, 1000n))
    await other.deliver(order(1000n, 1000n, { id: 'ffffffffffffffffffffffffffffffff' }))
    await alike.deliver(order(1000n, 1000n, { id: '0123456789aaaaaaaaaaaaaaaaaaaaaa' }))
    expect(receiver.total()).toBe(3000n)
    const sequences = await Promise.all(path.sent.map(async (prepare) => (await read(prepare))?.sequence))
    expect(new Set(sequences).size).toBe(2)
  })
})
