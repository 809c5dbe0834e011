import { createHash } from 'node:crypto'
import type { RailTransfer, TransferOutcome } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { readAmountTooLarge } from '../../adapters/ilp/packet.ts'
import { gate } from '../support/gate.ts'
import { turn, turns } from '../support/turns.ts'
import {
  ACCOUNT,
  EUR,
  EUR_ACCOUNT,
  EUR_TOKEN,
  type Offer,
  PAYMENT,
  type ReceiverWorld,
  type Reply,
  receiverWorld,
  usd,
} from './receiver-world.ts'

const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The condition of what the reply shows. */
const shownBy = ({ reply }: Reply): Buffer | undefined =>
  reply?.type === 'fulfill' ? sha256(reply.fulfillment) : undefined

const ACCEPTED = { reply: { type: 'fulfill' }, said: { ilpPacketType: 13, sequence: 1n, amount: 100n, frames: [] } }
const refusedWith = (code: string) => ({ reply: { type: 'reject', code, triggeredBy: 'test.wallet' } })

describe('a packet for an incoming payment', () => {
  it('INC-5 is fulfilled once its money is durable', async () => {
    const world = receiverWorld()
    const prepare = await world.prepare()
    let written: (outcome: TransferOutcome) => void = () => undefined
    world.take = () => new Promise((resolve) => (written = resolve))
    let isAnswered = false
    const answer = world.send(prepare).finally(() => {
      isAnswered = true
    })
    while (world.transfers.length === 0) await turn()
    expect(isAnswered).toBe(false)
    written('received')
    expect(await answer).toMatchObject(ACCEPTED)
    expect(shownBy(await answer)).toEqual(Buffer.from(prepare.executionCondition))
    expect(world.transfers).toEqual([
      {
        id: sha256(PAYMENT.id, prepare.executionCondition).toString('hex').slice(0, 32),
        incomingPayment: PAYMENT.id,
        amount: usd(100n),
        least: 100n,
        account: ACCOUNT,
        accountAmount: usd(100n),
        notAfter: prepare.expiresAt - 1000,
        isRefused: false,
      },
    ])
  })

  it('is told with what its sender insists on', async () => {
    const world = receiverWorld()
    expect(await world.pay({ amount: 100n, least: 60n })).toMatchObject(ACCEPTED)
    expect(world.transfers).toMatchObject([{ amount: usd(100n), least: 60n }])
  })

  it('INC-5 is another transfer than every other one, and the same where it is the same', async () => {
    const world = receiverWorld()
    const other = { ...PAYMENT, id: 'f'.repeat(32), address: 'another' }
    world.payments.set(other.id, other)
    const prepare = await world.prepare()
    await world.send(prepare)
    await world.send(prepare)
    await world.send({ ...prepare, destination: `test.wallet.${other.address}` })
    await world.pay({ sequence: 2n })
    await world.pay({ salt: 'another sender' })
    const ids = world.transfers.map(({ id }) => id)
    expect(ids[1]).toBe(ids[0])
    expect(new Set(ids).size).toBe(4)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
  })

  it('INC-5 is fulfilled again where it is repeated', async () => {
    const world = receiverWorld()
    const prepare = await world.prepare()
    const [first, second] = [await world.send(prepare), await world.send(prepare)]
    expect([first, second]).toMatchObject([ACCEPTED, ACCEPTED])
    expect(shownBy(second)).toEqual(shownBy(first))
  })

  it('INC-5 is fulfilled again where it is repeated after its expiry, and after the payment is over', async () => {
    const world = receiverWorld()
    const prepare = await world.prepare()
    await world.send(prepare)
    world.clock.advance(3_600_000)
    world.payments.set(PAYMENT.id, { ...PAYMENT, remainder: 0n })
    expect(await world.send(prepare)).toMatchObject(ACCEPTED)
    expect(world.transfers.map(({ isRefused }) => isRefused)).toEqual([false, true])
  })

  it('moves nothing where it has no amount, and is fulfilled', async () => {
    const world = receiverWorld()
    expect(await world.pay({ amount: 0n, least: 0n })).toMatchObject({ reply: { type: 'fulfill' } })
    expect(world.transfers).toEqual([])
    expect(await world.pay({ amount: 0n, least: 1n })).toMatchObject(refusedWith('F99'))
    expect(await world.pay({ amount: 0n, least: 0n, sequence: 2n, expiresIn: 0 })).toMatchObject(refusedWith('R00'))
    expect(world.transfers).toMatchObject([{ isRefused: true }, { isRefused: true }])
  })

  it('asks for no price where it has no amount, in whatever asset it comes', async () => {
    const world = receiverWorld()
    world.exchange = () => Promise.reject(new Error('the price is away'))
    expect(await world.pay({ amount: 0n, least: 0n }, EUR_TOKEN)).toMatchObject({ reply: { type: 'fulfill' } })
  })

  it('is paid into by what another sender seals for it, too', async () => {
    const world = receiverWorld()
    const [ours, theirs] = [await world.prepare(), await world.prepare({ salt: 'other' })]
    expect(Buffer.from(ours.data)).not.toEqual(Buffer.from(theirs.data))
    expect([await world.send(ours), await world.send(theirs)]).toMatchObject([ACCEPTED, ACCEPTED])
  })

  it('answers never with the same octets, and tells the asset to who names an address', async () => {
    const world = receiverWorld()
    const frames = [{ type: 'connection-new-address', sourceAccount: '' }] as const
    const [first, second] = [await world.pay({ frames }), await world.pay({ frames })]
    expect(first.said?.frames).toEqual([{ type: 'connection-asset-details', assetCode: 'USD', assetScale: 2 }])
    expect(Buffer.from(first.reply?.data ?? [])).not.toEqual(Buffer.from(second.reply?.data ?? []))
  })
})

