import type { OpenPaymentsEvent } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { BASE, BOB, usd } from '../support/test-wallet.ts'
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
  recoverUntilQuiet,
  type World,
} from './money-world.ts'

/** A payment whose process crashed at a step. */
async function crashedAt(step: string): Promise<World> {
  const world = await moneyWorld()
  const process = world.start()
  faultAt(process.ports, 1, 'crashes after', ({ name }) => name === step)
  await pay(world, process, await preparePayment(world, await grantTokens(world)))
  return world
}

describe('the events of recover()', () => {
  it('say which payment is taken up, in which state, and how much there was', async () => {
    const world = await crashedAt('credit')
    await world.wallet.openPayments.recover()
    expect(eventsOf(world, 'recovered')).toEqual([])
    world.wallet.clock.advance(LEASE)
    // The clock goes on for what the process waited for that crashed.
    await turns(10)
    const at = world.wallet.clock.now()
    const [payment] = await world.storage.all('outgoing-payment')
    await world.wallet.openPayments.recover()
    expect(eventsOf(world, 'payment_resumed')).toEqual([
      { type: 'payment_resumed', at, outgoingPayment: payment?.value.id, state: 'sending', attempts: 0 },
    ])
    expect(eventsOf(world, 'recovered')).toMatchObject([{ payments: 1, events: 0, isFull: false }])
    await world.wallet.openPayments.recover()
    expect(eventsOf(world, 'recovered')).toHaveLength(1)
  })

  it('tell of each payment once, where two processes recover at once', async () => {
    const world = await crashedAt('settle')
    world.wallet.clock.advance(LEASE)
    await Promise.all([world.start(), world.start()].map(({ openPayments }) => openPayments.recover()))
    expect(eventsOf(world, 'payment_resumed')).toHaveLength(1)
    expect(eventsOf(world, 'recovered').reduce((sum, { payments }) => sum + payments, 0)).toBe(1)
  })

  it('tell nothing that another process is at: what follows an event that was due, and is not due itself', async () => {
    const told: string[] = []
    const world = await moneyWorld()
    const [isRead, isTold] = [gate(), gate()]
    const first = world.start({ onEvent: () => Promise.reject(new Error('the host is busy')) })
    first.ports.plan = ({ name }) => (name === 'settle' ? 'throws' : undefined)
    await pay(world, first, await preparePayment(world, await grantTokens(world)))
    world.wallet.clock.advance(LEASE)
    const telling = (name: string) => async (event: OpenPaymentsEvent) => {
      if (!('id' in event && 'outgoingPayment' in event)) return
      told.push(`${name} ${event.type}`)
      if (event.type === 'outgoing_payment.completed') await isTold.opened
    }
    // It sees that `created` is due, and reads only after that was told.
    const slow = world.start(({ storage }) => ({
      onEvent: telling('slow'),
      storage: {
        ...storage,
        due: async (kind, now, limit) => (kind === 'event' ? storage.due(kind, now, limit) : []),
        get: async (keys) => {
          if (keys.some(({ kind }) => kind === 'event')) await isRead.opened
          return storage.get(keys)
        },
      },
    }))
    const quick = world.start({ onEvent: telling('quick') })
    const recovered = [slow.openPayments.recover(), quick.openPayments.recover()]
    await turns(100)
    isRead.open()
    await turns(100)
    isTold.open()
    await Promise.all(recovered)
    await Promise.all([slow.openPayments.drain(), quick.openPayments.drain()])
    expect(told).toEqual(['quick outgoing_payment.created', 'quick outgoing_payment.completed'])
  })

  it('say that there is more, where the batch was full', async () => {
    const heard: OpenPaymentsEvent[] = []
    let isBusy = true
    const onEvent = async (event: OpenPaymentsEvent): Promise<void> => {
      heard.push(event)
      if ('id' in event && isBusy) throw new Error('the host is busy')
    }
    const world = await moneyWorld({ onEvent })
    const tokens = await grantTokens(world)
    for (let count = 0; count < 101; count++) {
      const json = { walletAddress: BOB, incomingAmount: usd('1') }
      await world.wallet.send('POST', `${BASE}/incoming-payments`, { token: tokens.receiving, json })
    }
    await world.wallet.openPayments.drain()
    world.wallet.clock.advance(LEASE)
    isBusy = false
    const counts = [await world.wallet.openPayments.recover(), await world.wallet.openPayments.recover()]
    expect(counts).toEqual([100, 1])
    expect(heard.filter(({ type }) => type === 'recovered')).toMatchObject([
      { payments: 0, events: 100, isFull: true },
      { payments: 0, events: 1, isFull: false },
    ])
  })

  it('that cannot be read end no process, where nobody waits for them as there is more money to move on', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    for (let count = 0; count < 100; count++) {
      const process = world.start()
      faultAt(process.ports, 1, 'crashes before', ({ name }) => name === 'credit')
      await pay(world, process, await preparePayment(world, tokens, { from: 'incoming payment' }))
    }
    world.wallet.clock.advance(LEASE)
    const { openPayments, ports } = world.start()
    ports.plan = ({ name, arguments: [kind] }) => (name === 'due' && kind === 'event' ? 'throws' : undefined)
    const unhandled: unknown[] = []
    const hear = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', hear)
    try {
      expect(await openPayments.recover()).toBe(100)
      await openPayments.drain()
      await turns(10)
    } finally {
      process.off('unhandledRejection', hear)
    }
    expect(unhandled).toEqual([])
    await recoverUntilQuiet(world)
    await checkMoney(world)
  })

  it('leave a host that takes the first event of a payment and not the second alone for ever longer', async () => {
    const tried: string[] = []
    let isTaken = (_type: string): boolean => false
    const onEvent = async (event: OpenPaymentsEvent): Promise<void> => {
      if (!('outgoingPayment' in event && 'id' in event)) return
      tried.push(event.type)
      if (!isTaken(event.type)) throw new Error('the host is busy')
    }
    const world = await moneyWorld({ onEvent })
    const { recover, drain } = world.wallet.openPayments
    const prepared = await preparePayment(world, await grantTokens(world))
    await pay(world, world.start(), prepared)
    isTaken = (type) => type === 'outgoing_payment.created'
    tried.length = 0
    for (const pause of [LEASE, LEASE, 2 * LEASE, 4 * LEASE]) {
      world.wallet.clock.advance(pause - 1)
      const before = tried.length
      await recover()
      await drain()
      expect(tried).toHaveLength(before)
      world.wallet.clock.advance(1)
      await recover()
      await drain()
      expect(tried.at(-1)).toBe('outgoing_payment.completed')
    }
    expect(tried).toEqual([
      'outgoing_payment.created',
      ...Array.from({ length: 4 }, () => 'outgoing_payment.completed'),
    ])
  })

  it('T-31 name a payment that cannot be decided, again and again, and leave it as it is', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const prepared = await preparePayment(world, tokens)
    const process = world.start()
    process.ports.plan = ({ name }) => (name === 'credit' ? 'hangs' : undefined)
    const answer = await pay(world, process, prepared)
    const pauses = []
    for (let attempt = 1; attempt <= 8; attempt++) {
      const [payment] = await world.storage.all('outgoing-payment')
      expect(payment).toMatchObject({ value: { state: 'sending', attempts: attempt }, isListed: true })
      const stalled = eventsOf(world, 'payment_stalled').at(-1)
      expect(stalled).toMatchObject({ state: 'sending', attempts: attempt, retryAt: payment?.dueAt })
      expect(stalled?.reason).toBe('the ledger did not answer in time')
      pauses.push((stalled?.retryAt ?? 0) - (stalled?.at ?? 0))
      const read = await world.wallet.send('GET', answer?.body.id ?? '', { token: prepared.token })
      expect(read).toMatchObject({ status: 200, body: { failed: false, sentAmount: usd('0') } })
      world.wallet.clock.advance((stalled?.retryAt ?? 0) - world.wallet.clock.now())
      await process.openPayments.recover()
      await process.openPayments.drain()
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 120].map((leases) => leases * LEASE))
    expect(await world.ledger.balance('alice')).toMatchObject({ held: 10n })
    process.ports.plan = () => undefined
    await recoverUntilQuiet(world)
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
    await checkMoney(world)
  })
})

