import type { HttpRequest } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { answered, end } from './joint-world.ts'
import { endBeforeHold, holdUpCommit, keyedScene, twoGrants, WEEK } from './keyed-scene.ts'
import { HOUR, type Process, type World } from './money-world.ts'

/** Gives an order whose hold the ledger refuses, as it never does later. */
async function refused({ ledger }: World, process: Process, request: HttpRequest) {
  process.ports.plan = async ({ name }) => {
    if (name === 'hold') await ledger.setPermissions('alice', { canSend: false, canReceive: true })
  }
  const answer = await answered(process, request)
  process.ports.plan = () => undefined
  await ledger.setPermissions('alice', { canSend: true, canReceive: true })
  return answer
}

describe('the Idempotency-Key of an order that is refused', () => {
  it('OUT-12 pays once where its record has expired, and it is used, freed and used just before the commit', async () => {
    const { world, process, order, otherGrant, keyedOrder } = await twoGrants()
    const other = world.start()
    await answered(process, await keyedOrder(order))
    world.wallet.clock.advance(24 * HOUR)
    const repeat = await keyedOrder(order, otherGrant)
    const { held, letGo } = await holdUpCommit(process, repeat)
    expect((await refused(world, other, await keyedOrder(order))).status).toBe(403)
    const made = await answered(other, await keyedOrder(order))
    expect(made.status).toBe(201)
    letGo()
    expect(await held).toMatchObject({ status: 201, body: made.body })
    await process.openPayments.drain()
    const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
    expect(states).toEqual(['completed', 'completed', 'refused', 'completed'])
    await end(world)
  })

  it('OUT-12 keeps the record of the order that has used it since it expired', async () => {
    const { world, process, order, keyedOrder } = await twoGrants()
    await endBeforeHold(world.start(), await keyedOrder(order))
    world.wallet.clock.advance(24 * HOUR)
    const made = await answered(process, await keyedOrder(order))
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    const undoing = world.start()
    await undoing.openPayments.recover()
    await undoing.openPayments.drain()
    const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
    expect(states).toEqual(['completed', 'refused', 'completed'])
    expect((await answered(process, await keyedOrder(order))).body).toEqual(made.body)
    await end(world)
  })

  it.each([
    ['at once', 0],
    ['once it has expired', 24 * HOUR],
  ])('OUT-12 leaves no record where it is refused %s', async (_when, later) => {
    const { world, keyedOrder } = await keyedScene(WEEK)
    await endBeforeHold(world.start(), await keyedOrder())
    world.wallet.clock.advance(HOUR + later)
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    const undoing = world.start()
    expect(await undoing.openPayments.recover()).toBeGreaterThan(0)
    await undoing.openPayments.drain()
    expect(await world.storage.all('idempotency-key')).toEqual([])
    await end(world)
  })
})
