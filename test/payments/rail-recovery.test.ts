import type { DeliveryResult, PaymentMethod } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { inFlight, progress } from '../support/fake-rail.ts'
import { turns } from '../support/turns.ts'
import { faultAt } from './faulty-ports.ts'
import { grantTokens, LEASE, pay, preparePayment } from './money-world.ts'
import { checkRailMoney, onlyPayment, payRemotely, type RailWorld, railWorld } from './rail-world.ts'

const later = async (): Promise<DeliveryResult> => ({ outcome: 'later', reason: 'busy' })

/** What a rail is waiting for, by payment. */
interface SlowRail {
  readonly asked: string[]
  /** Lets every delivery go on that waits, and all that follow. */
  release(): void
  readonly deliver: PaymentMethod['deliver']
}

/** A rail that works on a delivery until it is released, and then as `then` does. */
function slowly(then: PaymentMethod['deliver']): SlowRail {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const asked: string[] = []
  return {
    asked,
    release: () => release(),
    deliver: async (...given) => {
      asked.push(given[0].id)
      await released
      return then(...given)
    },
  }
}

/** A payment that its rail has put off once, and which is due. */
async function dueWorld(): Promise<RailWorld> {
  const world = await railWorld()
  const own = world.method
  world.method = { ...own, deliver: later }
  await payRemotely(world)
  world.method = own
  world.wallet.clock.advance(LEASE)
  return world
}

/** As many more of the only payment, by their numbers, all due. */
async function multiply(world: RailWorld, numbers: readonly number[]): Promise<readonly string[]> {
  const { version: _, ...record } = await onlyPayment(world)
  const copies = numbers.map((number) => ({ ...record.value, id: number.toString(16).padStart(32, '0') }))
  await world.storage.commit(copies.map((value) => ({ ...record, action: 'insert', value })))
  return copies.map(({ id }) => id)
}

describe('recover(), while a rail takes its time', () => {
  it('has moved on all that needs no rail, and leaves the rest to drain()', async () => {
    const world = await dueWorld()
    const { recover, drain } = world.wallet.openPayments
    const process = world.process()
    faultAt(process.ports, 1, 'crashes before', ({ name }) => name === 'credit')
    await pay(world, process, await preparePayment(world, await grantTokens(world)))
    world.wallet.clock.advance(LEASE)
    const { deliver } = world.method
    const rail = slowly(deliver)
    world.method = { ...world.method, deliver: rail.deliver }
    const states = async () =>
      (await world.storage.all('outgoing-payment')).map(({ value }) => [value.rail !== undefined, value.state])
    expect(await recover()).toBeGreaterThanOrEqual(2)
    expect(await states()).toEqual([
      [true, 'sending'],
      [false, 'completed'],
    ])
    expect(world.wallet.events).toContainEqual(expect.objectContaining({ type: 'recovered', payments: 2 }))
    // It is taken up: nothing else begins it again while its lease lasts.
    await turns(20)
    expect(await recover()).toBe(0)
    expect(rail.asked).toHaveLength(1)
    rail.release()
    await drain()
    expect(await states()).toEqual([
      [true, 'completed'],
      [false, 'completed'],
    ])
    expect(rail.asked).toHaveLength(1)
  })

  it('gives it no more than 256 payments at once, and each in the end', async () => {
    const world = await dueWorld()
    const { recover, drain } = world.wallet.openPayments
    const rail = slowly(later)
    world.method = { ...world.method, deliver: rail.deliver }
    await multiply(
      world,
      Array.from({ length: 299 }, (_, number) => number),
    )
    expect([await recover(), await recover(), await recover(), await recover()]).toEqual([100, 100, 100, 0])
    await turns(20)
    expect(rail.asked.length).toBeGreaterThan(200)
    expect(rail.asked.length).toBeLessThanOrEqual(256)
    rail.release()
    await drain()
    expect(rail.asked).toHaveLength(300)
    expect(new Set(rail.asked)).toHaveProperty('size', 300)
  })

  it.each([true, false])('begins none that another process has taken up since: %s', async (isTakenUp) => {
    const world = await dueWorld()
    const [first, second] = await multiply(world, [0x100, 0x200])
    const other: string[] = []
    const process = world.process((ports) => ({
      ...world.method,
      deliver: async ({ id }) => ports.reach('send', async () => other.push(id)).then(later),
    }))
    let work = (): void => undefined
    const worked = new Promise<void>((resolve) => {
      work = resolve
    })
    const own: string[] = []
    world.method = {
      ...world.method,
      deliver: async ({ id }, start, record) => {
        own.push(id)
        if (id !== first) return later()
        // It keeps its own lease up, and is still at it when that of the next one is over.
        world.wallet.clock.advance(LEASE - 1)
        await record(inFlight(start, 4n, 4n))
        await worked
        await record(progress(4n, 4n))
        return later()
      },
    }
    await world.wallet.openPayments.recover()
    await turns(20)
    expect(own).not.toContain(second)
    world.wallet.clock.advance(1)
    if (isTakenUp) {
      await process.openPayments.recover()
      await process.openPayments.drain()
    }
    work()
    await world.wallet.openPayments.drain()
    expect([...own, ...other].filter((id) => id === second)).toEqual([second])
    expect(other.includes(second ?? '')).toBe(isTakenUp)
    expect(world.wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  it('ends it as if it had been waited for', async () => {
    const world = await dueWorld()
    await world.wallet.openPayments.recover()
    await world.wallet.openPayments.drain()
    expect((await onlyPayment(world)).value.state).toBe('completed')
    await checkRailMoney(world)
  })
})
