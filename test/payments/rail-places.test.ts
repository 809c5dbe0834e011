import type { Change } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { BASE } from '../support/test-wallet.ts'
import { turn, turns } from '../support/turns.ts'
import { faultAt } from './faulty-ports.ts'
import { ask, grantTokens, LEASE, pay, preparePayment, signedBy } from './money-world.ts'
import { checkRailMoney, prepareRailPayment, type RailWorld, railWorld, recoverLater } from './rail-world.ts'
import { crowdedWorld, later, slowly, untilQuiet } from './slow-rail.ts'

const ORDERS = `${BASE}/outgoing-payments`

/** Orders of one payer, and what they are answered. */
async function order(world: RailWorld, count: number, name = 'order'): Promise<readonly number[]> {
  const { token, body: json } = await prepareRailPayment(world, { from: 'incoming payment' })
  const statuses: number[] = []
  for (let sent = 0; sent < count; sent++)
    statuses.push((await world.wallet.send('POST', ORDERS, { token, json, nonce: `${name}-${sent}` })).status)
  return statuses
}

/** Has the rail of a world end its deliveries one by one: what it was asked for, and what ends each. */
function endOneByOne(world: RailWorld) {
  const asked: string[] = []
  const settle: (() => void)[] = []
  world.method = {
    ...world.method,
    deliver: async (delivery, progress) => {
      asked.push(delivery.id)
      await new Promise<void>((resolve) => {
        settle.push(resolve)
      })
      return { outcome: 'ended', reason: 'the receiver takes no more', progress }
    },
  }
  return { asked, settle }
}

async function untilAsked(asked: readonly string[], count: number): Promise<void> {
  for (let left = 500; asked.length < count && left > 0; left--) await turn()
}

const due = async ({ storage, wallet }: RailWorld) =>
  (await storage.all('outgoing-payment')).filter(({ dueAt = Infinity }) => dueAt <= wallet.clock.now())

