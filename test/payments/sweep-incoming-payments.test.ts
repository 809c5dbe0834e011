import { describe, expect, it } from 'vitest'
import { usd } from '../support/test-wallet.ts'
import { type Call, faultAt } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  eventsOf,
  grantTokens,
  HOUR,
  inAnHour,
  LEASE,
  moneyWorld,
  pay,
  preparePayment,
  recoverUntilQuiet,
} from './money-world.ts'

const writesReceipt = ({ name, arguments: [changes] }: Call): boolean =>
  name === 'commit' && (changes as { kind: string }[]).some(({ kind }) => kind === 'receipt')

const isDamaged = ({ arguments: [changes] }: Call): boolean =>
  (changes as { id?: string }[]).some(({ id }) => id?.startsWith('damaged') === true)

describe('sweep() and incoming payments', () => {
  it('INC-7 expires what nobody paid in time, once, and says so', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const { incomingId } = await preparePayment(world, tokens, { incoming: { expiresAt: inAnHour(world) } })
    world.wallet.clock.advance(HOUR - 1)
    expect(await world.wallet.openPayments.sweep()).toBe(0)
    world.wallet.clock.advance(2)
    expect(await world.wallet.openPayments.sweep()).toBe(1)
    expect(await world.wallet.openPayments.sweep()).toBe(0)
    expect(await world.storage.all('incoming-payment')).toMatchObject([{ value: { id: incomingId, state: 'expired' } }])
    expect(world.told().map(({ type }) => type)).toEqual(['incoming_payment.created', 'incoming_payment.expired'])
    // Of a call that changed nothing there is nothing to say, nor of a kind of which nothing was due.
    const swept = { records: { 'incoming-payment': 1 }, isFull: false }
    expect(eventsOf(world, 'swept')).toEqual([expect.objectContaining(swept)])
    await checkMoney(world)
  })

  it('says that there may be more once it has swept a hundred', async () => {
    const world = await moneyWorld()
    const claims = Array.from({ length: 100 }, (_, number) => ({ id: `claim-${number}`, expiresAt: 0 }))
    await world.storage.commit(claims.map((value) => ({ action: 'insert', kind: 'replay-claim', value, dueAt: 0 })))
    expect(await world.wallet.openPayments.sweep()).toBe(100)
    expect(eventsOf(world, 'swept')).toMatchObject([{ records: { 'replay-claim': 100 }, isFull: true }])
  })

  it('does not ask a storage that takes no commits for each of a hundred records', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    await preparePayment(world, tokens, { incoming: { expiresAt: inAnHour(world) } })
    const [incoming] = await world.storage.all('incoming-payment')
    const numbers = Array.from({ length: 100 }, (_, number) => number.toString(16).padStart(44, '0'))
    await world.storage.commit(
      numbers.map((id) => ({ action: 'insert', kind: 'replay-claim', value: { id, expiresAt: 0 }, dueAt: 0 })),
    )
    await world.storage.commit(
      numbers.flatMap((id) => (incoming ? [{ ...incoming, action: 'insert', value: { ...incoming.value, id } }] : [])),
    )
    world.wallet.clock.advance(HOUR + 1)
    const process = world.start()
    process.ports.plan = ({ name }) => (name === 'commit' ? 'throws' : undefined)
    expect(await process.openPayments.sweep()).toBe(0)
    // Of the claims all at once, then eight of them, and eight incoming payments.
    expect(process.ports.calls.filter(({ name }) => name === 'commit')).toHaveLength(17)
    // Two that cannot be written keep none of the others.
    let failures = 0
    process.ports.plan = ({ name }) => (name === 'commit' && failures++ < 3 ? 'throws' : undefined)
    expect(await process.openPayments.sweep()).toBe(198)
    expect(await process.openPayments.sweep()).toBe(3)
    expect(await process.openPayments.sweep()).toBe(0)
  })

  it('does not ask it for each of a hundred that wait for money either', async () => {
    const world = await moneyWorld()
    await preparePayment(world, await grantTokens(world), { incoming: { expiresAt: inAnHour(world) } })
    const [incoming] = await world.storage.all('incoming-payment')
    if (incoming === undefined) throw new Error('there is none')
    const value = { ...incoming.value, reserved: { ...incoming.value.reserved, value: 1n } }
    const ids = Array.from({ length: 100 }, (_, number) => number.toString(16).padStart(44, '0'))
    await world.storage.commit(ids.map((id) => ({ ...incoming, action: 'insert', value: { ...value, id }, dueAt: 0 })))
    const process = world.start()
    process.ports.plan = ({ name }) => (name === 'commit' ? 'throws' : undefined)
    expect(await process.openPayments.sweep()).toBe(0)
    expect(process.ports.calls.filter(({ name }) => name === 'commit')).toHaveLength(8)
  })

  it('goes on however many fail, as long as others between them do not', async () => {
    const world = await moneyWorld()
    const ids = Array.from({ length: 40 }, (_, number) => `${number % 2 === 0 ? 'damaged' : 'claim'}-${number}`)
    await world.storage.commit(
      ids.map((id, dueAt) => ({ action: 'insert', kind: 'replay-claim', value: { id, expiresAt: 0 }, dueAt })),
    )
    const process = world.start()
    process.ports.plan = (call) => (call.name === 'commit' && isDamaged(call) ? 'throws' : undefined)
    expect(await process.openPayments.sweep()).toBe(20)
  })

  it('lets no number of records that cannot be deleted keep the others for good', async () => {
    const world = await moneyWorld()
    const ids = Array.from({ length: 100 }, (_, number) => `${number < 16 ? 'damaged' : 'claim'}-${number}`)
    await world.storage.commit(
      ids.map((id, dueAt) => ({ action: 'insert', kind: 'replay-claim', value: { id, expiresAt: 0 }, dueAt })),
    )
    const process = world.start()
    process.ports.plan = (call) => (call.name === 'commit' && isDamaged(call) ? 'throws' : undefined)
    for (let round = 0; round < 5; round++) {
      world.wallet.clock.advance(60_000)
      await process.openPayments.sweep()
    }
    const left = (await world.storage.all('replay-claim')).map(({ value }) => value.id)
    expect(left.toSorted()).toEqual(ids.slice(0, 16).toSorted())
  })

  it('leaves one that is completed as it is', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const incoming = { incomingAmount: usd('10'), expiresAt: inAnHour(world) }
    await pay(world, world.start(), await preparePayment(world, tokens, { incoming }))
    world.wallet.clock.advance(HOUR + 1)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('incoming-payment')).toMatchObject([{ value: { state: 'completed' } }])
    await checkMoney(world)
  })

  it('waits for a receipt that is under way', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const incoming = { incomingAmount: usd('20'), expiresAt: inAnHour(world) }
    const prepared = await preparePayment(world, tokens, { incoming })
    const process = world.start()
    faultAt(process.ports, 1, 'crashes after', writesReceipt)
    await pay(world, process, prepared)
    world.wallet.clock.advance(HOUR + 1)
    const inFlight = (await world.storage.all('incoming-payment'))[0]?.value
    expect(inFlight).toMatchObject({ state: 'processing', reserved: { value: 10n } })
    await world.wallet.openPayments.sweep()
    expect((await world.storage.all('incoming-payment'))[0]?.value).toEqual(inFlight)
    expect(eventsOf(world, 'swept').filter(({ records }) => 'incoming-payment' in records)).toEqual([])
    expect(await world.storage.due('incoming-payment', world.wallet.clock.now(), 10)).toEqual([])
    await recoverUntilQuiet(world)
    // Looked at again after a lease: one that waits for a receipt keeps no other waiting for the sweep.
    world.wallet.clock.advance(LEASE)
    await world.wallet.openPayments.sweep()
    const [swept] = await world.storage.all('incoming-payment')
    expect(swept?.value).toMatchObject({ state: 'expired', received: { value: 10n }, reserved: { value: 0n } })
    await checkMoney(world)
  })

  it('expires once where two processes sweep at once', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    for (let count = 0; count < 5; count++)
      await preparePayment(world, tokens, { from: 'incoming payment', incoming: { expiresAt: inAnHour(world) } })
    world.wallet.clock.advance(HOUR + 1)
    const [one, other] = [world.start(), world.start()]
    const swept = await Promise.all([one.openPayments.sweep(), other.openPayments.sweep()])
    expect(swept[0] + swept[1]).toBe(5)
    await recoverUntilQuiet(world)
    expect(world.told().filter(({ type }) => type === 'incoming_payment.expired')).toHaveLength(5)
    await checkMoney(world)
  })

  it('tells of an expiry whose process crashed, wherever it did', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    for (let index = 1; ; index++) {
      await preparePayment(world, tokens, { from: 'incoming payment', incoming: { expiresAt: inAnHour(world) } })
      world.wallet.clock.advance(HOUR + 1)
      const process = world.start()
      const { reached } = faultAt(process.ports, index, 'crashes after')
      await Promise.race([process.openPayments.sweep(), process.ports.crashed])
      await world.wallet.openPayments.sweep()
      await recoverUntilQuiet(world)
      await checkMoney(world)
      if (reached() === undefined) break
      expect(index).toBeLessThan(50)
    }
    const states = (await world.storage.all('incoming-payment')).map(({ value }) => value.state)
    expect(new Set(states)).toEqual(new Set(['expired']))
  })
})
