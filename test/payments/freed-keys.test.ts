import type { HttpRequest } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { answered, end } from './joint-world.ts'
import { endBeforeHold, holdUpCommit, keyedScene, twoGrants, WEEK } from './keyed-scene.ts'
import { HOUR, type Process, type World } from './money-world.ts'

const KEY = 'idempotency-key'

/** The record of a key that was freed. (To `toMatchObject`, an object without members would be any answer.) */
const FREED = expect.objectContaining({ answer: {}, expiresAt: 0 })

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

/** Gives an order to a process that dies before the hold; half a second before its key expires, the ledger refuses it. */
async function freeLate(world: World, request: HttpRequest): Promise<void> {
  await endBeforeHold(world.start(), request)
  world.wallet.clock.advance(24 * HOUR - 500)
  await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
  const undoing = world.start()
  await undoing.openPayments.recover()
  await undoing.openPayments.drain()
  await world.ledger.setPermissions('alice', { canSend: true, canReceive: true })
}

describe('the Idempotency-Key of an order that is refused', () => {
  it.each([
    ['was freed when it expired, and swept', true],
    ['has expired', false],
  ])(
    'OUT-12 pays once where its record %s, and it is used, freed and used just before the commit',
    async (_, isFreed) => {
      const { world, process, order, otherGrant, keyedOrder } = await twoGrants()
      const other = world.start()
      if (isFreed) await freeLate(world, await keyedOrder(order))
      else await answered(process, await keyedOrder(order))
      if (isFreed) await other.openPayments.sweep()
      world.wallet.clock.advance(24 * HOUR)
      const repeat = await keyedOrder(order, otherGrant)
      const { held, letGo } = await holdUpCommit(process, repeat)
      if (isFreed) await other.openPayments.sweep()
      expect((await refused(world, other, await keyedOrder(order))).status).toBe(403)
      const made = await answered(other, await keyedOrder(order))
      expect(made.status).toBe(201)
      letGo()
      expect(await held).toMatchObject({ status: 201, body: made.body })
      await process.openPayments.drain()
      const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
      expect(states).toEqual(['completed', isFreed ? 'refused' : 'completed', 'refused', 'completed'])
      await end(world)
    },
  )

  it('OUT-12 that is freed leaves no record, as nobody can have read that as expired', async () => {
    const { world, process, keyedOrder } = await keyedScene(WEEK)
    expect((await refused(world, process, await keyedOrder())).status).toBe(403)
    expect(await world.storage.all(KEY)).toEqual([])
    await end(world)
  })

  it('OUT-12 that is freed when it expires leaves a record without an answer, which two sweeps delete', async () => {
    const { world, process, keyedOrder } = await keyedScene(WEEK)
    await freeLate(world, await keyedOrder())
    expect(await world.storage.all(KEY)).toMatchObject([{ value: FREED, version: 2 }])
    await process.openPayments.sweep()
    expect(await world.storage.all(KEY)).toMatchObject([{ value: FREED, version: 3 }])
    world.wallet.clock.advance(24 * HOUR)
    await process.openPayments.sweep()
    expect(await world.storage.all(KEY)).toEqual([])
    await end(world)
  })
})
