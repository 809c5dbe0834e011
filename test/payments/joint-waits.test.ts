import type { Pricing } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { keyed } from '../support/keyed.ts'
import { ALICE, BASE, usd } from '../support/test-wallet.ts'
import type { Call } from './faulty-ports.ts'
import {
  amountOf,
  answered,
  createdBy,
  debits,
  end,
  giveTogether,
  intents,
  isReadOf,
  lineUp,
  quoteOf,
  scene,
  spentBy,
  statuses,
} from './joint-world.ts'
import { ask, type Process, type ProcessAnswer, signedBy } from './money-world.ts'

/** A pricing that answers at once until it is made to wait. */
function slowPricing() {
  const { open, opened } = gate()
  let isSlow = false
  let asked = 0
  const pricing: Pricing = {
    price: async () => {
      if (isSlow) {
        asked++
        await opened
      }
      return { rate: '1' }
    },
  }
  const slowDown = (): void => {
    isSlow = true
  }
  return { pricing, slowDown, open, asked: () => asked }
}

/** Whether it is answered by now. */
function watch(answer: Promise<ProcessAnswer | undefined> | undefined): () => boolean {
  let isAnswered = false
  void answer?.then(() => {
    isAnswered = true
  })
  return () => isAnswered
}

/** The amounts that the ledger was asked to hold. */
function held({ ports }: Process): readonly bigint[] {
  return ports.calls.filter(({ name }) => name === 'hold').map(amountOf)
}

describe('an order whose terms take long to read', () => {
  it('LIM-8 holds up no order of its grant, neither while it is alone nor while others wait', async () => {
    const { pricing, slowDown, open, asked } = slowPricing()
    const { world, process, order, tokens, incomingUrl } = await scene({ pricing })
    // A quote is priced already.
    const quoted = async (amount: string) => {
      const json = { walletAddress: ALICE, quoteId: await quoteOf(world, tokens, incomingUrl, amount) }
      return signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, json)
    }
    const [first, second, third] = [await quoted('1'), await quoted('2'), await quoted('4')]
    const [alone, among] = [await order('10'), await order('20')]
    slowDown()
    const slow = [ask(process, alone)]
    const isAnswered = slow.map(watch)
    await expect.poll(asked).toBe(1)
    const { answers, letGo } = await lineUp(process, first, [second])
    slow.push(ask(process, among))
    isAnswered.push(watch(slow[1]))
    await expect.poll(asked).toBe(2)
    answers.push(ask(process, third))
    letGo()
    expect(statuses(await Promise.all(answers))).toEqual([201, 201, 201])
    expect(held(process)).toEqual([1n, 2n, 4n])
    expect(isAnswered.map((isNow) => isNow())).toEqual([false, false])
    open()
    expect(statuses(await Promise.all(slow))).toEqual([201, 201])
    expect(asked()).toBe(2)
    await process.openPayments.drain()
    expect(await spentBy(world)).toBe(37n)
    await end(world)
  })

  it('QUO-7 reads its quote again, and nothing else, where another order has taken that meanwhile', async () => {
    const { pricing, slowDown, open, asked } = slowPricing()
    const { world, process, order, tokens, incomingUrl } = await scene({ pricing })
    const quoteId = await quoteOf(world, tokens, incomingUrl, '20')
    slowDown()
    open()
    const sign = (metadata: object) => {
      const json = { walletAddress: ALICE, quoteId, metadata }
      return signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, json)
    }
    const commit = gate()
    const reads = () => process.ports.calls.filter((call) => isReadOf('quote', call)).length
    const isOwnCommit = (call: Call): boolean => createdBy(call) > 0 && debits(call).includes(20n)
    process.ports.plan = (call) => (isOwnCommit(call) ? commit.opened : undefined)
    const late = ask(process, await sign({ order: 'late' }))
    await expect.poll(() => process.ports.calls.some(isOwnCommit)).toBe(true)
    expect(reads()).toBe(1)
    const faster = world.start()
    expect((await ask(faster, await sign({ order: 'faster' })))?.status).toBe(201)
    await faster.openPayments.drain()
    const accounts = () => process.ports.calls.filter(({ name }) => name === 'account').length
    const before = accounts()
    commit.open()
    const outgoingPayment = expect.stringContaining(`${BASE}/outgoing-payments/`)
    const error = { code: 'invalid_quote', details: { reason: 'the quote is used', outgoingPayment } }
    expect(await late).toMatchObject({ status: 400, body: { error } })
    expect([reads(), accounts() - before, asked()]).toEqual([2, 0, 0])
    expect(process.ports.calls.filter(isOwnCommit)).toHaveLength(1)
    // A direct order that meets the payment of another process is priced once all the same.
    const conflicting = await order('3')
    const [met, go] = [gate(), gate()]
    process.ports.plan = (call) => {
      if (createdBy(call) === 0 || intents(process).length > 2) return undefined
      met.open()
      return go.opened
    }
    const direct = ask(process, conflicting)
    await met.opened
    expect((await ask(faster, await order('5')))?.status).toBe(201)
    go.open()
    expect((await direct)?.status).toBe(201)
    expect(asked()).toBe(2)
    await process.openPayments.drain()
    await faster.openPayments.drain()
    expect(await spentBy(world)).toBe(28n)
    await end(world)
  })
})

