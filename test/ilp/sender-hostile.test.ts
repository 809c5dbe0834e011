import { webCryptography } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { decodeIlpPacket } from '../../adapters/ilp/packet.ts'
import { type Mishap, testPath } from './sender-path.ts'
import { inHttp, reject } from './sender-receiver.ts'
import { delivered, FIXED_RECEIVE, NOTHING, senderScene } from './sender-scene.ts'
import { senderWorld } from './sender-world.ts'

const EXCHANGE = [{ numerator: 92n, denominator: 100n }]

describe('a receiver that says that more has arrived than can', () => {
  const receiver = { says: () => 10n ** 9n }

  const terms = { receiver, hops: EXCHANGE, peer: { maxPacketAmount: 100n } }

  it('does not end the payment before all has arrived', async () => {
    const { world, order, receiver: taken } = await senderScene(terms)
    const result = await world.deliver(order(1010n, 920n, FIXED_RECEIVE))
    expect(result).toMatchObject({ outcome: 'delivered', progress: { sent: 1000n, inFlight: NOTHING } })
    expect(taken.total()).toBe(920n)
  })

  it('does not end it in a process that goes on where another died either', async () => {
    let died = true
    for (let diesAt = 1; died; diesAt++) {
      const { world, order, clock, receiver: taken } = await senderScene({ ...terms, isIdempotent: true })
      const delivery = order(1010n, 920n, FIXED_RECEIVE)
      died = (await world.deliver(delivery, diesAt)) === undefined
      if (!died) break
      clock.advance(1_000)
      const result = await world.finish(delivery)
      expect(result).toMatchObject({ outcome: 'delivered', progress: { sent: 1000n, inFlight: NOTHING } })
      expect(taken.total()).toBe(920n)
    }
  })

  it('is not believed where what leaves is one to one', async () => {
    const { world, order, receiver: taken } = await senderScene({ receiver, peer: { maxPacketAmount: 100n } })
    expect(await world.deliver(order(1000n, 1000n, FIXED_RECEIVE))).toMatchObject(delivered(1000n, 1000n))
    expect(taken.total()).toBe(1000n)
  })

  it('T-26 is kept within what an amount holds', async () => {
    const most = 2n ** 64n - 1n
    const { world, order } = await senderScene({
      ...{ isIdempotent: true, hops: EXCHANGE },
      receiver: { says: () => most },
      peer: { maxPacketAmount: 100n, limits: { sending: 400n } },
    })
    expect(await world.deliver(order(1000n, 910n))).toMatchObject({ outcome: 'later' })
    expect(world.progress()).toMatchObject({ received: most, inFlight: NOTHING })
    expect(world.records.every(({ received }) => received <= most)).toBe(true)
  })

  it('T-47 is not believed where what leaves is one to one and it takes no more either', async () => {
    const refuse = () => (taken.total() >= 800n ? { code: 'F99' } : undefined)
    const {
      world,
      order,
      receiver: taken,
    } = await senderScene({
      receiver: { ...receiver, refuse },
      peer: { maxPacketAmount: 100n },
    })
    const progress = { sent: 800n, received: 800n, inFlight: NOTHING }
    expect(await world.deliver(order(1000n, 1000n, FIXED_RECEIVE))).toMatchObject({ outcome: 'ended', progress })
  })
})

