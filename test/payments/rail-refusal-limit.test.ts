import { describe, expect, it } from 'vitest'
import { usd } from '../support/test-wallet.ts'
import { checkReceived, type RailWorld, railWorld, tell, transferOf } from './receive-by-rail-world.ts'

const HOUR = 3_600_000

async function receiptCount({ storage }: RailWorld): Promise<number> {
  return (await storage.all('receipt')).length
}

/** Transfers of 1 that their rail refuses, by their numbers; what became of each. */
async function refuse(world: RailWorld, id: string, from: number, to: number): Promise<ReadonlySet<string>> {
  const outcomes = new Set<string>()
  for (let number = from; number <= to; number++)
    outcomes.add(await world.rail.receive(transferOf(number, id, 1n, { isRefused: true })))
  return outcomes
}

describe('refusals of one incoming payment', () => {
  it('T-37 are written down 20 times at once, and 20 times more within an hour; what is above changes nothing', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    expect(await refuse(world, id, 1, 20)).toEqual(new Set(['refused']))
    expect(await refuse(world, id, 21, 100)).toEqual(new Set(['rate_limited']))
    expect(await receiptCount(world)).toBe(20)
    world.wallet.clock.advance(HOUR / 20 - 1)
    expect(await refuse(world, id, 21, 22)).toEqual(new Set(['rate_limited']))
    world.wallet.clock.advance(1)
    expect(await refuse(world, id, 21, 21)).toEqual(new Set(['refused']))
    expect(await refuse(world, id, 22, 22)).toEqual(new Set(['rate_limited']))
    expect(await receiptCount(world)).toBe(21)
  })

  it('T-37 count whatever they are for', async () => {
    const world = await railWorld()
    const id = await world.incoming({ incomingAmount: usd('10') })
    await refuse(world, id, 1, 20)
    expect(await world.rail.receive(transferOf(21, id, 11n))).toBe('rate_limited')
    expect(await world.rail.receive(transferOf(22, id, 1n, { most: 0n }))).toBe('rate_limited')
    expect(await receiptCount(world)).toBe(20)
  })

  it('T-37 T-49 of those that have expired are counted apart, so that a stranger keeps no sender from its answer', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    await refuse(world, id, 1, 21)
    const notAfter = world.wallet.clock.now() - 1
    const ask = (number: number): Promise<string> =>
      world.rail.receive(transferOf(number, id, 1n, { notAfter, isRefused: true }))
    for (let number = 31; number <= 50; number++) expect(await ask(number)).toBe('refused')
    expect(await ask(51)).toBe('rate_limited')
    expect(await receiptCount(world)).toBe(40)
  })

  it('T-37 T-49 say what became of those that are known, and keep no money out', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const process = world.startRail()
    expect(await tell(world, process, transferOf(99, id, 5n))).toBe('received')
    await refuse(world, id, 1, 21)
    expect(await refuse(world, id, 1, 20)).toEqual(new Set(['refused']))
    expect(await world.rail.receive(transferOf(99, id, 5n, { isRefused: true }))).toBe('received')
    expect(await world.receive(world.rail, transferOf(98, id, 3n))).toBe('received')
    // What was not written down was not said for good.
    expect(await world.receive(world.rail, transferOf(21, id, 1n))).toBe('received')
    await world.wallet.openPayments.drain()
    expect(await world.ledger.balance('bob')).toMatchObject({ total: 9n })
    await checkReceived(world)
  })

  it('T-37 are those of one payment alone', async () => {
    const world = await railWorld()
    await refuse(world, await world.incoming(), 1, 21)
    expect(await refuse(world, await world.incoming(), 31, 31)).toEqual(new Set(['refused']))
  })
})