describe('the events of sweep()', () => {
  it('say how many records of which kind are over', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const expiresAt = new Date(world.wallet.clock.now() + HOUR).toISOString()
    await preparePayment(world, tokens, { incoming: { expiresAt } })
    await world.wallet.openPayments.sweep()
    expect(eventsOf(world, 'swept')).toEqual([])
    world.wallet.clock.advance(48 * HOUR)
    const count = await world.wallet.openPayments.sweep()
    const [swept] = eventsOf(world, 'swept')
    expect(swept).toMatchObject({ at: world.wallet.clock.now(), isFull: false })
    expect(swept?.records).toMatchObject({ 'incoming-payment': 1, quote: 1, interaction: 1 })
    expect(Object.values(swept?.records ?? {}).reduce((sum, records) => sum + records, 0)).toBe(count)
  })

  it('say that there is more, where a batch was full', async () => {
    const world = await moneyWorld()
    const { receiving } = await grantTokens(world)
    const expiresAt = new Date(world.wallet.clock.now() + HOUR).toISOString()
    for (let count = 0; count < 101; count++) {
      const json = { walletAddress: BOB, expiresAt }
      await world.wallet.send('POST', `${BASE}/incoming-payments`, { token: receiving, json })
    }
    world.wallet.clock.advance(2 * HOUR)
    await world.wallet.openPayments.sweep()
    expect(eventsOf(world, 'swept').at(-1)).toMatchObject({ records: { 'incoming-payment': 100 }, isFull: true })
    await world.wallet.openPayments.sweep()
    expect(eventsOf(world, 'swept').at(-1)).toMatchObject({ records: { 'incoming-payment': 1 } })
  })
})