describe('a receiver that says that more has arrived, of tests and of money alike', () => {
  it.each([
    ['many of little', 101_011n, 1000n],
    ['few', 2020n, 20n],
    ['hardly any', 505n, 5n],
  ])(
    'T-47 ends it no more than one unit early where packets bring little more than one each: %s',
    async (_, most, wanted) => {
      const { world, order } = await senderScene({
        receiver: { says: () => 10n ** 9n },
        hops: [{ most: 101n }, { denominator: 100n }],
      })
      const result = await world.deliver(order(most, wanted, FIXED_RECEIVE))
      expect(result).toMatchObject({ outcome: 'delivered' })
      expect(world.progress().sent + world.progress().inFlight.sent).toBeGreaterThanOrEqual((wanted - 1n) * 100n)
    },
  )

  it.each([
    ['much, lacks a twentieth', undefined, 100_000n, 95_000n],
    ['a thousand, lacks a twentieth', 1000n, 100_000n, 95_000n],
    ['ten, of which one more could be hidden by rounding, lacks no more than one of eleven', 10n, 10_000n, 9_000n],
  ])('T-47 where the greatest packet brings %s', async (_, maxPacketAmount, wanted, least) => {
    const { world, delivery, receiver, lie } = await twice(maxPacketAmount, () => false, wanted)
    expect(await world.deliver(delivery)).toEqual({ outcome: 'later', reason: 'sending_limit' })
    lie()
    expect(await world.finish(delivery)).toMatchObject({ outcome: 'delivered' })
    expect(receiver.total()).toBeGreaterThanOrEqual(least)
  })

  it('T-47 before anything has left lets nothing leave', async () => {
    const { world, delivery, receiver, lie } = await twice(1000n)
    lie()
    expect(await world.deliver(delivery)).toMatchObject({ outcome: 'ended', reason: 'rate_moved', progress: NOTHING })
    expect(receiver.total()).toBe(0n)
  })

  it('T-47 and takes no more when by its word it has all, is paid no more, and the rest is given back', async () => {
    const { world, delivery, receiver, lie } = await twice(1000n, (total) => total >= 55_000n)
    await world.deliver(delivery)
    lie()
    const result = await world.finish(delivery)
    expect(result).toMatchObject({ outcome: 'ended', progress: { sent: receiver.total(), inFlight: NOTHING } })
  })

  it.each([
    ['would have it only at a rate more than a quarter better, has not', 'ended', 79_000n],
    ['would have it at one less than a quarter better, has', 'delivered', 81_000n],
  ] as const)('T-47 and takes no more when by its word it has all, and %s', async (_, outcome, total) => {
    const { world, delivery, receiver, lie } = await twice(1000n, (taken) => taken >= total)
    await world.deliver(delivery)
    lie()
    const result = await world.finish(delivery)
    expect(result).toMatchObject({ outcome, progress: { sent: total, inFlight: NOTHING } })
    expect(receiver.total()).toBe(total)
  })

  /** One that says so from `lie` on, once there is room for more than a little. */
  async function twice(
    maxPacketAmount?: bigint,
    isClosed: (total: bigint) => boolean = () => false,
    wanted = 100_000n,
  ) {
    let [times, settled] = [1n, 0n]
    const says = (amount: bigint): bigint => times * amount
    const played = await senderScene({
      isIdempotent: true,
      receiver: {
        ...{ says, saysOfTest: says },
        refuse: () => (isClosed(played.receiver.total()) ? { code: 'F99' } : undefined),
      },
      peer: {
        limits: { sending: (wanted * 7n) / 100n },
        settled: () => settled,
        ...(maxPacketAmount !== undefined && { maxPacketAmount }),
      },
    })
    const lie = (): void => {
      times = 2n
      settled = -2n * wanted
    }
    return { ...played, lie, delivery: played.order((wanted * 101_011n) / 100_000n + 1n, wanted, FIXED_RECEIVE) }
  }
})

describe('a receiver that says that nothing has arrived', () => {
  it('T-47 of all of a payment does not end it with the crumbs that it takes instead', async () => {
    const hop: { most?: bigint } = {}
    const refuse = () => {
      if (hop.most !== undefined) return undefined
      hop.most = 100n
      return { code: 'F99', says: 0n }
    }
    const { world, order, receiver } = await senderScene({
      hops: [hop],
      receiver: { refuse, says: () => 10n ** 9n },
    })
    const result = await world.deliver(order(10_000n, 10_000n))
    expect(result).toMatchObject({ outcome: 'delivered', progress: { sent: 10_000n } })
    expect(receiver.total()).toBe(10_000n)
  })
})

describe('a receiver that says that nothing arrives', () => {
  it('T-47 of all that is left ends the payment soon, as one does that takes no more', async () => {
    const scene = await senderScene({
      receiver: { refuse: () => (scene.receiver.total() >= 920n ? { code: 'F99', says: 0n } : undefined) },
      hops: EXCHANGE,
      peer: { maxPacketAmount: 1_000n },
    })
    const result = await scene.world.deliver(scene.order(1030n, 928n, FIXED_RECEIVE))
    expect(result).toMatchObject({ outcome: 'ended', reason: 'rate_too_low', progress: { sent: 1_000n } })
    expect(scene.amounts().length).toBeLessThan(12)
  })
})

