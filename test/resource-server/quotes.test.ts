import { describe, expect, it } from 'vitest'
import { ALICE, addClient, BASE, BOB, usd, usdAmount } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  CHANGED_RECEIVER,
  createIncoming,
  ELSEWHERE_RECEIVER,
  EXPIRED_QUOTE,
  expectRefusal,
  expectStatus,
  INSUFFICIENT_GRANT,
  idOf,
  invalidRequest,
  LONG_LIFETIMES,
  NO_AMOUNT,
  NO_EXCHANGE,
  NO_RECEIVER,
  NOT_FOUND,
  NOTHING_SPENT,
  OVER_REMAINDER,
  shop,
  spendingAccess,
  spentOf,
  tokenFor,
  UNKNOWN_QUOTE,
  UNKNOWN_RECEIVER,
  USED_QUOTE,
  WRONG_ASSET,
  ZERO_AMOUNT,
} from './observed-wallet.ts'

const eur = (value: string) => ({ value, assetCode: 'EUR', assetScale: 4 })

describe('create-quote', () => {
  it('QUO-1 takes each of the three bodies', async () => {
    const { wallet, spending, incoming } = await shop({ incoming: { incomingAmount: usd('100') } })
    const plain = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id }))
    expect(plain.body).toMatchObject({ debitAmount: usd('100'), receiveAmount: usd('100') })
    const send = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('7') }))
    expect(send.body).toMatchObject({ debitAmount: usd('7'), receiveAmount: usd('7') })
    const receive = await expectStatus(
      201,
      askQuote(wallet, spending, { receiver: incoming.id, receiveAmount: usd('8') }),
    )
    expect(receive.body).toEqual({
      id: expect.stringMatching(/^https:\/\/wallet\.example\/quotes\/[0-9a-f]{44}$/),
      walletAddress: ALICE,
      receiver: incoming.id,
      debitAmount: usd('8'),
      receiveAmount: usd('8'),
      method: 'ilp',
      createdAt: new Date(wallet.clock.now()).toISOString(),
      expiresAt: new Date(wallet.clock.now() + 300_000).toISOString(),
    })
    expect((await wallet.send('GET', receive.body.id, { token: spending })).body).toEqual(receive.body)
  })

  it.each([
    ['both amounts', { debitAmount: usd('1'), receiveAmount: usd('1') }, 'give debitAmount or receiveAmount, not both'],
    ['no method', { method: undefined }, 'method: missing'],
    ['another method', { method: 'card' }, 'method: must be ilp'],
    ['no receiver', { receiver: undefined }, 'receiver: missing'],
    ['a receiver that is null', { receiver: null }, 'receiver: expected string'],
    ['no walletAddress', { walletAddress: undefined }, 'walletAddress: missing'],
    ['an amount that is null', { debitAmount: null }, 'debitAmount: expected Object'],
    ['a fee of its own', { fee: usd('0') }, 'fee is not a member of this body'],
    ['an expiry of its own', { expiresAt: '2030-01-01T00:00:00Z' }, 'expiresAt is not a member of this body'],
    ['metadata', { metadata: {} }, 'metadata is not a member of this body'],
  ])('QUO-1 refuses a body with %s', async (_, members, mistake) => {
    const { wallet, spending, incoming } = await shop({ incoming: { incomingAmount: usd('100') } })
    await expectRefusal(wallet, invalidRequest(mistake), () =>
      askQuote(wallet, spending, { receiver: incoming.id, ...members }),
    )
    await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id }))
  })

  it('QUO-2 refuses no amount where the receiver names none either', async () => {
    const { wallet, spending, incoming } = await shop()
    await expectRefusal(wallet, NO_AMOUNT, () => askQuote(wallet, spending, { receiver: incoming.id }))
  })

  it('QUO-2 quotes what remains, not what was asked for at first', async () => {
    const { wallet, spending, incoming } = await shop({ incoming: { incomingAmount: usd('100') } })
    await askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('30') })
    await wallet.openPayments.drain()
    await wallet.openPayments.incomingPayments.received(idOf(incoming), usdAmount(20n), 't1')
    const { body } = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id }))
    expect(body.receiveAmount).toEqual(usd('50'))
  })

  it.each([
    ['a receiveAmount in another asset code', { receiveAmount: { ...usd('1'), assetCode: 'EUR' } }, WRONG_ASSET],
    ['a receiveAmount in another scale', { receiveAmount: { ...usd('1'), assetScale: 0 } }, WRONG_ASSET],
    ['a receiveAmount above the remainder', { receiveAmount: usd('101') }, OVER_REMAINDER],
    ['a debitAmount of which more than the remainder would arrive', { debitAmount: usd('101') }, OVER_REMAINDER],
    ['a debitAmount in another asset code', { debitAmount: { ...usd('1'), assetCode: 'EUR' } }, WRONG_ASSET],
    ['a debitAmount in another scale', { debitAmount: { ...usd('1'), assetScale: 3 } }, WRONG_ASSET],
    ['a debitAmount of zero', { debitAmount: usd('0') }, ZERO_AMOUNT],
    ['a receiveAmount of zero', { receiveAmount: usd('0') }, ZERO_AMOUNT],
  ])('QUO-3 QUO-4 refuses %s', async (_, members, refusal) => {
    const { wallet, spending, incoming } = await shop({ incoming: { incomingAmount: usd('100') } })
    await expectRefusal(wallet, refusal, () => askQuote(wallet, spending, { receiver: incoming.id, ...members }))
    await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, receiveAmount: usd('100') }))
    await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('100') }))
  })

  it('QUO-3 refuses a receiver in an asset that the wallet does not exchange', async () => {
    const { wallet, spending, receiving } = await shop()
    const foreign = await createIncoming(wallet, receiving, { walletAddress: `${BASE}/carol` })
    for (const amount of [{ debitAmount: usd('1') }, { receiveAmount: eur('1') }]) {
      await expectRefusal(wallet, NO_EXCHANGE, () => askQuote(wallet, spending, { receiver: foreign.id, ...amount }))
    }
  })

  it.each([
    [`https://example.com/incoming-payments/${'0'.repeat(32)}`, ELSEWHERE_RECEIVER],
    [`${BASE}/incoming-payments/${'0'.repeat(32)}`, UNKNOWN_RECEIVER],
    [`${BASE}/bob`, NO_RECEIVER],
    ['not a url', NO_RECEIVER],
    ['https:///incoming-payments/1', NO_RECEIVER],
    ['javascript:alert(1)//incoming-payments/1', NO_RECEIVER],
    ['http://169.254.169.254/incoming-payments/1', ELSEWHERE_RECEIVER],
  ])('refuses %s as a receiver, says why, and asks nobody for it', async (receiver, refusal) => {
    const { wallet, spending } = await shop()
    await expectRefusal(wallet, refusal, () => askQuote(wallet, spending, { receiver, debitAmount: usd('1') }))
  })

  it('T-45 refuses a receiver whose account has changed its asset since, before the quote and after it', async () => {
    const { wallet, spending, incoming } = await shop()
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    wallet.directory.set(`${BASE}/bob`, { account: 'bob', assetCode: 'EUR', assetScale: 2 })
    await expectRefusal(wallet, CHANGED_RECEIVER, () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }),
    )
    await expectRefusal(wallet, CHANGED_RECEIVER, () => askPayment(wallet, spending, { quoteId: quote.body.id }))
  })

  it('QUO-6 expires no later than its receiver', async () => {
    const { wallet, spending, receiving } = await shop()
    const soon = new Date(wallet.clock.now() + 100_000).toISOString()
    const short = await createIncoming(wallet, receiving, { expiresAt: soon })
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: short.id, debitAmount: usd('1') }))
    expect(quote.body.expiresAt).toBe(soon)
  })

  it('takes an account that may not send for one that cannot pay', async () => {
    const { wallet, spending, incoming } = await shop()
    await wallet.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    await expectRefusal(wallet, [403, 'not_allowed', 'not allowed'], () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }),
    )
  })

  it('T-38 does not tell a client whom no owner has given anything that an account may not send', async () => {
    const { wallet, spending, incoming } = await shop()
    const terms = { receiver: incoming.id, debitAmount: usd('1') }
    const quoting = await tokenFor(wallet, [{ type: 'quote', actions: ['create'] }])
    await wallet.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    const quote = await expectStatus(201, askQuote(wallet, quoting, terms))
    await expectRefusal(wallet, [403, 'not_allowed', 'not allowed'], () =>
      askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1') }),
    )
    const order = await askPayment(wallet, spending, { quoteId: quote.body.id })
    expect([order.status, order.body.error.code]).toEqual([403, 'not_allowed'])
  })

  it('spends nothing and promises no budget: a quote may exceed the grant and the balance', async () => {
    const { wallet, spending, incoming } = await shop({ limits: { debitAmount: usd('10') } })
    await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('99999999') }))
    expect(await spentOf(wallet, spending)).toEqual(NOTHING_SPENT)
  })
})

