import { describe, expect, it } from 'vitest'
import { type Call, type Fault, faultAt } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  grantTokens,
  moneyWorld,
  type PreparedPayment,
  type ProcessAnswer,
  pay,
  preparePayment,
  recoverUntilQuiet,
  type Tokens,
  type World,
} from './money-world.ts'

const ANY_CALL: readonly Fault[] = ['throws', 'loses the reply', 'crashes before', 'crashes after']
const LEDGER_CALL: readonly Fault[] = ['hangs', 'answers nobody', 'conflicts']

const isLedgerCall = ({ port }: Call): boolean => port === 'ledger'

/** How one run is set up; the process that pays starts after it. */
interface Scenario {
  readonly faults: readonly Fault[]
  readonly concerns?: (call: Call) => boolean
  readonly prepare: (world: World, tokens: Tokens) => Promise<PreparedPayment>
  readonly judge: (answer: ProcessAnswer | undefined, fault: Fault, call: Call) => void
  /** Puts the world right after each run. */
  readonly tidy?: (world: World) => Promise<void>
}

/** Pays once for each call of a port that a payment makes, and lets that one call meet the fault. */
async function payWithEveryFault({ faults, concerns = () => true, prepare, judge, tidy }: Scenario): Promise<number> {
  let runs = 0
  for (const fault of faults) {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    for (let index = 1; ; index++) {
      const prepared = await prepare(world, tokens)
      const process = world.start()
      const { reached } = faultAt(process.ports, index, fault, concerns)
      const answer = await pay(world, process, prepared)
      const call = reached()
      await recoverUntilQuiet(world)
      await tidy?.(world)
      await checkMoney(world)
      if (call === undefined) break
      judge(answer, fault, call)
      runs++
    }
  }
  return runs
}

/** An answer to a fault is a success or "not known", never a refusal. */
function expectNoRefusal(answer: ProcessAnswer | undefined, fault: Fault, { name }: Call): void {
  if (answer === undefined) return
  if (name === 'commit') expect([201, 503], `${fault} at ${name}`).toContain(answer.status)
  else expect(answer.status === 201 || answer.status >= 500, `${fault} at ${name}: ${answer.status}`).toBe(true)
}

describe('T-31 one fault at any call of a payment, then recovery', () => {
  it('keeps every invariant when a payment from a quote meets it', async () => {
    const runs = await payWithEveryFault({ faults: ANY_CALL, prepare: preparePayment, judge: expectNoRefusal })
    // Four faults at each of so many calls; a loop that breaks off early meets fewer.
    expect(runs).toBeGreaterThanOrEqual(4 * 14)
  })

  it('keeps every invariant when a payment from an incoming payment meets it', async () => {
    const runs = await payWithEveryFault({
      faults: ANY_CALL,
      prepare: (world, tokens) => preparePayment(world, tokens, { from: 'incoming payment' }),
      judge: expectNoRefusal,
    })
    // The account is asked for, and no quote is read.
    expect(runs).toBeGreaterThanOrEqual(4 * 14)
  })

  it('keeps every invariant when the ledger does not answer or is confused', async () => {
    const runs = await payWithEveryFault({
      faults: LEDGER_CALL,
      concerns: isLedgerCall,
      prepare: preparePayment,
      judge: (answer) => expect(answer?.status).toBe(201),
    })
    expect(runs).toBe(9)
  })

  it('keeps every invariant when the hold is refused', async () => {
    const refusedHold = {
      prepare: async (world: World, tokens: Tokens) => {
        const prepared = await preparePayment(world, tokens)
        await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
        return prepared
      },
      judge: (answer: ProcessAnswer | undefined, fault: Fault, { name }: Call) => {
        if (answer === undefined) return
        // Once the intent is durable only a refusal that was heard and undone is answered with one; else the payment
        // is answered 201, and fails later.
        const expected = name === 'hold' ? [201] : [201, 403, 503]
        expect(expected, `${fault} at ${name}`).toContain(answer.status)
      },
      tidy: (world: World) => world.ledger.setPermissions('alice', { canSend: true, canReceive: true }),
    }
    // 11 calls: nothing comes after the refusal; less one or two, as above.
    expect(await payWithEveryFault({ ...refusedHold, faults: ANY_CALL })).toBeGreaterThanOrEqual(4 * 9)
    const silent = { faults: ['hangs', 'answers nobody'], concerns: isLedgerCall } as const
    expect(await payWithEveryFault({ ...refusedHold, ...silent })).toBe(2)
  })

  it('keeps every invariant when the credit is refused', async () => {
    const runs = await payWithEveryFault({
      faults: ANY_CALL,
      prepare: async (world, tokens) => {
        const prepared = await preparePayment(world, tokens)
        await world.ledger.setPermissions('bob', { canSend: false, canReceive: false })
        return prepared
      },
      judge: expectNoRefusal,
      tidy: (world) => world.ledger.setPermissions('bob', { canSend: true, canReceive: true }),
    })
    // The decision is a commit of its own, before the release.
    expect(runs).toBeGreaterThanOrEqual(4 * 14)
  })
})

describe('T-31 one fault at any call of a recovery, then another recovery', () => {
  it('keeps every invariant wherever the payment stood and wherever the recovery breaks off', async () => {
    let runs = 0
    for (const step of ['hold', 'credit', 'settle']) {
      for (const fault of ANY_CALL) {
        const world = await moneyWorld()
        const tokens = await grantTokens(world)
        for (let index = 1; ; index++) {
          const first = world.start()
          faultAt(first.ports, 1, 'crashes after', ({ name }) => name === step)
          await pay(world, first, await preparePayment(world, tokens))
          world.wallet.clock.advance(30_000)
          const second = world.start()
          const { reached } = faultAt(second.ports, index, fault)
          await Promise.race([second.openPayments.recover().catch(() => undefined), second.ports.crashed])
          const isOver = reached() === undefined
          await recoverUntilQuiet(world)
          await checkMoney(world)
          if (isOver) break
          runs++
        }
      }
    }
    // From the three places together.
    expect(runs).toBeGreaterThanOrEqual(4 * 38)
  }, 60_000)
})