describe('a packet that nobody can fulfill', () => {
  const probe: Offer = { least: 0n, alter: (packet) => ({ ...packet, executionCondition: new Uint8Array(32) }) }

  it('is answered with what would arrive, so that old and new senders understand it', async () => {
    const world = receiverWorld()
    const answer = await world.pay({ ...probe, amount: 77n, sequence: 9n })
    expect(answer).toMatchObject(refusedWith('F99'))
    expect(answer.said).toEqual({ ilpPacketType: 14, sequence: 9n, amount: 77n, frames: [] })
    expect(world.transfers).toEqual([])
  })

  it('is told the asset where it names an address', async () => {
    const frames = [{ type: 'connection-new-address', sourceAccount: 'test.sender' }] as const
    const { said } = await receiverWorld().pay({ ...probe, frames })
    expect(said?.frames).toEqual([{ type: 'connection-asset-details', assetCode: 'USD', assetScale: 2 }])
  })

  it('is told how much is too much at once', async () => {
    const { reply } = await receiverWorld({}, { maxPacketAmount: 50n }).pay({ ...probe, amount: 77n })
    expect(reply?.type === 'reject' && readAmountTooLarge(reply)).toEqual({ receivedAmount: 77n, maximumAmount: 50n })
  })

  it('T-48 is one with the condition of another packet', async () => {
    const world = receiverWorld()
    const { executionCondition } = await world.prepare({ sequence: 2n })
    const answer = await world.pay({ alter: (packet) => ({ ...packet, executionCondition }) })
    expect(answer).toMatchObject(refusedWith('F05'))
    expect(answer.said).toBeUndefined()
    expect(world.transfers).toEqual([])
  })
})

