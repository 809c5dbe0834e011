import { describe, expect, it } from 'vitest'
import { notedPauses } from '../support/noted-pauses.ts'
import { type Fault, faultAt } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import { eventsOf, grantTokens, moneyWorld, pay, preparePayment } from './money-world.ts'

/** A payment of which some calls meet a fault, maybe only from a call on, and what is told of it. */
async function payWith(faults: Readonly<Record<string, Fault>>, from?: string) {
  const world = await moneyWorld()
  const prepared = await preparePayment(world, await grantTokens(world))
  const process = world.start()
  process.ports.plan = ({ name }) =>
    from === undefined || process.ports.calls.some((call) => call.name === from) ? faults[name] : undefined
  const { clock } = world.wallet
  const began = clock.now()
  await pay(world, process, prepared)
  const took = clock.now() - began
  return { took, faults: eventsOf(world, 'fault'), stalled: eventsOf(world, 'payment_stalled'), ...process.ports }
}

const CASES: readonly (readonly [string, Readonly<Record<string, Fault>>])[] = [
  ['hold', {}],
  ['credit', {}],
  ['settle', {}],
  ['release', { credit: { refuse: 'account_closed' } }],
]

describe('a fault of the ledger', () => {
  it.each(CASES)('says which call it was, and with which id: %s', async (call, others) => {
    const outcomes: readonly (readonly [string, Fault])[] = [
      ['the ledger failed', 'throws'],
      ['the ledger answered "conflict"', 'conflicts'],
      ['the ledger gave an invalid answer', { answer: 'ok' }],
    ]
    for (const [message, fault] of outcomes) {
      const { faults, calls } = await payWith({ ...others, [call]: fault })
      const asked = calls.find(({ name }) => name === call)?.arguments[0]
      expect(faults[0]).toMatchObject({ message, call, callId: expect.stringMatching(/^[0-9a-f]{32}$/) })
      expect(asked).toMatchObject({ id: faults[0]?.callId })
    }
  })

  it.each(CASES)('that threw has its words in the reason of what is stalled: %s', async (call, others) => {
    const { stalled } = await payWith({ ...others, [call]: 'throws' })
    expect(stalled[0]?.reason).toBe(`the ledger failed: injected: ${call} failed`)
  })

  it('that threw what is no error, or has no words, is told all the same', async () => {
    const rejections: readonly unknown[] = [undefined, 'a word', new Error('')]
    for (const rejection of rejections) {
      const world = await moneyWorld()
      const prepared = await preparePayment(world, await grantTokens(world))
      const process = world.start(({ ledger }) => ({ ledger: { ...ledger, hold: () => Promise.reject(rejection) } }))
      await pay(world, process, prepared)
      expect(eventsOf(world, 'payment_stalled')[0]?.reason).toBe('the ledger failed')
    }
  })

  it('that threw is told in one short line, whatever its words', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const words = `two\nlines ${'and more '.repeat(100)}`
    const process = world.start(({ ledger }) => ({
      ledger: { ...ledger, hold: () => Promise.reject(new Error(words)) },
    }))
    await pay(world, process, prepared)
    const reason = eventsOf(world, 'payment_stalled')[0]?.reason
    expect(reason).toMatch(/^the ledger failed: two lines and more /)
    expect(reason).toHaveLength(256)
  })

  it('leaves each step of a payment three tries in a row', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    // The request itself asks for the hold, too.
    const left = new Map([
      ['hold', 3],
      ['credit', 2],
    ])
    process.ports.plan = ({ name }) => {
      const faults = left.get(name) ?? 0
      left.set(name, faults - 1)
      return faults > 0 ? 'throws' : undefined
    }
    expect((await pay(world, process, prepared))?.status).toBe(201)
    expect(eventsOf(world, 'payment_stalled')).toEqual([])
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
    await checkMoney(world)
  })

  it.each([
    ['hold', 1 + 3, {}],
    ['credit', 3, {}],
    ['settle', 1 + 3, {}],
    ['release', 3, { credit: { refuse: 'account_closed' } }],
  ] as const)('leaves none more: %s is asked for %d times, with pauses', async (call, times, others) => {
    const { calls, stalled, took } = await payWith({ ...others, [call]: 'throws' })
    expect(calls.filter(({ name }) => name === call)).toHaveLength(times)
    expect(stalled).toHaveLength(1)
    // Two pauses of 80 to 160 ms; nothing else lets time pass.
    expect([took >= 160, took <= 322]).toEqual([true, true])
  })

  it('is asked again only when the pause is over', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const order: string[] = []
    const process = world.start({ clock: notedPauses(world.wallet.clock, order) })
    process.ports.plan = ({ name }) => {
      if (name !== 'credit') return undefined
      order.push(name)
      return 'throws'
    }
    await pay(world, process, prepared)
    expect(order).toEqual(['credit', 'pause', 'over', 'credit', 'pause', 'over', 'credit'])
  })

  it('is told as a pause only where that was written down: else the payment is due after its lease', async () => {
    const { faults, stalled } = await payWith({ credit: 'throws', commit: 'throws' }, 'credit')
    expect(faults.map(({ message }) => message)).toContain('a payment could not be moved on')
    expect(stalled).toEqual([])
  })

  it('INC-6 that is over keeps no completion from the host', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    faultAt(process.ports, 1, 'throws', ({ name }) => name === 'settle')
    await pay(world, process, prepared)
    expect(world.told().map(({ type }) => type)).toEqual([
      'incoming_payment.created',
      'outgoing_payment.created',
      'outgoing_payment.completed',
      'incoming_payment.completed',
    ])
  })

  it('is counted for each step anew: no pause is longer for what an earlier step has waited', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    const failIn = (step: string): void => {
      process.ports.plan = ({ name }) => {
        if (name === step) return 'throws'
        return name === 'credit' ? { refuse: 'account_closed' } : undefined
      }
    }
    failIn('hold')
    expect((await pay(world, process, prepared))?.status).toBe(201)
    for (const step of ['hold', 'credit', 'credit', 'release', 'release']) {
      const [payment] = await world.storage.all('outgoing-payment')
      world.wallet.clock.advance((payment?.dueAt ?? 0) - world.wallet.clock.now())
      failIn(step)
      await process.openPayments.recover()
    }
    expect(eventsOf(world, 'payment_stalled').map(({ state, attempts }) => [state, attempts])).toEqual([
      ['created', 1],
      ['created', 2],
      ['sending', 1],
      ['sending', 2],
      ['decided', 1],
      ['decided', 2],
    ])
  })

  it('names the account that could not be read', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world), { from: 'incoming payment' })
    const process = world.start()
    process.ports.plan = ({ name }) => (name === 'account' ? 'throws' : undefined)
    expect(await pay(world, process, prepared)).toMatchObject({ status: 503 })
    const account = process.ports.calls.find(({ name }) => name === 'account')?.arguments[0]
    expect(eventsOf(world, 'fault')).toMatchObject([{ message: 'the ledger failed', call: 'account', callId: account }])
  })
})
