import type { MoneyEvent, OpenPaymentsEvent } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/testing/ledger-case.ts'
import { sampleIncomingPayment } from '../../src/testing/sample-records.ts'
import { gate } from '../support/gate.ts'
import { BASE, BOB, usd, usdAmount } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import { faultAt } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  eventsOf,
  grantTokens,
  HOUR,
  LEASE,
  moneyWorld,
  pay,
  preparePayment,
  signedBy,
  type World,
} from './money-world.ts'

/** A host that acknowledges nothing until it is told to. */
function slowHost() {
  const heard: MoneyEvent[] = []
  const { open, opened } = gate()
  const onEvent = (event: OpenPaymentsEvent): Promise<void> | undefined => {
    if (!('id' in event)) return undefined
    heard.push(event)
    return opened
  }
  return { heard, onEvent, letGo: open }
}

/** What a call resolves with while the clock stands still. */
async function comesTo(call: Promise<number>): Promise<number | 'nothing'> {
  let result: number | 'nothing' = 'nothing'
  void call.then((count) => {
    result = count
  })
  for (let left = 100; left > 0 && result === 'nothing'; left--) await turns(30)
  return result
}

async function statesOf(world: World, kind: 'outgoing-payment' | 'incoming-payment' | 'receipt') {
  return new Set((await world.storage.all(kind)).map(({ value }) => value.state))
}

/** A world in which events were never acknowledged, one by default, and their process is long gone. */
async function untoldWorld(events = 1): Promise<World> {
  const world = await moneyWorld()
  const { receiving } = await grantTokens(world)
  const crashing = world.start({ onEvent: () => new Promise(() => undefined) })
  const json = { walletAddress: BOB, incomingAmount: usd('1') }
  for (let count = 0; count < events; count++) {
    const order = await signedBy(world, 'POST', `${BASE}/incoming-payments`, receiving, json)
    expect((await crashing.openPayments.handle(order)).status).toBe(201)
  }
  world.wallet.clock.advance(10_000)
  await turns(30)
  world.wallet.clock.advance(LEASE)
  return world
}

