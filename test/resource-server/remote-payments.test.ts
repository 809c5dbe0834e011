import type { Asset, OpenPaymentsOptions, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { quoteAt } from '../support/fake-rail.ts'
import type { FakeReceiver } from '../support/fake-remote-receivers.ts'
import { gate } from '../support/gate.ts'
import { ALICE, type Answer, BASE, BOB, type Sending, usd, usdAmount } from '../support/test-wallet.ts'
import { turn, turns } from '../support/turns.ts'
import {
  askPayment,
  askQuote,
  createIncoming,
  EXPIRED_QUOTE,
  expectRefusal,
  expectStatus,
  invalidQuote,
  invalidReceiver,
  LIMITED_TO_ANOTHER_RECEIVER,
  LONG_LIFETIMES,
  limitExceeded,
  type ObservedWallet,
  OVER_DEBIT_LIMIT,
  OVER_RECEIVE_LIMIT,
  observedWallet,
  type RemoteShop,
  remoteShop,
  spent,
  spentOf,
  UNKNOWN_QUOTE,
  USED_QUOTE,
} from './observed-wallet.ts'

const quoteFor = async ({ wallet, spending, receiver }: RemoteShop, value = '60'): Promise<string> =>
  (await expectStatus(201, askQuote(wallet, spending, { receiver: receiver.url, debitAmount: usd(value) }))).body.id

const payQuote = ({ wallet, spending }: RemoteShop, quoteId: string): Promise<Answer> =>
  askPayment(wallet, spending, { quoteId })

let orders = 0

/** Each order is another one: equal ones of one moment would be one signature, which is taken once. */
const payDirectly = (
  { wallet, spending, receiver }: RemoteShop,
  value = '60',
  incomingPayment = receiver.url,
): Promise<Answer> =>
  askPayment(wallet, spending, { incomingPayment, debitAmount: usd(value), metadata: { order: ++orders } })

describe('a payment to a receiver on another server', () => {
  it.each(['a quote', 'an incoming payment'])('OUT-1 OUT-3 is ordered by %s, with the same amounts', async (from) => {
    const world = await remoteShop({
      receiver: { asset: { assetCode: 'EUR', assetScale: 2 } },
      overrides: {
        pricing: {
          price: async ({ to }) => (to.assetCode === 'EUR' ? { rate: '0.75' } : { rate: '2', fee: { fixed: 4n } }),
        },
      },
    })
    world.rail.answerQuote = async () => quoteAt(4n, 3n)
    const answer = from === 'a quote' ? await payQuote(world, await quoteFor(world)) : await payDirectly(world)
    const received = { value: '84', assetCode: 'EUR', assetScale: 2 }
    const amounts = { debitAmount: usd('60'), receiveAmount: received }
    expect([answer.status, answer.body]).toMatchObject([
      201,
      { ...amounts, receiver: world.receiver.url, failed: false },
    ])
    await world.wallet.openPayments.drain()
    const { delivery } = world.rail.deliveries[0] ?? {}
    expect(delivery).toMatchObject({ sendAmount: usdAmount(112n), receiveAmount: { ...received, value: 84n } })
    const paid = await expectStatus(200, world.wallet.send('GET', answer.body.id, { token: world.spending }))
    expect(paid.body).toMatchObject({ ...amounts, sentAmount: usd('60'), failed: false })
    expect(await spentOf(world.wallet, world.spending)).toEqual({
      spentDebitAmount: usd('60'),
      spentReceiveAmount: received,
    })
  })

  it('QUO-5 is priced once: what the rail says later changes nothing', async () => {
    const world = await remoteShop()
    const quote = await quoteFor(world)
    world.rail.answerQuote = async () => ({ ok: false, reason: 'unreachable' })
    await expectStatus(201, payQuote(world, quote))
    expect(world.rail.quotes).toHaveLength(1)
  })

  it('T-42 is told of in the audit: how it is paid, and how far it came', async () => {
    const walletAddress = 'https://other-wallet.example/carol'
    const world = await remoteShop({
      receiver: { walletAddress },
      overrides: { pricing: { price: async () => ({ rate: '1', fee: { fixed: 4n } }) } },
    })
    world.rail.answerDelivery = async () => ({
      outcome: 'ended',
      progress: { sent: 10n, received: 9n, inFlight: { sent: 0n, received: 0n }, notes: '' },
      reason: 'the way is closed',
    })
    await expectStatus(201, payDirectly(world))
    await world.wallet.openPayments.drain()
    const { value: payment } = await world.wallet.openPayments.audit(ALICE)[Symbol.asyncIterator]().next()
    expect(payment).toMatchObject({
      state: 'failed',
      failureReason: 'the way is closed',
      rail: {
        method: 'ilp',
        account: 'g.peer/USD/2',
        address: world.receiver.address,
        walletAddress,
        sendAmount: usd('56'),
        fixedFee: usd('4'),
        sent: usd('10'),
        received: usd('9'),
        inFlightSent: usd('0'),
        inFlightReceived: usd('0'),
      },
    })
    expect(payment).not.toHaveProperty('payeeAccount')
    expect(payment).not.toHaveProperty('creditId')
  })
})

const OTHER_ASSET = 'the incoming payment is now in a different asset'

const CHANGES: readonly (readonly [string, Partial<FakeReceiver>, string])[] = [
  ['completed', { isCompleted: true }, 'the incoming payment is completed'],
  ['expired', { expiresAt: 1 }, 'the incoming payment is expired'],
  ['left with less', { incomingValue: 59n }, 'the incoming payment now takes less than the quoted amount'],
  ['in another asset code', { asset: { assetCode: 'EUR', assetScale: 2 } }, OTHER_ASSET],
  ['in another scale', { asset: { assetCode: 'USD', assetScale: 3 } }, OTHER_ASSET],
  ['without a method', { hasMethod: false }, 'the incoming payment names no payment method that this wallet can use'],
  ['gone', { trouble: 'unknown' }, 'its server knows no such incoming payment'],
  ['out of reach', { trouble: 'unreachable' }, 'the incoming payment cannot be reached from here now'],
]

describe('a receiver on another server that has changed since its quote', () => {
  it.each(CHANGES)('T-45 OUT-4 is refused: %s', async (_, change, reason) => {
    const world = await remoteShop({ receiver: { incomingValue: 100n } })
    const quote = await quoteFor(world)
    Object.assign(world.receiver, change)
    await expectRefusal(world.wallet, invalidReceiver(reason), () => payQuote(world, quote))
    expect(world.rail.deliveries).toEqual([])
  })

  it('is paid where it still takes what was quoted', async () => {
    const world = await remoteShop({ receiver: { incomingValue: 100n } })
    const quote = await quoteFor(world)
    world.receiver.receivedValue = 40n
    await expectStatus(201, payQuote(world, quote))
  })

  it('OUT-2 is not asked for where the quote is used, expired or unknown', async () => {
    const world = await remoteShop()
    const [used, expired] = [await quoteFor(world), await quoteFor(world, '61')]
    await expectStatus(201, payQuote(world, used))
    await world.wallet.openPayments.drain()
    world.wallet.clock.advance(301_000)
    const asked = world.remote.asked.length
    for (const [quote, refusal] of [
      [used, USED_QUOTE],
      [expired, EXPIRED_QUOTE],
      [`${BASE}/quotes/${'0'.repeat(32)}`, UNKNOWN_QUOTE],
    ] as const)
      await expectRefusal(world.wallet, refusal, () => payQuote(world, quote))
    expect(world.remote.asked).toHaveLength(asked)
  })
})

describe('a receiver that was on this server when it was quoted', () => {
  it('OUT-2 T-45 has no quote any more where the server has moved', async () => {
    const { wallet, spending, rail, remote, incoming } = await remoteShop()
    const { storage, ledger, clock } = wallet
    const quoted = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    remote.add({ url: incoming.id })
    const after = await observedWallet({
      storage,
      ledger,
      clock,
      paymentMethods: [rail],
      remoteReceivers: remote,
      resourceServer: `${BASE}/payments`,
      walletAddressServer: BASE,
      walletAddresses: { find: async (url) => wallet.directory.get(url) },
    })
    const pay = (members: object) =>
      after.send('POST', `${BASE}/payments/outgoing-payments`, {
        as: wallet.client,
        token: spending,
        json: { walletAddress: ALICE, ...members },
      })
    const quoteId = quoted.body.id.replace(BASE, `${BASE}/payments`)
    await expectRefusal(after, invalidQuote('the receiver is now on another server'), () => pay({ quoteId }))
    await expectStatus(201, pay({ incomingPayment: incoming.id, debitAmount: usd('1') }))
  })
})

describe('the limits of a grant', () => {
  it('LIM-5 name a receiver on another server in any form that is the same', async () => {
    const host = 'https://other-wallet.example'
    const limits = { receiver: `${host.toUpperCase().replace('HTTPS', 'https')}:443/a/../incoming-payments/payment-1` }
    const world = await remoteShop({ limits })
    await expectStatus(201, payDirectly(world))
    await expectStatus(201, payDirectly(world, '60', `${host}/b/../incoming-payments/payment-1`))
    const other = world.remote.add()
    await expectRefusal(world.wallet, LIMITED_TO_ANOTHER_RECEIVER, () => payDirectly(world, '60', other.url))
  })

  it('LIM-1 OUT-9 hold for payments to other servers, and a partial one gives back what it did not use', async () => {
    const world = await remoteShop({ limits: { debitAmount: usd('100') } })
    const { open, opened } = gate()
    world.rail.answerDelivery = async (_delivery, _progress, record) => {
      await opened
      const progress = { sent: 30n, received: 30n, inFlight: { sent: 0n, received: 0n }, notes: '' }
      await record(progress)
      return { outcome: 'ended', progress, reason: 'no more' }
    }
    await expectStatus(201, payDirectly(world, '100'))
    expect((await payDirectly(world, '1')).status).toBe(403)
    open()
    await world.wallet.openPayments.drain()
    expect(await spentOf(world.wallet, world.spending)).toEqual(spent('30'))
    await expectRefusal(world.wallet, OVER_DEBIT_LIMIT, () => payDirectly(world, '71'))
    await expectStatus(201, payDirectly(world, '70'))
  })
})

/** A rail that comes so far, by the word of the receiver, and no further. */
function endsAt({ rail }: RemoteShop, sent: bigint, received: bigint): void {
  rail.answerDelivery = async () => ({
    outcome: 'ended',
    progress: { sent, received, inFlight: { sent: 0n, received: 0n }, notes: '' },
    reason: 'the receiver takes no more',
  })
}

const euro = (value: string): object => ({ value, assetCode: 'EUR', assetScale: 4 })

describe('a grant against a receiver that says what it likes', () => {
  it.each([
    ['nothing', 0n, 10n],
    ['less than it has', 980n, 10n],
    ['what it has', 990n, 10n],
    ['more than it has, and less than it was to get', 995n, 5n],
    ['more than it was to get', 5000n, 0n],
  ])('T-47 OUT-9 LIM-1 counts what was paid for where that says that it has got %s', async (_, received, left) => {
    const world = await remoteShop({ limits: { receiveAmount: usd('1000') } })
    endsAt(world, 990n, received)
    await expectStatus(201, payDirectly(world, '1000'))
    await world.wallet.openPayments.drain()
    expect(await spentOf(world.wallet, world.spending)).toEqual({
      spentDebitAmount: usd('990'),
      spentReceiveAmount: usd(`${1000n - left}`),
    })
    const over = () => payDirectly(world, `${left + 1n}`)
    await expectRefusal(world.wallet, OVER_RECEIVE_LIMIT, over)
    if (left > 0n) await expectStatus(201, payDirectly(world, `${left}`))
  })

  it('T-47 OUT-9 LIM-1 gives back what it cannot have got for what has left, whatever it says', async () => {
    const world = await remoteShop({ limits: { receiveAmount: usd('10000') } })
    endsAt(world, 10n, 2n ** 64n - 1n)
    await expectStatus(201, payDirectly(world, '10000'))
    await world.wallet.openPayments.drain()
    // A quarter more than what was paid for, and a unit that rounding may have hidden.
    expect(await spentOf(world.wallet, world.spending)).toEqual({
      spentDebitAmount: usd('10'),
      spentReceiveAmount: usd('13'),
    })
    await expectRefusal(world.wallet, OVER_RECEIVE_LIMIT, () => payDirectly(world, '9988'))
    await expectStatus(201, payDirectly(world, '9987'))
  })

  it('T-47 OUT-9 LIM-1 counts a part at the price of the whole, rounded up', async () => {
    const world = await remoteShop({ receiver: { asset: { assetCode: 'EUR', assetScale: 4 } } })
    world.rail.answerQuote = async () => quoteAt(9n, 700n)
    endsAt(world, 4n, 1n)
    // 60 buy 4666: 4 of them 311.07.
    await expectStatus(201, payDirectly(world))
    await world.wallet.openPayments.drain()
    expect(await spentOf(world.wallet, world.spending)).toEqual({
      spentDebitAmount: usd('4'),
      spentReceiveAmount: euro('312'),
    })
  })

  it('T-47 LIM-1 counts what the money is worth that leaves, since a whole cent leaves for the smallest unit', async () => {
    const fine = (value: string) => ({ value, assetCode: 'USD', assetScale: 4 })
    const world = await remoteShop({ receiver: { asset: fine('0') }, limits: { receiveAmount: fine('450') } })
    world.rail.answerQuote = async () => quoteAt(1n, 100n)
    const { wallet, spending, receiver } = world
    const quoteOf = async (value: string): Promise<string> => {
      const asked = askQuote(wallet, spending, { receiver: receiver.url, receiveAmount: fine(value) })
      const { body } = await expectStatus(201, asked)
      expect(body.receiveAmount).toEqual(fine(value))
      return body.id
    }
    const pay = async (value: string): Promise<Answer> => payQuote(world, await quoteOf(value))
    const { answerDelivery } = world.rail
    // Of four cents one has left.
    endsAt(world, 1n, 50n)
    await expectStatus(201, pay('350'))
    await wallet.openPayments.drain()
    expect(await spentOf(wallet, spending)).toMatchObject({ spentReceiveAmount: fine('100') })
    world.rail.answerDelivery = answerDelivery
    for (const value of ['1', '101']) await expectStatus(201, pay(value))
    await wallet.openPayments.drain()
    expect(await spentOf(wallet, spending)).toEqual({
      spentDebitAmount: usd('4'),
      spentReceiveAmount: fine('400'),
    })
    // What counts of a payment beyond its amount counts against those after it.
    const tooMuch = await quoteOf('51')
    await expectRefusal(wallet, OVER_RECEIVE_LIMIT, () => payQuote(world, tooMuch))
    await expectStatus(201, pay('50'))
    const another = await quoteOf('1')
    await expectRefusal(wallet, OVER_RECEIVE_LIMIT, () => payQuote(world, another))
  })

  it('T-47 LIM-1 admits a payment of exactly the limit, although a little more leaves for it', async () => {
    const fine = (value: string) => ({ value, assetCode: 'USD', assetScale: 4 })
    const world = await remoteShop({ receiver: { asset: fine('0') }, limits: { receiveAmount: fine('105050') } })
    world.rail.answerQuote = async () => quoteAt(1n, 100n)
    const { wallet, spending, receiver } = world
    const asked = askQuote(wallet, spending, { receiver: receiver.url, receiveAmount: fine('105050') })
    const { body } = await expectStatus(201, asked)
    expect(body.debitAmount).toEqual(usd('1051'))
    await expectStatus(201, payQuote(world, body.id))
  })

  it.each([1n, 10_000_000n])(
    'T-47 LIM-1 counts the whole cent that a payment of one billionth of a dollar costs, although only %s leaves',
    async (sent) => {
      const nano = (value: string) => ({ value, assetCode: 'USD', assetScale: 9 })
      const overrides = { pricing: { price: async () => ({ rate: '1', fee: { fixed: 30n } }) } }
      const limits = { receiveAmount: nano('10000001') }
      const world = await remoteShop({ receiver: { asset: nano('0') }, limits, overrides })
      const { wallet, spending, receiver, rail } = world
      rail.answerQuote = async () => ({
        ok: true,
        account: 'g.peer/USD/9',
        asset: nano('0'),
        rate: { sent: 1n, received: 1n },
      })
      endsAt(world, sent, sent)
      const quoteOf = async (value: string): Promise<string> => {
        const asked = askQuote(wallet, spending, { receiver: receiver.url, receiveAmount: nano(value) })
        const { body } = await expectStatus(201, asked)
        expect(body.debitAmount).toEqual(usd('31'))
        return body.id
      }
      const [first, second, third] = [await quoteOf('10000000'), await quoteOf('2'), await quoteOf('1')]
      await expectStatus(201, payQuote(world, first))
      await wallet.openPayments.drain()
      expect(await spentOf(wallet, spending)).toEqual({
        spentDebitAmount: usd('31'),
        spentReceiveAmount: nano('10000000'),
      })
      await expectRefusal(wallet, OVER_RECEIVE_LIMIT, () => payQuote(world, second))
      await expectStatus(201, payQuote(world, third))
    },
  )

  it.each([
    ['100', 201],
    ['101', 403],
    ['199', 403],
  ])(
    'T-47 LIM-1 counts all that leaves of a fixed debit, since its receiver may keep it: %s',
    async (debit, status) => {
      const whole = (value: string) => ({ value, assetCode: 'USD', assetScale: 0 })
      const statuses: number[] = []
      for (const pay of [async (world: RemoteShop) => payQuote(world, await quoteFor(world, debit)), payDirectly]) {
        const world = await remoteShop({ receiver: { asset: whole('0') }, limits: { receiveAmount: whole('1') } })
        world.rail.answerQuote = async () => quoteAt(100n, 1n)
        statuses.push((await pay(world, debit)).status)
      }
      expect(statuses).toEqual([status, status])
    },
  )

  it.each([
    ['10000', '16174'],
    ['10001', '16175'],
    ['12345', '19966'],
    ['999', '1615'],
  ])('LIM-1 a fixed debit fits a limit of what its quote says that arrives: %s', async (debit, receive) => {
    const yen = { value: receive, assetCode: 'JPY', assetScale: 0 }
    const pricing = {
      price: async ({ to }: { readonly to: Asset }) => ({ rate: to.assetCode === 'JPY' ? '163.37' : '1' }),
    }
    const world = await remoteShop({
      receiver: { asset: yen },
      limits: { receiveAmount: yen },
      overrides: { pricing },
    })
    world.rail.answerQuote = async () => quoteAt(10_000n, 16_174n)
    const quote = askQuote(world.wallet, world.spending, { receiver: world.receiver.url, debitAmount: usd(debit) })
    const { body } = await expectStatus(201, quote)
    expect(body.receiveAmount).toEqual(yen)
    await expectStatus(201, payQuote(world, body.id))
  })

  it('LIM-1 without a limit of what arrives counts what arrives, however little of what leaves that is', async () => {
    const asset = { assetCode: 'FINE', assetScale: 19 }
    const world = await remoteShop({ receiver: { asset } })
    world.rail.answerQuote = async () => quoteAt(1n, 2n ** 63n)
    const { wallet, spending, receiver } = world
    for (const count of ['1', '2']) {
      const asked = askQuote(wallet, spending, { receiver: receiver.url, receiveAmount: { value: '1', ...asset } })
      await expectStatus(201, payQuote(world, (await expectStatus(201, asked)).body.id))
      expect(await spentOf(wallet, spending)).toMatchObject({ spentReceiveAmount: { value: count, ...asset } })
    }
  })

  it.each(['a quote', 'an incoming payment'])(
    'T-47 LIM-1 is worth nothing where it bounds only what arrives, and the wallet knows no price for that, by %s',
    async (from) => {
      const receiver = { asset: { assetCode: 'EUR', assetScale: 4 } }
      const limits = { receiveAmount: euro('100000') }
      const world = await remoteShop({ receiver, limits })
      const quote = from === 'a quote' ? await quoteFor(world) : ''
      const paid = () => (from === 'a quote' ? payQuote(world, quote) : payDirectly(world))
      await expectRefusal(
        world.wallet,
        limitExceeded(
          'the grant limits only what is received, and this wallet has no price for the asset of the receiver',
        ),
        paid,
      )
    },
  )

  it.each([
    ['that bounds the debit', { debitAmount: usd('100') }],
    ['without limits', undefined],
  ])('LIM-1 pays without a price of the wallet, being one %s', async (_, limits) => {
    const receiver = { asset: { assetCode: 'EUR', assetScale: 4 } }
    const world = await remoteShop({ receiver, ...(limits && { limits }) })
    await expectStatus(201, payDirectly(world))
  })

  it('LIM-1 pays where it bounds only what arrives, and the wallet has a price for that', async () => {
    const receiver = { asset: { assetCode: 'EUR', assetScale: 4 } }
    const overrides = {
      pricing: { price: async ({ to }: { to: Asset }) => ({ rate: to.assetCode === 'EUR' ? '0.01' : '1' }) },
    }
    const world = await remoteShop({ receiver, limits: { receiveAmount: euro('100000') }, overrides })
    await expectStatus(201, payDirectly(world))
  })
})

describe('receivers that name ever other assets', () => {
  const assetOf = (index: number): Asset => ({ assetCode: `X${index}`, assetScale: 2 })
  const payIn = async (world: RemoteShop, index: number): Promise<Answer> =>
    payDirectly(world, '10', world.remote.add({ asset: assetOf(index) }).url)

  it('T-37 leave nothing with the grant where their payments fail', async () => {
    const world = await remoteShop()
    endsAt(world, 0n, 0n)
    for (let index = 0; index < 105; index++) {
      await expectStatus(201, payIn(world, index))
      await world.wallet.openPayments.drain()
    }
    await expectStatus(201, payIn(world, 105))
  })

  it.each<[string, object | undefined, number]>([
    ['one grant', undefined, 0],
    ['all windows of one grant together', { interval: 'R/2026-03-01T00:00:00Z/P1D' }, 24 * 3600 * 1000],
  ])('T-37 LIM-9 are counted for a hundred at most, but paid in any: of %s', async (_what, limits, pause) => {
    const overrides = { settings: { lifetimes: LONG_LIFETIMES } }
    const world = await remoteShop({ overrides, ...(limits && { limits: { ...limits } }) })
    for (let index = 0; index < 100; index++) await expectStatus(201, payIn(world, index))
    await world.wallet.openPayments.drain()
    world.wallet.clock.advance(pause)
    for (const index of [100, 101, 0]) await expectStatus(201, payIn(world, index))
    await expectStatus(201, payDirectly(world, '5', world.incoming.id))
    await world.wallet.openPayments.drain()
    const sums = world.wallet.effects.flatMap((change) =>
      'value' in change && change.kind === 'spending' ? [change.value.receive.length] : [],
    )
    expect(Math.max(...sums)).toBe(100)
    expect(await spentOf(world.wallet, world.spending)).toMatchObject({ spentReceiveAmount: null })
  })
})

describe('the fee of a payment that ends before all has left', () => {
  it.each([
    ['fixed', { fixed: 30n }, 970n, [1000n, 30n]],
    ['fixed', { fixed: 30n }, 1n, [31n, 30n]],
    ['fixed', { fixed: 30n }, 0n, [0n, 0n]],
    ['a part of the debit', { basisPoints: 300 }, 485n, [500n, 15n]],
    ['both', { fixed: 30n, basisPoints: 300 }, 470n, [515n, 45n]],
    ['both', { fixed: 30n, basisPoints: 300 }, 1n, [32n, 31n]],
  ] as const)('OUT-9 is due as a whole as far as it is fixed: %s (%o)', async (_, fee, sent, [debit, kept]) => {
    const world = await remoteShop({ overrides: { pricing: { price: async () => ({ rate: '1', fee }) } } })
    endsAt(world, sent, sent)
    // Of 1000, 970 leave with either part of the fee, and 940 with both.
    await expectStatus(201, payDirectly(world, sent === 970n ? '1001' : '1000'))
    await world.wallet.openPayments.drain()
    expect(await world.wallet.ledger.balance('alice')).toMatchObject({ held: 0n, total: 100_000n - debit })
    expect((await world.wallet.ledger.balance('fees:USD:2'))?.total ?? 0n).toBe(kept)
  })
})

/** Lets the other server answer only once it is told to. */
function holdUp({ remote }: RemoteShop): { readonly asked: Promise<void>; readonly letGo: () => void } {
  const [asked, answered] = [gate(), gate()]
  remote.before = () => {
    asked.open()
    return answered.opened
  }
  return { asked: asked.opened, letGo: answered.open }
}

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
const euroShop = async (overrides: Partial<OpenPaymentsOptions> = {}): Promise<RemoteShop> =>
  remoteShop({
    receiver: { asset: { assetCode: 'EUR', assetScale: 2 } },
    overrides: { pricing: PRICES, ...overrides },
  })

const faultsOf = ({ wallet }: RemoteShop): readonly unknown[] => wallet.events.filter(({ type }) => type === 'fault')

/** Lets the other server, its way, the directory, the ledger or the prices answer after some time by the wallet's clock. */
function slowed(world: RemoteShop, { server = 0, way = 0, find = 0, account = 0, hold = 0, price = 0 }): void {
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
  PRICES.before = () => after(price, async () => undefined)
  remote.find = (url) => after(server, () => own.find(url))
  rail.answerQuote = (request) => after(way, () => own.answerQuote(request))
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

const COVERED = ['@method', '@target-uri', 'authorization', 'content-digest', 'content-length', 'content-type']

const keyed = (key: string): Sending => ({
  headers: { 'idempotency-key': key },
  components: [...COVERED, 'idempotency-key'],
})

describe('a repeat under its key', () => {
  it.each(['a quote', 'an incoming payment'])(
    'OUT-12 is answered as the first order by %s was, and asks nobody',
    async (from) => {
      const world = await remoteShop({ receiver: { incomingValue: 60n } })
      const { wallet, spending, receiver, remote } = world
      const quoteId = from === 'a quote' ? await quoteFor(world) : undefined
      const order = quoteId === undefined ? { incomingPayment: receiver.url, debitAmount: usd('60') } : { quoteId }
      const send = (): Promise<Answer> => {
        wallet.clock.advance(1000)
        const json = { walletAddress: ALICE, ...order }
        return wallet.send('POST', `${BASE}/outgoing-payments`, { token: spending, json, ...keyed('order-7') })
      }
      const first = await expectStatus(201, send())
      await wallet.openPayments.drain()
      receiver.isCompleted = true
      const asked = remote.asked.length
      const again = await expectStatus(201, send())
      expect(again.body).toEqual(first.body)
      expect(remote.asked).toHaveLength(asked)
      expect(world.rail.deliveries).toHaveLength(1)
    },
  )

  it('OUT-12 is answered so too where the first order was carried out while the repeat asked the receiver', async () => {
    const world = await remoteShop({ receiver: { incomingValue: 60n } })
    const { wallet, spending, receiver, remote } = world
    const send = (): Promise<Answer> => {
      wallet.clock.advance(1000)
      const json = { walletAddress: ALICE, incomingPayment: receiver.url, debitAmount: usd('60') }
      return wallet.send('POST', `${BASE}/outgoing-payments`, { token: spending, json, ...keyed('order-8') })
    }
    const { asked, letGo } = holdUp(world)
    const repeat = send()
    await asked
    remote.before = async () => undefined
    const first = await expectStatus(201, send())
    await wallet.openPayments.drain()
    receiver.isCompleted = true
    letGo()
    expect((await expectStatus(201, repeat)).body).toEqual(first.body)
    expect(world.rail.deliveries).toHaveLength(1)
  })
})

describe('a rail beside the ledger', () => {
  it('is not asked about receivers on this server', async () => {
    const world = await remoteShop()
    const { wallet, spending, receiving } = world
    const { id } = await createIncoming(wallet, receiving)
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: id, debitAmount: usd('5') }))
    await expectStatus(201, payQuote(world, quote.body.id))
    await expectStatus(201, payDirectly(world, '6', id))
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 11n })
    expect([world.remote.asked, world.rail.quotes, world.rail.deliveries]).toEqual([[], [], []])
  })
})
