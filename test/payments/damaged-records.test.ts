import type { Change, RecordTypes } from 'open-payments-server'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { describe, expect, it } from 'vitest'
import { testWallet } from '../support/test-wallet.ts'
import { faultAt } from './faulty-ports.ts'
import {
  eventsOf,
  grantTokens,
  HOUR,
  moneyWorld,
  type Process,
  pay,
  preparePayment,
  recoverUntilQuiet,
  type World,
} from './money-world.ts'

/** A payment whose process dies before its payee is credited, and a process that finishes it. */
async function unfinished(): Promise<{ readonly world: World; readonly finisher: Process }> {
  const world = await moneyWorld()
  const process = world.start()
  faultAt(process.ports, 1, 'crashes before', ({ name }) => name === 'credit')
  await pay(world, process, await preparePayment(world, await grantTokens(world)))
  return { world, finisher: world.start() }
}

async function paymentOf({ storage }: World) {
  const [payment] = await storage.all('outgoing-payment')
  if (payment === undefined) throw new Error('there is a payment')
  return payment
}

/** Writes a payment as somebody would who repairs a row by hand. */
async function writeByHand(world: World, value: RecordTypes['outgoing-payment']): Promise<void> {
  const { wallet, storage } = world
  const change: Change = { ...(await paymentOf(world)), action: 'replace', value, dueAt: wallet.clock.now() }
  expect(await storage.commit([change])).toBe('committed')
}

async function recoverAfterAnHour({ wallet }: World, { openPayments }: Process): Promise<void> {
  wallet.clock.advance(HOUR)
  await openPayments.recover()
  await openPayments.drain()
}

describe('a payment that was repaired by hand', () => {
  it.each(['completes', 'fails'])(
    'stalls, and says why, where it is older than its receipt, and then %s',
    async (end) => {
      const { world, finisher } = await unfinished()
      if (end === 'fails') await world.ledger.setPermissions('bob', { canSend: true, canReceive: false })
      const { value: older } = await paymentOf(world)
      expect(older.state).toBe('sending')
      finisher.ports.plan = ({ name }) => (name === 'settle' || name === 'release' ? 'throws' : undefined)
      await recoverAfterAnHour(world, finisher)
      const { value: newer } = await paymentOf(world)
      expect(newer.state).toBe('decided')
      await writeByHand(world, older)
      finisher.ports.plan = () => undefined
      await recoverAfterAnHour(world, finisher)
      expect((await paymentOf(world)).value).toMatchObject({ state: 'sending', attempts: 1 })
      expect(eventsOf(world, 'payment_stalled').at(-1)).toMatchObject({ attempts: 1 })
      expect(eventsOf(world, 'fault').at(-1)).toMatchObject({
        message: 'a payment could not be moved on',
        cause: { message: 'the payment is older than its receipt, which has ended' },
      })
      await writeByHand(world, newer)
      await recoverUntilQuiet(world)
      expect((await paymentOf(world)).value.state).toBe(end === 'fails' ? 'failed' : 'completed')
    },
  )

  it('stalls where its state is none', async () => {
    const { world, finisher } = await unfinished()
    const { value } = await paymentOf(world)
    await writeByHand(world, { ...value, state: JSON.parse('"sent"') })
    await recoverAfterAnHour(world, finisher)
    expect(eventsOf(world, 'payment_stalled').at(-1)).toMatchObject({ attempts: 1 })
    await writeByHand(world, value)
    await recoverUntilQuiet(world)
    expect((await paymentOf(world)).value.state).toBe('completed')
  })
})

it('an event that was damaged holds up no other work', async () => {
  const handle = await openSqlite(':memory:')
  const storage = sqliteStorage(handle)
  const { openPayments, clock, events } = await testWallet({ storage })
  const event = {
    type: 'outgoing_payment.created',
    id: 'subject:1',
    at: clock.now(),
  } as unknown as RecordTypes['event']['event']
  await storage.commit([{ action: 'insert', kind: 'event', value: { id: 'subject:1', event }, dueAt: clock.now() }])
  handle.exec(`UPDATE op_event SET event = 'null'`)
  await expect(openPayments.recover()).resolves.toBe(0)
  expect(events).toMatchObject([
    {
      type: 'fault',
      message: 'a record that is due could not be read',
      cause: { message: 'the row subject:1 of op_event holds no event: event holds no JSON, or null' },
    },
  ])
})

const createdAs = (id: string, at: number): RecordTypes['event']['event'] =>
  ({ type: 'outgoing_payment.created', id, at }) as unknown as RecordTypes['event']['event']

it('a hundred payments of whose events the first is damaged hold up the events of no other', async () => {
  const handle = await openSqlite(':memory:')
  const storage = sqliteStorage(handle)
  const { openPayments, clock, events } = await testWallet({ storage })
  const at = clock.now()
  const ids = Array.from({ length: 100 }, (_, index) => `${index}`.padStart(3, '0')).flatMap((id) => [
    `${id}:1`,
    `${id}:2`,
  ])
  const insertEvent = (id: string, dueAt: number): Change => {
    return { action: 'insert', kind: 'event', value: { id, event: createdAs(id, at) }, dueAt }
  }
  for (let from = 0; from < ids.length; from += 100)
    await storage.commit(ids.slice(from, from + 100).map((id) => insertEvent(id, at - 2)))
  await storage.commit([insertEvent('whole:1', at - 1)])
  handle.exec(`UPDATE op_event SET event = '' WHERE id LIKE '%:1' AND id <> 'whole:1'`)
  for (const _ of [1, 2]) await openPayments.recover()
  expect(events).toContainEqual(createdAs('whole:1', at))
})
