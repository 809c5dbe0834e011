import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { keyed } from '../support/keyed.ts'
import { ALICE, BASE, usd } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import type { Fault } from './faulty-ports.ts'
import {
  changesOf,
  createdBy,
  end,
  intents,
  isCommit,
  isReadOf,
  quoteOf,
  scene,
  spentBy,
  statuses,
} from './joint-world.ts'
import { checkMoney } from './money-invariants.ts'
import {
  ask,
  eventsOf,
  grantTokens,
  LEASE,
  moneyWorld,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
} from './money-world.ts'

describe('an order that takes its time', () => {
  it('TOK-9 pays nothing if its token is deleted meanwhile', async () => {
    const { world, process, order } = await scene()
    const request = await order('10')
    process.ports.plan = async (call) => {
      if (createdBy(call) === 0) return undefined
      process.ports.plan = () => undefined
      const tokens = await world.storage.all('access-token')
      await world.storage.commit(
        tokens.map(({ kind, version, value }) => ({ action: 'delete', kind, id: value.id, version })),
      )
      return undefined
    }
    const answer = await ask(process, request)
    expect([answer?.status, answer?.body.error?.code]).toEqual([401, 'invalid_token'])
    expect(await world.storage.all('outgoing-payment')).toEqual([])
  })

  it.each([
    ['alone', 0, false],
    ['alone, from a quote', 0, true],
    ['with another one', 1, false],
  ])(
    'OUT-12 is the first under its key if the one that it repeats is undone before its turn: %s',
    async (_, beside, isQuoted) => {
      const { world, process, order, tokens, incomingUrl } = await scene()
      const json = isQuoted
        ? { walletAddress: ALICE, quoteId: await quoteOf(world, tokens, incomingUrl, '10') }
        : { walletAddress: ALICE, incomingPayment: incomingUrl, debitAmount: usd('10') }
      const sign = () => signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, json, keyed('a-key'))
      const { open: undo, opened: isToBeUndone } = gate()
      let isBeingUndone = false
      process.ports.plan = (call) => {
        if (call.name === 'hold' && !isBeingUndone) return { answer: { ok: false, reason: 'not_allowed' } }
        if (isBeingUndone || !isCommit(call) || createdBy(call) > 0) return undefined
        isBeingUndone = true
        return isToBeUndone
      }
      const first = ask(process, await sign())
      await expect.poll(() => isBeingUndone).toBe(true)
      world.wallet.clock.advance(1000)
      const waiting = [await sign(), ...(await Promise.all(Array.from({ length: beside }, () => order('20'))))]
      const answers = waiting.map((request) => ask(process, request))
      await turns(40)
      undo()
      expect((await first)?.body.error?.code).toBe('not_allowed')
      expect(statuses(await Promise.all(answers))).toEqual(waiting.map(() => 201))
      await process.openPayments.drain()
      expect(intents(process)).toEqual([1, waiting.length])
      expect(await spentBy(world)).toBe(beside === 0 ? 10n : 30n)
      await end(world)
    },
  )

  it('OUT-12 is the first under its key if the one that it repeats is undone once its own quote was read', async () => {
    const { world, process, tokens, incomingUrl } = await scene()
    const json = { walletAddress: ALICE, quoteId: await quoteOf(world, tokens, incomingUrl, '10') }
    const sign = () => signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, json, keyed('a-key'))
    const [hold, looksUpKey] = [gate(), gate()]
    process.ports.plan = async ({ name }) => {
      if (name !== 'hold') return undefined
      await hold.opened
      return { answer: { ok: false, reason: 'not_allowed' } }
    }
    const first = ask(process, await sign())
    await expect.poll(() => world.storage.all('outgoing-payment')).toHaveLength(1)
    world.wallet.clock.advance(1000)
    const other = world.start()
    let isAtKey = false
    other.ports.plan = (call) => {
      if (isAtKey || !isReadOf('idempotency-key', call)) return undefined
      isAtKey = true
      return looksUpKey.opened
    }
    const repeat = ask(other, await sign())
    await expect.poll(() => isAtKey).toBe(true)
    hold.open()
    expect((await first)?.body.error?.code).toBe('not_allowed')
    looksUpKey.open()
    expect((await repeat)?.status).toBe(201)
    await other.openPayments.drain()
    await end(world)
  })

  it.each<[string, Readonly<Record<string, Fault>>, string]>([
    ['before its money is held', { hold: 'crashes before' }, 'completed'],
    ['once its money is held', { credit: 'crashes before' }, 'completed'],
    ['once it is decided', { credit: { refuse: 'account_closed' }, release: 'crashes before' }, 'failed'],
  ])('OUT-6 is nobody else’s to move on before its lease has lapsed: %s', async (_when, faults, state) => {
    const { world, process, order } = await scene()
    const request = await order('10')
    process.ports.plan = ({ name }) => faults[name]
    await ask(process, request)
    await process.ports.crashed
    world.wallet.clock.advance(LEASE - 1)
    expect(await world.wallet.openPayments.recover()).toBe(0)
    world.wallet.clock.advance(1)
    await world.wallet.openPayments.recover()
    expect(eventsOf(world, 'recovered')).toMatchObject([{ payments: 1 }])
    await recoverUntilQuiet(world)
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state } }])
    await checkMoney(world)
  })
})