describe('a quote over its life', () => {
  it('QUO-5 freezes its amounts: a payment from it has them whatever happens to the price', async () => {
    let rate = '2'
    const { wallet, spending, incoming } = await shop({ overrides: { pricing: { price: async () => ({ rate }) } } })
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('10') })
    expect(quote.body.receiveAmount).toEqual(usd('20'))
    rate = '0.5'
    const payment = await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    expect(payment.body).toMatchObject({
      quoteId: quote.body.id,
      debitAmount: usd('10'),
      receiveAmount: usd('20'),
      sentAmount: usd('0'),
    })
  })

  it('QUO-7 OUT-2 backs one payment', async () => {
    const { wallet, spending, incoming } = await shop()
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('10') })
    const paid = await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    const refused = await expectRefusal(wallet, USED_QUOTE, () =>
      askPayment(wallet, spending, { quoteId: quote.body.id, metadata: { again: 1 } }),
    )
    expect(refused.body.error.details).toEqual({ reason: USED_QUOTE[3], outgoingPayment: paid.body.id })
    await wallet.openPayments.drain()
    await expectRefusal(wallet, USED_QUOTE, () =>
      askPayment(wallet, spending, { quoteId: quote.body.id, metadata: { again: 2 } }),
    )
    expect((await wallet.send('GET', quote.body.id, { token: spending })).body).toEqual(quote.body)
  })

  it('QUO-7 a quote whose payment failed is used all the same', async () => {
    const { wallet, spending, incoming } = await shop()
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('10') })
    await wallet.ledger.setPermissions('bob', { canSend: true, canReceive: false })
    const payment = await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    await wallet.openPayments.drain()
    expect((await wallet.send('GET', payment.body.id, { token: spending })).body).toMatchObject({ failed: true })
    await expectRefusal(wallet, USED_QUOTE, () =>
      askPayment(wallet, spending, { quoteId: quote.body.id, metadata: { again: 1 } }),
    )
  })

  it('OUT-2 can be used to the last millisecond, and not at its expiry', async () => {
    const { wallet, spending, incoming } = await shop({ overrides: { settings: { lifetimes: LONG_LIFETIMES } } })
    const ask = () => askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') })
    const [first, second] = [await ask(), await ask()]
    wallet.clock.advance(299_999)
    await expectStatus(201, askPayment(wallet, spending, { quoteId: first.body.id }))
    wallet.clock.advance(1)
    await expectRefusal(wallet, EXPIRED_QUOTE, () => askPayment(wallet, spending, { quoteId: second.body.id }))
    await expectStatus(200, wallet.send('GET', second.body.id, { token: spending }))
  })

  it('OUT-2 does not pay by a quote that expires while the terms of its payment are read', async () => {
    const { wallet, spending, incoming } = await shop()
    const find = wallet.directory.get.bind(wallet.directory)
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('100') })
    wallet.clock.advance(Date.parse(quote.body.expiresAt) - wallet.clock.now() - 1)
    wallet.directory.get = (url) => {
      if (url === BOB) wallet.clock.advance(1)
      return find(url)
    }
    await expectRefusal(wallet, EXPIRED_QUOTE, () => askPayment(wallet, spending, { quoteId: quote.body.id }))
  })

  it('OUT-2 is for its own wallet address', async () => {
    const { wallet, spending, incoming } = await shop()
    wallet.directory.set(`${BASE}/alice2`, { account: 'alice', assetCode: 'USD', assetScale: 2 })
    const ask = { receiver: incoming.id, debitAmount: usd('1') }
    const theirs = await askQuote(wallet, spending, { ...ask, walletAddress: `${BASE}/alice2` })
    await expectRefusal(wallet, UNKNOWN_QUOTE, () => askPayment(wallet, spending, { quoteId: theirs.body.id }))
  })

  it('D12 may be used by any client with a right to its wallet address, unless the wallet binds it', async () => {
    for (const quoteBinding of ['walletAddress', 'client'] as const) {
      const { wallet, spending, incoming } = await shop({ overrides: { settings: { policies: { quoteBinding } } } })
      const other = await addClient(wallet, 'other')
      const token = await tokenFor(wallet, spendingAccess(), other)
      const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') })
      const use = () => askPayment(wallet, token, { quoteId: quote.body.id }, other)
      if (quoteBinding === 'walletAddress') {
        // The payment is of the client that ordered it.
        const { body } = await expectStatus(201, use())
        await expectStatus(200, wallet.send('GET', body.id, { as: other, token }))
        await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', body.id, { token: spending }))
        // Nor is the other client told of it.
        const again = () => askPayment(wallet, spending, { quoteId: quote.body.id })
        const refused = await expectRefusal(wallet, USED_QUOTE, again)
        expect(refused.body.error.details).toEqual({ reason: USED_QUOTE[3] })
      } else {
        await expectRefusal(wallet, UNKNOWN_QUOTE, use)
        await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
      }
    }
  })

  it('RS-6 is read by its own client', async () => {
    const { wallet, spending, incoming } = await shop()
    const other = await addClient(wallet, 'other')
    const token = await tokenFor(wallet, [{ type: 'quote', actions: ['create', 'read'] }], other)
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') })
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', quote.body.id, { as: other, token }))
    await expectStatus(200, wallet.send('GET', quote.body.id, { token: spending }))
  })
})

