import { describe, expect, it } from 'vitest'
import { type Random, randomFrom } from '../simulation/random.ts'
import { BASE, usd } from '../support/test-wallet.ts'
import type { Call, Fault } from './faulty-ports.ts'
import { ask, HOUR, LEASE, signedBy } from './money-world.ts'
import {
  checkReceived,
  isCredit,
  type RailProcess,
  type RailWorld,
  railWorld,
  recoverReceiptsUntilQuiet,
  transferOf,
} from './receive-by-rail-world.ts'

const MOST = 200n

function faultBy(random: Random, call: Call): Fault | undefined {
  if (!random.chance(0.04)) return undefined
  const faults: readonly Fault[] = ['throws', 'loses the reply', 'crashes before', 'crashes after']
  const ofLedger: readonly Fault[] = ['hangs', 'answers nobody', 'conflicts', { refuse: 'not_allowed' }]
  if (isCredit(call)) return random.pick([...faults, ...ofLedger])
  return random.pick(call.port === 'ledger' ? [...faults, 'hangs'] : faults)
}

/** Something that happens to a process, of which others are under way at the same time. */
function deed(world: RailWorld, random: Random, process: RailProcess, payments: readonly string[], told: Told) {
  const complete = async (): Promise<unknown> => {
    const url = `${BASE}/incoming-payments/${random.pick(payments)}/complete`
    return ask(process, await signedBy(world, 'POST', url, world.tokens.receiving))
  }
  const receive = (number: number, isRefused: boolean): Promise<unknown> => {
    const known = told.get(number)
    const value = BigInt(random.between(1, 20))
    const least = random.chance(0.5) ? value : BigInt(random.between(0, Number(value)))
    const transfer = known ?? transferOf(number, random.pick(payments), value, { least, most: MOST })
    told.set(number, transfer)
    return world.receive(process.rail, { ...transfer, isRefused })
  }
  return random.weigh<() => Promise<unknown>>([
    [10, () => receive(told.size + 1, random.chance(0.1))],
    [6, () => receive(random.between(1, told.size + 1), random.chance(0.2))],
    [2, () => process.openPayments.recover()],
    [1, () => process.openPayments.sweep()],
    [0.5, complete],
  ])()
}

type Told = Map<number, ReturnType<typeof transferOf>>

/** Two processes, of which each that ends is followed by another one, live for some rounds; answers what was claimed. */
async function live(seed: number): Promise<RailWorld> {
  const random = randomFrom(seed)
  const world = await railWorld({ settings: { policies: { excessReceipt: random.pick(['accept', 'cap', 'refuse']) } } })
  const payments = [
    await world.incoming(),
    await world.incoming({ incomingAmount: usd('25') }),
    await world.incoming({ expiresAt: new Date(world.wallet.clock.now() + HOUR).toISOString() }),
  ]
  const start = (): RailProcess => {
    const process = world.startRail()
    process.ports.plan = (call) => faultBy(random, call)
    return process
  }
  const told: Told = new Map()
  const processes = [start(), start()]
  for (let round = 0; round < 6; round++) {
    const deeds = Array.from({ length: 8 }, (_, index) => {
      const process = processes[index % 2] ?? start()
      return Promise.race([deed(world, random, process, payments, told).catch(() => undefined), process.ports.crashed])
    })
    await Promise.all(deeds)
    for (const [index, { openPayments, ports }] of processes.entries()) {
      const isAlive = await Promise.race([openPayments.drain().then(() => true), ports.crashed])
      if (isAlive !== true) processes[index] = start()
    }
    await checkReceived(world, { isQuiet: false })
    if (random.chance(0.3)) world.wallet.clock.advance(random.pick([1000, LEASE, HOUR / 2]))
  }
  await recoverReceiptsUntilQuiet(world)
  await checkReceived(world)
  return world
}

describe('INC-5 INC-7 INC-8 whatever comes in whatever order', () => {
  it('is what the rail may claim what was credited, reserved, refused and above the remainder', async () => {
    let claimed = 0
    let refused = 0
    for (let seed = 1; seed <= 10; seed++) {
      const world = await live(seed).catch((cause) => {
        throw new Error(`seed ${seed}`, { cause })
      })
      claimed += world.claimed.size
      refused += world.refused.size
    }
    expect(claimed).toBeGreaterThan(50)
    expect(refused).toBeGreaterThan(50)
  })
})
