import type { Change } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { keyed } from '../support/keyed.ts'
import { ALICE, BASE, usd } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import type { Call, Fault } from './faulty-ports.ts'
import {
  amountOf,
  changesOf,
  createdBy,
  debits,
  end,
  giveTogether,
  intents,
  isCommit,
  isReadOf,
  quoteOf,
  scene,
  spentBy,
  spentWith,
  statuses,
} from './joint-world.ts'
import { ask, signedBy } from './money-world.ts'

function isRefusalWritten(call: Call): boolean {
  const isTombstone = (change: Change): boolean =>
    change.action === 'replace' && change.kind === 'outgoing-payment' && change.value.state === 'refused'
  return isCommit(call) && changesOf(call).some(isTombstone)
}

describe('orders of one grant that wait for each other', () => {
  it('OUT-5 LIM-8 share one commit, which exhausts the limit exactly', async () => {
    const { world, process, order } = await scene()
    const others = await Promise.all(['33', '33', '33'].map((amount) => order(amount)))
    const answers = await giveTogether(process, await order('1'), others)
    expect(statuses(answers)).toEqual([201, 201, 201, 201])
    // Each is told what was spent with it, as if it had been alone.
    expect(answers.map((answer) => spentWith(answer))).toEqual(['1', '34', '67', '100'])
    expect(intents(process)).toEqual([1, 3])
    expect(await spentBy(world)).toBe(100n)
    expect((await world.storage.all('spending'))[0]?.value.lastCharge?.place).toBe(4)
    await end(world)
    expect((await world.storage.all('outgoing-payment')).map(({ value }) => value.state)).toEqual(
      Array.from({ length: 4 }, () => 'completed'),
    )
  })

  it('LIM-8 the first of a grant are charged to a window that nobody was charged to before', async () => {
    const { world, process, order } = await scene()
    // The first of all is refused: it exceeds the limit alone.
    const reads = process.ports.calls
    const { open, opened } = gate()
    const isCharge = (call: Call) => isReadOf('spending', call) && !isReadOf('access-token', call)
    process.ports.plan = (call) => (isCharge(call) ? opened : undefined)
    const first = ask(process, await order('101'))
    await expect.poll(() => reads.some(isCharge)).toBe(true)
    const others = [ask(process, await order('60')), ask(process, await order('40'))]
    await turns(40)
    process.ports.plan = () => undefined
    open()
    expect(statuses(await Promise.all([first, ...others]))).toEqual([403, 201, 201])
    expect(intents(process)).toEqual([2])
    await process.openPayments.drain()
    expect(await spentBy(world)).toBe(100n)
    await end(world)
  })

  it('LIM-8 one in the middle that is refused leaves the others', async () => {
    const { world, process, order } = await scene()
    const others = await Promise.all(['50', '60', '49'].map((amount) => order(amount)))
    const answers = await giveTogether(process, await order('1'), others)
    expect(statuses(answers)).toEqual([201, 201, 403, 201])
    expect(answers[2]?.body.error.code).toBe('grant_limit_exceeded')
    expect(intents(process)).toEqual([1, 2])
    expect(await spentBy(world)).toBe(100n)
    await end(world)
  })

  it('LIM-8 a refusal rests on what is committed, not on what was to be', async () => {
    const { world, process, order } = await scene()
    const others = await Promise.all(['60', '70'].map((amount) => order(amount)))
    // The first of the two cannot be committed: so there is room for the second.
    const answers = await giveTogether(process, await order('1'), others, (call) =>
      isCommit(call) && debits(call).includes(60n) ? 'throws' : undefined,
    )
    expect(statuses(answers)).toEqual([201, 503, 201])
    expect(await spentBy(world)).toBe(71n)
    await end(world)
  })

  it('SIG-24 a request that is sent twice is not in the commit of its twin, and pays once', async () => {
    const { world, process, order } = await scene()
    const twin = await order('10')
    const answers = await giveTogether(process, await order('1'), [twin, twin, await order('20')])
    expect(statuses(answers)).toEqual([201, 201, 401, 201])
    expect(intents(process).slice(0, 2)).toEqual([1, 2])
    expect(await spentBy(world)).toBe(31n)
    await end(world)
  })

  it('OUT-12 two under one key pay once, and both are answered so', async () => {
    const { world, process, order, tokens, incomingUrl } = await scene()
    const json = { walletAddress: ALICE, incomingPayment: incomingUrl, debitAmount: usd('10') }
    const sign = (token: string) => signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, json, keyed('a-key'))
    const one = await sign(tokens.spending)
    world.wallet.clock.advance(1000)
    const other = await sign(tokens.spending)
    const answers = await giveTogether(process, await order('1'), [one, other, await order('20')])
    expect(statuses(answers)).toEqual([201, 201, 201, 201])
    expect(answers[2]?.body).toEqual(answers[1]?.body)
    expect(await world.storage.all('outgoing-payment')).toHaveLength(3)
    expect(await spentBy(world)).toBe(31n)
    await end(world)
  })

  it('QUO-7 two by one quote pay once', async () => {
    const { world, process, order, tokens, incomingUrl } = await scene()
    const quoteId = await quoteOf(world, tokens, incomingUrl, '10')
    const sign = (index: number) => {
      const json = { walletAddress: ALICE, quoteId, metadata: { index } }
      return signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, json)
    }
    const answers = await giveTogether(process, await order('1'), [await sign(1), await sign(2), await order('20')])
    expect(statuses(answers)).toEqual([201, 201, 400, 201])
    expect(answers[2]?.body.error.code).toBe('invalid_quote')
    expect(await spentBy(world)).toBe(31n)
    await end(world)
  })

  it('TOK-9 none pays where the grant was revoked while they waited', async () => {
    const { world, process, order } = await scene()
    const others = await Promise.all(['10', '20'].map((amount) => order(amount)))
    let isRevoked = false
    const answers = await giveTogether(process, await order('1'), others, async (call) => {
      if (isRevoked || !isReadOf('spending', call)) return undefined
      isRevoked = true
      const [token] = (await world.storage.all('access-token')).filter(({ value }) =>
        value.access.some(({ type }) => type === 'outgoing-payment'),
      )
      if (token === undefined) throw new Error('there is no token')
      await world.storage.commit([{ ...token, action: 'replace', value: { ...token.value, state: 'revoked' } }])
      return undefined
    })
    expect(statuses(answers)).toEqual([201, 401, 401])
    expect(await spentBy(world)).toBe(1n)
    await end(world)
  })

  it('LIM-8 another process that spends meanwhile is counted, and they are charged one by one', async () => {
    const { world, process, order } = await scene()
    const other = world.start()
    const rival = await order('50')
    const orders = await Promise.all(['20', '20', '20'].map((amount) => order(amount)))
    let isSpent = false
    const answers = await giveTogether(process, await order('1'), orders, async (call) => {
      if (isSpent || createdBy(call) === 0) return undefined
      isSpent = true
      expect((await ask(other, rival))?.status).toBe(201)
      return undefined
    })
    expect(statuses(answers)).toEqual([201, 201, 201, 403])
    expect(intents(process)).toEqual([1, 3, 1, 1])
    await other.openPayments.drain()
    expect(await spentBy(world)).toBe(91n)
    await end(world)
  })

  it('SIG-24 a replay among them takes nothing from the others', async () => {
    const { world, process, order } = await scene()
    const used = await order('10')
    expect((await ask(world.start(), used))?.status).toBe(201)
    const answers = await giveTogether(process, await order('1'), [await order('20'), used, await order('30')])
    expect(statuses(answers)).toEqual([201, 201, 401, 201])
    expect(await spentBy(world)).toBe(61n)
    await end(world)
  })

  it.each<[Fault, number]>([
    ['crashes before', 1],
    ['crashes after', 4],
  ])('T-31 the process %s their commit: all of them were ordered, or none', async (fault, made) => {
    const { world, process, order } = await scene()
    const others = await Promise.all(['10', '20', '30'].map((amount) => order(amount)))
    const answers = await giveTogether(process, await order('1'), others, (call) =>
      createdBy(call) === 3 ? fault : undefined,
    )
    expect(statuses(answers).slice(1)).toEqual([undefined, undefined, undefined])
    expect(await world.storage.all('outgoing-payment')).toHaveLength(made)
    await end(world)
    const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
    expect(states).toEqual(Array.from({ length: made }, () => 'completed'))
    expect(await spentBy(world)).toBe(made === 1 ? 1n : 61n)
  })

  it.each<[Fault, readonly number[], bigint]>([
    ['loses the reply', [201, 201, 201], 31n],
    ['throws', [201, 503, 503], 1n],
  ])('T-31 their commit %s: all are told what became of it', async (fault, told, spent) => {
    const { world, process, order } = await scene()
    const others = await Promise.all(['10', '20'].map((amount) => order(amount)))
    const answers = await giveTogether(process, await order('1'), others, (call) =>
      createdBy(call) === 2 ? fault : undefined,
    )
    expect(statuses(answers)).toEqual(told)
    expect(await spentBy(world)).toBe(spent)
    await end(world)
  })

  it('OUT-6 the hold of one is refused, which gives its own part back', async () => {
    const { world, process, order } = await scene()
    const others = await Promise.all(['10', '30', '20'].map((amount) => order(amount)))
    const answers = await giveTogether(process, await order('1'), others, (call) =>
      // Not by closing the account for a while: the others are held at the same time.
      call.name === 'hold' && amountOf(call) === 20n ? { answer: { ok: false, reason: 'not_allowed' } } : undefined,
    )
    expect(statuses(answers)).toEqual([201, 201, 201, 403])
    expect(intents(process)).toEqual([1, 3])
    expect(await spentBy(world)).toBe(41n)
    const last = (await world.storage.all('outgoing-payment')).find(({ value }) => value.debitAmount.value === 30n)
    expect((await world.storage.all('spending'))[0]?.value.lastCharge?.payment).toBe(last?.value.id)
    await end(world)
  })

  it('OUT-6 the holds of many are refused, each of which gives its part back in its turn', async () => {
    const { world, process, order } = await scene()
    const others = await Promise.all(['2', '3', '4', '5', '6', '7'].map((amount) => order(amount)))
    const answers = await giveTogether(process, await order('1'), others, ({ name }) =>
      name === 'hold' ? { answer: { ok: false, reason: 'not_allowed' } } : undefined,
    )
    expect(statuses(answers)).toEqual([403, 403, 403, 403, 403, 403, 403])
    // Each in one commit: none had to be made again because another one was faster.
    expect(process.ports.calls.filter(isRefusalWritten)).toHaveLength(7)
    expect(await spentBy(world)).toBe(0n)
    await end(world)
  })

  it('are never more in one commit than a store takes', async () => {
    const { world, process, order } = await scene()
    const others = await Promise.all(
      Array.from({ length: 40 }, (_, index) => order('1', { nonce: `nonce-${index}`, ...keyed(`key-${index}`) })),
    )
    const answers = await giveTogether(process, await order('1'), others)
    expect(new Set(statuses(answers))).toEqual(new Set([201]))
    expect(intents(process)).toEqual([1, 16, 16, 8])
    for (const call of process.ports.calls.filter(isCommit)) expect(changesOf(call).length).toBeLessThanOrEqual(100)
    expect(await spentBy(world)).toBe(41n)
    await end(world)
  })
})
