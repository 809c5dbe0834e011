import type { TransferOutcome } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/testing/ledger-case.ts'
import { gate } from '../support/gate.ts'
import { usd } from '../support/test-wallet.ts'
import type { Call } from './faulty-ports.ts'
import { changesOf, holdUp, isCommit } from './joint-world.ts'
import { WEEK } from './keyed-scene.ts'
import { eventsOf, LEASE } from './money-world.ts'
import {
  checkReceived,
  isCredit,
  type RailWorld,
  railWorld,
  recoverReceiptsUntilQuiet,
  tell,
  transferOf,
} from './receive-by-rail-world.ts'

const DAY = 24 * 3_600_000

/** The ids of the receipts that are stored. */
async function receiptsOf({ storage }: RailWorld): Promise<readonly string[]> {
  return (await storage.all('receipt')).map(({ value }) => value.id).sort()
}

/** So many transfers that are refused, which may be taken for a minute; no more for one payment than are written down. */
async function refuseMany(world: RailWorld, count: number): Promise<number> {
  const notAfter = world.wallet.clock.now() + 60_000
  let id = ''
  for (let number = 1; number <= count; number++) {
    if (number % 20 === 1) id = await world.incoming()
    expect(await world.rail.receive(transferOf(number, id, 1n, { notAfter, isRefused: true }))).toBe('refused')
  }
  return notAfter
}

describe('T-37 a transfer that was refused', () => {
  const refusals: Readonly<Record<string, [TransferOutcome, (world: RailWorld, id: string) => Promise<unknown>]>> = {
    'by its rail': ['refused', ({ rail }, id) => rail.receive(transferOf(1, id, 1n, { ...until, isRefused: true }))],
    'above the remainder': ['over_remainder', ({ rail }, id) => rail.receive(transferOf(1, id, 11n, until))],
    'above the limit of its account': [
      'over_limit',
      ({ rail }, id) => rail.receive(transferOf(1, id, 1n, { ...until, most: 0n })),
    ],
    'since nobody is paid': [
      'not_payable',
      async ({ rail, wallet }, id) => {
        wallet.directory.clear()
        return rail.receive(transferOf(1, id, 1n, until))
      },
    ],
    'since it came late': [
      'refused',
      async ({ rail, wallet }, id) => {
        wallet.clock.advance(until.notAfter - wallet.clock.now() + 1)
        return rail.receive(transferOf(1, id, 1n, until))
      },
    ],
  }
  const until = { notAfter: Date.parse('2026-03-01T13:00:00Z') }

  it.each(Object.keys(refusals))('%s is known for a day once it cannot be taken, and deleted then', async (name) => {
    const world = await railWorld()
    const id = await world.incoming({ incomingAmount: usd('10') })
    const [outcome, refuse] = refusals[name] ?? []
    expect(await refuse?.(world, id)).toBe(outcome)
    const { clock, openPayments } = world.wallet
    clock.advance(Math.max(until.notAfter, clock.now()) + DAY - 1 - clock.now())
    await openPayments.sweep()
    expect(await receiptsOf(world)).toEqual([idOf(1)])
    expect(await world.rail.receive(transferOf(1, id, 1n))).toBe('refused')
    clock.advance(1)
    await openPayments.sweep()
    expect(await receiptsOf(world)).toEqual([])
    expect(eventsOf(world, 'swept').at(-1)).toMatchObject({ records: { receipt: 1 } })
    // Somebody may bring it with a later moment the next time, so also this is written down.
    expect(await world.rail.receive(transferOf(1, id, 1n, until))).toBe('refused')
    expect(await world.rail.receive(transferOf(1, id, 1n))).toBe('refused')
    expect(await receiptsOf(world)).toEqual([idOf(1)])
    await checkReceived(world)
  })

  it('is not written down where its payment is over, since nothing can be taken for that later', async () => {
    const world = await railWorld()
    const id = await world.incoming({ incomingAmount: usd('5') })
    expect(await world.receive(world.rail, transferOf(1, id, 5n))).toBe('received')
    await world.wallet.openPayments.drain()
    expect(await world.receive(world.rail, transferOf(2, id, 1n))).toBe('not_payable')
    expect(await world.receive(world.rail, transferOf(3, id, 1n, { isRefused: true }))).toBe('refused')
    expect(await receiptsOf(world)).toEqual([idOf(1)])
    await checkReceived(world)
  })

  it('is not taken because a clock ran ahead for less than a day', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const transfer = transferOf(1, id, 1n, { notAfter: world.wallet.clock.now() + 60_000 })
    expect(await world.rail.receive({ ...transfer, isRefused: true })).toBe('refused')
    world.wallet.clock.advance(DAY - 1)
    await world.wallet.openPayments.sweep()
    world.wallet.clock.advance(1 - DAY)
    expect(await world.rail.receive(transfer)).toBe('refused')
  })

  it('is neither credited nor told of by recover(), which leaves it to sweep()', async () => {
    const world = await railWorld()
    const notAfter = await refuseMany(world, 99)
    const process = world.startRail()
    world.wallet.clock.advance(notAfter + DAY - world.wallet.clock.now())
    expect(await process.openPayments.recover()).toBe(0)
    expect(process.ports.calls.map(({ name }) => name)).toEqual(['due', 'due', 'due'])
    expect(eventsOf(world, 'recovered')).toEqual([])
    expect(await receiptsOf(world)).toHaveLength(99)
    expect(await world.wallet.openPayments.sweep()).toBeGreaterThanOrEqual(99)
    expect(await receiptsOf(world)).toEqual([])
  })

  it('keeps no money waiting that was taken, also where nobody sweeps', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const notAfter = await refuseMany(world, 150)
    world.wallet.clock.advance(notAfter + DAY - world.wallet.clock.now())
    const process = world.startRail()
    process.ports.plan = (call) => (isCredit(call) ? 'throws' : undefined)
    expect(await tell(world, process, transferOf(151, id, 5n))).toBe('received')
    world.wallet.clock.advance(LEASE)
    const { recover } = world.wallet.openPayments
    expect([await recover(), await recover(), await recover()]).toEqual([100, 1, 0])
    expect(await world.ledger.balance('bob')).toMatchObject({ total: 5n })
    expect(eventsOf(world, 'recovered')).toMatchObject([{ receipts: 1, payments: 0, events: 0, isFull: false }])
    expect(await receiptsOf(world)).toHaveLength(51)
    await checkReceived(world)
  })
})

