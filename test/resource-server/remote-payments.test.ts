import { describe, expect, it } from 'vitest'
import { quoteAt } from '../support/fake-rail.ts'
import type { FakeReceiver } from '../support/fake-remote-receivers.ts'
import { keyed } from '../support/keyed.ts'
import { ALICE, type Answer, BASE, usd, usdAmount } from '../support/test-wallet.ts'
import {
  askQuote,
  createIncoming,
  EXPIRED_QUOTE,
  expectRefusal,
  expectStatus,
  invalidQuote,
  invalidReceiver,
  observedWallet,
  remoteShop,
  spentOf,
  UNKNOWN_QUOTE,
  USED_QUOTE,
} from './observed-wallet.ts'
import { endsAt, holdUp, payDirectly, payQuote, quoteFor } from './remote-orders.ts'

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
