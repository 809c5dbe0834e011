import { describe, expect, it } from 'vitest'
import { ALICE, BASE, usd } from '../support/test-wallet.ts'
import { end, giveTogether, intents, isReadOf, scene, spentWith, statuses } from './joint-world.ts'
import { ask, HOUR, signedBy, type World } from './money-world.ts'

// Orders that share a commit, under a grant of several entries, or with windows.

const entry = (limits: Readonly<Record<string, unknown>>) => ({
  type: 'outgoing-payment',
  actions: ['create'],
  identifier: ALICE,
  limits,
})

/** What was charged to each entry and window: `entry:window` and the sum. */
async function charged({ storage }: World): Promise<Readonly<Record<string, string>>> {
  const spending = (await storage.all('spending')).map(({ value }) => value)
  return Object.fromEntries(spending.map(({ id, debit }) => [id.slice(id.indexOf(':') + 1), debit.value.toString()]))
}

describe('orders of one grant that wait for each other', () => {
  it('LIM-10 are each charged to the first entry that those before leave room in', async () => {
    const entries = [entry({ debitAmount: usd('11') }), entry({ debitAmount: usd('100') })]
    const { world, process, order, tokens } = await scene({}, entries)
    const others = await Promise.all(['8', '50', '3', '39', '38'].map((amount) => order(amount)))
    const answers = await giveTogether(process, await order('12'), others)
    expect(statuses(answers)).toEqual([201, 201, 201, 201, 403, 201])
    // Each is told what the entry that it was charged to has spent. The second had been charged before, the first had not.
    const taken = answers.filter((answer) => answer?.status === 201)
    expect(taken.map(spentWith)).toEqual(['12', '8', '62', '11', '100'])
    expect(intents(process)).toEqual([1, 4])
    expect(await charged(world)).toEqual({ '0:life': '11', '1:life': '100' })
    const url = `${BASE}/outgoing-payment-grant`
    const shown = await ask(process, await signedBy(world, 'GET', url, tokens.spending))
    expect(shown?.body).toMatchObject({ spentDebitAmount: usd('100') })
    await end(world)
  })

  it('LIM-2 are each charged to the window of their own moment', async () => {
    const limits = { debitAmount: usd('100'), interval: 'R/2026-03-01T00:00:00Z/PT1H' }
    const settings = { lifetimes: { accessTokenSeconds: 7200 } }
    const { world, process, order } = await scene({ settings }, [entry(limits)])
    const { clock } = world.wallet
    clock.advance(HOUR - 1 - (clock.now() % HOUR))
    const others = await Promise.all(['60', '70', '30'].map((amount) => order(amount)))
    let reads = 0
    const answers = await giveTogether(process, await order('1'), others, (call) => {
      // The next window begins between the moments of the first two of them.
      if (isReadOf('spending', call) && reads++ === 0) clock.advance(1)
      return undefined
    })
    expect(statuses(answers)).toEqual([201, 201, 201, 201])
    expect(answers.map(spentWith)).toEqual(['1', '61', '70', '100'])
    expect(intents(process)).toEqual([1, 3])
    const { '0:life': life, ...windows } = await charged(world)
    expect([life, Object.values(windows).toSorted()]).toEqual(['161', ['100', '61']])
    await end(world)
  })
})
