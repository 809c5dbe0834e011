import type { PaymentMethod } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { progress } from '../support/fake-rail.ts'
import { eventsOf, HOUR, LEASE, recoverUntilQuiet } from './money-world.ts'
import {
  checkRailMoney,
  interrupted,
  onlyPayment,
  payRemotely,
  type RailWorld,
  railWorld,
  recoverLater,
} from './rail-world.ts'

/** Recovers in a process that has another secret than the one which sealed what it finds. */
async function recoverWithoutSecret(world: RailWorld, milliseconds = LEASE): Promise<void> {
  const { openPayments } = world.start({
    secrets: ['another secret of the tests, also long enough to be one'],
    paymentMethods: [world.method],
    remoteReceivers: world.far.receivers,
  })
  world.wallet.clock.advance(milliseconds)
  await openPayments.recover()
  await openPayments.drain()
}

/** A payment of 15 of which 4 have left and arrived, and nothing is in flight. */
async function paused(): Promise<RailWorld> {
  const world = await railWorld({ incomingValue: 20n })
  const { method } = world
  const deliver: PaymentMethod['deliver'] = async (_delivery, _start, record) => {
    await record(progress(4n, 4n, '1'))
    world.far.parts.set(`${(await onlyPayment(world)).value.id}:1`, 4n)
    return { outcome: 'later', reason: 'busy' }
  }
  world.method = { ...method, deliver }
  await payRemotely(world)
  world.method = method
  return world
}

/** Puts something in the place of what the details of a payment were sealed as. */
async function spoilDetails(world: RailWorld): Promise<void> {
  const record = await onlyPayment(world)
  const { delivery } = record.value
  if (delivery?.details === undefined) throw new Error('nothing has left')
  const spoiled = { ...delivery, details: { ...delivery.details, sealed: 'no base64url' } }
  const { version, dueAt = 0 } = record
  const value = { ...record.value, delivery: spoiled }
  await world.storage.commit([{ action: 'replace', kind: 'outgoing-payment', version, value, dueAt, isListed: true }])
}

describe('TOK-1 the secret of a receiver', () => {
  it('is in no record, and needed after its server names it no more', async () => {
    const world = await interrupted(2)
    const { sharedSecret } = world.receiver
    const kinds = ['outgoing-payment', 'quote', 'rail-account', 'signed-request'] as const
    const stored = JSON.stringify(await Promise.all(kinds.map((kind) => world.storage.all(kind))), (_, member) =>
      typeof member === 'bigint' ? member.toString() : member,
    )
    expect(stored).toContain(world.receiver.address)
    expect(stored).not.toContain(sharedSecret)
    expect(stored).not.toContain(Buffer.from(sharedSecret).toString('base64url'))
    world.receiver.hasMethod = false
    await recoverLater(world)
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'failed', delivery: { sent: '8' } })
  })

  it('is sealed anew for each payment: two of one receiver have nothing in common', async () => {
    const world = await railWorld()
    for (const amount of ['15', '16']) await payRemotely(world, { amount })
    const sealed = (await world.storage.all('outgoing-payment')).map(({ value }) => value.delivery?.details?.sealed)
    expect(new Set(sealed)).toHaveProperty('size', 2)
    expect(sealed).not.toContain(undefined)
  })

  it('T-34 is sealed with another key for each 32 bytes: a text that repeats does not show', async () => {
    const world = await railWorld({ sharedSecret: 'a'.repeat(64) })
    await payRemotely(world)
    const sealed = Buffer.from((await onlyPayment(world)).value.delivery?.details?.sealed ?? '', 'base64url')
    expect(sealed).toHaveLength(64)
    expect(sealed.subarray(0, 32)).not.toEqual(sealed.subarray(32))
  })

  const MISSING = /^the secret with the id [0-9a-f]{16} is not configured any more$/

  it.each([
    ['something is in flight', () => interrupted(2)],
    ['nothing is in flight', paused],
  ])(
    'is waited for where a process does not have it, and the payment goes on once it is back: %s',
    async (_, start) => {
      const world = await start()
      const before = (await onlyPayment(world)).value.delivery
      await recoverWithoutSecret(world)
      expect((await onlyPayment(world)).value).toMatchObject({ state: 'sending', delivery: before })
      const message = expect.stringMatching(MISSING)
      expect(eventsOf(world, 'fault')).toMatchObject([{ message, cause: expect.objectContaining({ message }) }])
      expect(eventsOf(world, 'payment_stalled').at(-1)).toMatchObject({ reason: message })
      await recoverUntilQuiet(world)
      expect((await onlyPayment(world)).value.state).toBe('completed')
      await checkRailMoney(world)
    },
  )

  it('that does not come back in time ends the payment with what has left, or leaves it to the host', async () => {
    const left = await paused()
    await recoverWithoutSecret(left, HOUR)
    expect((await onlyPayment(left)).value).toMatchObject({
      state: 'failed',
      sentAmount: { value: 5n },
      delivery: { sent: '4' },
    })
    await checkRailMoney(left)
    const flying = await interrupted(2)
    await recoverWithoutSecret(flying, 24 * HOUR)
    expect(await flying.wallet.openPayments.outgoingPayments.undecided()).toEqual([])
    await recoverWithoutSecret(flying, HOUR)
    expect((await onlyPayment(flying)).value.delivery).toMatchObject({ isLeftToHost: 'unknown', inFlightSent: '4' })
  })

  it.each([0, 4])(
    'ends what holds details that are none, or leaves it to the host: %i in flight',
    async (inFlightSent) => {
      const world = inFlightSent === 0 ? await paused() : await interrupted(2)
      await spoilDetails(world)
      await recoverLater(world)
      const ended = {
        state: 'failed',
        sentAmount: { value: 5n },
        delivery: { sent: '4', reason: 'details_unreadable' },
      }
      const left = { state: 'sending', delivery: { isLeftToHost: 'unknown', inFlightSent: '4' } }
      expect((await onlyPayment(world)).value).toMatchObject(inFlightSent === 0 ? ended : left)
    },
  )
})
