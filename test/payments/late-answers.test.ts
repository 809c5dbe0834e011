import type { Change, Ledger, OpenPayments } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { createLateAnswers } from '../../src/payments/late-answers.ts'
import { gate } from '../support/gate.ts'
import { BASE } from '../support/test-wallet.ts'
import { turn, turns } from '../support/turns.ts'
import { checkMoney } from './money-invariants.ts'
import {
  ask,
  eventsOf,
  grantTokens,
  LEASE,
  moneyWorld,
  pay,
  preparePayment,
  signedBy,
  type World,
} from './money-world.ts'

const DEADLINE = 3000

/** A ledger that does what it is asked at once, and answers each call only `late` milliseconds afterwards. */
function slowLedger({ ledger, wallet }: World, late: number): { readonly slow: Ledger; readonly calls: string[] } {
  const calls: string[] = []
  const answerLate = async <T>(name: string, answer: Promise<T>): Promise<T> => {
    calls.push(name)
    await wallet.clock.sleep(late, new AbortController().signal)
    return answer
  }
  return {
    calls,
    slow: {
      account: (account) => ledger.account(account),
      hold: (hold) => answerLate('hold', ledger.hold(hold)),
      settle: (settlement) => answerLate('settle', ledger.settle(settlement)),
      release: (release) => answerLate('release', ledger.release(release)),
      credit: (credit) => answerLate('credit', ledger.credit(credit)),
    },
  }
}

/** Lets the time pass until some work is done. */
async function passTime<T>({ wallet }: World, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    wallet.clock.advance(500)
    await turn()
  }
  return done
}

/** Recovers as an operator's timer does, until no payment is left; answers how often. */
async function recoverSlowly(world: World, openPayments: OpenPayments): Promise<number> {
  for (let round = 1; round <= 20; round++) {
    const due = await world.storage.due('outgoing-payment', Number.MAX_SAFE_INTEGER, 100)
    if (due.length === 0) return round
    world.wallet.clock.advance(30_000)
    await passTime(world, openPayments.recover())
  }
  throw new Error('a payment was never decided')
}

describe('a ledger that answers every call only after its deadline', () => {
  it.each([
    ['in full', {}, 'completed', 2 * DEADLINE],
    ['in full, later than every try of one step', {}, 'completed', 20 * DEADLINE],
    ['not at all, since the payee is closed', { canReceive: false }, 'failed', 2 * DEADLINE],
  ])('T-31 decides every payment once: %s', async (_how, bob, state, late) => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const prepared = [await preparePayment(world, tokens), await preparePayment(world, tokens)]
    await world.ledger.setPermissions('bob', { canSend: true, canReceive: true, ...bob })
    const { slow, calls } = slowLedger(world, late)
    const process = world.start({ ledger: slow })
    const answers = await passTime(world, Promise.all(prepared.map((payment) => pay(world, process, payment))))
    expect(answers).toMatchObject([{ status: 201 }, { status: 201 }])
    const rounds = await recoverSlowly(world, process.openPayments)
    expect(rounds).toBeLessThan(15)
    expect((await world.storage.all('outgoing-payment')).map(({ value }) => value.state)).toEqual([state, state])
    expect(calls.length).toBeLessThan(80)
    await checkMoney(world)
  })

  it('D15 undoes nothing that a client was told of, where the late answer is a refusal', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    const process = world.start({ ledger: slowLedger(world, 2 * DEADLINE).slow })
    expect(await passTime(world, pay(world, process, prepared))).toMatchObject({ status: 201 })
    await recoverSlowly(world, process.openPayments)
    expect((await world.storage.all('outgoing-payment')).map(({ value }) => value.state)).toEqual(['failed'])
    await checkMoney(world)
  })
})