describe('somebody for whom everything is too much', () => {
  it('is asked no more in this call once 65 packets were refused for that, and none came through', async () => {
    const { receiver, clock, order } = await senderScene()
    const amount = 720_720n
    // Parts that leave no rest, which would come through.
    const parts = [2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n, 11n, 12n, 13n, 14n, 15n, 16n].map((count) => amount / count)
    const hop = { most: amount }
    const path = testPath(receiver, clock, [hop], (packet) => {
      hop.most = parts.find((part) => part < packet.amount) ?? 0n
      return undefined
    })
    const world = senderWorld({ details: receiver.details, send: path.send, clock })
    expect(await world.deliver(order(amount, amount))).toEqual({ outcome: 'later', reason: 'F08' })
    expect(path.sent.length).toBeGreaterThanOrEqual(65)
    expect(path.sent.length).toBeLessThan(65 + 8)
  })

  // By one unit, crumbs are left over; by an eightieth, a fifteenth of a full packet.
  it.each([
    ['one unit', (amount: bigint) => amount - 1n],
    ['an eightieth', (amount: bigint) => (amount * 987n) / 1000n],
  ])('but what is left over is asked no more either, if all else is too large by %s', async (_, reduced) => {
    const { receiver, clock, order } = await senderScene()
    let most = 1000n
    const hop = {
      get most() {
        return most
      },
    }
    const path = testPath(receiver, clock, [hop], ({ amount }) => {
      if (amount > 100n && amount <= most) most = reduced(amount)
      return undefined
    })
    const { details } = receiver
    const world = senderWorld({ details, send: path.send, clock, peer: { maxPacketAmount: 1000n } })
    expect(await world.deliver(order(5000n, 5000n))).toEqual({ outcome: 'later', reason: 'F08' })
    expect(path.sent.length).toBeLessThan(100)
    expect(world.progress()).toMatchObject({ sent: receiver.total(), inFlight: NOTHING })
  })
})

describe('somebody who takes next to nothing at once', () => {
  it.each([1n, 4n])('ends a payment before it is thousands of packets: %d of 5000 units', async (most) => {
    const { world, order, path } = await senderScene({ hops: [{ most }] })
    const result = await world.deliver(order(5000n, 5000n))
    expect(result).toMatchObject({ outcome: 'ended', reason: 'packets_too_small', progress: NOTHING })
    expect(path.sent).toHaveLength(1)
  })

  it.each([
    ['a thousandth of the payment', 5000n, undefined, 5n],
    ['a sixteenth of what the peer takes itself', 1_000_000n, 48n, 3n],
    ['a unit', 20n, undefined, 1n],
  ])('is sent to where it is %s', async (_, amount, maxPacketAmount, most) => {
    const refuse = () => ({
      code: 'F99',
      frames: [{ type: 'connection-close', errorCode: 1, errorMessage: '' }] as const,
    })
    const { world, order, amounts } = await senderScene({
      hops: [{ most }],
      receiver: { refuse },
      peer: maxPacketAmount === undefined ? {} : { maxPacketAmount },
    })
    const result = await world.deliver(order(amount, amount))
    expect(result).toMatchObject({ outcome: 'ended', reason: 'closed_by_receiver' })
    expect(amounts()).toContain(most)
  })
})

