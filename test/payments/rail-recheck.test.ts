import type { PaymentMethod } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { inFlight, progress } from '../support/fake-rail.ts'
import type { FakeReceiver } from '../support/fake-remote-receivers.ts'
import { usd } from '../support/test-wallet.ts'
import { faultAt } from './faulty-ports.ts'
import { HOUR, pay, recoverUntilQuiet } from './money-world.ts'
import {
  checkRailMoney,
  interrupted,
  onlyPayment,
  payRemotely,
  prepareRailPayment,
  railWorld,
  recoverLater,
} from './rail-world.ts'

const CHANGES: readonly (readonly [string, Partial<FakeReceiver>])[] = [
  ['receiver_completed', { isCompleted: true }],
  ['receiver_expired', { expiresAt: 1 }],
  ['receiver_over_remainder', { incomingValue: 1n }],
  ['receiver_changed_asset', { asset: { assetCode: 'USD', assetScale: 3 } }],
  ['receiver_no_method', { hasMethod: false }],
  ['receiver_unknown', { trouble: 'unknown' }],
]

describe('T-5 a receiver of a payment that is ordered', () => {
  it('is asked for in its name alone, and again if who asks is told to wait', async () => {
    const world = await interrupted(0)
    const { receivers } = world.far
    receivers.askers.length = 0
    Object.assign(world.receiver, { trouble: 'rate_limited' })
    await recoverLater(world)
    expect((await onlyPayment(world)).value.state).toBe('sending')
    expect(new Set(receivers.askers.map((asker) => JSON.stringify(asker)))).toEqual(new Set(['{"isOrdered":true}']))
    Object.assign(world.receiver, { trouble: undefined })
    await recoverLater(world)
    expect((await onlyPayment(world)).value.state).toBe('completed')
    await checkRailMoney(world)
  })
})

describe('T-45 a receiver that has changed since it was priced', () => {
  it.each(CHANGES)('is sent nothing: %s', async (reason, change) => {
    const world = await interrupted(0)
    Object.assign(world.receiver, change)
    await recoverLater(world)
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'failed', decision: { action: 'release', reason } })
    expect(world.far.parts.size).toBe(0)
    await checkRailMoney(world)
  })

  it.each(CHANGES)('is sent no more, and what was on its way is found out: %s', async (reason, change) => {
    const world = await interrupted(2)
    Object.assign(world.receiver, change)
    await recoverLater(world)
    const { value } = await onlyPayment(world)
    expect(value).toMatchObject({ state: 'failed', delivery: { sent: '8', inFlightSent: '0', reason } })
    expect(world.far.parts.size).toBe(2)
    await checkRailMoney(world)
  })

  // Some servers name another address and another secret whenever they are read.
  it('is paid where its server says that it is paid now', async () => {
    const world = await interrupted(0)
    Object.assign(world.receiver, { address: 'test.another' })
    await recoverLater(world)
    expect((await onlyPayment(world)).value.state).toBe('completed')
    await checkRailMoney(world)
  })

  it('is paid the rest where it was paid the first part, whatever its server names by then', async () => {
    const world = await interrupted(2)
    const { receiver } = world
    world.far.receivers.add({ address: receiver.address, sharedSecret: receiver.sharedSecret })
    Object.assign(receiver, { address: 'test.another' })
    await recoverLater(world)
    expect((await onlyPayment(world)).value.state).toBe('completed')
    await checkRailMoney(world)
  })

  it('completed by this very payment is paid in full', async () => {
    const world = await interrupted(4, { incomingValue: 13n })
    expect(world.receiver.isCompleted).toBe(true)
    await recoverLater(world)
    expect((await onlyPayment(world)).value.state).toBe('completed')
    await checkRailMoney(world)
  })

  it('still takes the rest, though it has less left than the whole: it has had a part', async () => {
    const world = await interrupted(2, { incomingValue: 13n })
    await recoverLater(world)
    expect((await onlyPayment(world)).value.state).toBe('completed')
    await checkRailMoney(world)
  })
})

