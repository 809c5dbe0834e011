import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { keyed } from '../support/keyed.ts'
import { ALICE, AUTH, BASE, usd } from '../support/test-wallet.ts'
import {
  answered,
  createdBy,
  end,
  holdUp,
  intents,
  isReadOf,
  quoteOf,
  reading,
  scene,
  spentBy,
  statuses,
} from './joint-world.ts'
import { ask, type Process, type ProcessAnswer, signedBy, type Tokens, type World } from './money-world.ts'

const SPENT = `${BASE}/outgoing-payment-grant`

const askSpent = async (world: World, process: Process, { spending }: Tokens): Promise<ProcessAnswer> =>
  answered(process, await signedBy(world, 'GET', SPENT, spending))

const ALONE = 'access-token incoming-payment'
const AHEAD = `${ALONE} spending`

describe('what a grant has spent', () => {
  it('is read with the token by a process that has charged the grant before', async () => {
    const { world, process, order } = await scene()
    const reads = reading(process)
    expect((await answered(process, await order('1'))).status).toBe(201)
    expect(reads()).toEqual([ALONE, 'spending'])
    expect((await answered(process, await order('1'))).status).toBe(201)
    expect(reads()).toEqual([AHEAD])
    expect(await spentBy(world)).toBe(2n)
    await end(world)
  })

  it('is read with the token by a process that was asked for it before, and told as it is now', async () => {
    const { world, tokens, process, order } = await scene()
    const reads = reading(process)
    expect((await askSpent(world, process, tokens)).body).toEqual({
      spentDebitAmount: null,
      spentReceiveAmount: null,
    })
    expect(reads()).toEqual(['access-token', 'spending'])
    await answered(world.start(), await order('7'))
    expect((await askSpent(world, process, tokens)).body).toMatchObject({ spentDebitAmount: usd('7') })
    expect(reads()).toEqual(['access-token spending'])
    await end(world)
  })

  it('TOK-8 is read with the token by the process that has rotated that', async () => {
    const { world, tokens, process, order } = await scene()
    await answered(process, await order('5'))
    const manage = (await world.storage.all('access-token')).map(({ value }) => value).at(-1)?.manageId
    const url = `${AUTH}/token/${manage}`
    const rotated = await answered(process, await signedBy(world, 'POST', url, tokens.spending))
    const reads = reading(process)
    reads()
    const spending = rotated.body.access_token.value
    expect((await askSpent(world, process, { ...tokens, spending })).body).toMatchObject({ spentDebitAmount: usd('5') })
    expect(reads()).toEqual(['access-token spending'])
  })

  it('LIM-7 is read by itself in a new window, which has its whole limit', async () => {
    const limits = { debitAmount: usd('100'), interval: 'R/2016-08-24T08:00:00Z/PT1H' }
    const entries = [{ type: 'outgoing-payment', actions: ['create'], identifier: ALICE, limits }]
    const { world, process, order } = await scene({}, entries)
    const reads = reading(process)
    expect(statuses([await answered(process, await order('60')), await answered(process, await order('60'))])).toEqual([
      201, 403,
    ])
    const refused = [`${AHEAD} spending`, 'spending spending']
    expect(reads()).toEqual([ALONE, 'spending spending', ...refused])
    world.wallet.clock.advance(3_600_000)
    expect(statuses([await answered(process, await order('60')), await answered(process, await order('60'))])).toEqual([
      201, 403,
    ])
    expect(reads()).toEqual([`${AHEAD} spending`, 'spending spending', ...refused])
  })

  it('LIM-8 is read again if another process has charged the grant since', async () => {
    const { world, process, order } = await scene()
    const other = world.start()
    await answered(process, await order('1'))
    const reads = reading(process)
    reads()
    const late = await order('60')
    const { held, letGo } = await holdUp(
      process,
      (call) => createdBy(call) > 0,
      () => ask(process, late),
    )
    expect((await answered(other, await order('60'))).status).toBe(201)
    letGo()
    expect((await held)?.body.error.code).toBe('grant_limit_exceeded')
    expect(reads()).toEqual([AHEAD, 'access-token', 'spending', 'spending'])
    expect(await spentBy(world)).toBe(61n)
    await end(world)
  })

  it('LIM-8 is read again, before anything is committed, if another order of this process was charged since', async () => {
    const { world, process, order } = await scene()
    await answered(process, await order('1'))
    const reads = reading(process)
    reads()
    const late = await order('40')
    const { held, letGo } = await holdUp(
      process,
      ({ name }) => name === 'account',
      () => ask(process, late),
    )
    expect((await answered(process, await order('50'))).status).toBe(201)
    letGo()
    expect((await held)?.status).toBe(201)
    await process.openPayments.drain()
    expect(reads()).toEqual([AHEAD, AHEAD, 'spending', 'incoming-payment'])
    expect(intents(process)).toEqual([1, 1, 1])
    expect(await spentBy(world)).toBe(91n)
    await end(world)
  })

  const entry = { type: 'outgoing-payment', actions: ['create'], identifier: ALICE }
  const two = [{ ...entry, limits: { debitAmount: usd('100') } }, entry]

  it.each([
    ['its key', false, keyed('a-key'), undefined],
    ['its key (another entry would admit it)', false, keyed('a-key'), two],
    ['its quote', true, {}, undefined],
    ['its key and quote', true, keyed('a-key'), undefined],
  ])('OUT-12 is read again before it refuses an order: what used %s may be undone since', async (...row) => {
    const [, isQuoted, more, entries] = row
    const { world, tokens, incomingUrl, process, order } = await scene({}, entries)
    const other = world.start()
    await answered(other, await order('1'))
    const json = isQuoted
      ? { walletAddress: ALICE, quoteId: await quoteOf(world, tokens, incomingUrl, '60') }
      : { walletAddress: ALICE, incomingPayment: incomingUrl, debitAmount: usd('60') }
    const sign = () => signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, json, more)
    const hold = gate()
    process.ports.plan = async ({ name }) => {
      if (name !== 'hold') return undefined
      await hold.opened
      return { answer: { ok: false, reason: 'not_allowed' } }
    }
    const first = ask(process, await sign())
    await expect.poll(() => world.storage.all('outgoing-payment')).toHaveLength(2)
    world.wallet.clock.advance(1000)
    const repeat = await sign()
    const { held, letGo } = await holdUp(
      other,
      (call) => !isReadOf('access-token', call),
      () => ask(other, repeat),
    )
    hold.open()
    expect((await first)?.body.error?.code).toBe('not_allowed')
    letGo()
    expect((await held)?.body).toMatchObject({ debitAmount: usd('60'), grantSpentDebitAmount: usd('61') })
    await other.openPayments.drain()
    await end(world)
  })
})

describe('the receiver of a quote', () => {
  it('is read with the quote by the process that has made that; a quote reads nothing that was spent', async () => {
    const { world, tokens, incomingUrl, process, order } = await scene()
    await answered(process, await order('1'))
    const reads = reading(process)
    reads()
    const json = { walletAddress: ALICE, receiver: incomingUrl, method: 'ilp', debitAmount: usd('10') }
    const asked = () => signedBy(world, 'POST', `${BASE}/quotes`, tokens.spending, json)
    const here = await answered(process, await asked())
    expect(reads()).toEqual([ALONE])
    const there = await answered(world.start(), await asked())
    const pay = async ({ body }: ProcessAnswer) => {
      const ordered = { walletAddress: ALICE, quoteId: body.id }
      return answered(process, await signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, ordered))
    }
    expect((await pay(here)).status).toBe(201)
    expect(reads()).toEqual(['access-token quote incoming-payment spending'])
    expect((await pay(there)).status).toBe(201)
    expect(reads()).toEqual(['access-token quote spending', 'incoming-payment'])
    await end(world)
  })
})
