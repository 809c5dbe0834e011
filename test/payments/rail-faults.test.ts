import type { Change } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { type Call, type Fault, faultAt } from './faulty-ports.ts'
import { pay, recoverUntilQuiet } from './money-world.ts'
import { checkRailMoney, prepareRailPayment, type RailWorld, railWorld } from './rail-world.ts'

const FAULTS: readonly Fault[] = ['throws', 'loses the reply', 'crashes before', 'crashes after']

/** How a run is set up, and what must come of it. */
interface Scenario {
  readonly incomingValue?: bigint
  readonly prepare?: (world: RailWorld) => void
  readonly states: readonly string[]
}

/** Pays once for each call that a payment makes, of a port or of the other wallet, and lets that one meet each fault. */
async function payWithEveryFault(
  { incomingValue, prepare, states }: Scenario,
  faults = FAULTS,
  concerns: (call: Call) => boolean = () => true,
): Promise<number> {
  let runs = 0
  for (const fault of faults) {
    const world = await railWorld()
    prepare?.(world)
    for (let index = 1; ; index++) {
      world.receiver = world.far.receivers.add({ incomingValue })
      const before = (await world.storage.all('outgoing-payment')).length
      const prepared = await prepareRailPayment(world)
      const process = world.process()
      const { reached } = faultAt(process.ports, index, fault, concerns)
      const answer = await pay(world, process, prepared)
      const call = reached()
      await recoverUntilQuiet(world)
      await checkRailMoney(world)
      const all = (await world.storage.all('outgoing-payment')).slice(before)
      expect(all.length).toBeLessThanOrEqual(1)
      for (const { value } of all) expect(states, `${fault} at ${call?.name} ${index}`).toContain(value.state)
      if (answer?.status === 201) expect(all).toHaveLength(1)
      if (call === undefined) break
      runs++
    }
  }
  return runs
}

describe('T-31 one fault at any call of a payment to another server, then recovery', () => {
  it('ends it whole where all of it is taken', async () => {
    // 15 less the fee of 2 are 13, in four parts; they fill the receiver, which names no method any more then.
    expect(await payWithEveryFault({ incomingValue: 13n, states: ['completed'] })).toBeGreaterThan(100)
  }, 60_000)

  it('ends it in part, or not at all, where a part is rejected', async () => {
    for (const rejected of [1, 3]) {
      const prepare = ({ far }: RailWorld): void => {
        far.decideFate = (_, part) => (part === rejected ? 'rejects it' : 'takes it')
      }
      expect(await payWithEveryFault({ prepare, states: ['failed'] })).toBeGreaterThan(60)
    }
  }, 60_000)

  it('ends it by what is found out where nobody answers in time', async () => {
    const isSlow = ({ port, name }: Call): boolean => port === 'ledger' || name === 'find' || name === 'send'
    const runs = await payWithEveryFault(
      { incomingValue: 13n, states: ['completed'] },
      ['hangs', 'answers nobody'],
      isSlow,
    )
    expect(runs).toBeGreaterThan(10)
  }, 60_000)
})

describe('T-31 a record of what leaves that fails once', () => {
  /** The first record of a part; the commit by which the payment was decided to be held comes before it. */
  const isRecord = ({ name, arguments: [changes] }: Call): boolean =>
    name === 'commit' &&
    Array.isArray(changes) &&
    changes.some(({ kind, value }) => kind === 'outgoing-payment' && value.delivery !== undefined)

  it.each([
    ['throws', false],
    ['throws', true],
    ['loses the reply', false],
    ['loses the reply', true],
  ] as const)('holds nothing up: it %s, and cannot be looked up: %s', async (fault, isBlind) => {
    const world = await railWorld({ incomingValue: 13n })
    const process = world.process()
    let failed = 0
    process.ports.plan = (call) => {
      if (failed === 1 && isBlind && call.name === 'get') {
        failed++
        return 'throws'
      }
      if (failed > 0 || !isRecord(call)) return undefined
      failed++
      return fault
    }
    await pay(world, process, await prepareRailPayment(world))
    expect(failed).toBe(isBlind ? 2 : 1)
    const [payment] = await world.storage.all('outgoing-payment')
    expect(payment?.value.state).toBe('completed')
    expect(world.far.parts.size).toBe(4)
    await checkRailMoney(world)
  })

  it('holds nothing up where it was given up, and the database went on with it', async () => {
    const world = await railWorld({ incomingValue: 13n })
    const process = world.process()
    let [given, tries]: [readonly Change[], number] = [[], 0]
    process.ports.plan = async (call) => {
      if (!isRecord(call) || ++tries > 2) return undefined
      if (tries === 2) await world.storage.commit(given)
      given = call.arguments[0] as readonly Change[]
      return tries === 1 ? 'throws' : undefined
    }
    await pay(world, process, await prepareRailPayment(world))
    expect((await world.storage.all('outgoing-payment'))[0]?.value.state).toBe('completed')
    await checkRailMoney(world)
  })

  it('stops the payment where it fails until the lease is over: it goes on after that', async () => {
    const world = await railWorld({ incomingValue: 13n })
    const process = world.process()
    process.ports.plan = (call) => (isRecord(call) ? 'throws' : undefined)
    await pay(world, process, await prepareRailPayment(world))
    expect(world.far.parts.size).toBe(0)
    await recoverUntilQuiet(world)
    await checkRailMoney(world)
    expect((await world.storage.all('outgoing-payment'))[0]?.value.state).toBe('completed')
  })
})

describe('T-31 one fault at any call of a recovery, then another recovery', () => {
  it('ends it whole wherever the delivery stood and wherever the recovery breaks off', async () => {
    let runs = 0
    for (const stopped of [1, 2, 4]) {
      for (const fault of FAULTS) {
        const world = await railWorld()
        for (let index = 1; ; index++) {
          world.receiver = world.far.receivers.add({ incomingValue: 13n })
          const first = world.process()
          faultAt(first.ports, stopped, 'crashes after', ({ name }) => name === 'send')
          await pay(world, first, await prepareRailPayment(world))
          world.wallet.clock.advance(30_000)
          const second = world.process()
          const { reached } = faultAt(second.ports, index, fault)
          await Promise.race([second.openPayments.recover().catch(() => undefined), second.ports.crashed])
          await Promise.race([second.openPayments.drain(), second.ports.crashed])
          await recoverUntilQuiet(world)
          await checkRailMoney(world)
          expect((await world.storage.all('outgoing-payment')).at(-1)?.value.state).toBe('completed')
          if (reached() === undefined) break
          runs++
        }
      }
    }
    expect(runs).toBeGreaterThan(100)
  }, 60_000)
})