describe('a peer that can be asked again', () => {
  const AT_THE_END = { address: 'test.receiver', isIdempotent: true }
  const FROM_THE_END = { account: 'test.receiver/EUR/2' }

  it('and is the end of the way has the last word on a packet whose reply was lost', async () => {
    const { world, order, amounts } = await senderScene({
      ...{ isIdempotent: true, hops: [{ most: 500n }], mishaps: ['reply lost'] },
      peer: AT_THE_END,
    })
    expect(await world.finish(order(1000n, 1000n, FROM_THE_END))).toMatchObject(delivered(1000n, 1000n))
    expect(amounts()).toEqual([1000n, 1000n, 500n, 500n])
  })

  it('but is not the end has not', async () => {
    const { world, order } = await senderScene({ isIdempotent: true, hops: [{ most: 500n }], mishaps: ['reply lost'] })
    expect(await world.deliver(order(1000n, 1000n))).toMatchObject({ outcome: 'later' })
    expect(world.progress()).toMatchObject({ ...NOTHING, inFlight: { sent: 1000n } })
  })

  it.each<Mishap>(['no liquidity', 'payment forgotten'])('has no last word where it says: %s', async (mishap) => {
    const { world, order, receiver, amounts } = await senderScene({
      ...{ isIdempotent: true, mishaps: ['reply lost', mishap] },
      peer: AT_THE_END,
    })
    expect(await world.finish(order(1000n, 1000n, FROM_THE_END))).toMatchObject(delivered(1000n, 1000n))
    expect(amounts()).toEqual([1000n, 1000n, 1000n])
    expect(receiver.total()).toBe(1000n)
  })

  const garbled = (times: number) => [undefined, ...Array.from({ length: times }, (): Mishap => 'words garbled')]

  const lost = (times: number): readonly (Mishap | undefined)[] => [
    ...[undefined, ...Array.from({ length: times }, (): Mishap => 'reply lost')],
    'words garbled',
  ]

  it.each<readonly [string, boolean, readonly (Mishap | undefined)[], bigint, readonly bigint[]]>([
    ['once is asked for it again', true, garbled(1), 990n, [1010n, 990n, 990n]],
    ['five times is asked until it is heard', true, garbled(5), 990n, [1010n, 990n, 990n, 990n, 990n, 990n, 990n]],
    [
      'after seven lost replies is asked for it again',
      true,
      lost(7),
      990n,
      [1010n, ...Array.from({ length: 9 }, () => 990n)],
    ],
    ['counts with the least where it cannot be asked again', false, garbled(1), 1010n, [1010n, 990n, 20n]],
  ])('whose word of what arrived is garbled %s', async (_, isIdempotent, mishaps, sent, leaving) => {
    const { world, order, amounts, receiver } = await senderScene({ isIdempotent, hops: EXCHANGE, mishaps })
    expect(await world.deliver(order(1010n, 910n, FIXED_RECEIVE))).toMatchObject(delivered(sent, 910n))
    expect(amounts()).toEqual(leaving)
    expect([...receiver.taken.values()].every(({ times }) => times === 1)).toBe(true)
  })

  it.each<Mishap>([
    'words garbled',
    'request lost',
    'reply lost',
    'refused on the way',
    'payment forgotten',
    'no connection',
  ])('has taken what it fulfilled, at least the least, whatever comes of asking how much: %s', async (mishap) => {
    const mishaps = [...garbled(1), ...Array.from({ length: 7 }, () => mishap)]
    const { world, order, receiver, clock, amounts } = await senderScene({
      isIdempotent: true,
      hops: EXCHANGE,
      mishaps,
    })
    const before = clock.now()
    expect(await world.deliver(order(1010n, 910n, FIXED_RECEIVE))).toMatchObject(delivered(1010n, 910n))
    expect(amounts()).toEqual([1010n, ...Array.from({ length: 8 }, () => 990n), 20n])
    expect([...receiver.taken.values()]).toMatchObject([{ received: 910n, times: 1 }, { received: 18n }])
    expect(clock.now() - before).toBe(12_700)
  })

  it.each<Mishap>(['silence', 'reply silent'])(
    'has taken what it fulfilled also where asking how much takes longer than a call: %s',
    async (mishap) => {
      const mishaps = [...garbled(1), mishap, 'refused on the way'] as const
      const { world, order, receiver, amounts } = await senderScene({
        ...{ isIdempotent: true, hops: EXCHANGE, mishaps },
        peer: AT_THE_END,
      })
      const delivery = order(1010n, 910n, { ...FIXED_RECEIVE, ...FROM_THE_END })
      expect(await world.deliver(delivery)).toEqual({ outcome: 'later', reason: 'no_progress' })
      expect(world.progress()).toMatchObject({ sent: 990n, received: 892n, inFlight: NOTHING })
      expect(await world.finish(delivery)).toMatchObject(delivered(1010n, 910n))
      expect(amounts()).toEqual([1010n, 990n, 990n, 1010n, 1010n, 20n])
      expect([...receiver.taken.values()]).toMatchObject([{ received: 910n, times: 1 }, { received: 18n }])
    },
  )

  it('has taken what it fulfilled also where a process died that had written that down, and the next is told otherwise', async () => {
    let written = 0
    for (let [diesAt, died] = [7, true]; died; diesAt++) {
      const mishaps = [...garbled(1), 'silence', 'refused on the way'] as const
      const { world, order, receiver } = await senderScene({
        ...{ isIdempotent: true, hops: EXCHANGE, mishaps },
        peer: AT_THE_END,
      })
      const delivery = order(1010n, 910n, { ...FIXED_RECEIVE, ...FROM_THE_END })
      died = (await world.deliver(delivery, diesAt)) === undefined
      if (!world.progress().notes.includes('taken')) continue
      written++
      expect(await world.finish(delivery)).toMatchObject({ outcome: 'delivered' })
      // At most what was missing by the least, which is 18; never the value of the first packet again.
      expect(receiver.total()).toBeLessThanOrEqual(928n)
    }
    expect(written).toBeGreaterThan(0)
  })

  it('whose word is garbled is asked for it by a process that goes on where another died', async () => {
    for (let diesAt = 7, died = true; died; diesAt++) {
      const mishaps = garbled(1)
      const { world, order, receiver } = await senderScene({ isIdempotent: true, hops: EXCHANGE, mishaps })
      died = (await world.deliver(order(1010n, 910n, FIXED_RECEIVE), diesAt)) === undefined
      expect(await world.finish(order(1010n, 910n, FIXED_RECEIVE))).toMatchObject(delivered(990n, 910n))
      expect(receiver.taken.size).toBe(1)
    }
  })
})