describe('a packet that is refused', () => {
  const flip = (data: Uint8Array, at: number): Uint8Array =>
    data.map((octet, index) => (index === at ? octet ^ 1 : octet))

  it.each<[string, string, (world: ReceiverWorld) => Offer]>([
    [
      'F02',
      'at no payment',
      () => ({ alter: (packet) => ({ ...packet, destination: `test.wallet.${'0'.repeat(32)}` }) }),
    ],
    [
      'F02',
      'at the id of a payment',
      () => ({ alter: (packet) => ({ ...packet, destination: `test.wallet.${PAYMENT.id}` }) }),
    ],
    ['F02', 'at the server itself', () => ({ alter: (packet) => ({ ...packet, destination: 'test.wallet' }) })],
    [
      'F02',
      'at another server',
      () => ({ alter: (packet) => ({ ...packet, destination: `test.wallex.${PAYMENT.address}` }) }),
    ],
    [
      'F02',
      'below the payment',
      () => ({ alter: (packet) => ({ ...packet, destination: `${packet.destination}.x` }) }),
    ],
    [
      'F06',
      'for another payment',
      (world) => {
        const other = { ...PAYMENT, id: 'f'.repeat(32), address: 'another', sharedSecret: 'A'.repeat(43) }
        world.payments.set(other.id, other)
        return { alter: (packet) => ({ ...packet, destination: `test.wallet.${other.address}` }) }
      },
    ],
    ['F06', 'with an altered nonce', () => ({ alter: (packet) => ({ ...packet, data: flip(packet.data, 0) }) })],
    ['F06', 'with an altered tag', () => ({ alter: (packet) => ({ ...packet, data: flip(packet.data, 12) }) })],
    ['F06', 'with an altered content', () => ({ alter: (packet) => ({ ...packet, data: flip(packet.data, 28) }) })],
    [
      'F06',
      'with a content cut short',
      () => ({ alter: (packet) => ({ ...packet, data: packet.data.subarray(0, -1) }) }),
    ],
    ['F06', 'without data', () => ({ alter: (packet) => ({ ...packet, data: new Uint8Array() }) })],
  ])('says %s, and asks nobody, where it comes %s', async (code, _how, offerOf) => {
    const world = receiverWorld()
    const answer = await world.pay(offerOf(world))
    expect(answer).toMatchObject(refusedWith(code))
    expect(answer.said).toBeUndefined()
    expect(world.transfers).toEqual([])
  })

  it('says F06 where it is a reply that is passed off as an offer', async () => {
    const world = receiverWorld()
    const { reply } = await world.pay()
    const answer = await world.pay({ alter: (packet) => ({ ...packet, data: reply?.data ?? packet.data }) })
    expect(answer).toMatchObject(refusedWith('F06'))
  })

  it.each([
    [1000, 'fulfill'],
    [999, 'reject'],
    [0, 'reject'],
    [-1, 'reject'],
    [-86_400_000, 'reject'],
  ])('has %i ms left: %s', async (expiresIn, type) => {
    const world = receiverWorld()
    const answer = await world.pay({ expiresIn })
    expect(answer.reply?.type).toBe(type)
    if (type === 'reject') expect(answer).toMatchObject(refusedWith('R00'))
    expect(world.transfers).toMatchObject([{ isRefused: type === 'reject' }])
  })

  it('says R00 where it has expired by the time that it would be taken', async () => {
    const settled = (): bigint => {
      world.clock.advance(29_001)
      return 0n
    }
    const world = receiverWorld({}, { limits: { receiving: 500n }, settled })
    expect(await world.pay()).toMatchObject(refusedWith('R00'))
    expect(world.transfers).toMatchObject([{ isRefused: false, notAfter: world.clock.now() - 1 }])
  })

  it.each([
    [3_600_000, 'fulfill'],
    [3_600_001, 'reject'],
    [Date.parse('9999-12-31T23:59:59Z') - Date.parse('2026-03-01T12:00:00Z'), 'reject'],
  ])('expires in %i ms: %s, and where that is long no record would be kept so long', async (expiresIn, type) => {
    const world = receiverWorld()
    const answer = await world.pay({ expiresIn })
    expect(answer.reply?.type).toBe(type)
    if (type === 'fulfill') return
    expect(answer).toMatchObject(refusedWith('T00'))
    expect(answer.said).toBeUndefined()
    expect(world.transfers).toEqual([])
  })

  it('T-48 says F99 and what arrived where it is less than its sender insists on', async () => {
    const world = receiverWorld()
    const answer = await world.pay({ amount: 99n, least: 100n })
    expect(answer).toMatchObject({ ...refusedWith('F99'), said: { ilpPacketType: 14, sequence: 1n, amount: 99n } })
    expect(world.transfers).toMatchObject([{ isRefused: true }])
  })

  it('says F08 and what the account takes at once, where it is more', async () => {
    const world = receiverWorld({}, { maxPacketAmount: 99n })
    const { reply } = await world.pay()
    expect(reply).toMatchObject({ code: 'F08' })
    expect(reply?.type === 'reject' && readAmountTooLarge(reply)).toEqual({ receivedAmount: 100n, maximumAmount: 99n })
    expect(world.transfers).toMatchObject([{ isRefused: true }])
    expect(await receiverWorld({}, { maxPacketAmount: 100n }).pay()).toMatchObject(ACCEPTED)
  })

  it('INC-8 says F99, what arrived and what remains, where it is more than that', async () => {
    const world = receiverWorld()
    world.payments.set(PAYMENT.id, { ...PAYMENT, remainder: 40n })
    world.take = async () => 'over_remainder'
    const frames = [
      { type: 'stream-max-money', streamId: 5n, receiveMax: 0n, totalReceived: 0n },
      { type: 'stream-money', streamId: 3n, shares: 1n },
    ] as const
    const answer = await world.pay({ frames })
    expect(answer).toMatchObject({ ...refusedWith('F99'), said: { amount: 100n } })
    expect(answer.said?.frames).toEqual([
      { type: 'stream-max-money', streamId: 3n, receiveMax: 40n, totalReceived: 0n },
    ])
    expect((await world.pay({ frames: [] })).said?.frames).toMatchObject([{ streamId: 1n }])
  })

  it('INC-7 says F99 and that it is over, where the payment takes no money any more', async () => {
    const world = receiverWorld()
    world.take = async () => 'not_payable'
    const answer = await world.pay()
    expect(answer).toMatchObject(refusedWith('F99'))
    expect(answer.said?.frames).toEqual([{ type: 'connection-close', errorCode: 1, errorMessage: '' }])
  })

  it('says R00 where it was refused before', async () => {
    const world = receiverWorld()
    world.take = async () => 'refused'
    expect(await world.pay()).toMatchObject(refusedWith('R00'))
  })

  it('T-49 says T00, and not in its own words, where it was taken as another transfer before', async () => {
    const world = receiverWorld()
    world.take = async () => 'taken_otherwise'
    for (const offer of [{}, { amount: 99n }, { expiresIn: 0 }]) {
      const answer = await world.pay(offer)
      expect(answer).toMatchObject(refusedWith('T00'))
      expect(answer.said).toBeUndefined()
    }
  })

  it('stays refused, whatever its reason was', async () => {
    const world = receiverWorld()
    const prepare = await world.prepare({ expiresIn: 999 })
    expect(await world.send(prepare)).toMatchObject(refusedWith('R00'))
    expect(await world.send({ ...prepare, expiresAt: prepare.expiresAt + 30_000 })).toMatchObject(refusedWith('R00'))
  })
})