describe('T-45 a receiver that takes less than is missing, by what this server counts', () => {
  it('is paid the rest where more has arrived of a part than this server was told', async () => {
    const world = await railWorld({ incomingValue: 11n })
    const asked: boolean[] = []
    const deliver: PaymentMethod['deliver'] = async ({ isOver }, start, record) => {
      asked.push(isOver)
      const at = start.inFlight.sent > 0n ? progress(10n, 9n) : start
      if (isOver) return { outcome: 'ended', progress: at, reason: 'over' }
      await record(at.sent === 0n ? inFlight(at, 10n, 9n) : inFlight(at, 3n, 2n))
      world.receiver.receivedValue += at.sent === 0n ? 10n : 1n
      return at.sent === 0n
        ? { outcome: 'later', reason: 'in_flight' }
        : { outcome: 'delivered', progress: progress(13n, 11n) }
    }
    world.method = { ...world.method, deliver }
    await payRemotely(world)
    await recoverLater(world)
    // First it is found out what became of the part, and the receiver is looked at again.
    expect(asked).toEqual([false, true, false])
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'completed', delivery: { sent: '13' } })
  })

  it('is asked what it takes by each part that it gets: its own refusal ends the payment', async () => {
    const world = await interrupted(2, { incomingValue: 13n })
    // Somebody else has paid most of what was left.
    world.receiver.receivedValue = 12n
    world.far.decideFate = () => 'rejects it'
    await recoverLater(world)
    const { value } = await onlyPayment(world)
    expect(value).toMatchObject({ state: 'failed', delivery: { sent: '8', reason: 'rejected' } })
    await checkRailMoney(world)
  })

  it('is sent nothing new where nothing has arrived, and somebody else has paid meanwhile', async () => {
    const world = await railWorld({ incomingValue: 20n })
    const process = world.process()
    faultAt(process.ports, 1, 'crashes before', ({ name }) => name === 'send')
    await pay(world, process, await prepareRailPayment(world))
    world.receiver.receivedValue = 12n
    const asked: boolean[] = []
    world.method = {
      ...world.method,
      deliver: async ({ isOver }) => {
        asked.push(isOver)
        return { outcome: 'ended', progress: progress(0n, 0n), reason: 'it never came' }
      },
    }
    await recoverLater(world)
    expect(asked).toEqual([true])
    expect((await onlyPayment(world)).value).toMatchObject({
      state: 'failed',
      decision: { action: 'release', reason: 'receiver_over_remainder' },
    })
    await checkRailMoney(world)
  })
})

/** Answers that the port does not have, by what the fault says of them. */
const NO_ANSWERS: readonly (readonly [string, (found: object & { readonly payment?: object }) => object])[] = [
  ['its reason is none of the five', () => ({ ok: false, reason: 'timeout' })],
  ['its reason is none of the five', () => ({ ok: false, reason: 'expired' })],
  ['receivedAmount.value must be a bigint', (found) => changed(found, { receivedAmount: usd('0') })],
  [
    'receivedAmount: assetScale must be an integer from 0 to 255, not "2"',
    (found) => changed(found, { receivedAmount: { value: 0n, assetCode: 'USD', assetScale: '2' } }),
  ],
  ['incomingAmount.value must be a bigint', (found) => changed(found, { incomingAmount: usd('20') })],
  ['isCompleted must be true or false', (found) => changed(found, { isCompleted: 'false' })],
  ['expiresAt must be a number', (found) => changed(found, { expiresAt: null })],
]

const changed = (found: { readonly payment?: object }, members: object): object => ({
  ...found,
  payment: { ...found.payment, ...members },
})

describe('T-45 a receiver whose reader breaks its contract', () => {
  it.each(NO_ANSWERS)('is waited for, and the host hears of it: %s', async (mistake, answer) => {
    const world = await interrupted(0)
    const { receivers } = world.far
    const { find } = receivers
    Object.assign(receivers, { find: async (...given: Parameters<typeof find>) => answer(await find(...given)) })
    await recoverLater(world)
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'sending', attempts: 1 })
    const cause = expect.objectContaining({ name: 'TypeError', message: `remoteReceivers.find: ${mistake}` })
    expect(world.wallet.events).toContainEqual(expect.objectContaining({ type: 'fault', cause }))
    receivers.find = find
    await recoverUntilQuiet(world)
    expect((await onlyPayment(world)).value.state).toBe('completed')
    await checkRailMoney(world)
  })
})