describe('sweep()', () => {
  it('T-49 leaves a transfer that is taken after its refusal was swept, though another sweep has just read that', async () => {
    const world = await railWorld(WEEK)
    const transfer = transferOf(1, await world.incoming(), 5n, { notAfter: world.wallet.clock.now() })
    expect(await world.rail.receive({ ...transfer, isRefused: true })).toBe('refused')
    world.wallet.clock.advance(DAY)
    const slow = world.startRail()
    const deletes = (call: Call): boolean => isCommit(call) && changesOf(call).some(({ kind }) => kind === 'receipt')
    const { held, letGo } = await holdUp(slow, deletes, () => slow.openPayments.sweep())
    await world.wallet.openPayments.sweep()
    expect(await receiptsOf(world)).toEqual([])
    const later = { ...transfer, notAfter: world.wallet.clock.now() + 60_000 }
    const taking = world.startRail()
    const { open, opened } = gate()
    taking.ports.plan = (call) => (isCredit(call) ? opened : undefined)
    expect(await world.receive(taking.rail, later)).toBe('received')
    letGo()
    await held
    expect(await world.storage.all('receipt')).toMatchObject([{ version: 1, value: { state: 'reserved' } }])
    open()
    await taking.openPayments.drain()
    await recoverReceiptsUntilQuiet(world)
    await checkReceived(world)
  })

  it('INC-5 leaves every receipt of money that was taken, whatever became of it', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const notAfter = world.wallet.clock.now() + 60_000
    expect(await world.receive(world.rail, transferOf(1, id, 1n, { notAfter }))).toBe('received')
    await world.wallet.openPayments.drain()
    const process = world.startRail()
    process.ports.plan = (call) => (isCredit(call) ? { refuse: 'account_closed' } : undefined)
    expect(await tell(world, process, transferOf(2, id, 2n, { notAfter }))).toBe('received')
    process.ports.plan = (call) => (isCredit(call) ? 'throws' : undefined)
    expect(await tell(world, process, transferOf(3, id, 3n, { notAfter }))).toBe('received')
    const before = await world.storage.all('receipt')
    expect(before.map(({ value }) => value.state).sort()).toEqual(['credited', 'dropped', 'reserved'])
    world.wallet.clock.advance(100 * DAY)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('receipt')).toEqual(before)
    await recoverReceiptsUntilQuiet(world)
    await checkReceived(world)
  })
})
