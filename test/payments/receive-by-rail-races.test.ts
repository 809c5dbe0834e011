import type { RailTransfer } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/testing/ledger-case.ts'
import { gate } from '../support/gate.ts'
import { usd } from '../support/test-wallet.ts'
import { turn } from '../support/turns.ts'
import type { Call, Fault } from './faulty-ports.ts'
import { LEASE } from './money-world.ts'
import {
  checkReceived,
  incomingOf,
  isCredit,
  PEER,
  type RailProcess,
  type RailWorld,
  railWorld,
  recoverReceiptsUntilQuiet,
  tell,
  transferOf,
} from './receive-by-rail-world.ts'

const creditIdOf = (call: Call): string => (call.arguments[0] as { readonly id: string }).id

describe('many transfers at once', () => {
  const numbers = Array.from({ length: 50 }, (_, index) => index + 1)

  /** Two processes, of which each gets every other transfer. */
  function twoProcesses(world: RailWorld) {
    const [even, odd] = [world.startRail(), world.startRail()]
    return { processes: [even, odd], railOf: (number: number) => (number % 2 === 0 ? even : odd).rail }
  }

  it('INC-8 never overfill an incoming payment, in one process or two', async () => {
    const world = await railWorld()
    const { processes, railOf } = twoProcesses(world)
    const id = await world.incoming({ incomingAmount: usd('100') })
    const outcomes = await Promise.all(
      numbers.map((number) => world.receive(railOf(number), transferOf(number, id, 7n))),
    )
    expect(outcomes.filter((outcome) => outcome === 'received')).toHaveLength(14)
    for (const { openPayments } of processes) await openPayments.drain()
    expect(await incomingOf(world, id)).toMatchObject({ state: 'processing', received: { value: 98n } })
    await recoverReceiptsUntilQuiet(world)
    await checkReceived(world)
  })

  it('T-50 stay within the limit of their account, at two processes and for many payments', async () => {
    const world = await railWorld()
    const { processes, railOf } = twoProcesses(world)
    const payments = await Promise.all(numbers.slice(0, 5).map(() => world.incoming()))
    const outcomes = await Promise.all(
      numbers.map((number) => {
        const transfer = transferOf(number, payments[number % 5] ?? '', 7n, { most: 100n })
        return world.receive(railOf(number), transfer)
      }),
    )
    expect(outcomes.filter((outcome) => outcome === 'received')).toHaveLength(14)
    for (const { openPayments } of processes) await openPayments.drain()
    await recoverReceiptsUntilQuiet(world)
    expect(await world.rail.balance(PEER)).toEqual({ sent: 0n, received: 98n })
    await checkReceived(world)
  })

  /** Tells two transfers of which each could be taken alone: both are looked at before either is taken. */
  async function tellTogether(world: RailWorld, { rail, ports }: RailProcess, transfers: readonly RailTransfer[]) {
    const { open, opened } = gate()
    ports.plan = ({ name }) => (name === 'account' ? opened : undefined)
    const outcomes = transfers.map((transfer) => world.receive(rail, transfer))
    const asked = () => ports.calls.filter(({ name }) => name === 'account').length
    await expect.poll(asked).toBe(transfers.length)
    ports.plan = (call) => (isCredit(call) ? { refuse: 'account_closed' } : undefined)
    open()
    return Promise.all(outcomes)
  }

  it('INC-8 of which one is refused only as the other was faster keep that answer once there is room', async () => {
    const world = await railWorld()
    const process = world.startRail()
    const id = await world.incoming({ incomingAmount: usd('10') })
    const loser = transferOf(2, id, 7n)
    expect(await tellTogether(world, process, [transferOf(1, id, 7n), loser])).toEqual(['received', 'over_remainder'])
    // The ledger refuses the credit of the other one, so that nothing of the payment is taken any more.
    await process.openPayments.drain()
    expect(await incomingOf(world, id)).toMatchObject({ state: 'pending', reserved: { value: 0n } })
    expect(await world.receive(world.rail, loser)).toBe('refused')
    expect(await world.receive(world.rail, transferOf(3, id, 7n))).toBe('received')
    await recoverReceiptsUntilQuiet(world)
    await checkReceived(world)
  })

  it('INC-5 of which one is refused only as the account had no room for both keep that answer once it has', async () => {
    const world = await railWorld()
    const process = world.startRail()
    const id = await world.incoming()
    const [first, loser] = [transferOf(1, id, 7n, { most: 10n }), transferOf(2, id, 7n, { most: 10n })]
    expect(await tellTogether(world, process, [first, loser])).toEqual(['received', 'over_limit'])
    // The wallet trusts its peer with more by now.
    expect(await world.receive(world.rail, { ...loser, most: 100n })).toBe('refused')
    expect(await world.receive(world.rail, transferOf(3, id, 7n, { most: 100n }))).toBe('received')
    await recoverReceiptsUntilQuiet(world)
    await checkReceived(world)
  })

  it('INC-5 are credited by one of two processes that recover them, and asked for once', async () => {
    const world = await railWorld()
    const first = world.startRail()
    first.ports.plan = ({ name }) => (name === 'credit' ? 'throws' : undefined)
    const id = await world.incoming()
    for (const number of numbers.slice(0, 10)) await world.receive(first.rail, transferOf(number, id, 1n))
    await first.openPayments.drain()
    world.wallet.clock.advance(LEASE)
    const { processes } = twoProcesses(world)
    expect(await Promise.all(processes.map(({ openPayments }) => openPayments.recover()))).toEqual([10, 0])
    const asked = processes.flatMap(({ ports }) => ports.calls.filter(isCredit))
    expect(asked).toHaveLength(10)
    await checkReceived(world)
  })

  it('are recovered a hundred at a time, and the host is told that there are more', async () => {
    const world = await railWorld()
    const process = world.startRail()
    process.ports.plan = ({ name }) => (name === 'credit' ? 'throws' : undefined)
    const id = await world.incoming()
    for (let number = 1; number <= 101; number++) await world.receive(process.rail, transferOf(number, id, 1n))
    await process.openPayments.drain()
    world.wallet.clock.advance(LEASE)
    const { recover } = world.wallet.openPayments
    expect([await recover(), await recover(), await recover()]).toEqual([100, 1, 0])
    const told = world.wallet.events.filter((event) => event.type === 'recovered')
    expect(told.map(({ isFull }) => isFull)).toEqual([true, false])
    await checkReceived(world)
  })

  it.each<[string, Fault | undefined]>([
    ['credited', undefined],
    ['refused', { refuse: 'account_closed' }],
  ])('INC-5 are %s once, also where two workers have the answer of the ledger', async (_what, fault) => {
    const world = await railWorld()
    const id = await world.incoming()
    const waiting = world.startRail()
    waiting.ports.plan = ({ name }) => (name === 'credit' ? 'throws' : undefined)
    await tell(world, waiting, transferOf(1, id, 5n))
    // The first worker has its answer, and is slower than a lease at writing it down.
    const slow = world.startRail()
    const { open, opened } = gate()
    slow.ports.plan = async ({ name }) => {
      if (name === 'credit') return fault
      return slow.ports.calls.some(isCredit) ? opened : undefined
    }
    expect(await world.receive(slow.rail, transferOf(2, id, 5n))).toBe('received')
    while (!slow.ports.calls.some(isCredit)) await turn()
    world.wallet.clock.advance(LEASE)
    const other = world.startRail()
    other.ports.plan = (call) => (isCredit(call) && creditIdOf(call) === idOf(1) ? 'throws' : undefined)
    await other.openPayments.recover()
    open()
    await slow.openPayments.drain()
    await checkReceived(world, { isQuiet: false })
    expect(await incomingOf(world, id)).toMatchObject({
      reserved: { value: 5n },
      received: { value: fault === undefined ? 5n : 0n },
    })
    expect(world.wallet.events.filter(({ type }) => type === 'credit_refused')).toHaveLength(
      fault === undefined ? 0 : 1,
    )
    await recoverReceiptsUntilQuiet(world)
    await checkReceived(world)
  })

  it('INC-5 of one id are one, also where two processes credit it', async () => {
    const world = await railWorld()
    const { processes, railOf } = twoProcesses(world)
    const id = await world.incoming({ incomingAmount: usd('7') })
    const transfer = transferOf(1, id, 7n)
    const told = numbers.slice(0, 20).map((number) => world.receive(railOf(number), transfer))
    expect(new Set(await Promise.all(told))).toEqual(new Set(['received']))
    world.wallet.clock.advance(LEASE)
    await Promise.all(processes.map(({ openPayments }) => openPayments.recover()))
    for (const { openPayments } of processes) await openPayments.drain()
    await recoverReceiptsUntilQuiet(world)
    expect(await incomingOf(world, id)).toMatchObject({ state: 'completed', received: { value: 7n } })
    expect(world.told().filter(({ type }) => type === 'incoming_payment.completed')).toHaveLength(1)
    await checkReceived(world)
  })
})
