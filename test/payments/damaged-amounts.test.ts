import type { Change, OutgoingPayment } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { BASE, usd } from '../support/test-wallet.ts'
import { faultAt } from './faulty-ports.ts'
import { eventsOf, grantTokens, moneyWorld, pay, preparePayment, type World } from './money-world.ts'
import {
  checkRailMoney,
  interrupted,
  onlyPayment,
  prepareRailPayment,
  type RailWorld,
  railWorld,
  recoverLater,
} from './rail-world.ts'

/** What `BigInt` alone reads as a number, or, as the last, does not. */
const DAMAGE = ['', ' ', '0x1', '-4', 'many']

/** Writes a record anew, as no server would. */
async function overwrite({ storage }: World, change: Change): Promise<void> {
  expect(await storage.commit([change])).toBe('committed')
}

async function damageDelivery(world: World, members: Partial<OutgoingPayment['delivery']>): Promise<void> {
  const { value, ...record } = await onlyPayment(world)
  if (value.delivery === undefined) throw new Error('nothing has left')
  const delivery = { ...value.delivery, ...members }
  await overwrite(world, { ...record, action: 'replace', value: { ...value, delivery } })
}

async function damageRail(world: World, members: Partial<OutgoingPayment['rail']>): Promise<void> {
  const { value, ...record } = await onlyPayment(world)
  if (value.rail === undefined) throw new Error('the receiver is on this server')
  await overwrite(world, { ...record, action: 'replace', value: { ...value, rail: { ...value.rail, ...members } } })
}

/** That a payment waits for its record to be repaired, and the host is told. */
async function expectStalled(world: World, state: OutgoingPayment['state']): Promise<void> {
  for (let round = 0; round < 3; round++) await recoverLater(world, 200_000)
  expect((await onlyPayment(world)).value).toMatchObject({ state, attempts: 3 })
  const message = 'a payment could not be moved on'
  expect(eventsOf(world, 'fault')).toContainEqual(expect.objectContaining({ message, cause: expect.any(TypeError) }))
  expect(eventsOf(world, 'payment_stalled')).toHaveLength(3)
}

/** What has left, by the far side and by the rail's account. */
async function left({ far, storage }: RailWorld): Promise<readonly unknown[]> {
  const [account] = await storage.all('rail-account')
  return [[...far.parts.values()].reduce((sum, part) => sum + part, 0n), account?.value.sent]
}

describe('T-26 a delivery of 13, of which 8 have left and 4 may have, with a damaged amount in its record', () => {
  const amounts = ['sent', 'received', 'inFlightSent', 'inFlightReceived'] as const
  it.each(amounts.flatMap((member) => DAMAGE.map((text) => [member, text] as const)))(
    'sends nothing more until it is repaired: %s is %j',
    async (member, text) => {
      const world = await interrupted(3)
      const { delivery } = (await onlyPayment(world)).value
      expect(delivery).toMatchObject({ sent: '8', inFlightSent: '4' })
      await damageDelivery(world, { [member]: text })
      await expectStalled(world, 'sending')
      expect(await left(world)).toEqual([12n, 12n])
      await damageDelivery(world, { [member]: delivery?.[member] })
      await recoverLater(world, 400_000)
      expect((await onlyPayment(world)).value.state).toBe('completed')
      await checkRailMoney(world)
    },
  )

  it.each(DAMAGE)('sends nothing more until it is repaired: all that may leave is %j', async (value) => {
    const world = await interrupted(3)
    const { sendAmount } = (await onlyPayment(world)).value.rail ?? {}
    if (sendAmount === undefined) throw new Error('this payment is for another server')
    await damageRail(world, { sendAmount: { ...sendAmount, value } })
    await expectStalled(world, 'sending')
    expect(await left(world)).toEqual([12n, 12n])
    await damageRail(world, { sendAmount })
    await recoverLater(world, 400_000)
    await checkRailMoney(world)
  })

  it.each(DAMAGE)('is not settled in part without its fee: the fixed fee is %j', async (fixedFee) => {
    const world = await interrupted(2)
    world.far.decideFate = () => 'rejects it'
    await damageRail(world, { fixedFee })
    for (let round = 0; round < 3; round++) await recoverLater(world, 200_000)
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'sending', delivery: { sent: '8' } })
    await damageRail(world, { fixedFee: '0' })
    await recoverLater(world, 400_000)
    expect((await onlyPayment(world)).value.state).toBe('failed')
    await checkRailMoney(world)
  })
})

describe('T-26 what a grant has spent', () => {
  it.each(DAMAGE)('is not lowered by a payment in part of which %j is said to have arrived', async (text) => {
    const world = await railWorld()
    world.far.decideFate = (_, part) => (part === 3 ? 'rejects it' : 'takes it')
    const process = world.process()
    faultAt(process.ports, 1, 'crashes before', ({ name }) => name === 'settle')
    await pay(world, process, await prepareRailPayment(world))
    const { delivery } = (await onlyPayment(world)).value
    expect(delivery).toMatchObject({ sent: '8', inFlightSent: '0' })
    await damageDelivery(world, { ...delivery, received: text })
    await recoverLater(world, 400_000)
    expect((await onlyPayment(world)).value.state).toBe('decided')
    await damageDelivery(world, { ...delivery })
    await recoverLater(world, 400_000)
    expect((await onlyPayment(world)).value.state).toBe('failed')
    await checkRailMoney(world)
  })

  it.each(DAMAGE)('admits nothing while what its receivers got is %j', async (value) => {
    const { world, order } = await limitedWorld('receiveAmount')
    const [record] = await world.storage.all('spending')
    if (record === undefined) throw new Error('nothing is spent')
    const receive = record.value.receive.map((sum) => ({ ...sum, value }))
    await overwrite(world, { ...record, action: 'replace', value: { ...record.value, receive } })
    expect(await order()).toBe(500)
    expect(await world.storage.all('outgoing-payment')).toHaveLength(1)
  })

  it.each(
    ['debitAmount', 'receiveAmount'].flatMap((limit) => [...DAMAGE, '0x64'].map((text) => [limit, text] as const)),
  )('admits nothing while its limit is damaged: %s is %j', async (limit, value) => {
    const { world, order } = await limitedWorld(limit)
    for (const record of await world.storage.all('access-token')) {
      const access = record.value.access.map((entry) =>
        entry.type === 'outgoing-payment' ? { ...entry, limits: { [limit]: { ...usd('20'), value } } } : entry,
      )
      await overwrite(world, { ...record, action: 'replace', value: { ...record.value, access } })
    }
    expect(await order()).toBe(500)
    expect(await world.storage.all('outgoing-payment')).toHaveLength(1)
  })
})

/** A world in which 10 of the 20 that a grant may spend are spent, and the status of one more order of 10. */
async function limitedWorld(limit: string) {
  const world = await moneyWorld()
  const tokens = await grantTokens(world, { [limit]: usd('20') })
  const order = async (): Promise<number> => {
    const { token, body: json } = await preparePayment(world, tokens)
    const { status } = await world.wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    await world.wallet.openPayments.drain()
    return status
  }
  expect(await order()).toBe(201)
  return { world, order }
}
