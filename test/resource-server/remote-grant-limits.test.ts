import type { Asset } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { quoteAt } from '../support/fake-rail.ts'
import { gate } from '../support/gate.ts'
import { type Answer, usd } from '../support/test-wallet.ts'
import {
  askQuote,
  expectRefusal,
  expectStatus,
  LIMITED_TO_ANOTHER_RECEIVER,
  LONG_LIFETIMES,
  limitExceeded,
  OVER_DEBIT_LIMIT,
  OVER_RECEIVE_LIMIT,
  type RemoteShop,
  remoteShop,
  spent,
  spentOf,
} from './observed-wallet.ts'
import { endsAt, payDirectly, payQuote, quoteFor } from './remote-orders.ts'

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

  it.each([
    ['any limit', undefined],
    ['a limit of what arrives', { debitAmount: usd('100') }],
  ])('LIM-1 without %s counts what arrives, however little of what leaves that is', async (_, limits) => {
    const asset = { assetCode: 'FINE', assetScale: 19 }
    const world = await remoteShop({ receiver: { asset }, ...(limits && { limits }) })
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
