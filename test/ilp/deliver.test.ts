import { describe, expect, it } from 'vitest'
import type { StreamFrame } from '../../adapters/ilp/stream-packet.ts'
import { turn, turns } from '../support/turns.ts'
import type { Mishap } from './sender-path.ts'
import { delivered, FIXED_RECEIVE, NOTHING, senderScene } from './sender-scene.ts'
import { senderWorld } from './sender-world.ts'

/** Packets that leave at once arrive in any order. */
const bySize = (amounts: readonly bigint[]): readonly bigint[] => [...amounts].sort((a, b) => Number(b - a))

describe('a delivery', () => {
  it('of one packet costs one record and one packet', async () => {
    const { world, receiver, order, amounts } = await senderScene()
    expect(await world.deliver(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
    expect(world.records).toMatchObject([{ ...NOTHING, inFlight: { sent: 1000n, received: 1000n } }])
    expect(amounts()).toEqual([1000n])
    expect(receiver.total()).toBe(1000n)
  })

  it('of many packets records several of them together', async () => {
    const { world, receiver, order, amounts } = await senderScene({ peer: { maxPacketAmount: 10n } })
    expect(await world.deliver(order(1005n, 1005n))).toMatchObject(delivered(1005n, 1005n))
    expect(bySize(amounts())).toEqual([...Array.from({ length: 100 }, () => 10n), 5n])
    expect(world.records.length).toBeLessThanOrEqual(12)
    expect(receiver.total()).toBe(1005n)
  })

  it('finds the greatest packet that every hop takes, and keeps to it', async () => {
    const hops = [{ most: 300n, numerator: 92n, denominator: 100n }, { most: 184n }]
    const { world, receiver, order, amounts } = await senderScene({ hops })
    expect(await world.deliver(order(1000n, 910n))).toMatchObject(delivered(1000n, 920n))
    expect(bySize(amounts())).toEqual([1000n, 300n, 300n, 300n, 200n, 200n, 200n, 200n, 100n, 100n])
    expect(receiver.total()).toBe(920n)
  })

  it('follows a greatest packet that changes under way', async () => {
    const hop = { most: 400n }
    const refuse = ({ sequence }: { readonly sequence: bigint }) => {
      if (sequence > 8n) hop.most = 70n
      return undefined
    }
    const { world, receiver, order, amounts } = await senderScene({ hops: [hop], receiver: { refuse } })
    expect(await world.deliver(order(9000n, 9000n))).toMatchObject(delivered(9000n, 9000n))
    expect(amounts().at(-1)).toBeLessThanOrEqual(70n)
    expect(receiver.total()).toBe(9000n)
  })

  it('sends larger packets again once smaller ones have come through where liquidity was short', async () => {
    const mishaps = Array.from({ length: 8 }, (): Mishap => 'no liquidity')
    const { world, order, amounts } = await senderScene({ mishaps, peer: { maxPacketAmount: 1000n } })
    expect(await world.deliver(order(20_000n, 20_000n))).toMatchObject(delivered(20_000n, 20_000n))
    const [first, ...others] = amounts().slice(8)
    expect(first).toBe(500n)
    expect(others).toContain(1000n)
  })

  it('to deliver an amount asks first what arrives, and sends no more than that takes', async () => {
    const hops = [{ numerator: 92n, denominator: 100n }]
    const { world, receiver, order, amounts } = await senderScene({ hops })
    expect(await world.deliver(order(1010n, 910n, FIXED_RECEIVE))).toMatchObject(delivered(990n, 910n))
    expect(amounts()).toEqual([1010n, 990n])
    expect(receiver.total()).toBe(910n)
  })

  it('to deliver an amount one to one asks nothing', async () => {
    const { world, order, amounts } = await senderScene()
    expect(await world.deliver(order(1010n, 1010n, FIXED_RECEIVE))).toMatchObject(delivered(1010n, 1010n))
    expect(amounts()).toEqual([1010n])
  })

  it('to deliver an amount over hops that round sends again what rounding took', async () => {
    const hops = [
      { numerator: 108n, denominator: 100n },
      { numerator: 17n, denominator: 1n },
    ]
    const { world, receiver, order } = await senderScene({ hops })
    const result = await world.deliver(order(551n, 10_000n, FIXED_RECEIVE))
    expect(result).toMatchObject({ outcome: 'delivered' })
    expect(receiver.total()).toBeGreaterThanOrEqual(10_000n)
    expect(receiver.total()).toBeLessThan(10_020n)
  })

  it('sends no packet that would arrive as nothing', async () => {
    const hops = [{ numerator: 1n, denominator: 100n, most: 10_000n }]
    const { world, receiver, order, amounts } = await senderScene({ hops, peer: { maxPacketAmount: 10_000n } })
    expect(await world.deliver(order(20_001n, 198n))).toMatchObject(delivered(20_001n, 200n))
    expect(bySize(amounts())).toEqual([10_000n, 5_001n, 5_000n])
    expect(receiver.total()).toBe(200n)
  })

  it('leaves no unit behind of which rounding would leave nothing', async () => {
    const hops = [
      { numerator: 139n, denominator: 92n },
      { numerator: 34n, denominator: 50n, most: 1_924n },
    ]
    const { world, order } = await senderScene({ hops })
    // Two of the greatest packets and a unit would bring one less than one of them and two halves.
    expect(await world.deliver(order(2_547n, 2_588n))).toMatchObject(delivered(2_547n, 2_615n))
  })

  it('sends more of what is missing at the end where nothing arrives of a little, however often that takes more', async () => {
    const hops = [
      { denominator: 50n, most: 2_500n },
      { numerator: 278n, denominator: 52n },
    ]
    const { world, receiver, order } = await senderScene({ hops })
    const result = await world.deliver(order(12_428n, 1_314n, FIXED_RECEIVE))
    expect(result).toMatchObject({ outcome: 'delivered', progress: { inFlight: NOTHING } })
    expect(receiver.total()).toBeGreaterThanOrEqual(1_314n)
  })

  it.each([
    [{ isFixedReceive: true }, 70n],
    [{ isFixedReceive: false }, 71n],
  ])('divides no last packets so that the halves bring less: %j', async (kind, sent) => {
    const { world, receiver, order } = await senderScene({
      hops: [{ denominator: 10n }],
      peer: { maxPacketAmount: 20n },
    })
    expect(await world.deliver(order(71n, 7n, kind))).toMatchObject(delivered(sent, 7n))
    expect(receiver.total()).toBe(7n)
  })

  it.each([1n, 2n, 7n])('divides no last packets so that neither half brings anything: %s', async (wanted) => {
    const { world, receiver, order } = await senderScene({
      hops: [{ denominator: 100n }],
      peer: { maxPacketAmount: 100n },
    })
    const result = await world.deliver(order(wanted * 101n + 1n, wanted, FIXED_RECEIVE))
    expect(result).toMatchObject(delivered(wanted * 100n, wanted))
    expect(receiver.total()).toBe(wanted)
  })

  it('of which not even the greatest packets would arrive as anything comes to an end', async () => {
    const hops = [{ numerator: 1n, denominator: 300n }]
    const refuse = (_: unknown, amount: bigint) => (amount === 0n ? { code: 'F99' } : undefined)
    const { world, order, amounts } = await senderScene({ hops, receiver: { refuse }, peer: { maxPacketAmount: 100n } })
    const result = await world.deliver(order(300n, 1n))
    expect(result).toMatchObject({ outcome: 'ended', progress: { ...NOTHING, inFlight: NOTHING } })
    expect(Math.max(...amounts().map(Number))).toBe(100)
  })

  it('T-47 of which a rest that is worth more would arrive as nothing ends without it', async () => {
    const hops = [{ denominator: 100n }, { numerator: 100n }]
    const { world, order } = await senderScene({ hops, peer: { maxPacketAmount: 1000n } })
    expect(await world.deliver(order(5_037n, 4_986n))).toMatchObject({
      outcome: 'ended',
      progress: { sent: 5_000n, received: 5_000n, inFlight: NOTHING },
    })
  })

  it('has eight packets on their way, and fewer after a trouble', async () => {
    const { receiver, path, order, clock } = await senderScene({
      mishaps: Array.from({ length: 8 }, (): Mishap => 'refused on the way'),
    })
    const expected = [8, 4, 8]
    const together: number[] = []
    const held: (() => void)[] = []
    /** Lets so many wait for each other, and looks whether one more comes. */
    const hold = async (): Promise<void> => {
      const released = new Promise<void>((resolve) => held.push(resolve))
      if (held.length === expected[0]) {
        for (let count = 0; count < 50; count++) await turn()
        together.push(held.length)
        expected.shift()
        for (const release of held.splice(0)) release()
      }
      return expected.length === 0 ? undefined : released
    }
    const send: typeof path.send = async (request) => {
      await hold()
      return path.send(request)
    }
    const world = senderWorld({ details: receiver.details, send, clock, peer: { maxPacketAmount: 10n } })
    expect(await world.deliver(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
    expect(together).toEqual([8, 4, 8])
  })

  it('has sixty-four packets at most of which it does not know everything, or their notes would be too long', async () => {
    // What arrived of a packet is said in none of the eight answers that it gets.
    const mishaps = Array.from({ length: 1000 }, (): Mishap => 'words garbled')
    const { world, order } = await senderScene({ isIdempotent: true, mishaps, peer: { maxPacketAmount: 10n } })
    expect(await world.deliver(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
    const counts = world.records.map(({ notes }) => JSON.parse(notes).packets.length)
    expect(Math.max(...counts)).toBe(64)
  })

  it('plans packets anew that have waited too long for their turn', async () => {
    const mishaps: readonly Mishap[] = ['slow']
    const { world, order, path, receiver } = await senderScene({ mishaps, peer: { maxPacketAmount: 10n } })
    expect(await world.deliver(order(300n, 300n))).toMatchObject(delivered(300n, 300n))
    // Eight leave at once, and time passes with the first of them.
    expect(Math.min(...path.lives.slice(8))).toBeGreaterThanOrEqual(15_000)
    expect(receiver.total()).toBe(300n)
  })

  it('plans packets anew that waited too long because the storage took its time', async () => {
    const { clock, receiver, path, order } = await senderScene()
    let answer = (): void => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    let left = 0
    const send: typeof path.send = async (request) => {
      if (++left === 8) clock.advance(5_000)
      if (left <= 8) await answered
      return path.send(request)
    }
    // The second record says, after five seconds, that somebody is alive. What is in the air comes back meanwhile.
    const keep = async (index: number): Promise<void> => {
      if (index !== 1) return
      answer()
      await turns(500)
      clock.advance(12_000)
    }
    const world = senderWorld({
      ...{ details: receiver.details, send, clock, keep },
      peer: { maxPacketAmount: 10n },
    })
    expect(await world.deliver(order(300n, 300n))).toMatchObject(delivered(300n, 300n))
    expect(Math.min(...path.lives.slice(8))).toBeGreaterThanOrEqual(15_000)
  })

  it('has ended, and does not only wait, where its receiver closes it when its time is over', async () => {
    const frames = [{ type: 'connection-close', errorCode: 1, errorMessage: '' }] as const
    const { receiver, path, clock, order } = await senderScene({
      receiver: { refuse: () => ({ code: 'F99', frames }) },
    })
    let left = 0
    const send: typeof path.send = async (request) => {
      // Now the payment is recorded again, while the packets are in the air.
      if (++left === 3) clock.advance(5_000)
      await turns(500)
      return path.send(request)
    }
    const world = senderWorld({ ...{ details: receiver.details, send, clock }, peer: { maxPacketAmount: 100n } })
    const result = await world.deliver(order(300n, 300n, { sendUntil: clock.now() + 1_000 }))
    expect(result).toMatchObject({ outcome: 'ended', reason: 'closed_by_receiver', progress: NOTHING })
  })

  it('T-31 T-51 keeps what became of packets while a record was being written', async () => {
    const { clock, receiver, path, order } = await senderScene({ mishaps: [undefined, 'request lost'] })
    let answer = (): void => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    let left = 0
    const send: typeof path.send = async (request) => {
      if (++left === 2) clock.advance(5_000)
      await answered
      return path.send(request)
    }
    // The second record says, after five seconds, that somebody is alive. What is in the air comes back meanwhile.
    const keep = async (index: number): Promise<void> => {
      if (index !== 1) return
      answer()
      await turns(500)
    }
    const world = senderWorld({ ...{ details: receiver.details, send, clock, keep }, peer: { maxPacketAmount: 10n } })
    expect(await world.deliver(order(20n, 20n))).toEqual({ outcome: 'later', reason: 'in_flight' })
    expect(receiver.total()).toBe(10n)
    expect(world.progress()).toMatchObject({ sent: 10n, received: 10n, inFlight: { sent: 10n, received: 10n } })
  })

  it('records that what waited too long for its record has not left, before it plans anew', async () => {
    const { clock, receiver, path, order } = await senderScene()
    const keep = async (index: number): Promise<void> => {
      if (index === 0) clock.advance(16_000)
    }
    const world = senderWorld({ ...{ details: receiver.details, send: path.send, clock, keep } })
    expect(await world.deliver(order(300n, 300n))).toMatchObject(delivered(300n, 300n))
    expect(world.records.map(({ inFlight }) => inFlight.sent)).toEqual([300n, 0n, 300n])
  })

  it.each([1, 2])('writes nothing more once a record has failed, the %i. of it', async (failed) => {
    const { clock, receiver, path, order } = await senderScene()
    const keep = async (index: number): Promise<void> => {
      if (index === failed - 1) throw new Error('the storage is away')
    }
    const world = senderWorld({
      ...{ details: receiver.details, send: path.send, clock, keep },
      peer: { maxPacketAmount: 10n },
    })
    await expect(world.deliver(order(300n, 300n))).rejects.toThrow('the storage is away')
    expect(world.records).toHaveLength(failed)
  })

  it('pauses longer and longer while troubles go on', async () => {
    const mishaps = Array.from({ length: 6 }, (): Mishap => 'refused on the way')
    const { world, order, clock } = await senderScene({ mishaps })
    const before = clock.now()
    expect(await world.deliver(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
    expect(clock.now() - before).toBe(20 + 40 + 80 + 160 + 320 + 640)
  })

  it('pauses as at first after a packet has come through', async () => {
    const trouble: Mishap = 'refused on the way'
    // After the test, three troubles of the first packet; what of it has not arrived is the second, with one more.
    const { world, order, clock, amounts } = await senderScene({
      hops: [{ numerator: 92n, denominator: 100n }],
      mishaps: [undefined, trouble, trouble, trouble, 'words garbled', trouble],
    })
    const before = clock.now()
    expect(await world.deliver(order(1010n, 910n, FIXED_RECEIVE))).toMatchObject(delivered(1010n, 910n))
    expect(amounts()).toEqual([1010n, 990n, 990n, 990n, 990n, 20n, 20n])
    expect(clock.now() - before).toBe(20 + 40 + 80 + 20)
  })

  it('pauses no longer once a packet comes through that left with the one that did not', async () => {
    const { receiver, path, order, clock } = await senderScene({ mishaps: ['refused on the way'] })
    let left = 0
    const send: typeof path.send = async (request) => {
      const place = ++left
      // The first is refused long before the second lands.
      if (place === 2) await turns(500)
      return path.send(request)
    }
    const world = senderWorld({ details: receiver.details, send, clock, peer: { maxPacketAmount: 100n } })
    const before = clock.now()
    expect(await world.deliver(order(200n, 200n))).toMatchObject(delivered(200n, 200n))
    expect(clock.now() - before).toBe(0)
  })

  it('is not given up for troubles between which packets come through', async () => {
    const mishaps = Array.from({ length: 200 }, (_, at): Mishap | undefined =>
      at % 2 === 0 ? 'refused on the way' : undefined,
    )
    const { world, order } = await senderScene({ mishaps, peer: { maxPacketAmount: 100n } })
    expect(await world.deliver(order(10_000n, 10_000n))).toMatchObject(delivered(10_000n, 10_000n))
  })

  it('is not given up for packets that were too large, as long as others come through', async () => {
    const mishaps = Array.from({ length: 200 }, (_, at): Mishap | undefined =>
      at % 2 === 0 ? 'a little too large' : undefined,
    )
    const { world, order } = await senderScene({ mishaps, peer: { maxPacketAmount: 1000n } })
    expect(await world.deliver(order(100_000n, 100_000n))).toMatchObject(delivered(100_000n, 100_000n))
  })

  it('takes one trouble of several packets that left together for one', async () => {
    const mishaps = Array.from({ length: 8 }, (): Mishap => 'tampered with')
    const { world, order, clock } = await senderScene({ mishaps, peer: { maxPacketAmount: 100n } })
    const before = clock.now()
    expect(await world.deliver(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
    expect(clock.now() - before).toBe(20)
  })

  it('goes below its rate in no packet, and ends where that is what is left of it', async () => {
    const hops = [{ numerator: 90n, denominator: 100n }]
    const { world, receiver, order } = await senderScene({ hops, peer: { maxPacketAmount: 400n } })
    const result = await world.deliver(order(1000n, 910n))
    expect(result).toMatchObject({
      outcome: 'ended',
      reason: 'rate_too_low',
      progress: { ...NOTHING, inFlight: NOTHING },
    })
    expect(receiver.total()).toBe(0n)
  })

  it('stops where a receiver fulfills for less than it was bound to', async () => {
    const hops = [{ numerator: 1n, denominator: 2n }]
    const receiver = { isCareless: true }
    const { world, order, path } = await senderScene({ hops, receiver, peer: { maxPacketAmount: 100n } })
    const result = await world.deliver(order(100_000n, 100_000n))
    expect(result).toMatchObject({ outcome: 'ended', reason: 'less_arrived', progress: { inFlight: NOTHING } })
    expect(path.sent.length).toBeLessThan(17)
  })

  it.each([
    ['F02', true],
    ['F99', false],
  ])('ends when it is refused with %s again and again', async (code, isPlain) => {
    const { world, order, amounts } = await senderScene({ receiver: { refuse: () => ({ code, isPlain }) } })
    const result = await world.deliver(order(1000n, 1000n))
    expect(result).toMatchObject({ outcome: 'ended', reason: code, progress: { ...NOTHING, inFlight: NOTHING } })
    expect(amounts()).toEqual([1000n, 1000n, 1000n])
  })

  it.each<StreamFrame>([
    { type: 'connection-close', errorCode: 1, errorMessage: '' },
    { type: 'stream-close', streamId: 1n, errorCode: 1, errorMessage: '' },
  ])('ends at once when the receiver says that it takes nothing more: $type', async (close) => {
    let count = 0
    const refuse = () => (count++ < 5 ? undefined : { code: 'F99', frames: [close] })
    const { world, order, receiver } = await senderScene({ receiver: { refuse }, peer: { maxPacketAmount: 100n } })
    const result = await world.deliver(order(1000n, 1000n))
    expect(result).toMatchObject({
      outcome: 'ended',
      reason: 'closed_by_receiver',
      progress: { sent: 500n, received: 500n, inFlight: NOTHING },
    })
    expect(receiver.total()).toBe(500n)
  })

  it('that is over sends nothing new', async () => {
    const { world, order, amounts } = await senderScene()
    const result = await world.deliver(order(1000n, 1000n, { isOver: true }))
    expect(result).toMatchObject({ outcome: 'ended', progress: { ...NOTHING, inFlight: NOTHING } })
    expect(amounts()).toEqual([])
  })

  it('that is over has ended for that, whatever its receiver says when it is asked about what had left', async () => {
    const frames = [{ type: 'connection-close', errorCode: 1, errorMessage: '' }] as const
    const { world, order } = await senderScene({
      isIdempotent: true,
      receiver: { isIdempotent: false, refuse: () => ({ code: 'F99', frames }) },
    })
    expect(await world.deliver(order(1000n, 1000n))).toMatchObject({ outcome: 'ended', reason: 'closed_by_receiver' })
    const [left] = world.records
    if (left === undefined) throw new Error('nothing left')
    const result = await world.deliverFrom(left, order(1000n, 1000n, { isOver: true }))
    expect(result).toMatchObject({ outcome: 'ended', reason: 'receiver_over', progress: NOTHING })
  })

  it('sends up to the last millisecond of its time', async () => {
    for (const left of [1, 0]) {
      const { world, order, amounts, clock } = await senderScene()
      const result = await world.deliver(order(1000n, 1000n, { sendUntil: clock.now() + left }))
      expect(result).toMatchObject(left === 1 ? delivered(1000n, 1000n) : { outcome: 'later', reason: 'out_of_time' })
      expect(amounts()).toEqual(left === 1 ? [1000n] : [])
    }
  })

  it('is not ended by refusals between which packets come through', async () => {
    const final: Mishap = 'payment forgotten'
    const { world, order } = await senderScene({
      mishaps: [final, final, final, undefined, final],
      peer: { maxPacketAmount: 100n },
    })
    expect(await world.deliver(order(200n, 200n))).toMatchObject(delivered(200n, 200n))
  })

  it('sends nothing new once its time is over, not even what was planned before', async () => {
    const { world, order, receiver, path, clock } = await senderScene({ takes: 1000, peer: { maxPacketAmount: 10n } })
    const sendUntil = clock.now() + 10_000
    const result = await world.deliver(order(1000n, 1000n, { sendUntil }))
    expect(result).toEqual({ outcome: 'later', reason: 'out_of_time' })
    expect(clock.now()).toBeGreaterThan(sendUntil)
    // Each that lands moves the time on by a second, also while others are sealed, which takes as long as it takes: nine have
    // landed at most when the last ones begin, of which eight are in the air.
    expect(path.sent.length).toBeLessThanOrEqual(9 + 8)
    expect(world.progress()).toMatchObject({ sent: receiver.total(), inFlight: NOTHING })
  })

  it('gives its place to others after a minute, however well it goes, and is carried on from there', async () => {
    const { world, order, receiver, clock } = await senderScene({ takes: 1000, peer: { maxPacketAmount: 10n } })
    const before = clock.now()
    expect(await world.deliver(order(1000n, 1000n))).toEqual({ outcome: 'later', reason: 'no_progress' })
    // A second for each packet; those that are in the air when the minute is over land after it.
    expect(clock.now() - before).toBeGreaterThan(60_000)
    expect(clock.now() - before).toBeLessThan(60_000 + 20 * 1000)
    expect(world.progress()).toMatchObject({ sent: receiver.total(), inFlight: NOTHING })
    expect(await world.deliver(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
    expect(receiver.total()).toBe(1000n)
  })

  it.each([
    ['nobody can be reached', 'no connection', 'unreachable'],
    ['the peer does not take the token', 'token refused', 'unauthorized'],
  ] as const)('waits while %s, and tells the host', async (_, mishap, reason) => {
    const mishaps: readonly Mishap[] = Array.from({ length: 40 }, () => mishap)
    const { world, order, clock } = await senderScene({ mishaps })
    const before = clock.now()
    expect(await world.deliver(order(1000n, 1000n))).toEqual({ outcome: 'later', reason })
    expect(clock.now() - before).toBeLessThan(30_000)
    expect(world.progress()).toMatchObject({ ...NOTHING, inFlight: NOTHING })
    expect(world.events).toMatchObject([{ type: 'rail_unavailable', reason, railAccount: 'test.peer/EUR/2' }])
    expect(await world.finish(order(1000n, 1000n))).toMatchObject(delivered(1000n, 1000n))
  })

  it.each([
    ['a peer that is not configured any more', { account: 'test.gone/EUR/2' }, 'peer_not_configured'],
    [
      'an address that is none',
      { details: { type: 'ilp', ilpAddress: 'nowhere', sharedSecret: 'x' } },
      'invalid_details',
    ],
    [
      'an address of this server itself',
      { details: { type: 'ilp', ilpAddress: 'test.sender.payment', sharedSecret: 'A'.repeat(43) } },
      'own_address',
    ],
  ] as const)('ends for %s where nothing is in flight', async (_, change, reason) => {
    const { world, order, amounts } = await senderScene()
    const result = await world.deliver(order(1000n, 1000n, change))
    expect(result).toMatchObject({ outcome: 'ended', reason, progress: NOTHING })
    expect(amounts()).toEqual([])
  })

  it('for a peer that is not configured any more leaves what is in flight to the host, once it has expired', async () => {
    const { world, order } = await senderScene({ mishaps: ['reply lost'] })
    expect(await world.deliver(order(1000n, 1000n))).toMatchObject({ outcome: 'later' })
    const result = await world.finish(order(1000n, 1000n, { account: 'test.gone/EUR/2' }))
    expect(result).toMatchObject({
      outcome: 'unknown',
      progress: { ...NOTHING, inFlight: { sent: 1000n, received: 1000n } },
    })
  })
})
