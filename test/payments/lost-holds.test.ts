import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { keyed } from '../support/keyed.ts'
import { BASE, usd } from '../support/test-wallet.ts'
import type { Call } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  ask,
  eventsOf,
  grantTokens,
  HOUR,
  moneyWorld,
  orderCutOff,
  type PreparedPayment,
  type Process,
  pay,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
  type World,
} from './money-world.ts'

const touches = ({ arguments: [given] }: Call, kind: string): boolean => JSON.stringify(keysOf(given)).includes(kind)

function keysOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given.map((one: { readonly kind?: unknown }) => one.kind) : []
}

async function order(world: World, process: Process, { token, body }: PreparedPayment) {
  return ask(process, await signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, body, keyed('k')))
}

/**
 * An order whose commit of the hold fails unheard, while a repeat of it in another process writes the same down without
 * room, and goes on until `ends` says that it ends: `before` is told of each call of that process.
 */
async function holdBeside(before: (world: World, call: Call) => void, ends: (call: Call) => boolean) {
  const world = await moneyWorld()
  const prepared = await preparePayment(world, await grantTokens(world))
  const [one, other] = [world.start(), world.start()]
  let isReadFailed = false
  other.ports.plan = (call) => {
    before(world, call)
    if (ends(call)) return 'crashes before'
    const isHeld = other.ports.calls.some(({ name }) => name === 'hold')
    if (!isHeld || isReadFailed || call.name !== 'get' || !touches(call, 'incoming-payment')) return undefined
    isReadFailed = true
    return 'throws'
  }
  one.ports.plan = async (call) => {
    if (call.name !== 'commit' || !touches(call, 'receipt')) return undefined
    one.ports.plan = () => undefined
    await order(world, other, prepared)
    await other.ports.crashed
    return 'throws'
  }
  const answer = await order(world, one, prepared)
  await one.openPayments.drain()
  return { world, one, answer }
}

async function expectUnknown({ world, one, answer }: Awaited<ReturnType<typeof holdBeside>>): Promise<void> {
  expect(answer?.status).toBe(503)
  expect(eventsOf(world, 'fault').map(({ message }) => message)).toContain('a payment is left to recovery')
  expect(one.ports.calls.map(({ name }) => name)).not.toContain('credit')
  await recoverUntilQuiet(world)
  expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
  expect(world.told().filter(({ type }) => type === 'outgoing_payment.created')).toHaveLength(1)
  await checkMoney(world)
}

describe('a commit of a hold and its room that fails unheard', () => {
  it('INC-8 is not taken for done where another worker has written the very same payment, without room', async () => {
    const reserves = (call: Call): boolean => call.name === 'commit' && touches(call, 'receipt')
    const held = await holdBeside(() => undefined, reserves)
    expect(await held.world.storage.all('receipt')).toEqual([])
    expect(await held.world.storage.all('outgoing-payment')).toMatchObject([
      { version: 2, value: { state: 'sending' } },
    ])
    await expectUnknown(held)
  })

  it('INC-8 is not taken for done where another worker has reserved the very same room, for its own payment', async () => {
    let at = 0
    const held = await holdBeside(
      (world, call) => {
        const { clock } = world.wallet
        // It has written the hold down a millisecond before, and reserves room in the same one.
        if (at === 0 && call.name === 'hold') at = clock.now()
        if (call.name === 'hold') clock.advance(-1)
        if (call.name === 'get' && touches(call, 'receipt')) clock.advance(1)
      },
      ({ name }) => name === 'credit',
    )
    expect(await held.world.storage.all('receipt')).toMatchObject([{ value: { state: 'reserved', createdAt: at } }])
    await expectUnknown(held)
  })
})

it('INC-8 a payment for which a worker has reserved room is not given up by one for which the receiver has expired', async () => {
  const world = await moneyWorld()
  const { clock } = world.wallet
  const tokens = await grantTokens(world)
  const incoming = { incomingAmount: usd('20'), expiresAt: new Date(clock.now() + HOUR).toISOString() }
  const earlier = await preparePayment(world, tokens, { incoming })
  expect((await pay(world, world.start(), earlier))?.status).toBe(201)
  const prepared = await preparePayment(world, tokens, { receiver: earlier.incomingUrl })
  await orderCutOff(world, prepared, 'k')
  let ahead = 0
  const other = world.start()
  const one = world.start({ clock: { ...clock, now: () => clock.now() + ahead } })
  const { open, opened } = gate()
  const failsToReadAtHold = ({ ports }: Process, call: Call): boolean =>
    call.name === 'get' &&
    touches(call, 'incoming-payment') &&
    ports.calls.findLast(({ name }) => name === 'hold' || name === 'commit')?.name === 'hold'
  other.ports.plan = (call) => {
    if (failsToReadAtHold(other, call)) return 'throws'
    if (call.name === 'settle') return 'crashes before'
    return call.name === 'commit' && touches(call, 'receipt') ? opened.then(() => undefined) : undefined
  }
  one.ports.plan = async (call) => {
    if (failsToReadAtHold(one, call)) return 'throws'
    if (call.name !== 'commit' || !one.ports.calls.some(({ name }) => name === 'hold')) return undefined
    if (ahead === 0) {
      // Both write the same, without room, and each takes it for its own: they hold one version of the payment.
      await order(world, other, prepared)
      ahead = 2 * HOUR
      return 'throws'
    }
    open()
    await other.ports.crashed
    return undefined
  }
  expect((await order(world, one, prepared))?.status).toBe(201)
  await one.openPayments.drain()
  const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
  expect(states).toEqual(['completed', 'completed'])
  await checkMoney(world)
})

it('OUT-5 a payment that was answered 201 is read while nothing more can be written of it', async () => {
  const world = await moneyWorld()
  const prepared = await preparePayment(world, await grantTokens(world))
  const process = world.start()
  process.ports.plan = ({ name }) => {
    const isHeld = process.ports.calls.some((call) => call.name === 'hold')
    return isHeld && name === 'commit' ? 'throws' : undefined
  }
  const answer = await pay(world, process, prepared)
  expect(answer?.status).toBe(201)
  const read = await world.wallet.send('GET', answer?.body.id ?? '', { token: prepared.token })
  expect(read).toMatchObject({ status: 200, body: { id: answer?.body.id, failed: false, sentAmount: usd('0') } })
  await recoverUntilQuiet(world)
  await checkMoney(world)
})

it('OUT-5 an order that was refused is not answered 201 while its refusal cannot be written down', async () => {
  const world = await moneyWorld()
  const prepared = await preparePayment(world, await grantTokens(world))
  const process = world.start()
  process.ports.plan = ({ name }) => {
    if (name === 'hold') return { refuse: 'account_closed' }
    const isHeld = process.ports.calls.some((call) => call.name === 'hold')
    return isHeld && name === 'commit' ? 'throws' : undefined
  }
  const answer = await pay(world, process, prepared)
  expect([answer?.status, answer?.body.error.code]).toEqual([503, 'unavailable'])
  await recoverUntilQuiet(world)
  await checkMoney(world)
})