describe('an order that shares a commit', () => {
  it('LIM-8 is answered while one before it, which was refused a part in it, is stuck in its own turn', async () => {
    const { world, process, order } = await scene()
    const others = [await order('101'), await order('20')]
    const { answers, letGo } = await lineUp(process, await order('1'), others)
    const [, refused, good] = answers
    const isRefusedAnswered = watch(refused)
    const { open, opened } = gate()
    let isStuck = false
    process.ports.plan = (call) => {
      if (intents(process).length < 2 || !isReadOf('spending', call)) return undefined
      isStuck = true
      return opened
    }
    letGo()
    expect((await good)?.status).toBe(201)
    await expect.poll(() => isStuck).toBe(true)
    expect(isRefusedAnswered()).toBe(false)
    open()
    expect((await refused)?.body.error.code).toBe('grant_limit_exceeded')
    await Promise.all(answers)
    await process.openPayments.drain()
    expect(await spentBy(world)).toBe(21n)
    await end(world)
  })

  it('OUT-12 shares it with the others too where one among them repeats an earlier order under its key', async () => {
    const { world, process, order, tokens, incomingUrl } = await scene()
    const json = { walletAddress: ALICE, incomingPayment: incomingUrl, debitAmount: usd('5') }
    const sign = () => signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, json, keyed('a-key'))
    const earlier = world.start()
    const paid = await ask(earlier, await sign())
    await earlier.openPayments.drain()
    expect(paid?.status).toBe(201)
    world.wallet.clock.advance(1000)
    const answers = await giveTogether(process, await order('1'), [await order('10'), await sign(), await order('20')])
    expect(statuses(answers)).toEqual([201, 201, 201, 201])
    expect(answers[2]?.body).toEqual(paid?.body)
    expect(intents(process)).toEqual([1, 2])
    expect(await spentBy(world)).toBe(36n)
    await end(world)
  })

  it('OUT-12 shares it under a key that was used a day ago, whose record is still there', async () => {
    const day = 24 * 3600
    const lifetimes = { accessTokenSeconds: 2 * day, incomingPaymentSeconds: 2 * day }
    const { world, process, order } = await scene({ settings: { lifetimes } })
    expect((await answered(world.start(), await order('5', keyed('a-key')))).status).toBe(201)
    world.wallet.clock.advance(day * 1000)
    const others = [await order('10', keyed('a-key')), await order('20')]
    expect(statuses(await giveTogether(process, await order('1'), others))).toEqual([201, 201, 201])
    expect(intents(process)).toEqual([1, 2])
    expect(await spentBy(world)).toBe(36n)
    await end(world)
  })
})
