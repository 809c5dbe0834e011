import type { HttpRequest, Pricing } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { quoteAt, RAIL_ACCOUNT } from '../support/fake-rail.ts'
import { type FakeReceiver, fakeRemoteReceivers, REMOTE } from '../support/fake-remote-receivers.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, type Answer, BASE, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  detailOf,
  ELSEWHERE_RECEIVER,
  expectRefusal,
  expectStatus,
  invalidReceiver,
  NO_AMOUNT,
  NON_POSITIVE_RECEIVE,
  OVER_REMAINDER,
  type RemoteShop,
  remoteShop,
  shop,
  TOO_LARGE,
  UNKNOWN_RECEIVER,
  ZERO_AMOUNT,
} from './observed-wallet.ts'

const quote = ({ wallet, spending }: RemoteShop, receiver: FakeReceiver, members: object = {}): Promise<Answer> =>
  askQuote(wallet, spending, { receiver: receiver.url, ...members })

const eur = (value: string): object => ({ value, assetCode: 'EUR', assetScale: 4 })

describe('a quote for a receiver on another server', () => {
  it('QUO-5 keeps the debit, and names what arrives at least', async () => {
    const world = await remoteShop()
    const receiver = world.remote.add()
    world.rail.answerQuote = async () => quoteAt(1000n, 995n)
    const answer = await expectStatus(201, quote(world, receiver, { debitAmount: usd('999') }))
    expect(answer.body).toMatchObject({ receiver: receiver.url, debitAmount: usd('999'), receiveAmount: usd('994') })
    const asset = { assetCode: 'USD', assetScale: 2 }
    const details = { type: 'ilp', ilpAddress: receiver.address, sharedSecret: receiver.sharedSecret }
    expect(world.rail.quotes).toEqual([{ details, from: asset, to: asset, amount: { ...asset, value: 999n } }])
    expect(world.wallet.effects.at(-1)).toMatchObject({
      kind: 'quote',
      value: { rail: { method: 'ilp', account: RAIL_ACCOUNT, sendAmount: usd('999'), isFixedReceive: false } },
    })
  })

  it('QUO-5 QUO-8 keeps the receive amount, and rounds what leaves and what is debited up', async () => {
    const world = await remoteShop({
      overrides: {
        pricing: {
          price: async ({ to }) =>
            to.assetCode === 'EUR' ? { rate: '0.43' } : { rate: '0.5', fee: { basisPoints: 100, fixed: 3n } },
        },
      },
    })
    const receiver = world.remote.add({ asset: { assetCode: 'EUR', assetScale: 4 } })
    world.rail.answerQuote = async () => quoteAt(7n, 300n)
    const answer = await expectStatus(201, quote(world, receiver, { receiveAmount: eur('1000') }))
    // 1000 / 300 * 7 = 23.33 leave, so 24; at 0.5 that is 48, and with 3 and 1 % of it all 51.51, so 52.
    expect(answer.body).toMatchObject({ receiveAmount: eur('1000'), debitAmount: usd('52') })
    expect(world.wallet.effects.at(-1)).toMatchObject({
      value: { fee: { value: 4n }, rail: { sendAmount: usd('24'), isFixedReceive: true, fixedFee: '3' } },
    })
  })

  it('QUO-2 QUO-3 asks for the remainder of its receiver where it names no amount', async () => {
    const world = await remoteShop()
    const receiver = world.remote.add({ incomingValue: 100n, receivedValue: 40n })
    const answer = await expectStatus(201, quote(world, receiver))
    expect(answer.body.receiveAmount).toEqual(usd('60'))
    await expectRefusal(world.wallet, OVER_REMAINDER, () => quote(world, receiver, { debitAmount: usd('61') }))
    await expectRefusal(world.wallet, OVER_REMAINDER, () => quote(world, receiver, { receiveAmount: usd('61') }))
    await expectRefusal(world.wallet, NO_AMOUNT, () => quote(world, world.remote.add()))
    // The way is asked for about what is to be paid, where anybody has said how much that is.
    expect(world.rail.quotes.map(({ amount }) => amount?.value)).toEqual([60n, 61n, 61n, undefined])
  })

  it('QUO-2 QUO-3 asks for nothing where its receiver has received more than it named', async () => {
    const world = await remoteShop()
    const receiver = world.remote.add({ incomingValue: 100n, receivedValue: 101n })
    await expectRefusal(world.wallet, ZERO_AMOUNT, () => quote(world, receiver))
    await expectRefusal(world.wallet, OVER_REMAINDER, () => quote(world, receiver, { receiveAmount: usd('1') }))
  })

  it('QUO-4 says how much reaches the receiver at least', async () => {
    const world = await remoteShop()
    const receiver = world.remote.add({ asset: { assetCode: 'JPY', assetScale: 0 } })
    world.rail.answerQuote = async () => quoteAt(50n, 1n)
    const answer = await expectRefusal(world.wallet, NON_POSITIVE_RECEIVE, () =>
      quote(world, receiver, { debitAmount: usd('49') }),
    )
    // Not 50: the next time the rail may measure a thousandth less.
    expect(answer.body.error.details).toEqual({ minSendAmount: usd('51') })
    world.rail.answerQuote = async () => quoteAt(51n, 1n)
    await expectStatus(201, quote(world, receiver, { debitAmount: usd('51') }))
    world.rail.answerQuote = async () => quoteAt(50n, 1n)
    await expectStatus(201, quote(world, receiver, { debitAmount: usd('50') }))
  })

  it.each([
    ['what arrives', { debitAmount: usd('1844674407370955161') }, quoteAt(1n, 2n)],
    ['what leaves', { receiveAmount: usd('18446744073709551615') }, quoteAt(100n, 99n)],
  ])('AMT-1 is refused where %s is no amount', async (_, members, answer) => {
    // The debit is an amount all the same.
    const world = await remoteShop({ overrides: { pricing: { price: async () => ({ rate: '10' }) } } })
    world.rail.answerQuote = async () => answer
    await expectRefusal(world.wallet, TOO_LARGE, () => quote(world, world.remote.add(), members))
  })

  it('QUO-6 expires no later than its receiver', async () => {
    const world = await remoteShop()
    const expiresAt = world.wallet.clock.now() + 10_000
    const answer = await expectStatus(201, quote(world, world.remote.add({ expiresAt }), { debitAmount: usd('1') }))
    expect(Date.parse(answer.body.expiresAt)).toBe(expiresAt)
  })

  it('T-41 asks another server though the id is one of this server, and this one where only the text differs', async () => {
    const world = await remoteShop()
    const { wallet, spending, remote } = world
    const { incoming } = await shop()
    const foreign = `${REMOTE}/incoming-payments/${lastSegment(incoming.id)}`
    await expectRefusal(wallet, invalidReceiver('its server knows no such incoming payment'), () =>
      askQuote(wallet, spending, { receiver: foreign, debitAmount: usd('1') }),
    )
    expect(remote.asked).toEqual([foreign])
    for (const receiver of [
      `${BASE.toUpperCase()}/incoming-payments/unknown`.replace('HTTPS', 'https'),
      `${BASE}/incoming-payments/unknown`,
    ])
      await expectRefusal(wallet, UNKNOWN_RECEIVER, () =>
        askQuote(wallet, spending, { receiver, debitAmount: usd('1') }),
      )
    expect(remote.asked).toHaveLength(1)
  })
})

