import type { DeliveryResult, PaymentMethod } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { BASE } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import { faultAt } from './faulty-ports.ts'
import { grantTokens, LEASE, pay, preparePayment } from './money-world.ts'
import {
  checkRailMoney,
  onlyPayment,
  payRemotely,
  prepareRailPayment,
  type RailWorld,
  railWorld,
} from './rail-world.ts'

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
async function multiply(world: RailWorld, numbers: readonly number[]): Promise<void> {
  const { version: _, ...record } = await onlyPayment(world)
  const copies = numbers.map((number) => ({ ...record.value, id: number.toString(16).padStart(32, '0') }))
  await world.storage.commit(copies.map((value) => ({ ...record, action: 'insert', value })))
}

/** 300 payments that are due, and a rail that works on each until it is released, and puts it off then. */
async function crowdedWorld(): Promise<{ readonly world: RailWorld; readonly rail: SlowRail }> {
  const world = await dueWorld()
  const rail = slowly(later)
  world.method = { ...world.method, deliver: rail.deliver }
  await multiply(
    world,
    Array.from({ length: 299 }, (_, number) => number),
  )
  return { world, rail }
}

/** Until a rail is asked for nothing more. */
async function untilQuiet(rail: SlowRail): Promise<void> {
  for (let before = -1; before < rail.asked.length; ) {
    before = rail.asked.length
    await turns(20)
  }
}

