import { inspect } from 'node:util'
import type { Asset, PaymentMethod, Price, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { fakeRail } from '../support/fake-rail.ts'
import { silence } from '../support/gate.ts'
import { ALICE, type Answer, BASE, BOB, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  expectRefusal,
  expectStatus,
  invalidQuote,
  invalidRequest,
  LONG_LIFETIMES,
  limitExceeded,
  NO_EXCHANGE,
  NOTHING_SPENT,
  type ObservedWallet,
  observedWallet,
  RECEIVING_ACCESS,
  type Shop,
  shop,
  spent,
  spentOf,
  tokenFor,
} from './observed-wallet.ts'

const UNAVAILABLE = [503, 'unavailable', expect.any(String)] as const

async function createBy(
  createDetails: PaymentMethod['createDetails'],
): Promise<{ readonly wallet: ObservedWallet; readonly act: () => Promise<Answer> }> {
  const wallet = await observedWallet({ paymentMethods: [{ ...fakeRail(), createDetails }] })
  const token = await tokenFor(wallet, RECEIVING_ACCESS)
  return {
    wallet,
    act: () => wallet.send('POST', `${BASE}/incoming-payments`, { token, json: { walletAddress: BOB } }),
  }
}

describe('a wallet that has changed an account since the quote', () => {
  it.each([
    ['another scale', { account: 'alice', assetCode: 'USD', assetScale: 4 }],
    ['another asset', { account: 'alice', assetCode: 'EUR', assetScale: 4 }],
  ])('OUT-2 QUO-5 is not debited by a quote in the old unit: %s', async (_, changed) => {
    const { wallet, spending, incoming } = await shop()
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    const pay = (): Promise<Answer> => askPayment(wallet, spending, { quoteId: quote.body.id })
    const before = wallet.directory.get(ALICE)
    wallet.directory.set(ALICE, changed)
    await expectRefusal(wallet, invalidQuote('the wallet address now has a different asset'), pay)
    if (before) wallet.directory.set(ALICE, before)
    wallet.clock.advance(1000)
    await expectStatus(201, pay())
  })
})

describe('a directory that gives an account another asset than the ledger', () => {
  const acts: Readonly<Record<string, (rig: Shop, asset: Asset) => Promise<Answer>>> = {
    'create-incoming-payment': ({ wallet, receiving }) =>
      wallet.send('POST', `${BASE}/incoming-payments`, { token: receiving, json: { walletAddress: ALICE } }),
    'create-quote': ({ wallet, spending, incoming }, asset) =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: { value: '100', ...asset } }),
    'create-outgoing-payment': ({ wallet, spending, incoming }, asset) =>
      askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: { value: '100', ...asset } }),
  }
  const assets: readonly Asset[] = [
    { assetCode: 'EUR', assetScale: 2 },
    { assetCode: 'USD', assetScale: 4 },
  ]
  const cases = Object.keys(acts).flatMap((operation) => assets.map((asset) => ({ operation, asset })))

  it.each(cases)(
    'D15 is a fault that names the account, and makes nothing: $operation, $asset',
    async ({ operation, asset }) => {
      const rig = await shop({ overrides: { pricing: { price: async () => ({ rate: '1' }) } } })
      const { wallet } = rig
      const act = async (): Promise<Answer> => (await acts[operation]?.(rig, asset)) ?? expect.fail(operation)
      wallet.directory.set(ALICE, { account: 'alice', ...asset })
      const { text } = await expectRefusal(wallet, [500, 'internal_error', 'internal server error'], act)
      expect(text).not.toMatch(/alice|USD|EUR/)
      const { assetCode, assetScale } = asset
      expect(wallet.events.filter(({ type }) => type === 'fault')).toMatchObject([
        {
          message: 'the directory and the ledger give an account different assets',
          cause: {
            message: `account "alice": ${assetCode} of scale ${assetScale} in the directory, USD of scale 2 in the ledger`,
          },
        },
      ])
      expect(wallet.events.at(-1)).toMatchObject({ type: 'request', operation, status: 500, condition: 'unexpected' })

      wallet.directory.set(ALICE, { account: 'alice', assetCode: 'USD', assetScale: 2 })
      wallet.clock.advance(1000)
      await expectStatus(201, acts[operation]?.(rig, { assetCode: 'USD', assetScale: 2 }) ?? expect.fail(operation))
    },
  )

  it.each(cases)(
    'D15 is no matter while the account may not do that anyway: $operation, $asset',
    async ({ operation, asset }) => {
      const rig = await shop({ overrides: { pricing: { price: async () => ({ rate: '1' }) } } })
      const { wallet } = rig
      const act = async (): Promise<Answer> => (await acts[operation]?.(rig, asset)) ?? expect.fail(operation)
      wallet.directory.set(ALICE, { account: 'alice', ...asset })
      await wallet.ledger.setPermissions('alice', { canSend: false, canReceive: false })
      await expectRefusal(wallet, [403, 'not_allowed', 'not allowed'], act)
      expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
    },
  )
})