it('OUT-5 an order waits for no other payer who is at the same incoming payment', async () => {
  const { world, process, order } = await scene()
  const { open, opened } = gate()
  let isOtherAtReceiver = false
  process.ports.plan = (call) => {
    if (isOtherAtReceiver || !isCommit(call) || !changesOf(call).some(({ kind }) => kind === 'receipt'))
      return undefined
    isOtherAtReceiver = true
    return opened
  }
  const other = ask(process, await order('10'))
  await expect.poll(() => isOtherAtReceiver).toBe(true)
  expect((await ask(process, await order('20')))?.status).toBe(201)
  // Nor does it take room out of turn.
  expect(await world.storage.all('receipt')).toEqual([])
  open()
  expect((await other)?.status).toBe(201)
  await process.openPayments.drain()
  const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
  expect(states).toEqual(['completed', 'completed'])
  await checkMoney(world)
})

it('OUT-9 a payment that another worker has ended first is left to it, and nobody is troubled', async () => {
  const { world, process, order } = await scene()
  let recovered: number | undefined
  process.ports.plan = async ({ name }) => {
    if (name === 'credit') return { refuse: 'account_closed' }
    if (name !== 'commit' || !process.ports.calls.some((call) => call.name === 'release')) return undefined
    process.ports.plan = () => undefined
    world.wallet.clock.advance(LEASE)
    recovered = await world.wallet.openPayments.recover()
    return undefined
  }
  expect((await ask(process, await order('10')))?.status).toBe(201)
  await process.openPayments.drain()
  expect(recovered).toBeGreaterThan(0)
  expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'failed' } }])
  expect([...eventsOf(world, 'fault'), ...eventsOf(world, 'payment_stalled')]).toEqual([])
  expect(world.told().filter(({ type }) => type === 'outgoing_payment.failed')).toHaveLength(1)
  await checkMoney(world)
})

describe('an order that its own repeat has overtaken', () => {
  /** An order under a key whose hold is asked for only once `until` has resolved. */
  async function overtaken(meanwhile: 'paid' | 'being paid') {
    const world = await moneyWorld()
    const { token, body } = await preparePayment(world, await grantTokens(world))
    const [one, other] = [world.start(), world.start()]
    const [isAsked, isOvertaken, isAnswered] = [gate(), gate(), gate()]
    const order = (process: typeof one, nonce: string) =>
      signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, body, { ...keyed('k'), nonce }).then((request) =>
        ask(process, request),
      )
    one.ports.plan = ({ name }) => {
      if (name !== 'hold') return undefined
      isAsked.open()
      return isOvertaken.opened
    }
    other.ports.plan = ({ name }) => (name === 'credit' && meanwhile === 'being paid' ? isAnswered.opened : undefined)
    const first = order(one, 'one')
    await isAsked.opened
    const repeat = await order(other, 'two')
    if (meanwhile === 'paid') await other.openPayments.drain()
    isOvertaken.open()
    const answers = [await first, repeat]
    await one.openPayments.drain()
    isAnswered.open()
    await other.openPayments.drain()
    await checkMoney(world)
    return { world, one, other, answers }
  }

  it('OUT-12 is answered as the repeat was, although the payment has ended', async () => {
    const { world, answers } = await overtaken('paid')
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
    expect(answers.map((answer) => answer?.status)).toEqual([201, 201])
    expect(answers[0]?.body).toEqual(answers[1]?.body)
  })

  it('OUT-6 leaves the payment to the one that has moved it on', async () => {
    const { one, other } = await overtaken('being paid')
    const callsOf = ({ ports }: typeof one): readonly string[] =>
      ports.calls.flatMap(({ port, name }) => (port === 'ledger' && name !== 'account' ? [name] : []))
    expect([one, other].map(callsOf)).toEqual([['hold'], ['hold', 'credit', 'settle']])
  })
})
