import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { ALICE, type Answer, BOB, usd, usdAmount } from '../support/test-wallet.ts'
import { turn, turns } from '../support/turns.ts'
import {
  askIncoming,
  askPayment,
  askQuote,
  expectStatus,
  type ObservedWallet,
  RECEIVING_ACCESS,
  type RemoteShop,
  remoteShop,
  tokenFor,
} from './observed-wallet.ts'
import { holdUp, payDirectly, payQuote, quoteFor } from './remote-orders.ts'

describe('a slow server', () => {
  it.each(['a quote', 'an incoming payment'])('holds up no other payment of the grant, ordered by %s', async (from) => {
    const world = await remoteShop()
    const quote = from === 'a quote' ? await quoteFor(world) : ''
    const { asked, letGo } = holdUp(world)
    const slow = from === 'a quote' ? payQuote(world, quote) : payDirectly(world)
    await asked
    await expectStatus(201, payDirectly(world, '5', world.incoming.id))
    letGo()
    await expectStatus(201, slow)
  })

  it.each(['a quote', 'an incoming payment'])(
    'is asked once, however often the order meets others, by %s',
    async (from) => {
      const others: (() => Promise<unknown>)[] = []
      const world = await remoteShop({ overrides: { storage: interrupted(() => others.shift()?.()) } })
      const quote = from === 'a quote' ? await quoteFor(world) : ''
      const asked = world.remote.asked.length
      for (let count = 0; count < 3; count++) others.push(() => spendMeanwhile(world))
      await expectStatus(201, from === 'a quote' ? payQuote(world, quote) : payDirectly(world))
      expect(others).toEqual([])
      await world.wallet.openPayments.drain()
      // Once for the order, and once more before money leaves.
      expect(world.remote.asked).toHaveLength(asked + 2)
    },
  )
})

/** Milliseconds until an answer, by a clock that goes on while everybody is waited for. */
async function timed(world: RemoteShop, request: () => Promise<Answer>): Promise<readonly [number, Answer]> {
  const { clock } = world.wallet
  const begun = clock.now()
  let answer: Answer | undefined
  const asked = request().then((given) => {
    answer = given
    return [clock.now() - begun, given] as const
  })
  while (answer === undefined) {
    await turns(10)
    if (answer === undefined) clock.advance(100)
  }
  return asked
}

/** One to one across assets too, as soon as it is let. */
const PRICES = {
  before: async (): Promise<void> => undefined,
  price: async (): Promise<{ readonly rate: string }> => PRICES.before().then(() => ({ rate: '1' })),
}

/** A receiver whose price is made of two. */
const euroShop = async (): Promise<RemoteShop> =>
  remoteShop({
    receiver: { asset: { assetCode: 'EUR', assetScale: 2 } },
    overrides: { pricing: PRICES },
  })

const faultsOf = ({ wallet }: RemoteShop): readonly unknown[] => wallet.events.filter(({ type }) => type === 'fault')

/** Lets the other server, its way, the directory, the ledger or the prices answer after some time by the wallet's clock. */
function slowed(
  world: RemoteShop,
  { server = 0, way = 0, find = 0, account = 0, hold = 0, price = 0, details = 0 },
): void {
  const after = async <T>(milliseconds: number, call: () => Promise<T>): Promise<T> => {
    if (milliseconds > 0) await world.wallet.clock.sleep(milliseconds, new AbortController().signal)
    return call()
  }
  const { rail, remote } = world
  const { directory, ledger } = world.wallet
  const known = new Map(directory)
  const isSlow = (url: string): boolean => url === ALICE || url === BOB
  // It is awaited, so it may answer with a promise.
  Object.assign(directory, {
    get: (url: string) => (isSlow(url) ? after(find, async () => known.get(url)) : known.get(url)),
  })
  const own = { find: remote.find, answerQuote: rail.answerQuote, account: ledger.account, hold: ledger.hold }
  const { createDetails } = rail
  PRICES.before = () => after(price, async () => undefined)
  remote.find = (url) => after(server, () => own.find(url))
  rail.answerQuote = (request) => after(way, () => own.answerQuote(request))
  Object.assign(rail, {
    createDetails: (payable: Parameters<typeof createDetails>[0]) => after(details, async () => createDetails(payable)),
  })
  ledger.account = (id) => after(account, () => own.account(id))
  ledger.hold = (request) => after(hold, () => own.hold(request))
}