describe('the places with a payment method', () => {
  it('are 24 for the orders of one grant; others are answered as ever, and begin once there is a place', async () => {
    const world = await railWorld()
    const { recover, drain } = world.wallet.openPayments
    const { deliver } = world.method
    const rail = slowly(deliver)
    world.method = { ...world.method, deliver: rail.deliver }
    expect(new Set(await order(world, 40))).toEqual(new Set([201]))
    await untilQuiet(rail)
    expect(rail.asked).toHaveLength(24)
    const waiting = await due(world)
    expect(waiting).toHaveLength(16)
    for (const record of waiting) expect(record).toMatchObject({ value: { state: 'sending', attempts: 0 } })
    const told = world.wallet.events.filter(({ type }) => type === 'outgoing_payment.created')
    expect(told).toHaveLength(40)
    expect(await recover()).toBe(0)
    rail.release()
    await untilQuiet(rail)
    expect(new Set(rail.asked)).toHaveProperty('size', 40)
    await drain()
    const unusual = ['payment_stalled', 'payment_resumed', 'recovered']
    expect(world.wallet.events.filter(({ type }) => unusual.includes(type))).toEqual([])
    await checkRailMoney(world)
  })

  it('of one account are not all for one client: another grant finds some, and then grants take turns', async () => {
    const world = await railWorld()
    const { asked, settle } = endOneByOne(world)
    await order(world, 140, 'greedy')
    await untilAsked(asked, 24)
    const other = { ...world, token: (await grantTokens(world)).spending }
    expect(await order(other, 20, 'modest')).toEqual(Array.from({ length: 20 }, () => 201))
    await untilAsked(asked, 32)
    const grantOf = new Map((await world.storage.all('outgoing-payment')).map(({ value }) => [value.id, value.grantId]))
    const grants = () => asked.map((id) => grantOf.get(id))
    const [greedy] = grants()
    expect(grants().map((grant) => grant === greedy)).toEqual([...Array(24).fill(true), ...Array(8).fill(false)])
    for (let round = 0; round < 6; round++) {
      settle.shift()?.()
      await untilAsked(asked, 33 + round)
    }
    expect(
      grants()
        .slice(32)
        .filter((grant) => grant === greedy),
    ).toHaveLength(3)
  })

  it('are given to none that wait while a process ends: a recover() finds them', async () => {
    const world = await railWorld()
    const { recover, drain } = world.wallet.openPayments
    const { deliver } = world.method
    const rail = slowly(deliver)
    world.method = { ...world.method, deliver: rail.deliver }
    await order(world, 40)
    await untilQuiet(rail)
    const drained = drain()
    rail.release()
    await drained
    await untilQuiet(rail)
    expect(new Set(rail.asked)).toHaveProperty('size', 24)
    expect(await due(world)).toHaveLength(16)
    expect(await recover()).toBe(16)
    await drain()
    expect(await due(world)).toEqual([])
    await checkRailMoney(world)
  })

  it.each([
    ['of one account', 32, () => 'alice'],
    ['of all together', 256, undefined],
  ] as const)(
    '%s that becomes free belongs to those that wait, and not to a later order',
    async (_, most, accountOf) => {
      const { world } = await crowdedWorld(most, accountOf)
      const { recover } = world.wallet.openPayments
      const { asked, settle } = endOneByOne(world)
      for (let call = 0; call < 3; call++) await recover()
      await untilAsked(asked, most)
      const ids = async () => (await world.storage.all('outgoing-payment')).map(({ value }) => value.id)
      const known = new Set(await ids())
      await order(world, 2)
      const waiting = (await ids()).filter((id) => !known.has(id))
      for (let round = 0; round < 2; round++) {
        settle.shift()?.()
        // In the very moment in which a place is free.
        await order(world, 1, `late-${round}`)
        await untilAsked(asked, most + round + 1)
      }
      expect(new Set(asked.slice(most))).toEqual(new Set(waiting))
    },
  )

  it('are in other processes, too', async () => {
    const world = await railWorld()
    const rail = slowly(later)
    world.method = { ...world.method, deliver: rail.deliver }
    await order(world, 40)
    await untilQuiet(rail)
    const other = slowly(later)
    const { openPayments } = world.process(() => ({ ...world.method, deliver: other.deliver }))
    expect(await openPayments.recover()).toBe(16)
    await untilQuiet(other)
    expect([rail.asked.length, other.asked.length]).toEqual([24, 16])
    // What another process is at is not begun here once there is a place.
    rail.release()
    await untilQuiet(rail)
    expect([rail.asked.length, other.asked.length]).toEqual([24, 16])
  })

  it('are left by those that wait where a claim fails: each is tried once, and then left to a recover()', async () => {
    const world = await railWorld()
    const rail = slowly(later)
    const process = world.process(() => ({ ...world.method, deliver: rail.deliver }))
    const { token, body } = await prepareRailPayment(world, { from: 'incoming payment' })
    for (let nonce = 0; nonce < 26; nonce++)
      await ask(process, await signedBy(world, 'POST', ORDERS, token, body, { nonce: `${nonce}` }))
    await untilQuiet(rail)
    const waiting = new Set((await due(world)).map(({ value }) => value.id))
    expect(waiting).toHaveProperty('size', 2)
    let tries = 0
    process.ports.plan = ({ name, arguments: [changes] }) => {
      if (name !== 'commit' || !Array.isArray(changes) || !changes.some(({ value }) => waiting.has(value?.id)))
        return undefined
      tries++
      return 'throws'
    }
    rail.release()
    await untilQuiet(rail)
    expect(tries).toBe(2)
    const faults = world.wallet.events.filter(({ type }) => type === 'fault')
    expect(faults).toMatchObject(Array(2).fill({ message: 'a due record could not be claimed' }))
    process.ports.plan = () => undefined
    expect(await process.openPayments.recover()).toBe(2)
  })

  it('are 256 in all, orders among them', async () => {
    const { world, rail } = await crowdedWorld(300)
    const { recover } = world.wallet.openPayments
    for (let call = 0; call < 3; call++) await recover()
    await untilQuiet(rail)
    const before = (await due(world)).length
    expect(await order(world, 1)).toEqual([201])
    await untilQuiet(rail)
    expect([rail.asked.length, (await due(world)).length]).toEqual([256, before + 1])
  })

  it('are held by what recover() takes up from its start: a later order gets none of them, however slow the storage', async () => {
    const { world } = await crowdedWorld(32, () => 'alice')
    const rail = slowly(later)
    const { openPayments, ports } = world.process(() => ({ ...world.method, deliver: rail.deliver }))
    const known = new Set((await world.storage.all('outgoing-payment')).map(({ value }) => value.id))
    const { open, opened } = gate()
    ports.plan = ({ name, arguments: [changes] }) => {
      const isClaim = Array.isArray(changes) && changes.some(({ value }) => known.has(value?.id))
      return name === 'commit' && isClaim ? opened : undefined
    }
    const recovered = openPayments.recover()
    await turns(20)
    const { token, body } = await prepareRailPayment(world, { from: 'incoming payment' })
    const answer = await ask({ openPayments, ports }, await signedBy(world, 'POST', ORDERS, token, body))
    expect(answer?.status).toBe(201)
    await untilQuiet(rail)
    expect(rail.asked).toEqual([])
    open()
    expect(await recovered).toBe(32)
    await untilQuiet(rail)
    expect(new Set(rail.asked)).toEqual(known)
  })

  it('are taken by others before a payer that has its share, however long its payments are due', async () => {
    const { world, rail } = await crowdedWorld(150, (number) => (number < 140 ? 'greedy' : 'modest'))
    expect(await world.wallet.openPayments.recover()).toBe(42)
    await untilQuiet(rail)
    const records = await world.storage.all('outgoing-payment')
    const asked = records.filter(({ value }) => rail.asked.includes(value.id)).map(({ value }) => value.account)
    expect(asked.filter((account) => account === 'greedy')).toHaveLength(32)
    expect(asked.filter((account) => account !== 'greedy')).toHaveLength(10)
  })

  it.each(['crashes before', 'crashes after'] as const)(
    'if there is none, leaves a payment to recovery, also where its process %s that it is left',
    async (fault) => {
      const { world } = await crowdedWorld(32, () => 'alice')
      const { openPayments, ports } = world.process(() => world.method)
      expect(await openPayments.recover()).toBe(32)
      const known = new Set((await world.storage.all('outgoing-payment')).map(({ value }) => value.id))
      const isLeft = (change: Change): boolean => 'dueAt' in change && change.dueAt === world.wallet.clock.now()
      const { reached } = faultAt(ports, 1, fault, ({ name, arguments: [changes] }) =>
        name === 'commit' && Array.isArray(changes) ? changes.some(isLeft) : false,
      )
      // Whether it is answered before its process crashes makes no difference to the payment.
      await pay(world, { openPayments, ports }, await prepareRailPayment(world))
      expect(reached()).toBeDefined()
      const rail = slowly(later)
      rail.release()
      world.method = { ...world.method, deliver: rail.deliver }
      world.wallet.clock.advance(LEASE)
      for (let call = 0; call < 2; call++) await recoverLater(world)
      expect(rail.asked.filter((id) => !known.has(id)).length).toBeGreaterThan(0)
    },
  )

  it('are not needed by what its rail has delivered: that is settled though all of its grant are taken', async () => {
    const world = await railWorld()
    const process = world.process()
    faultAt(process.ports, 1, 'crashes before', ({ name }) => name === 'settle')
    await pay(world, process, await prepareRailPayment(world, { from: 'incoming payment' }))
    const rail = slowly(world.method.deliver)
    world.method = { ...world.method, deliver: rail.deliver }
    expect(new Set(await order(world, 24))).toEqual(new Set([201]))
    await untilQuiet(rail)
    expect(rail.asked).toHaveLength(24)
    world.wallet.clock.advance(LEASE)
    await world.wallet.openPayments.recover()
    const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
    expect(states.filter((state) => state !== 'sending')).toEqual(['completed'])
    rail.release()
    await world.wallet.openPayments.drain()
  })

  it('let a payment on this server through behind any number of those', async () => {
    const { world } = await crowdedWorld(5000, () => 'greedy')
    const { recover } = world.wallet.openPayments
    const process = world.process()
    faultAt(process.ports, 1, 'crashes before', ({ name }) => name === 'credit')
    await pay(world, process, await preparePayment(world, await grantTokens(world)))
    world.wallet.clock.advance(LEASE)
    const isDone = async () =>
      (await world.storage.all('outgoing-payment')).some(({ value }) => value.state === 'completed')
    // Each call says that there is more, so that a host calls again at once.
    for (let left = 5000; left >= 1600; left -= 1600) {
      expect(await isDone()).toBe(false)
      expect(await recover()).toBeGreaterThanOrEqual(100)
    }
    await recover()
    expect(await isDone()).toBe(true)
  })
})