describe('a peer that shows to one payment what the receiver answered to another', () => {
  it('T-51 does not make its sender pay again what the receiver has taken', async () => {
    const { receiver, path, order, clock } = await senderScene({
      isIdempotent: true,
      receiver: { refuse: () => (path.sent.length === 1 ? { code: 'F99' } : undefined) },
    })
    const answers: Awaited<ReturnType<typeof path.send>>[] = []
    const send: typeof path.send = async (request) => {
      const [refusal] = answers
      answers.push(await path.send(request))
      // Whether the second came through is not known, and it is asked about with the third.
      if (answers.length === 2) throw new Error('the connection broke')
      return (answers.length === 3 ? refusal : answers.at(-1)) ?? { status: 503, bytes: new Uint8Array() }
    }
    const settings = { details: receiver.details, send, clock, peer: { isIdempotent: true } }
    // The ids begin alike.
    const [first, second] = ['0123456789abcdef0123456789abcdef', '0123456780abcdef0123456789abcdef']
    await senderWorld(settings).deliver(order(1000n, 1000n, { id: first }), 4)
    expect(receiver.total()).toBe(0n)
    const result = await senderWorld(settings).finish(order(1000n, 1000n, { id: second }))
    expect(result).toMatchObject(delivered(1000n, 1000n))
    expect(answers).toHaveLength(4)
    expect(receiver.total()).toBe(1000n)
  })
})

describe('somebody on the way who puts into a refusal what the receiver wrote into its fulfillment', () => {
  it('T-51 does not make its sender pay again what the receiver has taken', async () => {
    const { receiver, path, clock, order } = await senderScene({ isIdempotent: true })
    let isLost = true
    const send: typeof path.send = async (request) => {
      const reply = decodeIlpPacket((await path.send(request)).bytes)
      if (isLost || reply?.type !== 'fulfill') {
        isLost = false
        throw new TypeError('fetch failed')
      }
      return inHttp(reject('R00', reply.data))
    }
    const world = senderWorld({ details: receiver.details, send, clock, peer: { isIdempotent: true } })
    expect(await world.deliver(order(1000n, 1000n))).toMatchObject({ outcome: 'later' })
    expect(path.sent.length).toBeGreaterThan(1)
    expect(world.progress()).toMatchObject({ ...NOTHING, inFlight: { sent: 1000n } })
    expect(receiver.total()).toBe(1000n)
  })
})

describe('whoever reports', () => {
  it.each<Mishap>(['refused on the way', 'no liquidity'])(
    'a peer to the host does not do so for others behind it: %s',
    async (mishap) => {
      const { world, order } = await senderScene({ hops: EXCHANGE, mishaps: Array.from({ length: 30 }, () => mishap) })
      const reason = mishap === 'no liquidity' ? 'T04' : 'R00'
      expect(await world.deliver(order(1010n, 910n, FIXED_RECEIVE))).toEqual({ outcome: 'later', reason })
      expect(world.events).toEqual([])
    },
  )
})

describe('a fault of the runtime', () => {
  it('leaves written down what is known, and in flight what is not', async () => {
    const { receiver, path, order, clock } = await senderScene({ isIdempotent: true })
    const cryptography = webCryptography()
    let isBroken = false
    const failing: typeof cryptography = {
      ...cryptography,
      hmacSha256(key, data) {
        if (isBroken) throw new Error('no more entropy')
        return cryptography.hmacSha256(key, data)
      },
    }
    const send: typeof path.send = async (request) => {
      const answer = await path.send(request)
      isBroken = path.sent.length >= 20
      return answer
    }
    const peer = { maxPacketAmount: 10n, isIdempotent: true }
    const world = senderWorld({ details: receiver.details, send, clock, peer, cryptography: failing })
    await expect(world.deliver(order(1000n, 1000n))).rejects.toThrow('no more entropy')
    const { sent, inFlight } = world.progress()
    expect(sent).toBeGreaterThan(0n)
    expect(sent).toBeLessThanOrEqual(receiver.total())
    expect(sent + inFlight.sent).toBeGreaterThanOrEqual(receiver.total())
    expect(inFlight.sent).toBeLessThanOrEqual(80n)
    isBroken = false
    const healthy = senderWorld({ details: receiver.details, send: path.send, clock, peer })
    const result = await healthy.deliverFrom(world.progress(), order(1000n, 1000n))
    expect(result).toMatchObject(delivered(1000n, 1000n))
    expect(receiver.total()).toBe(1000n)
  })
})
