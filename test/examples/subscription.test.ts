import { OpenPaymentsClientError } from '@interledger/open-payments'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { type Charge, charge } from '../../examples/subscription/charge.ts'
import { awaitConsent, type Merchant, type Subscription, subscribe } from '../../examples/subscription/subscribe.ts'
import { FEE, type MerchantWallet, openMerchantWallet } from './merchant-wallet.ts'
import { useMovedTime } from './moved-time.ts'

const { advance } = useMovedTime()
const DAY = 24 * 3600 * 1000
const PRICE = { value: '500', assetCode: 'USD', assetScale: 2 }
/** What leaves the account of a customer in dollars. */
const WITH_FEE = BigInt(PRICE.value) + FEE

let wallet: MerchantWallet
let merchant: Merchant
/** Everything that was saved, oldest first. */
let saved: Subscription[] = []

beforeAll(async () => {
  wallet = await openMerchantWallet()
  merchant = {
    client: wallet.client,
    wallet: await wallet.client.walletAddress.get({ url: `${wallet.url}/merchant` }),
    save: async (subscription) => void saved.push(subscription),
    now: Date.now,
    sleep: async (milliseconds) => advance(milliseconds),
  }
})
afterAll(() => wallet.close())
afterEach(() => {
  vi.restoreAllMocks()
})

/** Subscribes somebody to 5 dollars each month; they let the merchant ask twice, then answer. */
async function subscribeCustomer(name: string, decision: 'approve' | 'deny' = 'approve'): Promise<Subscription> {
  const customer = await merchant.client.walletAddress.get({ url: `${wallet.url}/${name}` })
  const pending = await subscribe(merchant, { customer, price: PRICE }, `R/${new Date().toISOString()}/P1M`)
  let asked = 0
  const sleep = async (milliseconds: number): Promise<void> => {
    advance(milliseconds)
    asked += 1
    if (asked === 3) await wallet.answer(pending.interact.redirect, decision)
  }
  const token = await awaitConsent({ ...merchant, sleep }, pending)
  expect(asked).toBe(3)
  saved = [{ customer, price: PRICE, token }]
  return { customer, price: PRICE, token }
}

/** Charges as a process does that has just started: with what was saved. */
async function chargeSaved(period: string, by: Partial<Merchant> = {}): Promise<Charge> {
  const [subscription] = saved.slice(-1)
  if (subscription === undefined) throw new Error('nobody has subscribed')
  return charge({ ...merchant, ...by }, subscription, period).finally(() => wallet.openPayments.drain())
}

it('charges once in each period, however often it is called, and no more than was granted', async () => {
  const before = await wallet.available('alice')
  await subscribeCustomer('alice')
  for (const outcome of ['sent', 'paid', 'paid']) expect(await chargeSaved('March')).toBe(outcome)
  expect(await wallet.available('alice')).toBe(before - WITH_FEE)
  expect(await chargeSaved('April')).toEqual({ refused: 'grant_limit_exceeded' })
  expect(await wallet.available('alice')).toBe(before - WITH_FEE)
  for (const month of ['April', 'May']) {
    advance(31 * DAY) // the token is long over, and so is the incoming payment of what was refused
    for (const outcome of ['sent', 'paid']) expect(await chargeSaved(month)).toBe(outcome)
  }
  expect(await wallet.available('alice')).toBe(before - 3n * WITH_FEE)
  // The first token, and one for each order, the refused one included.
  expect(new Set(saved.map(({ token }) => token.value)).size).toBe(5)
})

it('takes what arrives as the price, whatever it costs in the currency of the customer', async () => {
  const [customer, own] = [await wallet.available('chloe'), await wallet.available('merchant')]
  await subscribeCustomer('chloe')
  for (const outcome of ['sent', 'paid']) expect(await chargeSaved('March')).toBe(outcome)
  expect(await wallet.available('merchant')).toBe(own + 500n)
  expect(await wallet.available('chloe')).toBe(customer - 455n - FEE) // 5 dollars are 4.546 euros
})

