import type { Pricing } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { COMPANY_MILLISECONDS } from '../../src/payments/create-payment.ts'
import { gate } from '../support/gate.ts'
import { ALICE, BASE, usd } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import type { Call } from './faulty-ports.ts'
import {
  amountOf,
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
import { ask, keyed, type Process, type ProcessAnswer, signedBy } from './money-world.ts'

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

describe('an order that shares a commit', () => {
  it.each([
    ['before it', 1, 2],
    ['behind it', 2, 1],
  ])('LIM-8 waits 200 ms at most for the terms of one that waits %s', async (_where, slow, good) => {
    const { pricing, slowDown, open, asked } = slowPricing()
    const { world, process, order, tokens, incomingUrl } = await scene({ pricing })
    // A quote is priced already.
    const json = { walletAddress: ALICE, quoteId: await quoteOf(world, tokens, incomingUrl, '20') }
    const quoted = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, json)
    const priced = await order('10')
    const others = slow === 1 ? [priced, quoted] : [quoted, priced]
    const { answers, letGo } = await lineUp(process, await order('1'), others)
    const isSlowAnswered = watch(answers[slow])
    slowDown()
    letGo()
    await expect.poll(asked, { interval: 1 }).toBe(1)
    world.wallet.clock.advance(COMPANY_MILLISECONDS - 1)
    await turns(20)
    expect(intents(process)).toEqual([1])
    world.wallet.clock.advance(1)
    expect((await answers[good])?.status).toBe(201)
    expect(intents(process)).toEqual([1, 1])
    expect(held(process)).toEqual([1n, 20n])
    expect(isSlowAnswered()).toBe(false)
    open()
    expect((await answers[slow])?.status).toBe(201)
    expect(intents(process)).toEqual([1, 1, 1])
    // What it was late with is not asked for once more, or everybody behind it would wait for that too.
    expect(asked()).toBe(1)
    await process.openPayments.drain()
    expect(await spentBy(world)).toBe(31n)
    await end(world)
  })

  it('QUO-7 that was late for it reads its quote again where another order has taken that meanwhile', async () => {
    const { world, process, order, tokens, incomingUrl } = await scene()
    const quoteId = await quoteOf(world, tokens, incomingUrl, '20')
    const sign = (metadata: object) => {
      const json = { walletAddress: ALICE, quoteId, metadata }
      return signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, json)
    }
    const others = [await order('10'), await sign({ order: 'late' })]
    const { answers, letGo } = await lineUp(process, await order('1'), others)
    const [read, commit] = [gate(), gate()]
    const reads = () => process.ports.calls.filter((call) => isReadOf('quote', call)).length
    const isOwnCommit = (call: Call): boolean => createdBy(call) > 0 && debits(call).includes(20n)
    process.ports.plan = (call) => {
      if (isReadOf('quote', call)) return read.opened
      return isOwnCommit(call) ? commit.opened : undefined
    }
    letGo()
    await expect.poll(reads, { interval: 1 }).toBe(1)
    world.wallet.clock.advance(COMPANY_MILLISECONDS)
    expect((await answers[1])?.status).toBe(201)
    read.open()
    await expect.poll(() => process.ports.calls.some(isOwnCommit), { interval: 1 }).toBe(true)
    expect(reads()).toBe(1)
    const faster = world.start()
    expect((await ask(faster, await sign({ order: 'faster' })))?.status).toBe(201)
    await faster.openPayments.drain()
    commit.open()
    expect(await answers[2]).toMatchObject({ status: 400, body: { error: { code: 'invalid_quote' } } })
    expect(reads()).toBe(2)
    expect(process.ports.calls.filter(isOwnCommit)).toHaveLength(1)
    await process.openPayments.drain()
    expect(await spentBy(world)).toBe(31n)
    await end(world)
  })

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
    await expect.poll(() => isStuck, { interval: 1 }).toBe(true)
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
})