describe('an earlier try of a call', () => {
  /** What the operator is told of the ledger's calls. */
  const faultsOf = (world: World) => eventsOf(world, 'fault').map(({ call, message }) => [call, message])

  it('T-31 that was answered in time does not answer the next one, which the ledger may decide otherwise', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    let tries = 0
    const hold: Ledger['hold'] = async (asked) => {
      tries++
      const isFirst = tries === 1
      await turn()
      return isFirst ? { ok: false, reason: 'conflict' } : world.ledger.hold(asked)
    }
    const process = world.start({ ledger: { ...world.ledger, hold } })
    expect(await pay(world, process, prepared)).toMatchObject({ status: 201 })
    expect(faultsOf(world)).toEqual([['hold', 'the ledger answered "conflict"']])
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
    expect(tries).toBe(2)
    await checkMoney(world)
  })

  it('T-31 that fails after its deadline does not speak for the one that still runs', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const tries: { readonly fail: () => void; readonly answer: () => void }[] = []
    const hold: Ledger['hold'] = (asked) =>
      new Promise((resolve, reject) => {
        const fail = (): void => reject(new Error('the connection is lost'))
        tries.push({ fail, answer: () => resolve(world.ledger.hold(asked)) })
      })
    const process = world.start({ ledger: { ...world.ledger, hold } })
    const order = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, prepared.token, prepared.body)
    expect(await passTime(world, ask(process, order))).toMatchObject({ status: 201 })
    await turns(30)
    expect(tries).toHaveLength(2)
    tries[0]?.fail()
    await turns(30)
    tries[1]?.answer()
    await process.openPayments.drain()
    expect(faultsOf(world)).toEqual([['hold', 'the ledger did not answer in time']])
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
    await checkMoney(world)
  })
})

describe('a process that is held up for a lease once it has committed that a payment is created', () => {
  it('tells its host nothing that another one has told by then', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const { open, opened } = gate()
    let isAsleep = false
    const isCreated = (change: Change): boolean =>
      change.action === 'insert' && change.kind === 'event' && change.value.event.type === 'outgoing_payment.created'
    const process = world.start(({ storage }) => ({
      storage: {
        ...storage,
        commit: async (changes) => {
          const outcome = await storage.commit(changes)
          isAsleep = changes.some(isCreated)
          if (isAsleep) await opened
          return outcome
        },
      },
    }))
    const answer = pay(world, process, prepared)
    await expect.poll(() => isAsleep).toBe(true)
    world.wallet.clock.advance(LEASE)
    await world.wallet.openPayments.recover()
    await world.wallet.openPayments.drain()
    open()
    expect(await answer).toMatchObject({ status: 201 })
    const told = world.told().filter((event) => 'outgoingPayment' in event)
    expect(told.map(({ type }) => type)).toEqual(['outgoing_payment.created', 'outgoing_payment.completed'])
    await checkMoney(world)
  })
})

describe('what a ledger answers late', () => {
  const ok = { ok: true } as const
  const never = (): Promise<typeof ok> => new Promise(() => undefined)

  it('is forgotten once a call was answered in time, and where it failed', async () => {
    const late = createLateAnswers()
    const failed = Promise.reject(new Error('gone'))
    expect(late.expect('a', failed)).toEqual([])
    await failed.catch(() => undefined)
    const first = never()
    expect(late.expect('a', first)).toEqual([])
    expect(late.expect('b', never())).toEqual([])
    expect(late.expect('a', never())).toEqual([first])
    late.forget('a')
    expect(late.expect('a', never())).toEqual([])
    expect(late.expect('b', never())).toHaveLength(1)
  })

  it('is waited for in the last three calls of an id, and for the last 10,000 ids', () => {
    const late = createLateAnswers()
    const calls = Array.from({ length: 5 }, never)
    for (const call of calls) late.expect('a', call)
    expect(late.expect('a', never())).toEqual(calls.slice(2))
    for (let index = 0; index < 9999; index++) late.expect(`other ${index}`, never())
    expect(late.expect('a', never())).toHaveLength(3)
    late.expect('one more', never())
    expect(late.expect('a', never())).toEqual([])
  })
})