it('orders again what has failed, and not what is under way', async () => {
  const before = await wallet.available('alice')
  await subscribeCustomer('alice')
  wallet.beforeCredit = () => wallet.setCanReceive('merchant', false)
  expect(await chargeSaved('March')).toBe('sent')
  expect(await wallet.available('alice')).toBe(before)
  wallet.beforeCredit = () => wallet.setCanReceive('merchant', true)
  await wallet.setCanReceive('merchant', true)
  expect(await chargeSaved('March')).toBe('sent')
  vi.spyOn(merchant.client.incomingPayment, 'get').mockImplementationOnce(async ({ url, accessToken }) => ({
    ...(await wallet.client.incomingPayment.get({ url, accessToken })),
    receivedAmount: { ...PRICE, value: '0' },
  }))
  expect(await chargeSaved('March')).toBe('sent')
  expect(await chargeSaved('March')).toBe('paid')
  expect(await wallet.available('alice')).toBe(before - WITH_FEE)
})

/** A process that dies once it was told of a call's end, so that nobody hears of it. */
const dyingCalls = {
  'an incoming payment was answered': () => {
    const { create } = merchant.client.incomingPayment
    const call = vi.spyOn(merchant.client.incomingPayment, 'create')
    call.mockImplementationOnce((...all) => create(...all).then(die))
  },
  'a rotation was answered': () => {
    const { rotate } = merchant.client.token
    vi.spyOn(merchant.client.token, 'rotate').mockImplementationOnce((...all) => rotate(...all).then(die))
  },
  'an order was answered': () => {
    const { create } = merchant.client.outgoingPayment
    const call = vi.spyOn(merchant.client.outgoingPayment, 'create')
    call.mockImplementationOnce((...all) => create(...all).then(die))
  },
} as const

function die(): never {
  throw new Error('the process died')
}

async function expectOnePrice(dyingCharge: () => Promise<Charge>): Promise<void> {
  const before = await wallet.available('alice')
  await subscribeCustomer('alice')
  await expect(dyingCharge()).rejects.toThrow('the process died')
  advance(30_000) // a rotation is answered again for a minute
  while ((await chargeSaved('March')) !== 'paid');
  expect(await wallet.available('alice')).toBe(before - WITH_FEE)
}

it.each(Object.entries(dyingCalls))('takes the price once where it dies when %s', async (_when, dieThen) => {
  await expectOnePrice(() => {
    dieThen()
    return chargeSaved('March')
  })
})

it.each([1, 2, 3])('takes the price once where it dies before save number %d', async (number) => {
  let count = 0
  const save = async (subscription: Subscription): Promise<void> => {
    count += 1
    if (count === number) die()
    saved.push(subscription)
  }
  await expectOnePrice(() => chargeSaved('March', { save }))
})

it('ends where the customer takes their consent back', async () => {
  const { customer } = await subscribeCustomer('alice')
  const before = await wallet.available('alice')
  for (const { id } of await wallet.openPayments.grants.list(customer.id))
    await wallet.openPayments.grants.revoke(customer.id, id)
  expect(await chargeSaved('March')).toBe('ended')
  expect(await wallet.available('alice')).toBe(before)
})

it('is told of a denial', async () => {
  await expect(subscribeCustomer('alice', 'deny')).rejects.toMatchObject({ code: 'request_denied' })
})

it('does not take a fault for a refusal', async () => {
  await subscribeCustomer('alice')
  const { token, quote } = merchant.client
  const away = new OpenPaymentsClientError('away', { description: 'away', status: 503 })
  vi.spyOn(token, 'rotate').mockRejectedValueOnce(away)
  await expect(chargeSaved('March')).rejects.toBe(away)
  vi.spyOn(quote, 'create').mockRejectedValueOnce(away)
  await expect(chargeSaved('March')).rejects.toBe(away)
  while ((await chargeSaved('March')) !== 'paid');
})