describe('what a peer may send more than it has settled', () => {
  const mostOf = (transfers: readonly RailTransfer[]) => transfers.map(({ most }) => most)

  it('is its limit, and what the books say that it has paid', async () => {
    let settled = 0n
    const world = receiverWorld({}, { limits: { receiving: 500n }, settled: () => settled })
    await world.pay()
    settled = 250n
    await world.pay({ sequence: 2n })
    settled = -50n
    await world.pay({ sequence: 3n })
    expect(mostOf(world.transfers)).toEqual([500n, 750n, 450n])
    const unsettled = receiverWorld({}, { limits: { receiving: 0n } })
    await unsettled.pay()
    expect(mostOf(unsettled.transfers)).toEqual([0n])
  })

  it('is anything without a limit, and the books are not asked', async () => {
    const world = receiverWorld({}, { limits: { sending: 5n }, settled: () => Promise.reject(new Error('asked')) })
    expect(await world.pay()).toMatchObject(ACCEPTED)
    expect(world.transfers[0]).not.toHaveProperty('most')
  })

  it('is not asked of the books where a packet is refused, which costs its sender nothing', async () => {
    const world = receiverWorld({}, { limits: { receiving: 5n }, settled: () => Promise.reject(new Error('asked')) })
    for (const amount of [0n, 1n]) expect(await world.pay({ amount, least: 2n })).toMatchObject(refusedWith('F99'))
    expect(world.transfers).toMatchObject([{ isRefused: true }, { isRefused: true }])
  })

  it('T-37 is told with T05 that too many were refused, which its sender does not take for the last word', async () => {
    const world = receiverWorld()
    world.take = async () => 'rate_limited'
    for (const offer of [{}, { amount: 1n, least: 2n }, { expiresIn: 500 }]) {
      const { reply, said } = await world.pay(offer)
      expect(reply).toMatchObject({ type: 'reject', code: 'T05', triggeredBy: 'test.wallet' })
      expect(said).toBeUndefined()
    }
    expect(world.transfers.map(({ isRefused }) => isRefused)).toEqual([false, true, true])
  })

  it('ends with T04, which tells the host', async () => {
    const world = receiverWorld({}, { limits: { receiving: 0n } })
    world.take = async () => 'over_limit'
    expect(await world.pay()).toMatchObject(refusedWith('T04'))
    expect(world.events.filter(({ type }) => type === 'rail_unavailable')).toEqual([
      { type: 'rail_unavailable', at: world.clock.now(), railAccount: ACCOUNT, reason: 'receiving_limit' },
    ])
  })

  it('is of one account only', async () => {
    const world = receiverWorld({}, { limits: { receiving: 0n } })
    world.exchange = async (_amount, to) => ({ value: 100n, ...to })
    await world.pay({}, EUR_TOKEN)
    expect(world.transfers).toMatchObject([{ account: EUR_ACCOUNT }])
    expect(world.transfers[0]).not.toHaveProperty('most')
  })
})