function resumed({ wallet }: RailWorld): number {
  return wallet.events.filter(({ type }) => type === 'payment_resumed').length
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

  it('begins no more than 256 at once, whatever recovers, and each in the end', async () => {
    const { world, rail } = await crowdedWorld()
    const { recover, drain } = world.wallet.openPayments
    // The first two are after the same ones, and one of them gets them.
    expect(await Promise.all([recover(), recover()])).toEqual([100, 0])
    expect([await recover(), await recover(), await recover()]).toEqual([100, 56, 0])
    await untilQuiet(rail)
    expect(rail.asked).toHaveLength(256)
    expect(resumed(world)).toBe(256)
    rail.release()
    await drain()
    // What did not fit was left as it was, and nothing takes it up unless it is asked to.
    expect(rail.asked).toHaveLength(256)
    expect(await recover()).toBe(44)
    await drain()
    expect(rail.asked).toHaveLength(300)
    expect(new Set(rail.asked)).toHaveProperty('size', 300)
    expect(resumed(world)).toBe(300)
  })

  it('leaves what does not fit to other processes', async () => {
    const { world, rail } = await crowdedWorld()
    const { recover, drain } = world.wallet.openPayments
    const other = slowly(later)
    const process = world.process(() => ({ ...world.method, deliver: other.deliver }))
    for (let call = 0; call < 3; call++) await recover()
    expect([await process.openPayments.recover(), await process.openPayments.recover()]).toEqual([44, 0])
    await untilQuiet(rail)
    await untilQuiet(other)
    expect([rail.asked.length, other.asked.length]).toEqual([256, 44])
    rail.release()
    other.release()
    await Promise.all([drain(), process.openPayments.drain()])
    expect(new Set([...rail.asked, ...other.asked])).toHaveProperty('size', 300)
  })

  it('begins no others while 256 hang, however long, and goes on with all that needs no rail', async () => {
    const { world, rail } = await crowdedWorld()
    const { recover, drain } = world.wallet.openPayments
    for (let call = 0; call < 3; call++) await recover()
    await untilQuiet(rail)
    for (let lease = 0; lease < 3; lease++) {
      world.wallet.clock.advance(2 ** lease * LEASE)
      // Their leases are over, and they are waited for no longer.
      await drain()
      const before = (await world.storage.all('outgoing-payment')).map(({ version }) => version)
      expect(await recover()).toBe(0)
      expect((await world.storage.all('outgoing-payment')).map(({ version }) => version)).toEqual(before)
    }
    expect(rail.asked).toHaveLength(256)
    expect(resumed(world)).toBe(256)
    expect(world.wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
    const process = world.process()
    faultAt(process.ports, 1, 'crashes before', ({ name }) => name === 'credit')
    await pay(world, process, await preparePayment(world, await grantTokens(world)))
    world.wallet.clock.advance(LEASE)
    expect(await recover()).toBeGreaterThanOrEqual(1)
    const local = (await world.storage.all('outgoing-payment')).filter(({ value }) => value.rail === undefined)
    expect(local).toMatchObject([{ value: { state: 'completed' } }])
    // Once they have ended there is room again.
    rail.release()
    await turns(20)
    expect(await recover()).toBe(100)
    await drain()
    expect(rail.asked).toHaveLength(356)
  })

  it('counts the delivery of an order of its own once nobody waits for it any more', async () => {
    for (const isLapsed of [false, true]) {
      const { world, rail } = await crowdedWorld()
      const { recover, drain } = world.wallet.openPayments
      const { token, body: json } = await prepareRailPayment(world)
      await world.wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
      await untilQuiet(rail)
      expect(rail.asked).toHaveLength(1)
      if (isLapsed) {
        world.wallet.clock.advance(LEASE)
        await drain()
      }
      expect([await recover(), await recover(), await recover()]).toEqual([100, 100, isLapsed ? 55 : 56])
    }
  })

  it('reads a bounded number of those that there is no room for, and lets others come before them', async () => {
    const world = await dueWorld()
    const rail = slowly(later)
    world.method = { ...world.method, deliver: rail.deliver }
    const thousands = Array.from({ length: 1999 }, (_, number) => number)
    await multiply(world, thousands)
    const process = world.process(() => world.method)
    const { recover } = process.openPayments
    const other = world.process()
    faultAt(other.ports, 1, 'crashes before', ({ name }) => name === 'credit')
    await pay(world, other, await preparePayment(world, await grantTokens(world)))
    world.wallet.clock.advance(LEASE)
    const local = async () =>
      (await world.storage.all('outgoing-payment')).find(({ value }) => value.rail === undefined)
    expect([await recover(), await recover(), await recover()]).toEqual([100, 100, 56])
    const before = await world.storage.all('outgoing-payment')
    process.ports.calls.length = 0
    // The last of them has put off 100 already: 1,644 for the rail are still in front of it.
    expect([await recover(), (await local())?.value.state]).toEqual([0, 'sending'])
    const reads = process.ports.calls.filter(
      ({ name, arguments: [kind] }) => name === 'due' && kind === 'outgoing-payment',
    )
    expect(reads.map(({ arguments: [, , limit] }) => limit)).toEqual([100, 400, 1600])
    const dueAt = world.wallet.clock.now() + LEASE
    const changed = (await world.storage.all('outgoing-payment')).filter((record, at) => record !== before[at])
    expect(changed).toHaveLength(100)
    for (const record of changed) expect(record).toMatchObject({ dueAt, value: { state: 'sending', attempts: 1 } })
    expect([await recover(), (await local())?.value.state]).toEqual([1, 'completed'])
    // Those that were put off come again.
    rail.release()
    world.wallet.clock.advance(LEASE)
    for (let round = 0; round < 20; round++) {
      await process.openPayments.drain()
      await recover()
    }
    expect(new Set(rail.asked)).toHaveProperty('size', 2000)
  })

  it('tells of those that it could not put off, and goes on', async () => {
    const world = await dueWorld()
    const rail = slowly(later)
    world.method = { ...world.method, deliver: rail.deliver }
    await multiply(
      world,
      Array.from({ length: 1999 }, (_, number) => number),
    )
    const { openPayments, ports } = world.process(() => world.method)
    for (let call = 0; call < 3; call++) await openPayments.recover()
    ports.plan = ({ name }) => (name === 'commit' ? 'throws' : undefined)
    expect(await openPayments.recover()).toBe(0)
    const faults = world.wallet.events.flatMap((event) => (event.type === 'fault' ? [event.message] : []))
    expect(faults).toEqual(['payments could not be put off'])
  })

  it('ends it as if it had been waited for', async () => {
    const world = await dueWorld()
    await world.wallet.openPayments.recover()
    await world.wallet.openPayments.drain()
    expect((await onlyPayment(world)).value.state).toBe('completed')
    await checkRailMoney(world)
  })
})