describe('a host that takes its time over events', () => {
  it('holds up no money that recover() moves on, and hears of all of it in order', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    for (let count = 0; count < 101; count++) {
      const process = world.start()
      faultAt(process.ports, 1, 'crashes before', ({ name }) => name === 'credit')
      await pay(world, process, await preparePayment(world, tokens, { from: 'incoming payment' }))
    }
    world.wallet.clock.advance(LEASE)
    const { heard, onEvent, letGo } = slowHost()
    const { openPayments } = world.start({ onEvent })
    expect(await comesTo(openPayments.recover())).toBe(100)
    const last = openPayments.recover()
    await turns(100)
    expect(await statesOf(world, 'outgoing-payment')).toEqual(new Set(['completed']))
    expect(heard.length).toBeLessThanOrEqual(101)
    letGo()
    expect(await last).toBeGreaterThan(0)
    await openPayments.drain()
    // What there was no room for is told later.
    world.wallet.clock.advance(LEASE)
    await openPayments.recover()
    await openPayments.drain()
    expect(await world.storage.all('event')).toEqual([])
    const told = heard.flatMap((event) => ('outgoingPayment' in event ? [event.id] : []))
    const completed = told.filter((id) => id.endsWith(':2'))
    expect(new Set(completed)).toHaveProperty('size', 101)
    const isEarly = (id: string): boolean => told.indexOf(id) < told.lastIndexOf(id.replace(/2$/, '1'))
    expect(completed.filter(isEarly)).toEqual([])
    world.wallet.events.push(...heard)
    await checkMoney(world)
  })

  it('is not asked once more by each call of recover() for what it has not acknowledged yet', async () => {
    const { heard, onEvent, letGo } = slowHost()
    const world = await untoldWorld()
    const { openPayments } = world.start({ onEvent })
    const calls = [openPayments.recover(), openPayments.recover()]
    await turns(30)
    calls.push(openPayments.recover())
    await turns(30)
    expect(heard).toHaveLength(1)
    letGo()
    expect(await Promise.all(calls)).toEqual([1, 0, 0])
    expect(heard).toHaveLength(1)
    expect(await openPayments.recover()).toBe(0)
  })

  it('is waited for by a call of recover() for a second, which then does not count what it has not taken', async () => {
    const { onEvent, letGo } = slowHost()
    const world = await untoldWorld()
    const { openPayments } = world.start({ onEvent })
    const recovered = openPayments.recover()
    expect(await comesTo(recovered)).toBe('nothing')
    world.wallet.clock.advance(999)
    expect(await comesTo(recovered)).toBe('nothing')
    world.wallet.clock.advance(1)
    expect(await comesTo(recovered)).toBe(0)
    letGo()
    await openPayments.drain()
    expect(await openPayments.recover()).toBe(0)
  })

  it('is waited for no longer where it hangs over one event, and what it has taken by then is counted', async () => {
    const { onEvent, letGo } = slowHost()
    const world = await untoldWorld(8)
    let isHeld = false
    const process = world.start({
      onEvent: (event) => {
        if (event.type === 'recovered') world.wallet.events.push(event)
        if (!('id' in event) || isHeld) return undefined
        isHeld = true
        return onEvent(event)
      },
    })
    const recovered = process.openPayments.recover()
    expect(await comesTo(recovered)).toBe('nothing')
    world.wallet.clock.advance(1000)
    expect(await comesTo(recovered)).toBe(7)
    expect(eventsOf(world, 'recovered')).toMatchObject([{ payments: 0, receipts: 0, events: 7, isFull: false }])
    letGo()
    await process.openPayments.drain()
    expect(await world.storage.all('event')).toEqual([])
  })

  it('holds up no credit of what a rail has taken', async () => {
    const { heard, onEvent, letGo } = slowHost()
    const world = await moneyWorld({ onEvent })
    const now = world.wallet.clock.now()
    const incoming = sampleIncomingPayment('0'.repeat(32), { walletAddress: BOB, reserved: usdAmount(101n) })
    await world.storage.commit([{ action: 'insert', kind: 'incoming-payment', value: incoming }])
    for (let number = 1; number <= 101; number++) {
      const id = idOf(number)
      const money = { amount: usdAmount(1n), payeeAccount: 'nobody', railAccountId: 'ilp g.peer' } as const
      const value = { id, incomingPaymentId: incoming.id, state: 'reserved', createdAt: now, ...money } as const
      await world.storage.commit([{ action: 'insert', kind: 'receipt', dueAt: now, value }])
    }
    expect(await comesTo(world.wallet.openPayments.recover())).toBe(100)
    void world.wallet.openPayments.recover()
    await turns(100)
    expect(await statesOf(world, 'receipt')).toEqual(new Set(['dropped']))
    expect(heard).toHaveLength(100)
    letGo()
    await world.wallet.openPayments.drain()
    world.wallet.clock.advance(LEASE)
    await world.wallet.openPayments.recover()
    await world.wallet.openPayments.drain()
    expect(new Set(heard.map(({ type, id }) => `${type} ${id}`))).toHaveProperty('size', 101)
    expect(await world.storage.all('event')).toEqual([])
  })

  it('holds up no sweep()', async () => {
    const world = await moneyWorld()
    const { receiving } = await grantTokens(world)
    const expiresAt = new Date(world.wallet.clock.now() + HOUR).toISOString()
    for (let count = 0; count < 3; count++) {
      const json = { walletAddress: BOB, incomingAmount: usd('1'), expiresAt }
      await world.wallet.send('POST', `${BASE}/incoming-payments`, { token: receiving, json })
    }
    await world.wallet.openPayments.drain()
    world.wallet.clock.advance(HOUR + 1)
    const { heard, onEvent, letGo } = slowHost()
    const { openPayments } = world.start({ onEvent })
    expect(await comesTo(openPayments.sweep())).toBe(3)
    expect(await statesOf(world, 'incoming-payment')).toEqual(new Set(['expired']))
    letGo()
    await openPayments.drain()
    expect(heard.map(({ type }) => type)).toEqual(Array.from({ length: 3 }, () => 'incoming_payment.expired'))
    expect(await world.storage.all('event')).toEqual([])
  })
})

describe('recover()', () => {
  it('looks for events a lease after a look that hangs, and then too in one call at a time', async () => {
    const world = await moneyWorld()
    const { openPayments, ports } = world.start()
    const answers: (() => void)[] = []
    ports.plan = ({ name, arguments: [kind] }) =>
      name === 'due' && kind === 'event'
        ? new Promise((resolve) => void answers.push(() => resolve(undefined)))
        : undefined
    /** How often the storage was asked for events once the call has got as far as it can. */
    const recover = async (): Promise<number> => {
      void openPayments.recover()
      await turns(30)
      return answers.length
    }
    expect(await recover()).toBe(1)
    world.wallet.clock.advance(LEASE - 1)
    expect(await recover()).toBe(1)
    world.wallet.clock.advance(1)
    expect(await recover()).toBe(2)
    // The first look is over, the second is not.
    answers[0]?.()
    await turns(30)
    expect(await recover()).toBe(2)
    answers[1]?.()
    await turns(30)
    expect(await recover()).toBe(3)
  })
})