describe('a payment of which nobody took care for days', () => {
  it.each([0, 2])('sends nothing new, whatever had left: %i parts', async (sends) => {
    const world = await interrupted(sends)
    await recoverLater(world, 72 * HOUR)
    const { value } = await onlyPayment(world)
    expect(value.state).toBe('failed')
    expect(sends === 0 ? value.decision : value.delivery).toMatchObject({ reason: 'out_of_time' })
    expect(world.far.parts.size).toBe(sends)
    await checkRailMoney(world)
  })
})

describe('T-45 a receiver whose server does not say what it is', () => {
  it.each(['unreachable', 'refused', 'invalid', 'silence'] as const)(
    'is waited for, and sent nothing meanwhile: %s',
    async (trouble) => {
      const world = await interrupted(0)
      world.receiver.trouble = trouble
      if (trouble === 'silence') {
        world.far.receivers.before = async () => void setImmediate(() => world.wallet.clock.advance(3000))
      }
      await recoverLater(world)
      expect((await onlyPayment(world)).value).toMatchObject({ state: 'sending', attempts: 1 })
      const reason =
        trouble === 'silence' ? 'receiver_unreachable: its server did not answer in time' : `receiver_${trouble}`
      expect(world.wallet.events).toContainEqual(expect.objectContaining({ type: 'payment_stalled', reason }))
      expect(world.far.parts.size).toBe(0)
      world.receiver.trouble = undefined
      world.far.receivers.before = async () => undefined
      await recoverUntilQuiet(world)
      expect((await onlyPayment(world)).value.state).toBe('completed')
      await checkRailMoney(world)
    },
  )

  it.each([
    ['given up', 0, { decision: { action: 'release', reason: 'receiver_unreachable' } }],
    [
      'not asked for again, once what was on its way is found out',
      2,
      { delivery: { sent: '8', reason: 'out_of_time' } },
    ],
  ])('is %s after an hour', async (_, sends, ended) => {
    const world = await interrupted(sends)
    world.receiver.trouble = 'unreachable'
    await recoverLater(world, HOUR)
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'failed', ...ended })
    await checkRailMoney(world)
  })

  it('is sent nothing meanwhile, but what became of what was on its way is found out; after an hour it is given up', async () => {
    const world = await interrupted(2)
    world.receiver.trouble = 'unreachable'
    await recoverLater(world)
    expect((await onlyPayment(world)).value).toMatchObject({
      state: 'sending',
      delivery: { sent: '8', inFlightSent: '0' },
    })
    await recoverLater(world, HOUR)
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'failed', delivery: { sent: '8' } })
    expect(world.far.parts.size).toBe(2)
    await checkRailMoney(world)
  })
})

describe('a payment whose rail was taken out of the configuration', () => {
  it('waits for it while something is in flight, and is given back where nothing is', async () => {
    for (const sends of [0, 2]) {
      const world = await interrupted(sends)
      const without = world.start({ paymentMethods: [] })
      world.wallet.clock.advance(2 * HOUR)
      await without.openPayments.recover()
      await without.openPayments.drain()
      const { state } = (await onlyPayment(world)).value
      expect(state).toBe(sends === 0 ? 'failed' : 'sending')
      await recoverUntilQuiet(world)
      await checkRailMoney(world)
    }
  })

  it('is left to the host where something is in flight and the rail does not come back for a day', async () => {
    const world = await interrupted(2)
    const { openPayments } = world.start({ paymentMethods: [] })
    const { outgoingPayments } = openPayments
    for (let hours = 1; hours < 25; hours++) {
      world.wallet.clock.advance(HOUR)
      await openPayments.recover()
      await openPayments.drain()
    }
    expect(await outgoingPayments.undecided()).toEqual([])
    world.wallet.clock.advance(2 * HOUR)
    await openPayments.recover()
    await openPayments.drain()
    const { id } = (await onlyPayment(world)).value
    expect(await outgoingPayments.undecided()).toMatchObject([{ id, reason: 'unknown', inFlightSent: usd('4') }])
    // The peer has it: the second part had reached the far side.
    expect(await outgoingPayments.sent(id)).toEqual({ ok: true })
    await openPayments.drain()
    await checkRailMoney(world)
  })
})
