import { describe, expect, it } from 'vitest'
import { ALICE, usd } from '../support/test-wallet.ts'
import type { Call } from './faulty-ports.ts'
import { answered, changesOf, end, holdUp, intents, isCommit, reading, spentBy } from './joint-world.ts'
import { endBeforeHold, holdUpCommit, keyedScene, twoGrants, WEEK } from './keyed-scene.ts'
import { ask, HOUR } from './money-world.ts'

const KEY = 'idempotency-key'

const AHEAD = 'access-token incoming-payment idempotency-key spending'

const isAccount = ({ name }: Call): boolean => name === 'account'

describe('the Idempotency-Key of an order', () => {
  it('OUT-12 is read with the token by a process that knows whose token it is; a used one is read again', async () => {
    const { world, process, keyedOrder, reads } = await keyedScene()
    reads()
    const made = await answered(process, await keyedOrder())
    expect(made.status).toBe(201)
    expect(reads()).toEqual([AHEAD])
    const asked = process.ports.calls.filter(isAccount).length
    expect((await answered(process, await keyedOrder())).body).toEqual(made.body)
    expect(reads().slice(0, 2)).toEqual([AHEAD, 'idempotency-key'])
    expect(process.ports.calls.filter(isAccount)).toHaveLength(asked)
    const other = world.start()
    const elsewhere = reading(other)
    expect((await answered(other, await keyedOrder())).body).toEqual(made.body)
    expect(elsewhere().slice(0, 3)).toEqual(['access-token incoming-payment', 'idempotency-key', 'idempotency-key'])
    expect(await spentBy(world)).toBe(61n)
    await end(world)
  })

  it('is read once, by itself, by a process that does not know whose token it is', async () => {
    const { world, keyedOrder } = await keyedScene()
    const other = world.start()
    const reads = reading(other)
    expect((await answered(other, await keyedOrder())).status).toBe(201)
    expect(reads()).toEqual(['access-token incoming-payment', 'idempotency-key', 'spending'])
    await end(world)
  })

  it('OUT-12 that another process uses meanwhile makes the commit conflict, and its payment is the answer', async () => {
    const { world, process, keyedOrder, reads } = await keyedScene()
    const repeat = await keyedOrder()
    const { held, letGo } = await holdUpCommit(process, repeat)
    const made = await answered(world.start(), await keyedOrder())
    letGo()
    expect(await held).toMatchObject({ status: 201, body: made.body })
    await process.openPayments.drain()
    expect(reads().slice(-3)).toContain('idempotency-key')
    expect(await spentBy(world)).toBe(61n)
    expect(await world.storage.all('outgoing-payment')).toHaveLength(2)
    await end(world)
  })

  it('OUT-12 that another order of this process uses meanwhile is read again before anything is committed', async () => {
    const { world, process, named, keyedOrder } = await keyedScene()
    // So little that the limit would admit it twice.
    const order = { ...named, debitAmount: usd('30') }
    const repeat = await keyedOrder(order)
    const { held, letGo } = await holdUp(process, isAccount, () => ask(process, repeat))
    const made = await answered(process, await keyedOrder(order))
    letGo()
    expect(await held).toMatchObject({ status: 201, body: made.body })
    await process.openPayments.drain()
    expect(intents(process)).toEqual([1, 1])
    expect(await spentBy(world)).toBe(31n)
    await end(world)
  })

  it('OUT-12 is read again before an order is refused for what its own first one has spent', async () => {
    const limits = { debitAmount: usd('100'), interval: 'R/2016-08-24T08:00:00Z/PT1H' }
    const entries = [{ type: 'outgoing-payment', actions: ['create'], identifier: ALICE, limits }]
    const { world, process, keyedOrder, reads } = await keyedScene({}, entries)
    world.wallet.clock.advance(HOUR)
    reads()
    const repeat = await keyedOrder()
    const { held, letGo } = await holdUp(process, isAccount, () => ask(process, repeat))
    const made = await answered(world.start(), await keyedOrder())
    letGo()
    expect(await held).toMatchObject({ status: 201, body: made.body })
    const spent = 'spending spending'
    expect(reads().slice(0, 4)).toEqual([`${AHEAD} spending`, spent, spent, 'idempotency-key'])
    await process.openPayments.drain()
    await end(world)
  })

  it('OUT-12 is read again before an order is refused for what has changed since its first one', async () => {
    const { world, process, keyedOrder } = await keyedScene()
    const repeat = await keyedOrder()
    const { held, letGo } = await holdUp(process, isAccount, () => ask(process, repeat))
    const made = await answered(world.start(), await keyedOrder())
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    letGo()
    expect(await held).toMatchObject({ status: 201, body: made.body })
    await process.openPayments.drain()
    await end(world)
  })

  it('OUT-12 of another body is read again before it is a conflict', async () => {
    const { world, process, named, keyedOrder, reads } = await keyedScene()
    await answered(process, await keyedOrder())
    reads()
    const refused = await answered(process, await keyedOrder({ ...named, debitAmount: usd('5') }))
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } })
    expect(reads().slice(0, 2)).toEqual([AHEAD, 'idempotency-key'])
    await end(world)
  })

  it('OUT-12 counts no more after 24 hours: its record is read again and replaced in the first commit', async () => {
    const { world, process, named, keyedOrder, reads } = await keyedScene(WEEK)
    const order = { ...named, debitAmount: usd('2') }
    await answered(process, await keyedOrder(order))
    world.wallet.clock.advance(24 * HOUR)
    reads()
    expect((await answered(process, await keyedOrder(order))).status).toBe(201)
    expect(reads()).toEqual([AHEAD, 'idempotency-key'])
    expect(intents(process)).toEqual([1, 1, 1])
    expect(await spentBy(world)).toBe(5n)
    await end(world)
  })

  it('OUT-12 pays once where its expired record is swept meanwhile, and another grant uses it', async () => {
    const { world, process, order, otherGrant, keyedOrder } = await twoGrants()
    const other = world.start()
    await answered(process, await keyedOrder(order))
    world.wallet.clock.advance(49 * HOUR)
    const repeat = await keyedOrder(order)
    const { held, letGo } = await holdUp(process, isAccount, () => ask(process, repeat))
    await other.openPayments.sweep()
    expect(await world.storage.all('idempotency-key')).toEqual([])
    const made = await answered(other, await keyedOrder(order, otherGrant))
    expect(made.status).toBe(201)
    letGo()
    expect(await held).toMatchObject({ status: 201, body: made.body })
    await process.openPayments.drain()
    expect(await world.storage.all('outgoing-payment')).toHaveLength(3)
    await end(world)
  })

  it('OUT-12 pays once where its expired record is swept, and used by another grant, just before the commit', async () => {
    const { world, process, order, otherGrant, keyedOrder } = await twoGrants()
    await answered(process, await keyedOrder(order))
    world.wallet.clock.advance(49 * HOUR)
    const repeat = await keyedOrder(order)
    const { held, letGo } = await holdUpCommit(process, repeat)
    const other = world.start()
    await other.openPayments.sweep()
    const made = await answered(other, await keyedOrder(order, otherGrant))
    expect(made.status).toBe(201)
    letGo()
    expect(await held).toMatchObject({ status: 201, body: made.body })
    await process.openPayments.drain()
    expect(await world.storage.all('outgoing-payment')).toHaveLength(3)
    await end(world)
  })

  it('OUT-12 pays once where it has expired, and its payment is refused and another order paid just before the commit', async () => {
    const { world, process, order, otherGrant, keyedOrder } = await twoGrants()
    await endBeforeHold(world.start(), await keyedOrder(order))
    world.wallet.clock.advance(24 * HOUR)
    const repeat = await keyedOrder(order, otherGrant)
    const { held, letGo } = await holdUpCommit(process, repeat)
    const other = world.start()
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    await other.openPayments.recover()
    await other.openPayments.drain()
    await world.ledger.setPermissions('alice', { canSend: true, canReceive: true })
    const made = await answered(other, await keyedOrder(order))
    expect(made.status).toBe(201)
    letGo()
    expect(await held).toMatchObject({ status: 201, body: made.body })
    await process.openPayments.drain()
    const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
    expect(states).toEqual(['completed', 'refused', 'completed'])
    await end(world)
  })

  it('OUT-12 pays once where it expires while its payment is undone, and another order pays just before the commit', async () => {
    const { world, process, order, otherGrant, keyedOrder } = await twoGrants()
    await endBeforeHold(world.start(), await keyedOrder(order))
    world.wallet.clock.advance(24 * HOUR - 500)
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    const undoing = world.start()
    const freesKey = (call: Call): boolean => isCommit(call) && changesOf(call).some(({ kind }) => kind === KEY)
    const undone = await holdUp(undoing, freesKey, () => undoing.openPayments.recover())
    await world.ledger.setPermissions('alice', { canSend: true, canReceive: true })
    const repeat = await keyedOrder(order, otherGrant)
    const { held, letGo } = await holdUpCommit(process, repeat)
    undone.letGo()
    await undone.held
    await undoing.openPayments.drain()
    const made = await answered(world.start(), await keyedOrder(order))
    expect(made.status).toBe(201)
    letGo()
    expect(await held).toMatchObject({ status: 201, body: made.body })
    await process.openPayments.drain()
    const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
    expect(states).toEqual(['completed', 'refused', 'completed'])
    await end(world)
  })

  it('OUT-12 pays once where two processes sweep it, one of them after it was used again', async () => {
    const { world, process, named, keyedOrder } = await keyedScene(WEEK)
    const order = { ...named, debitAmount: usd('2') }
    const other = world.start()
    await answered(process, await keyedOrder(order))
    world.wallet.clock.advance(49 * HOUR)
    const deletes = (call: Call): boolean => isCommit(call) && changesOf(call).some(({ kind }) => kind === KEY)
    const { held, letGo } = await holdUp(process, deletes, () => process.openPayments.sweep())
    await other.openPayments.sweep()
    const made = await answered(other, await keyedOrder(order))
    letGo()
    await held
    expect(await answered(other, await keyedOrder(order))).toMatchObject({ status: 201, body: made.body })
    expect(await world.storage.all('outgoing-payment')).toHaveLength(3)
    await end(world)
  })
})
