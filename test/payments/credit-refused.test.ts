import type { Change, MoneyEvent, OpenPaymentsEvent, OpenPaymentsOptions } from 'open-payments-server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { gate } from '../support/gate.ts'
import { usd } from '../support/test-wallet.ts'
import { faultAt } from './faulty-ports.ts'
import { LEASE } from './money-world.ts'
import {
  checkReceived,
  type RailProcess,
  type RailWorld,
  railWorld,
  recoverReceiptsUntilQuiet,
  tell,
  transferOf,
} from './receive-by-rail-world.ts'

afterEach(() => vi.restoreAllMocks())

/** A transfer of 5 that a process takes, and whose credit its ledger refuses; answers the id of the incoming payment. */
async function refused(world: RailWorld, process: RailProcess): Promise<string> {
  const id = await world.incoming()
  const plan = process.ports.plan
  process.ports.plan = (call) => (call.name === 'credit' ? { refuse: 'account_closed' } : plan?.(call))
  await tell(world, process, transferOf(1, id, 5n))
  return id
}

const RECEIPT = transferOf(1, '', 5n).id

describe('credit_refused', () => {
  it('is told again until the host resolves, and is the same each time', async () => {
    const world = await railWorld()
    const heard: MoneyEvent[] = []
    let isAway = true
    const onEvent = (event: OpenPaymentsEvent): void => {
      world.wallet.events.push(event)
      if (event.type !== 'credit_refused') return
      heard.push(event)
      if (isAway) throw new Error('the host is away')
    }
    const process = world.startRail({ onEvent })
    const incomingPayment = await refused(world, process)
    world.wallet.clock.advance(LEASE)
    await process.openPayments.recover()
    isAway = false
    await recoverReceiptsUntilQuiet(world, process.openPayments)
    const told = {
      type: 'credit_refused',
      id: `receipt-${RECEIPT}:1`,
      incomingPayment,
      receipt: RECEIPT,
      amount: usd('5'),
    }
    expect(heard).toMatchObject([told, told, { ...told, reason: 'account_closed' }])
    expect(new Set(heard.map(({ at }) => at)).size).toBe(1)
    await checkReceived(world)
  })

  it('is told by another process where the one that was refused ends right after it wrote that down', async () => {
    const world = await railWorld()
    const process = world.startRail()
    const isEnd = (change: Change): boolean => change.kind === 'receipt' && change.action === 'replace'
    faultAt(process.ports, 1, 'crashes after', ({ name, arguments: [changes] }) => {
      return name === 'commit' && Array.isArray(changes) && changes.some(isEnd)
    })
    await refused(world, process)
    expect(world.told().map(({ type }) => type)).not.toContain('credit_refused')
    await recoverReceiptsUntilQuiet(world)
    expect(world.told().filter(({ type }) => type === 'credit_refused')).toMatchObject([{ receipt: RECEIPT }])
    await checkReceived(world)
  })

  it('is printed where nobody listens, and not written down', async () => {
    const print = vi.spyOn(console, 'error').mockReturnValue()
    const quiet: Partial<OpenPaymentsOptions> = {}
    Object.assign(quiet, { onEvent: undefined })
    const world = await railWorld()
    const id = await refused(world, world.startRail(quiet))
    expect(print.mock.calls).toEqual([
      [
        `open-payments-server: 5 USD of scale 2 have arrived for incoming payment ${id}, but the ledger refuses to credit them (account_closed): book receipt ${RECEIPT} by hand`,
      ],
    ])
    expect(await world.storage.all('event')).toEqual([])
  })

  it('is printed once where two workers are refused and nobody listens', async () => {
    const print = vi.spyOn(console, 'error').mockReturnValue()
    const quiet: Partial<OpenPaymentsOptions> = {}
    Object.assign(quiet, { onEvent: undefined })
    const world = await railWorld()
    const [slow, other] = [world.startRail(quiet), world.startRail(quiet)]
    const [isRefused, isOver] = [gate(), gate()]
    slow.ports.plan = ({ name }) => {
      if (!slow.ports.calls.some((call) => call.name === 'credit') || name === 'credit') return undefined
      isRefused.open()
      return isOver.opened
    }
    const told = refused(world, slow)
    await isRefused.opened
    world.wallet.clock.advance(LEASE)
    other.ports.plan = (call) => (call.name === 'credit' ? { refuse: 'account_closed' } : undefined)
    expect(await other.openPayments.recover()).toBe(1)
    isOver.open()
    await told
    await slow.openPayments.drain()
    expect(print).toHaveBeenCalledTimes(1)
  })
})
