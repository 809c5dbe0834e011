import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { turns } from '../support/turns.ts'
import type { FaultyPorts } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  grantTokens,
  LEASE,
  moneyWorld,
  type Process,
  pay,
  preparePayment,
  recoverUntilQuiet,
  type Tokens,
  type World,
} from './money-world.ts'

/** Lets a process sleep before one of its calls; from then on each of its calls takes one turn. */
function sleepAt(ports: FaultyPorts, index: number): { readonly wake: () => void; readonly isAsleep: () => boolean } {
  const { open, opened } = gate()
  let count = 0
  let isAsleep = false
  ports.plan = async () => {
    if (++count < index) return undefined
    if (count === index) {
      isAsleep = true
      await opened
    }
    await turns(1)
    return undefined
  }
  return { wake: open, isAsleep: () => isAsleep }
}

/** Resolves once a process sleeps, or its work is over. */
async function untilAsleep(isAsleep: () => boolean, work: Promise<unknown>): Promise<boolean> {
  let isOver = false
  void work.then(() => {
    isOver = true
  })
  while (!isAsleep() && !isOver) await turns(1)
  return isAsleep()
}

/**
 * One payment, two workers: the one that took the request sleeps before its call `first`, longer than its lease; the
 * other recovers the payment and sleeps before its call `second`; then both wake up, one a few turns after the other.
 * Answers whether there were such calls.
 */
async function meet(
  world: World,
  tokens: Tokens,
  first: number,
  second: number,
  headStart: number,
  isRefused: boolean,
): Promise<{ readonly first: boolean; readonly second: boolean }> {
  const prepared = await preparePayment(world, tokens)
  await world.ledger.setPermissions('bob', { canSend: !isRefused, canReceive: !isRefused })
  const one: Process = world.start()
  const other: Process = world.start()
  const sleeper = sleepAt(one.ports, first)
  const recoverer = sleepAt(other.ports, second)
  const paid = pay(world, one, prepared)
  const isFirst = await untilAsleep(sleeper.isAsleep, paid)
  world.wallet.clock.advance(LEASE)
  const recovered = other.openPayments.recover()
  const isSecond = await untilAsleep(recoverer.isAsleep, recovered)
  if (headStart >= 0) sleeper.wake()
  else recoverer.wake()
  await turns(Math.abs(headStart))
  sleeper.wake()
  recoverer.wake()
  const answer = await paid
  expect([201, 503]).toContain(answer?.status)
  await recovered
  await recoverUntilQuiet(world)
  await world.ledger.setPermissions('bob', { canSend: true, canReceive: true })
  await checkMoney(world)
  const [payment] = (await world.storage.all('outgoing-payment')).slice(-1)
  expect(payment?.value.state, `${first} ${second} ${headStart}`).toBe(isRefused ? 'failed' : 'completed')
  return { first: isFirst, second: isSecond }
}

describe('T-31 two workers on one payment, at every pair of places', () => {
  // The head start of the one that wakes up first, in turns; below zero it is the recovering one. Each takes every
  // third pair, so that three of one kind take them all.
  it.each([
    ['is credited', -2, false],
    ['is credited', 1, false],
    ['is credited', 51, false],
    ['refuses the credit', -1, true],
    ['refuses the credit', 0, true],
    ['refuses the credit', 4, true],
  ] as const)(
    'end in one outcome where the receiver %s, head start %i',
    async (_receiver, headStart, isRefused) => {
      let meetings = 0
      for (let first = 5; ; first++) {
        const world = await moneyWorld()
        const tokens = await grantTokens(world)
        let isFirst = true
        for (let second = 1 + ((first + headStart + 3) % 3); ; second += 3) {
          const met = await meet(world, tokens, first, second, headStart, isRefused)
          isFirst = met.first
          if (!met.first || !met.second) break
          meetings++
        }
        if (!isFirst) break
      }
      expect(meetings).toBeGreaterThan(30)
    },
    60_000,
  )
})
