import { describe, expect, it } from 'vitest'
import { BASE } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import { faultAt } from './faulty-ports.ts'
import { changesOf } from './joint-world.ts'
import { grantTokens, LEASE, pay, preparePayment } from './money-world.ts'
import { checkRailMoney, onlyPayment, prepareRailPayment, type RailWorld, railWorld } from './rail-world.ts'
import { crowdedWorld, dueWorld, later, slowly, untilQuiet } from './slow-rail.ts'

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
    const { world, rail } = await crowdedWorld(300)
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
    const { world, rail } = await crowdedWorld(300)
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
    const { world, rail } = await crowdedWorld(300)
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
    // Once they have ended there are places again.
    rail.release()
    await turns(20)
    expect(await recover()).toBe(100)
    await drain()
    expect(rail.asked).toHaveLength(356)
  })

  it('counts the delivery of an order of its own, also once nobody waits for it any more', async () => {
    for (const isLapsed of [false, true]) {
      const { world, rail } = await crowdedWorld(300)
      const { recover, drain } = world.wallet.openPayments
      const { token, body: json } = await prepareRailPayment(world)
      await world.wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
      await untilQuiet(rail)
      expect(rail.asked).toHaveLength(1)
      if (isLapsed) {
        world.wallet.clock.advance(LEASE)
        await drain()
      }
      expect([await recover(), await recover(), await recover()]).toEqual([100, 100, 55])
    }
  })

  it('reads a bounded number of those that there is no place for, and puts them off', async () => {
    const { world, rail } = await crowdedWorld(2000)
    const process = world.process(() => world.method)
    const { recover } = process.openPayments
    const other = world.process()
    faultAt(other.ports, 1, 'crashes before', ({ name }) => name === 'credit')
    await pay(world, other, await preparePayment(world, await grantTokens(world)))
    world.wallet.clock.advance(LEASE)
    const local = async () =>
      (await world.storage.all('outgoing-payment')).find(({ value }) => value.rail === undefined)
    expect([await recover(), await recover()]).toEqual([100, 100])
    const before = await world.storage.all('outgoing-payment')
    process.ports.calls.length = 0
    // 56 are taken up. Of the 1,544 that were read besides, all but 256 are put off.
    expect([await recover(), (await local())?.value.state]).toEqual([56 + 1544 - 256, 'sending'])
    const reads = process.ports.calls.filter(
      ({ name, arguments: [kind] }) => name === 'due' && kind === 'outgoing-payment',
    )
    expect(reads.map(({ arguments: [, , limit] }) => limit)).toEqual([100, 400, 1600])
    // A storage takes a hundred changes in one commit.
    const commits = process.ports.calls.filter(({ name }) => name === 'commit')
    expect(Math.max(...commits.map((call) => changesOf(call).length))).toBe(100)
    const from = world.wallet.clock.now() + LEASE
    const changed = (await world.storage.all('outgoing-payment')).filter((record, at) => record !== before[at])
    const postponed = changed.filter(({ dueAt }) => dueAt !== from)
    expect(postponed.length).toBeGreaterThan(1280)
    for (const record of changed) expect(record).toMatchObject({ value: { state: 'sending', attempts: 1 } })
    // They come back in the order in which they fell due, and not together.
    const moments = postponed.map(({ dueAt = 0 }) => dueAt)
    expect(moments.every((moment, at) => moment > (moments[at - 1] ?? from))).toBe(true)
    expect([(moments.at(-1) ?? 0) > from + 239_000, (moments.at(-1) ?? 0) < from + 240_000]).toEqual([true, true])
    // As many as could ever have a place are left, those that have been due longest.
    const all = await world.storage.all('outgoing-payment')
    const firstPostponed = all.findIndex((record) => postponed.includes(record))
    const isDue = ({ dueAt = from }): boolean => dueAt <= world.wallet.clock.now()
    expect(all.slice(0, firstPostponed).filter(isDue)).toHaveLength(256)
    expect([await recover(), (await local())?.value.state]).toEqual([1, 'completed'])
    rail.release()
    for (let round = 0; round < 60 && new Set(rail.asked).size < 2000; round++) {
      await process.openPayments.drain()
      world.wallet.clock.advance(5000)
      await recover()
    }
    expect(new Set(rail.asked)).toHaveProperty('size', 2000)
  })

  it('puts off what no other process has, however many do so at once', async () => {
    const { world } = await crowdedWorld(2000)
    const process = world.process(() => world.method)
    for (let call = 0; call < 2; call++) await process.openPayments.recover()
    const others = [process, world.process(() => world.method)]
    const version = async () =>
      (await world.storage.all('outgoing-payment')).reduce((sum, record) => sum + record.version, 0)
    const before = await version()
    const counts = await Promise.all(others.map(({ openPayments }) => openPayments.recover()))
    const [one = 0, two = 0] = counts
    // Each changes each payment once, and tells of no more than it has changed itself.
    expect(one + two).toBeLessThanOrEqual((await version()) - before)
    expect(Math.max(one, two)).toBeGreaterThan(1200)
    expect(world.wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  it('tells of those that it could not put off, and goes on', async () => {
    const { world } = await crowdedWorld(2000)
    const { openPayments, ports } = world.process(() => world.method)
    // The claims fail, too, and three of them at each end again, alone; what there is no place for is not even tried again.
    for (let call = 0; call < 2; call++) await openPayments.recover()
    ports.plan = ({ name }) => (name === 'commit' ? 'throws' : undefined)
    expect(await openPayments.recover()).toBe(0)
    const faults = world.wallet.events.flatMap((event) => (event.type === 'fault' ? [event.message] : []))
    expect(faults.filter((message) => message === 'payments could not be postponed')).toHaveLength(1)
    expect(faults.filter((message) => message === 'a due record could not be claimed')).toHaveLength(6)
  })

  it('takes up a hundred at most, also of those that it finds behind others', async () => {
    const { world } = await crowdedWorld(350)
    const { recover } = world.wallet.openPayments
    const tokens = await grantTokens(world)
    const process = world.process()
    process.ports.plan = ({ name }) => (name === 'credit' ? 'throws' : undefined)
    for (let count = 0; count < 105; count++)
      await pay(world, process, await preparePayment(world, tokens, { from: 'incoming payment', incoming: {} }))
    expect([await recover(), await recover(), await recover()]).toEqual([100, 100, 56])
    world.wallet.clock.advance(LEASE)
    await recover()
    const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
    expect(states.filter((state) => state === 'completed')).toHaveLength(100)
  })

  it('is not waited for by a payment that it has carried already, and that only the ledger has to hear of', async () => {
    const world = await railWorld()
    const process = world.process(() => world.method)
    process.ports.plan = ({ name }) => (name === 'settle' ? 'throws' : undefined)
    await pay(world, process, await prepareRailPayment(world))
    const { value } = await onlyPayment(world)
    expect(value.state).toBe('decided')
    const rail = slowly(later)
    world.method = { ...world.method, deliver: rail.deliver }
    const { token, body: json } = await prepareRailPayment(world, { from: 'incoming payment' })
    for (let count = 0; count < 24; count++)
      await world.wallet.send('POST', `${BASE}/outgoing-payments`, { token, json, nonce: `order-${count}` })
    await untilQuiet(rail)
    expect(rail.asked).toHaveLength(24)
    world.wallet.clock.advance(LEASE)
    await world.wallet.openPayments.recover()
    const ended = (await world.storage.all('outgoing-payment')).find((record) => record.value.id === value.id)
    expect(ended?.value.state).toBe('completed')
  })

  it('tells of a payment that another process has carried while it waited for a place here', async () => {
    const world = await railWorld()
    const own = world.method
    const rail = slowly(later)
    world.method = { ...own, deliver: rail.deliver }
    const { token, body: json } = await prepareRailPayment(world, { from: 'incoming payment' })
    for (let count = 0; count < 25; count++)
      await world.wallet.send('POST', `${BASE}/outgoing-payments`, { token, json, nonce: `order-${count}` })
    await untilQuiet(rail)
    expect(rail.asked).toHaveLength(24)
    const other = world.process(() => own)
    other.ports.plan = ({ name }) => (name === 'settle' ? 'throws' : undefined)
    await other.openPayments.recover()
    await other.openPayments.drain()
    const carried = (await world.storage.all('outgoing-payment')).filter(({ value }) => value.state === 'decided')
    expect(carried).toHaveLength(1)
    world.wallet.clock.advance(10 * LEASE)
    rail.release()
    await turns(50)
    const told = () => world.wallet.events.filter(({ type }) => type === 'payment_resumed')
    const before = told().length
    await world.wallet.openPayments.recover()
    const resumedHere = { type: 'payment_resumed', outgoingPayment: carried[0]?.value.id, state: 'decided' }
    expect(told().slice(before)).toEqual([expect.objectContaining(resumedHere)])
  })

  it('ends it as if it had been waited for', async () => {
    const world = await dueWorld()
    await world.wallet.openPayments.recover()
    await world.wallet.openPayments.drain()
    expect((await onlyPayment(world)).value.state).toBe('completed')
    await checkRailMoney(world)
  })
})