describe('a wallet that has changed an account since the last payment of a grant', () => {
  const WINDOW = 24 * 3600 * 1000

  it.each<[string, object | undefined, number]>([
    ['pays no more', undefined, 0],
    ['pays no more in the next window of its interval either', { interval: 'R/2026-03-01T00:00:00Z/P1D' }, WINDOW],
  ])('AMT-5 adds no amounts of two assets: a grant that has spent the old one %s', async (_how, limits, pause) => {
    const { wallet, spending, incoming } = await shop({
      ...(limits && { limits: { ...limits } }),
      overrides: { pricing: { price: async () => ({ rate: '1' }) }, settings: { lifetimes: LONG_LIFETIMES } },
    })
    const pay = (debitAmount: unknown): Promise<Answer> =>
      askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount })
    await expectStatus(201, pay(usd('5')))
    wallet.clock.advance(pause)
    const before = wallet.directory.get(ALICE)
    const euros = { assetCode: 'EUR', assetScale: 4 }
    const { account } = wallet.ledger
    wallet.directory.set(ALICE, { account: 'alice', ...euros })
    wallet.ledger.account = async () => ({ ...euros, canSend: true, canReceive: true })
    await expectRefusal(wallet, limitExceeded('the grant has spent another asset of this account'), () =>
      pay({ value: '500', ...euros }),
    )
    wallet.ledger.account = account
    if (before) wallet.directory.set(ALICE, before)
    await expectStatus(201, pay(usd('6')))
    expect(await spentOf(wallet, spending)).toEqual(spent(pause === 0 ? '11' : '6'))
  })
})

describe('a wallet that has changed an account since a grant', () => {
  it('AMT-5 measures no amount by a limit in the old asset', async () => {
    const { wallet, spending, incoming } = await shop({
      limits: { debitAmount: usd('1000') },
      overrides: { pricing: { price: async () => ({ rate: '1' }) } },
    })
    const euros = { assetCode: 'EUR', assetScale: 4 }
    wallet.directory.set(ALICE, { account: 'alice', ...euros })
    wallet.ledger.account = async () => ({ ...euros, canSend: true, canReceive: true })
    await expectRefusal(wallet, limitExceeded('the debit limit is in another asset'), () =>
      askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: { value: '500', ...euros } }),
    )
    expect(await spentOf(wallet, spending)).toEqual(NOTHING_SPENT)
  })
})

describe('a payment method that fails', () => {
  it.each(['late', 'at once'])(
    'INC-4 T-34 leaves no incoming payment behind, and its secret in no answer and no event: it throws %s',
    async (when) => {
      const secrets: string[] = []
      const { wallet, act } = await createBy(({ sharedSecret }) => {
        secrets.push(sharedSecret)
        const error = new Error(`no route for ${sharedSecret}`)
        if (when === 'late') return Promise.reject(error)
        throw error
      })
      const { text } = await expectRefusal(wallet, UNAVAILABLE, act)
      expect(secrets).toHaveLength(1)
      const faults = wallet.events.filter(({ type }) => type === 'fault')
      expect(faults).toMatchObject([{ message: 'a payment method failed', cause: { message: 'no route for …' } }])
      for (const said of [text, inspect(wallet.events, { depth: 9 })]) expect(said).not.toContain(secrets[0])
    },
  )

  it('EMB-2 is not waited for longer than its deadline, and leaves no incoming payment behind', async () => {
    const { called, call } = silence()
    const { wallet, act } = await createBy(call)
    await expectRefusal(wallet, UNAVAILABLE, async () => {
      const answer = act()
      await called
      wallet.clock.advance(3_000)
      return answer
    })
    const message = 'a payment method did not answer in time'
    expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'fault', message }))
  })
})

describe('a storage that answers a commit with what is no answer', () => {
  it.each([[[]], [[-1]], [[99]]])('EMB-7 is a fault, and no success: conflicts of %j', async (conflicts) => {
    const storage = memoryStorage()
    let isStrange = false
    const commit: Storage['commit'] = async (changes) => (isStrange ? { conflicts } : storage.commit(changes))
    const { wallet, receiving } = await shop({ overrides: { storage: { ...storage, commit } } })
    const create = () =>
      wallet.send('POST', `${BASE}/incoming-payments`, { token: receiving, json: { walletAddress: BOB } })
    isStrange = true
    await expectRefusal(wallet, UNAVAILABLE, create)
    const cause = { message: 'the storage answered a commit with neither `committed` nor a conflict' }
    expect(wallet.events.filter(({ type }) => type === 'fault')).toMatchObject([{ cause }])
    isStrange = false
    await expectStatus(201, create())
  })
})