describe('a right to quotes that needs consent', () => {
  it('RS-5 RS-8 is about the wallet address of the owner who gave it, and about no other', async () => {
    const { wallet, spending, incoming } = await shop({
      overrides: { settings: { policies: { withoutInteraction: ['incoming-payment'] } } },
    })
    const terms = { receiver: incoming.id, debitAmount: usd('1') }
    const quote = await expectStatus(201, askQuote(wallet, spending, terms))
    await expectStatus(200, wallet.send('GET', quote.body.id, { token: spending }))
    const access = [
      { type: 'quote', actions: ['create', 'read-all'] },
      { type: 'incoming-payment', actions: ['list-all'], identifier: BOB },
    ]
    const tokenOfBob = await tokenFor(wallet, access)
    await expectRefusal(wallet, INSUFFICIENT_GRANT, () => askQuote(wallet, tokenOfBob, terms))
    await expectRefusal(wallet, INSUFFICIENT_GRANT, () =>
      askQuote(wallet, tokenOfBob, { ...terms, walletAddress: 'x' }),
    )
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', quote.body.id, { token: tokenOfBob }))
    const own = await askQuote(wallet, tokenOfBob, { ...terms, walletAddress: BOB })
    await expectStatus(200, wallet.send('GET', own.body.id, { token: tokenOfBob }))
  })
})