const UNFAIR = 'the route to the receiver delivers much less than the prices of this wallet'
const UNLIKELY = 'the route to the receiver promises much more than the prices of this wallet'

/** What a wallet is asked for: code and scale of both sides. */
type Asked = Parameters<Pricing['price']>[0]

/** Prices by the codes of both sides; the wallet exchanges nothing else. */
function pricesOf(rates: Readonly<Record<string, string>>): { readonly pricing: Pricing; readonly asked: Asked[] } {
  const asked: Asked[] = []
  const price: Pricing['price'] = async (request) => {
    asked.push(request)
    const rate = rates[`${request.from.assetCode} ${request.to.assetCode}`]
    // A fee of nine tenths: it is for the wallet's own part of the way, and for no other.
    return rate === undefined ? undefined : { rate, fee: { basisPoints: request.to.assetCode === 'EUR' ? 9000 : 0 } }
  }
  return { pricing: { price }, asked }
}

describe('a receiver that names the rate', () => {
  const inEuro = { asset: { assetCode: 'EUR', assetScale: 4 } }
  const inFineDollars = { asset: { assetCode: 'USD', assetScale: 6 } }

  it('T-47 LIM-1 is not believed: within one asset all is to arrive', async () => {
    const world = await remoteShop({ limits: { receiveAmount: usd('1000') } })
    world.rail.answerQuote = async () => quoteAt(100n, 1n)
    const asked = () => quote(world, world.remote.add(), { receiveAmount: usd('990') })
    const answer = await expectRefusal(world.wallet, invalidReceiver(UNFAIR), asked)
    expect(answer.body.error.details).toEqual({ reason: UNFAIR })
    const paid = () =>
      askPayment(world.wallet, world.spending, { incomingPayment: world.remote.add().url, debitAmount: usd('1000') })
    await expectRefusal(world.wallet, invalidReceiver(UNFAIR), paid)
  })

  it.each([
    ['one asset', {}, quoteAt(10_000n, 9500n), quoteAt(10_000n, 9499n)],
    ['one asset in two scales', inFineDollars, quoteAt(1n, 9500n), quoteAt(10_000n, 94_999_999n)],
    ['an exchange', inEuro, quoteAt(1n, 76n), quoteAt(100n, 7599n)],
  ])('T-47 may take so much that the policy allows it, and no unit more: %s', async (_, members, least, less) => {
    // USD/2 for EUR/4 at 0.8 is 80 units for each.
    const world = await remoteShop({ overrides: { pricing: pricesOf({ 'USD USD': '1', 'USD EUR': '0.8' }).pricing } })
    const receiver = world.remote.add(members)
    world.rail.answerQuote = async () => least
    await expectStatus(201, quote(world, receiver, { debitAmount: usd('1000') }))
    world.rail.answerQuote = async () => less
    const asked = () => quote(world, receiver, { debitAmount: usd('1000') })
    await expectRefusal(world.wallet, invalidReceiver(UNFAIR), asked)
  })

  it.each([
    [0, quoteAt(1n, 1n), quoteAt(1000n, 999n)],
    [9999, quoteAt(10_000n, 1n), quoteAt(10_001n, 1n)],
  ])('T-47 may take %i basis points where the wallet says so', async (tolerance, least, less) => {
    const settings = { policies: { exchangeToleranceBasisPoints: tolerance } }
    const world = await remoteShop({ overrides: { settings } })
    world.rail.answerQuote = async () => least
    await expectStatus(201, quote(world, world.remote.add(), { debitAmount: usd('50000') }))
    world.rail.answerQuote = async () => less
    const asked = () => quote(world, world.remote.add(), { debitAmount: usd('50000') })
    await expectRefusal(world.wallet, invalidReceiver(UNFAIR), asked)
  })

  it.each([
    ['one asset', {}, quoteAt(400n, 501n), quoteAt(400n, 502n), usd('501')],
    // 80 units of it for each cent, by the wallet's own price.
    ['an exchange', inEuro, quoteAt(400n, 40_001n), quoteAt(400n, 40_002n), eur('40001')],
  ])('T-47 may promise a quarter more, and a unit that rounding hides: %s', async (_, members, most, more, receive) => {
    const world = await remoteShop({ overrides: { pricing: pricesOf({ 'USD USD': '1', 'USD EUR': '0.8' }).pricing } })
    const receiver = world.remote.add(members)
    world.rail.answerQuote = async () => most
    const believed = await expectStatus(201, quote(world, receiver, { debitAmount: usd('400') }))
    expect(believed.body.receiveAmount).toEqual(receive)
    await expectStatus(201, quote(world, receiver, { receiveAmount: receive }))
    world.rail.answerQuote = async () => more
    for (const amount of [{ debitAmount: usd('400') }, { receiveAmount: { ...receive, value: '100000000' } }])
      await expectRefusal(world.wallet, invalidReceiver(UNLIKELY), () => quote(world, receiver, amount))
  })

  it('T-47 uses up no grant of its payer with a rate that is too good to be true', async () => {
    const world = await remoteShop({ limits: { debitAmount: usd('50000') } })
    world.rail.answerQuote = async () => quoteAt(1n, 2n ** 62n)
    const pay = (incomingPayment: string) =>
      askPayment(world.wallet, world.spending, { incomingPayment, debitAmount: usd('2') })
    await expectRefusal(world.wallet, invalidReceiver(UNLIKELY), () => pay(world.receiver.url))
    await expectStatus(201, pay(world.incoming.id))
  })

  it('T-47 is held to one to one between two scales of one asset where the wallet names no price', async () => {
    const world = await remoteShop()
    const receiver = world.remote.add(inFineDollars)
    world.rail.answerQuote = async () => quoteAt(1n, 9500n)
    await expectStatus(201, quote(world, receiver, { debitAmount: usd('5') }))
    expect(world.wallet.effects.at(-1)).not.toMatchObject({ value: { rail: { isUnpriced: true } } })
    world.rail.answerQuote = async () => quoteAt(1n, 9499n)
    await expectRefusal(world.wallet, invalidReceiver(UNFAIR), () => quote(world, receiver, { debitAmount: usd('5') }))
  })

  it('T-47 the wallet is asked about the exchange on the way, and not where there is none', async () => {
    const { pricing, asked } = pricesOf({ 'USD USD': '1', 'USD EUR': '0.8' })
    const world = await remoteShop({ overrides: { pricing } })
    await expectStatus(201, quote(world, world.remote.add(), { debitAmount: usd('5') }))
    const from = { assetCode: 'USD', assetScale: 2 }
    expect(asked).toEqual([{ walletAddress: ALICE, from, to: from }])
    world.rail.answerQuote = async () => quoteAt(1n, 80n)
    await expectStatus(201, quote(world, world.remote.add(inEuro), { debitAmount: usd('5') }))
    const exchanged = { walletAddress: ALICE, from, to: inEuro.asset }
    expect(asked.slice(1)).toEqual([{ walletAddress: ALICE, from, to: from }, exchanged])
  })

  it('QUO-8 AMT-5 T-47 is priced to the asset in which the money leaves, and measured from there', async () => {
    const { asked, pricing } = pricesOf({ 'USD XAU': '0.8', 'XAU EUR': '0.9' })
    const world = await remoteShop({ overrides: { pricing } })
    const [dollars, gold] = [
      { assetCode: 'USD', assetScale: 2 },
      { assetCode: 'XAU', assetScale: 3 },
    ]
    // 1000 units of gold are 9000 of a euro by the wallet's own price: five percent less is taken, and no unit more.
    world.rail.answerQuote = async () => ({ ...quoteAt(1000n, 8550n), asset: gold })
    const answer = await expectStatus(201, quote(world, world.remote.add(inEuro), { debitAmount: usd('1000') }))
    expect(answer.body).toMatchObject({ debitAmount: usd('1000'), receiveAmount: eur('68400') })
    expect(world.wallet.effects.at(-1)).toMatchObject({ value: { rail: { sendAmount: { value: '8000', ...gold } } } })
    expect(asked).toEqual([
      { walletAddress: ALICE, from: dollars, to: gold },
      { walletAddress: ALICE, from: gold, to: inEuro.asset },
    ])
    world.rail.answerQuote = async () => ({ ...quoteAt(1000n, 8549n), asset: gold })
    const less = () => quote(world, world.remote.add(inEuro), { debitAmount: usd('1000') })
    await expectRefusal(world.wallet, invalidReceiver(UNFAIR), less)
  })

  it('QUO-5 the quote remembers that the wallet knows no price', async () => {
    const world = await remoteShop()
    world.rail.answerQuote = async () => quoteAt(1n, 1n)
    await expectStatus(201, quote(world, world.remote.add(inEuro), { debitAmount: usd('5') }))
    expect(world.wallet.effects.at(-1)).toMatchObject({ value: { rail: { isUnpriced: true } } })
  })
})

