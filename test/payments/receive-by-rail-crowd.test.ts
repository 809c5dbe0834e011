import type { TransferOutcome } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/testing/ledger-case.ts'
import { gate } from '../support/gate.ts'
import { usd } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import { checkReceived, type RailProcess, type RailWorld, railWorld, transferOf } from './receive-by-rail-world.ts'

/** A process whose commits wait until they are released. */
function slowProcess(world: RailWorld): RailProcess & { readonly release: () => void } {
  const process = world.startRail()
  const { open, opened } = gate()
  process.ports.plan = ({ name }) => (name === 'commit' ? opened : undefined)
  return { ...process, release: open }
}

/** Tells transfers of 1, by their numbers, to one payment each; what they come to, and how often each answer came so far. */
function tellEach(world: RailWorld, { rail }: RailProcess, payments: readonly string[]) {
  const answers: Partial<Record<TransferOutcome | 'unknown', number>> = {}
  const told = payments.map(async (payment, index) => {
    const outcome = await world.receive(rail, transferOf(index + 1, payment, 1n))
    answers[outcome] = (answers[outcome] ?? 0) + 1
  })
  return { answers, told: Promise.all(told) }
}

const TAKEN = 50

describe('while money is being taken', () => {
  it('T-37 refusals wait for none of it, so that any number of them holds up nobody', async () => {
    const world = await railWorld()
    const id = await world.incoming({ incomingAmount: usd('10') })
    expect(await world.receive(world.rail, transferOf(TAKEN, id, 1n))).toBe('received')
    const expired = await world.incoming({ expiresAt: new Date(world.wallet.clock.now() + 1000).toISOString() })
    world.wallet.clock.advance(1001)
    const process = slowProcess(world)
    const taken = world.receive(process.rail, transferOf(1, id, 5n))
    const elsewhere = world.receive(process.rail, transferOf(2, await world.incoming(), 5n))
    await turns(20)
    process.ports.plan = () => undefined
    const { receive } = process.rail
    expect(await receive(transferOf(3, id, 1n, { isRefused: true }))).toBe('refused')
    expect(await receive(transferOf(4, id, 11n))).toBe('over_remainder')
    expect(await receive(transferOf(5, id, 1n, { most: 0n }))).toBe('over_limit')
    expect(await receive(transferOf(6, id, 1n, { notAfter: world.wallet.clock.now() - 1 }))).toBe('refused')
    expect(await receive(transferOf(7, expired, 1n))).toBe('not_payable')
    expect(await receive(transferOf(TAKEN, id, 1n))).toBe('received')
    process.release()
    expect([await taken, await elsewhere]).toEqual(['received', 'received'])
    await process.openPayments.drain()
    await checkReceived(world)
  })

  it('T-37 a hundred wait at one payment, and one that comes then may come again', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const process = slowProcess(world)
    const payments = Array.from({ length: 120 }, () => id)
    const { answers, told } = tellEach(world, process, payments)
    await turns(100)
    expect(answers).toEqual({ rate_limited: 20 })
    process.release()
    await told
    expect(answers).toEqual({ rate_limited: 20, received: 100 })
    await process.openPayments.drain()
    const again = tellEach(world, process, payments)
    await again.told
    expect(again.answers).toEqual({ received: 120 })
    await process.openPayments.drain()
    await checkReceived(world)
  })

  it('T-37 five hundred wait at one account of a rail, for whatever payments', async () => {
    const world = await railWorld()
    await world.incoming()
    const [stored] = await world.storage.all('incoming-payment')
    if (stored === undefined) throw new Error('there is no incoming payment')
    const { version: _, ...record } = stored
    const payments = Array.from({ length: 530 }, (_unused, number) => idOf(number))
    await world.storage.commit(
      payments.map((id) => ({ ...record, action: 'insert', value: { ...record.value, id } }) as const),
    )
    const process = slowProcess(world)
    const { answers, told } = tellEach(world, process, payments)
    await turns(100)
    expect(answers).toEqual({ rate_limited: 18 })
    process.release()
    await told
    expect(answers).toEqual({ rate_limited: 18, received: 512 })
    await process.openPayments.drain()
  })
})