describe('QUO-9 an answer that waits for a slow server and a slow ledger', () => {
  it('comes in the time of a client: a payment whose hold is not known then is there all the same', async () => {
    const world = await remoteShop()
    slowed(world, { server: 1400, way: 1500, hold: 2900 })
    const [milliseconds, answer] = await timed(world, () => payDirectly(world))
    expect([milliseconds, answer.status]).toEqual([4500, 201])
    for (let round = 0; round < 60; round++) {
      await turn()
      world.wallet.clock.advance(100)
    }
    await world.wallet.openPayments.drain()
    const paid = await expectStatus(200, world.wallet.send('GET', answer.body.id, { token: world.spending }))
    expect(paid.body).toMatchObject({ sentAmount: usd('60'), failed: false })
  })

  it('comes as soon as all have answered', async () => {
    const world = await remoteShop()
    slowed(world, { server: 1000, way: 500, account: 500, hold: 500 })
    const [milliseconds, answer] = await timed(world, () => payDirectly(world))
    expect([milliseconds, answer.status]).toEqual([2500, 201])
  })

  it('waits for each of them once, so that an order gets through for which each answers in time', async () => {
    const world = await euroShop()
    slowed(world, { account: 200, server: 1000, price: 1700, hold: 1400 })
    const [milliseconds, answer] = await timed(world, () => payDirectly(world))
    expect([milliseconds, answer.status, faultsOf(world)]).toEqual([4300, 201, []])
  })

  it('D15 leaves the ledger the time to refuse the hold', async () => {
    const world = await euroShop()
    world.wallet.ledger.hold = async () => ({ ok: false, reason: 'insufficient_funds' })
    slowed(world, { price: 2900, hold: 1500 })
    const [milliseconds, answer] = await timed(world, () => payDirectly(world))
    expect([milliseconds, answer.status, answer.body.error?.code]).toEqual([4400, 403, 'insufficient_funds'])
    expect(faultsOf(world)).toEqual([])
  })

  it('D15 leaves it that time where the clock leaps meanwhile', async () => {
    const leaps: (() => Promise<void>)[] = []
    const world = await remoteShop({ overrides: { storage: interrupted(() => leaps.shift()?.()) } })
    leaps.push(async () => world.wallet.clock.advance(20_000))
    world.wallet.ledger.hold = async () => ({ ok: false, reason: 'insufficient_funds' })
    slowed(world, { hold: 1400 })
    const [, answer] = await timed(world, () => payDirectly(world))
    expect([answer.status, faultsOf(world)]).toEqual([403, []])
  })

  it.each([
    ['a payment whose hold is not known then is there all the same', { find: 700, account: 700, price: 800 }, 201],
    [
      'a refusal, and nothing is there, where no time was left for the price',
      { find: 1000, account: 900, price: 800 },
      503,
    ],
    ['a refusal, and nothing is there, where no time was left for the directory', { find: 1600 }, 503],
  ])('comes in the time of a client where the receiver is on this server too: %s', async (_, delays, status) => {
    const world = await remoteShop({ overrides: { pricing: PRICES } })
    slowed(world, { ...delays, hold: 20_000 })
    const order = { incomingPayment: world.incoming.id, debitAmount: usd('60') }
    const [milliseconds, answer] = await timed(world, () => askPayment(world.wallet, world.spending, order))
    expect([milliseconds, answer.status]).toEqual([status === 201 ? 4500 : 3000, status])
    const payments = world.wallet.effects.filter(({ kind }) => kind === 'outgoing-payment')
    expect(payments.length > 0).toBe(status === 201)
  })

  it('is a refusal, and nothing is there, where no time is left to find out what is ordered', async () => {
    const world = await remoteShop()
    slowed(world, { account: 3100 })
    const [milliseconds, answer] = await timed(world, () => payDirectly(world))
    expect([milliseconds, answer.status]).toEqual([3000, 503])
    expect(world.wallet.effects.filter(({ kind }) => kind === 'outgoing-payment')).toEqual([])
  })

  it.each([
    ['of the server', { account: 2900, server: 2900 }, 400, 'invalid_receiver'],
    ['of the prices', { server: 1600, price: 2900 }, 503, 'unavailable'],
  ])(
    'is a refusal in the time of a client, and makes neither quote nor payment: %s',
    async (_, delays, status, code) => {
      const world = await euroShop()
      slowed(world, delays)
      const asked = [
        () => askQuote(world.wallet, world.spending, { receiver: world.receiver.url, debitAmount: usd('60') }),
        () => payDirectly(world),
      ]
      for (const ask of asked) {
        const [milliseconds, answer] = await timed(world, ask)
        expect([milliseconds, answer.status, answer.body.error.code]).toEqual([3000, status, code])
      }
      expect(world.wallet.effects.filter(({ kind }) => kind === 'quote' || kind === 'outgoing-payment')).toEqual([])
    },
  )
})

describe('an incoming payment that is created', () => {
  it.each([
    ['is there where all have answered in time together', { find: 900, account: 900, details: 900 }, 2700, 201],
    ['is not there where they have not', { find: 900, account: 900, details: 1300 }, 3000, 503],
  ])('is waited for no longer than a client does: it %s', async (_, delays, milliseconds, status) => {
    const world = await remoteShop()
    const token = await tokenFor(world.wallet, RECEIVING_ACCESS)
    slowed(world, delays)
    const [waited, answer] = await timed(world, () => askIncoming(world.wallet, { token }))
    expect([waited, answer.status]).toEqual([milliseconds, status])
    const made = world.wallet.effects.filter(({ kind }) => kind === 'incoming-payment')
    expect(made).toHaveLength(status === 201 ? 2 : 1)
  })
})

/** A storage that lets others go first, before a payment is inserted. */
function interrupted(meanwhile: () => Promise<unknown> | undefined): Storage {
  const inner = memoryStorage()
  return {
    ...inner,
    commit: async (changes) => {
      if (changes.some(({ action, kind }) => action === 'insert' && kind === 'outgoing-payment')) await meanwhile()
      return inner.commit(changes)
    },
  }
}

/** What another process does to the record of what the grant has spent. */
async function spendMeanwhile({ wallet }: { readonly wallet: ObservedWallet }): Promise<void> {
  const [grantId] = wallet.effects.flatMap((change) =>
    change.action === 'replace' && change.kind === 'grant' ? [change.value.id] : [],
  )
  const id = `${grantId}:0:life`
  const [record] = await wallet.storage.get([{ kind: 'spending', id }])
  const value = { id, debit: usdAmount(0n), receive: [] }
  const change =
    record === undefined ? { action: 'insert' as const } : { action: 'replace' as const, version: record.version }
  await wallet.storage.commit([{ ...change, kind: 'spending', value }])
}
