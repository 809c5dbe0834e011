import type { DeliveryResult, PaymentMethod } from 'open-payments-server'
import { idOf } from '../../src/testing/ledger-case.ts'
import { gate } from '../support/gate.ts'
import { turns } from '../support/turns.ts'
import { LEASE } from './money-world.ts'
import { onlyPayment, payRemotely, type RailWorld, railWorld } from './rail-world.ts'

export const later = async (): Promise<DeliveryResult> => ({ outcome: 'later', reason: 'busy' })

/** What a rail is waiting for, by payment. */
export interface SlowRail {
  readonly asked: string[]
  /** Lets every delivery go on that waits, and all that follow. */
  release(): void
  readonly deliver: PaymentMethod['deliver']
}

/** A rail that works on a delivery until it is released, and then as `then` does. */
export function slowly(then: PaymentMethod['deliver']): SlowRail {
  const { open, opened } = gate()
  const asked: string[] = []
  return {
    asked,
    release: open,
    deliver: async (...given) => {
      asked.push(given[0].id)
      await opened
      return then(...given)
    },
  }
}

/** A payment that its rail has put off once, and which is due. */
export async function dueWorld(): Promise<RailWorld> {
  const world = await railWorld()
  const own = world.method
  world.method = { ...own, deliver: later }
  await payRemotely(world)
  world.method = own
  world.wallet.clock.advance(LEASE)
  return world
}

/** Accounts that pay in turn, so that none of them has more than its share. */
const PAYERS = 10

/** So many payments that are due, each under a grant of its own, and a rail that works on each until it is released, and puts it off then. */
export async function crowdedWorld(
  count: number,
  accountOf = (number: number): string => `payer-${number % PAYERS}`,
): Promise<{ readonly world: RailWorld; readonly rail: SlowRail }> {
  const world = await dueWorld()
  const rail = slowly(later)
  world.method = { ...world.method, deliver: rail.deliver }
  const { version: _, ...record } = await onlyPayment(world)
  const copies = Array.from({ length: count - 1 }, (_, number) => {
    const id = idOf(number)
    return { ...record.value, id, account: accountOf(number), grantId: `grant-${number}` }
  })
  await world.storage.commit(copies.map((value) => ({ ...record, action: 'insert', value })))
  return { world, rail }
}

/** Until a rail is asked for nothing more. */
export async function untilQuiet(rail: SlowRail): Promise<void> {
  for (let before = -1; before < rail.asked.length; ) {
    before = rail.asked.length
    await turns(20)
  }
}