describe('a packet in another asset', () => {
  /** A world that gives `rate` cents for a euro cent, rounded down, and no more than fits. */
  function exchangingWorld(rate: { numerator: bigint; denominator: bigint; most?: bigint }): ReceiverWorld {
    const world = receiverWorld()
    world.exchange = async ({ value }, to) => {
      const given = (value * rate.numerator) / rate.denominator
      return given > (rate.most ?? 1_000_000n) ? undefined : { value: given, ...to }
    }
    return world
  }

  it('QUO-8 is worth what the wallet gives for it', async () => {
    const world = exchangingWorld({ numerator: 108n, denominator: 100n })
    const asked: unknown[] = []
    const { exchange } = world
    world.exchange = (...request) => {
      asked.push(request)
      return exchange(...request)
    }
    const answer = await world.pay({ amount: 99n, least: 106n }, EUR_TOKEN)
    expect(answer).toMatchObject({ reply: { type: 'fulfill' }, said: { amount: 106n } })
    expect(asked).toEqual([[{ value: 99n, ...EUR }, PAYMENT.asset, PAYMENT.walletAddress]])
    const account = { account: EUR_ACCOUNT, accountAmount: { value: 99n, ...EUR } }
    expect(world.transfers).toMatchObject([{ ...account, amount: usd(106n), least: 106n }])
  })

  it('is refused where that is less than its sender insists on, or nothing at all', async () => {
    const world = exchangingWorld({ numerator: 1n, denominator: 2n })
    const less = await world.pay({ amount: 99n, least: 50n }, EUR_TOKEN)
    expect(less).toMatchObject({ ...refusedWith('F99'), said: { amount: 49n } })
    const nothing = await world.pay({ amount: 1n, least: 0n }, EUR_TOKEN)
    expect(nothing).toMatchObject({ ...refusedWith('F99'), said: { amount: 0n } })
    expect(world.transfers).toMatchObject([{ isRefused: true }, { isRefused: true }])
  })

  it('is refused for good where the wallet gives nothing for its asset', async () => {
    const world = receiverWorld()
    expect(await world.pay({}, EUR_TOKEN)).toMatchObject(refusedWith('F02'))
    expect(world.transfers).toMatchObject([{ isRefused: true, amount: usd(0n) }])
  })

  it('is halved by its sender where it is worth more than an amount holds', async () => {
    const world = exchangingWorld({ numerator: 3n, denominator: 1n, most: 200n })
    const { reply } = await world.pay({ amount: 100n }, EUR_TOKEN)
    expect(reply?.type === 'reject' && readAmountTooLarge(reply)).toEqual({ receivedAmount: 100n, maximumAmount: 50n })
  })

  it('INC-5 is fulfilled again with what arrived, and no price is asked for', async () => {
    const world = exchangingWorld({ numerator: 108n, denominator: 100n })
    const prepare = await world.prepare({ amount: 100n, least: 105n })
    expect(await world.send(prepare, EUR_TOKEN)).toMatchObject({ said: { amount: 108n } })
    world.exchange = () => Promise.reject(new Error('no market'))
    expect(await world.send(prepare, EUR_TOKEN)).toMatchObject({ reply: { type: 'fulfill' }, said: { amount: 108n } })
    world.clock.advance(-2 * 3_600_000)
    expect(await world.send(prepare, EUR_TOKEN)).toMatchObject({ reply: { type: 'fulfill' }, said: { amount: 108n } })
    expect(world.transfers).toHaveLength(1)
  })

  it.each([50n, 107n, 120n, 10n ** 9n])(
    'INC-5 is fulfilled with what arrived by a copy that came at the same time, at another price: %s',
    async (numerator) => {
      const rate = { numerator: 108n, denominator: 100n }
      const world = exchangingWorld(rate)
      const prepare = await world.prepare({ amount: 100n, least: 105n })
      const { take } = world
      const { open, opened } = gate()
      world.take = async (transfer) => {
        await opened
        return take(transfer)
      }
      const first = world.send(prepare, EUR_TOKEN)
      while (world.transfers.length < 1) await turns(1)
      rate.numerator = numerator
      const second = world.send(prepare, EUR_TOKEN)
      while (world.transfers.length < 2) await turns(1)
      open()
      const told = { reply: { type: 'fulfill' }, said: { amount: 108n } }
      expect(await Promise.all([first, second])).toMatchObject([told, told])
    },
  )

  it('INC-5 is fulfilled again where the account takes no longer as much at once', async () => {
    const world = receiverWorld()
    const prepare = await world.prepare()
    await world.send(prepare)
    const later = receiverWorld({}, { maxPacketAmount: 1n })
    later.take = world.take
    expect(await later.send(prepare)).toMatchObject(ACCEPTED)
  })
})