describe('prices', () => {
  it('are none where the wallet answers null', async () => {
    const { wallet, spending, incoming } = await shop({ overrides: { pricing: { price: async () => null } } })
    await expectRefusal(wallet, NO_EXCHANGE, () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }),
    )
    expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  it('QUO-8 have a fee in whole units: a number in plain JavaScript is a fault that says so', async () => {
    const fee = JSON.parse('{ "fixed": 25 }')
    const { wallet, spending, incoming } = await shop({
      overrides: { pricing: { price: async () => ({ rate: '1', fee }) } },
    })
    await expectRefusal(wallet, [500, 'internal_error', 'internal server error'], () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('100') }),
    )
    expect(wallet.events).toContainEqual(
      expect.objectContaining({
        type: 'fault',
        message: 'Pricing.price gave a fee whose fixed part is not a bigint of zero or more',
      }),
    )
  })

  it.each([
    ['"1.5e-7"', '1.5e-7'], // what `String` makes of a small number
    [`"0.${'3'.repeat(39)}"`, `0.${'3'.repeat(39)}`], // a division in a database
    ['0.92', JSON.parse('0.92')],
  ])('QUO-8 have a rate in plain digits, and not too many: the fault of %s says so', async (shown, rate) => {
    const { wallet, spending, incoming } = await shop({ overrides: { pricing: { price: async () => ({ rate }) } } })
    await expectRefusal(wallet, [500, 'internal_error', 'internal server error'], () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('100') }),
    )
    const message = expect.stringContaining(
      `Pricing.price gave the rate ${shown}, not a string with a decimal above zero, of at most 40 characters and without an exponent, from`,
    )
    expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'fault', message }))
  })

  const UNKNOWN = 'which is not a member of'
  it.each<readonly [string, object]>([
    [`fees, ${UNKNOWN} a price`, { rate: '1', fees: { basisPoints: 50 } }],
    [`fix, ${UNKNOWN} a fee`, { rate: '1', fee: { basisPoints: 50, fix: 25n } }],
    ...[25n, 25, false, '25', [{ fixed: 25n }], Promise.resolve({ fixed: 25n }), new Map([['fixed', 25n]])].map(
      (fee) => ['a fee that is not an object', { rate: '1', fee }] as const,
    ),
  ])('QUO-8 leave no fee out that is misspelt or misshapen: %s, %o', async (message, price) => {
    const { wallet, spending, incoming } = await shop({
      overrides: { pricing: { price: async () => price as Price } },
    })
    await expectRefusal(wallet, [500, 'internal_error', 'internal server error'], () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('100') }),
    )
    expect(wallet.events).toContainEqual(
      expect.objectContaining({ type: 'fault', message: `Pricing.price gave ${message}` }),
    )
  })

  it('QUO-8 have no fee where it is null, as in a database row', async () => {
    const price = JSON.parse('{ "rate": "1", "fee": null }')
    const { wallet, spending, incoming } = await shop({ overrides: { pricing: { price: async () => price } } })
    const { body } = await expectStatus(
      201,
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('100') }),
    )
    expect(body.receiveAmount.value).toBe('100')
  })

  it('EMB-2 are not waited for longer than their deadline', async () => {
    const { called, call } = silence()
    const { wallet, spending, incoming } = await shop({ overrides: { pricing: { price: call } } })
    await expectRefusal(wallet, UNAVAILABLE, async () => {
      const answer = askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') })
      await called
      wallet.clock.advance(3_000)
      return answer
    })
    const message = 'the pricing did not answer in time'
    expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'fault', message }))
  })
})

describe('completing an incoming payment', () => {
  it.each([
    ['garbage', 'the body is not JSON'],
    ['{', 'the body is not JSON'],
    [`${'['.repeat(40)}${']'.repeat(40)}`, 'the body is nested too deeply'],
  ])('EMB-3 with the body %s is refused', async (body, mistake) => {
    const { wallet, receiving, incoming } = await shop()
    const complete = (sent?: string): Promise<Answer> =>
      wallet.send('POST', `${incoming.id}/complete`, { token: receiving, ...(sent !== undefined && { body: sent }) })
    await expectRefusal(wallet, invalidRequest(mistake), () => complete(body))
    await expectStatus(200, complete('{}'))
    await expectStatus(200, complete())
  })
})
