import type { DeliveryResult } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { turns } from '../support/turns.ts'
import { delivered, NOTHING, senderScene } from './sender-scene.ts'
import { senderWorld } from './sender-world.ts'

describe('a limit', () => {
  const limited = (sending: bigint, settled?: () => bigint | Promise<bigint>) =>
    senderScene({ peer: { maxPacketAmount: 100n, limits: { sending }, ...(settled && { settled }) } })

  it('stops before anything leaves that would exceed it, and the host is told', async () => {
    const { world, order, amounts } = await limited(6n)
    expect(await world.deliver(order(1000n, 1000n))).toEqual({ outcome: 'later', reason: 'sending_limit' })
    expect(amounts()).toEqual([])
    expect(world.records).toEqual([])
    expect(world.events).toMatchObject([{ type: 'rail_unavailable', reason: 'sending_limit' }])
  })

  it.each([
    ['a payment that is larger than it, in several packets', 9_999n, undefined, 10_000n],
    ['packets that are larger than its room', 4_999n, 5_000n, 9_998n],
  ])('lets leave, as far as it has room, %s', async (_, sending, maxPacketAmount, amount) => {
    const { world, order, receiver } = await senderScene({
      peer: { limits: { sending }, ...(maxPacketAmount && { maxPacketAmount }) },
    })
    expect(await world.deliver(order(amount, amount))).toEqual({ outcome: 'later', reason: 'sending_limit' })
    // Less room than a sixteenth of the greatest packet is not used.
    expect(sending - receiver.total()).toBeLessThan((maxPacketAmount ?? amount) / 16n + 1n)
    expect(receiver.total()).toBeLessThanOrEqual(sending)
  })

  it('that packets pass together lets those leave that it has room for', async () => {
    const { world, order, receiver } = await limited(999n)
    expect(await world.deliver(order(1000n, 1000n))).toEqual({ outcome: 'later', reason: 'sending_limit' })
    // Packets become smaller, down to a sixteenth.
    expect(world.progress()).toMatchObject({ sent: receiver.total(), received: receiver.total(), inFlight: NOTHING })
    expect(receiver.total()).toBeGreaterThan(992n)
    expect(receiver.total()).toBeLessThanOrEqual(999n)
  })

  it('that is not known keeps what became of packets, and is asked for again', async () => {
    let [asked, isAway] = [0, true]
    const settled = () => {
      if (isAway && ++asked === 2) throw new Error('the books are away')
      return 0n
    }
    const { world, order, receiver } = await limited(9000n, settled)
    const delivery = order(4000n, 4000n)
    expect(await world.deliver(delivery)).toEqual({ outcome: 'later', reason: 'settled_unknown' })
    expect(receiver.total()).toBe(1600n)
    expect(world.progress()).toMatchObject({ sent: 1600n, received: 1600n, inFlight: NOTHING })
    expect(world.events).toMatchObject([{ type: 'fault', cause: { message: 'the books are away' } }])
    isAway = false
    expect(await world.finish(delivery)).toMatchObject(delivered(4000n, 4000n))
  })

  it('that is not known ends no call before what became of packets is kept', async () => {
    let asked = 0
    const settled = () => {
      if (++asked === 2) throw new Error('the books are away')
      return 0n
    }
    const { receiver, path, clock, order } = await senderScene()
    const keep = async (index: number): Promise<void> => {
      if (index === 1) throw new Error('the storage is away')
    }
    const world = senderWorld({
      ...{ details: receiver.details, send: path.send, clock, keep },
      peer: { maxPacketAmount: 100n, limits: { sending: 9000n }, settled },
    })
    await expect(world.deliver(order(4000n, 4000n))).rejects.toThrow('the storage is away')
  })

  it('that is not known within three seconds is asked for again', async () => {
    let isAsked = false
    const { world, order, amounts, clock } = await limited(9000n, () => {
      isAsked = true
      return new Promise(() => undefined)
    })
    let result: DeliveryResult | undefined
    const delivering = world.deliver(order(400n, 400n)).then((answer) => {
      result = answer
    })
    while (!isAsked) await turns(1)
    clock.advance(2_999)
    await turns(20)
    expect(result).toBeUndefined()
    clock.advance(1)
    await delivering
    expect(result).toEqual({ outcome: 'later', reason: 'settled_unknown' })
    expect(amounts()).toEqual([])
    const cause = { message: '`settled` of a peer did not answer in time' }
    expect(world.events).toMatchObject([{ type: 'fault', message: 'what was settled with a peer is not known', cause }])
  })

  it('of what was settled counts what is left', async () => {
    const { world, order } = await limited(900n, () => -100n)
    expect(await world.deliver(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
    const owing = await limited(1099n, () => 100n)
    expect(await owing.world.deliver(owing.order(1000n, 1000n))).toMatchObject({ outcome: 'later' })
  })

  it('that is reached half way keeps what has left', async () => {
    const { world, order, receiver } = await limited(2000n)
    expect(await world.deliver(order(5000n, 5000n))).toMatchObject({ outcome: 'later', reason: 'sending_limit' })
    expect(world.progress().inFlight).toEqual(NOTHING)
    expect(world.progress().sent).toBe(receiver.total())
    expect(receiver.total()).toBeGreaterThan(1000n)
    expect(receiver.total()).toBeLessThanOrEqual(2000n)
  })
})