type Changes = Partial<FakeReceiver>

const NOT_NOW = 'the incoming payment cannot be reached from here now'

describe('a receiver on another server that cannot be paid', () => {
  it.each([
    ['that cannot be reached', { trouble: 'unreachable' }, NOT_NOW],
    ['that may not be read', { trouble: 'refused' }, 'its server does not let this wallet read the incoming payment'],
    [
      'of which its server says nonsense',
      { trouble: 'invalid' },
      'what its server answers is not this incoming payment',
    ],
    ['that is not there', { trouble: 'unknown' }, 'its server knows no such incoming payment'],
    ['that is completed', { isCompleted: true }, 'the incoming payment is completed'],
    ['that is expired', { expiresAt: 1 }, 'the incoming payment is expired'],
    ['without a method', { hasMethod: false }, 'the incoming payment names no payment method that this wallet can use'],
  ] as const satisfies readonly (readonly [string, Changes, string])[])(
    'QUO-9 is refused with a reason: one %s',
    async (_, members, reason) => {
      const world = await remoteShop()
      const { wallet, spending } = world
      const receiver = world.remote.add(members)
      const asked = () => quote(world, receiver, { debitAmount: usd('1') })
      expect((await expectRefusal(wallet, invalidReceiver(reason), asked)).body.error.details).toEqual({ reason })
      const paid = () => askPayment(wallet, spending, { incomingPayment: receiver.url, debitAmount: usd('1') })
      await expectRefusal(wallet, invalidReceiver(reason), paid)
      expect(world.rail.quotes).toEqual([])
    },
  )

  it('T-45 is refused from the first millisecond after its expiry, and paid until then', async () => {
    const { wallet, spending, remote } = await remoteShop()
    const receiver = remote.add({ expiresAt: wallet.clock.now() })
    const paid = () => askPayment(wallet, spending, { incomingPayment: receiver.url, debitAmount: usd('1') })
    await expectStatus(201, paid())
    wallet.clock.advance(1)
    await expectRefusal(wallet, invalidReceiver('the incoming payment is expired'), paid)
  })

  it.each([
    ['another payment', { url: `${REMOTE}/incoming-payments/another` }],
    ['an amount in another asset', { incomingAmount: { value: 9n, assetCode: 'EUR', assetScale: 4 } }],
  ])('QUO-9 is refused where what is read is %s', async (_, members) => {
    const world = await remoteShop()
    const { find } = world.remote
    world.remote.find = async (url) => {
      const found = await find(url)
      return found.ok ? { ok: true, payment: { ...found.payment, ...members } } : found
    }
    const asked = () => quote(world, world.remote.add(), { debitAmount: usd('1') })
    const answer = await expectRefusal(
      world.wallet,
      invalidReceiver('what its server answers is not this incoming payment'),
      asked,
    )
    expect(answer.body.error.details).toEqual({ reason: 'what its server answers is not this incoming payment' })
  })

  it('T-34 is refused where no rail comes through: why, is for the operator alone, and without its secret', async () => {
    const world = await remoteShop()
    const { wallet, receiver, rail } = world
    rail.answerQuote = async () => ({
      ok: false,
      reason: 'unreachable',
      detail: `no peer for ${receiver.sharedSecret}`,
    })
    const asked = () => quote(world, receiver, { debitAmount: usd('1') })
    const answer = await expectRefusal(wallet, invalidReceiver(NOT_NOW), asked)
    expect(answer.body.error.details).toEqual({ reason: NOT_NOW })
    expect(detailOf(wallet)).toBe(`${NOT_NOW}: the payment method finds no way: no peer for …`)
    rail.answerQuote = async () => ({ ok: false, reason: 'unreachable' })
    await expectRefusal(wallet, invalidReceiver(NOT_NOW), asked)
    expect(detailOf(wallet)).toBe(`${NOT_NOW}: the payment method finds no way: unreachable`)
    rail.answerQuote = async () => quoteAt(2n, 1n)
    await expectRefusal(wallet, invalidReceiver(UNFAIR), asked)
    expect(detailOf(wallet)).toBe(UNFAIR)
  })

  it('T-4 is not waited for: server and rail have one deadline together', async () => {
    const world = await remoteShop()
    const { wallet, remote, rail } = world
    const slow = remote.add({ trouble: 'silence' })
    const behindSlowRail = remote.add()
    remote.before = async () => {
      wallet.clock.advance(2000)
    }
    rail.answerQuote = () => new Promise(() => setImmediate(() => wallet.clock.advance(1000)))
    await expectRefusal(wallet, invalidReceiver(NOT_NOW), () => quote(world, behindSlowRail, { debitAmount: usd('1') }))
    expect(detailOf(wallet)).toBe(`${NOT_NOW}: the payment method did not answer in time`)
    remote.before = async () => void setImmediate(() => wallet.clock.advance(3000))
    await expectRefusal(wallet, invalidReceiver(NOT_NOW), () => quote(world, slow, { debitAmount: usd('1') }))
    expect(detailOf(wallet)).toBe(`${NOT_NOW}: its server did not answer in time`)
  })

  it('T-34 is a fault of this wallet where its rail fails, and its secret is in no event', async () => {
    const world = await remoteShop()
    const receiver = world.remote.add()
    world.rail.answerQuote = async ({ details }) => Promise.reject(new Error(`no way with ${details.sharedSecret}`))
    const answer = await quote(world, receiver, { debitAmount: usd('1') })
    expect(answer.status).toBe(503)
    const faults = world.wallet.events.filter(({ type }) => type === 'fault')
    expect(faults).toMatchObject([{ message: 'a payment method failed', cause: { message: 'no way with …' } }])
  })

  it.each<[string, object]>([
    ['a rate of zero', { rate: { sent: 1n, received: 0n } }],
    ['a rate of nothing', { rate: { sent: 0n, received: 1n } }],
    ['a rate in numbers', JSON.parse('{ "rate": { "sent": 1, "received": 1 } }')],
    ['no account', { account: '' }],
    ['an account that is undefined', { account: undefined }],
    ['no asset', { asset: { assetCode: '', assetScale: 2 } }],
    ['an asset without a code', { asset: { assetScale: 2 } }],
    ['an asset that AMT-2 does not know', { asset: { assetCode: 'A'.repeat(13), assetScale: 2 } }],
    ['half a scale', { asset: { assetCode: 'USD', assetScale: 2.5 } }],
  ])('is a fault of this wallet where its rail quotes %s', async (_, members) => {
    const world = await remoteShop()
    const { wallet, receiver, rail } = world
    const { answerQuote } = rail
    rail.answerQuote = async () => ({ ...quoteAt(1n, 1n), ...members })
    const asked = () => quote(world, receiver, { debitAmount: usd('1') })
    await expectRefusal(wallet, [500, 'internal_error', 'internal server error'], asked)
    const message = 'PaymentMethod.quote gave no account, no asset, or a rate that is not above zero'
    expect(wallet.events.filter(({ type }) => type === 'fault')).toMatchObject([{ message }])
    rail.answerQuote = answerQuote
    wallet.clock.advance(1000)
    await expectStatus(201, asked())
  })

  it('T-5 is asked for in the name of its client and source, which are told to wait once they have asked for too much', async () => {
    const { wallet, spending, remote, receiver } = await remoteShop()
    const { client } = wallet.client
    const at = { alter: (request: HttpRequest) => ({ ...request, source: '198.51.100.7' }) }
    const json = { walletAddress: ALICE, method: 'ilp', receiver: receiver.url, debitAmount: usd('1') }
    const order = { walletAddress: ALICE, incomingPayment: receiver.url, debitAmount: usd('1') }
    const ask = (path: string, body: object) =>
      wallet.send('POST', `${BASE}${path}`, { token: spending, json: body, ...at })
    await expectStatus(201, ask('/quotes', json))
    await expectStatus(201, askQuote(wallet, spending, { receiver: receiver.url, debitAmount: usd('1') }))
    expect(remote.askers).toEqual([{ client, source: '198.51.100.7' }, { client }])
    receiver.trouble = 'rate_limited'
    for (const asked of [() => ask('/quotes', json), () => ask('/outgoing-payments', order)]) {
      wallet.clock.advance(1000)
      const answer = await expectRefusal(wallet, [429, 'rate_limited', 'too many requests'], asked)
      expect(answer.headers['retry-after']).toBe('3')
    }
  })

  it('is refused as ever where no payment method is configured, and nobody is asked', async () => {
    const remote = fakeRemoteReceivers()
    const { wallet, spending } = await shop({ overrides: { remoteReceivers: remote } })
    const receiver = remote.add()
    const answer = await expectRefusal(wallet, ELSEWHERE_RECEIVER, () =>
      askQuote(wallet, spending, { receiver: receiver.url, debitAmount: usd('1') }),
    )
    expect(answer.body.error.details).toEqual({ reason: 'only incoming payments on this server can be paid from here' })
    expect(remote.asked).toEqual([])
  })
})
