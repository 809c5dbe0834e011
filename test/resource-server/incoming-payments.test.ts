import { describe, expect, it } from 'vitest'
import type { AnswerBody } from '../support/answer-body.ts'
import { ALICE, addClient, BASE, BOB, CAROL, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  createIncoming,
  ENDED_RECEIVER,
  expectRefusal,
  expectStatus,
  invalidAmount,
  invalidExpiresAt,
  invalidRequest,
  LONG_LIFETIMES,
  NOT_FOUND,
  observedWallet,
  RECEIVING_ACCESS,
  shop,
  spendingAccess,
  tokenFor,
  WRONG_STATE,
} from './observed-wallet.ts'

const COLLECTION = `${BASE}/incoming-payments`
const DAY = 24 * 3600 * 1000

async function receivingWallet() {
  const wallet = await observedWallet({ settings: { lifetimes: { accessTokenSeconds: 60 * 24 * 3600 } } })
  const token = await tokenFor(wallet, RECEIVING_ACCESS)
  const send = (json: unknown) => wallet.send('POST', COLLECTION, { token, json })
  return { wallet, token, send }
}

function inFuture(now: number, milliseconds: number): string {
  return new Date(now + milliseconds).toISOString()
}

const NO_METADATA =
  'metadata: must be an object of at most 8 levels, with no number beyond 2^53 - 1: write larger ones as text'
const FOREIGN_AMOUNT = invalidAmount('incomingAmount is not in the asset of the wallet address')

describe('create-incoming-payment', () => {
  it.each([
    ['another asset code', { value: '1', assetCode: 'EUR', assetScale: 2 }, FOREIGN_AMOUNT],
    ['another case of the asset code', { value: '1', assetCode: 'usd', assetScale: 2 }, FOREIGN_AMOUNT],
    ['another scale', { value: '1', assetCode: 'USD', assetScale: 3 }, FOREIGN_AMOUNT],
    ['the value zero', usd('0'), invalidAmount('incomingAmount is zero')],
  ])('INC-1 refuses an incomingAmount with %s', async (_, incomingAmount, refusal) => {
    const { wallet, send } = await receivingWallet()
    await expectRefusal(wallet, refusal, () => send({ walletAddress: BOB, incomingAmount }))
    await expectStatus(201, send({ walletAddress: BOB, incomingAmount: usd('1') }))
  })

  it('INC-1 takes the asset of the wallet address that is named', async () => {
    const { wallet, send } = await receivingWallet()
    await expectStatus(
      201,
      send({ walletAddress: CAROL, incomingAmount: { value: '1', assetCode: 'EUR', assetScale: 4 } }),
    )
    await expectRefusal(wallet, FOREIGN_AMOUNT, () => send({ walletAddress: CAROL, incomingAmount: usd('1') }))
  })

  it('INC-2 takes an expiresAt from the next millisecond to the longest lifetime, and none beyond', async () => {
    const { wallet, send } = await receivingWallet()
    const now = wallet.clock.now()
    const at = (milliseconds: number) => send({ walletAddress: BOB, expiresAt: inFuture(now, milliseconds) })
    for (const milliseconds of [-DAY, -1, 0]) {
      await expectRefusal(wallet, invalidExpiresAt('expiresAt is in the past'), () => at(milliseconds))
    }
    for (const milliseconds of [30 * DAY + 1, 10_000 * DAY]) {
      await expectRefusal(wallet, invalidExpiresAt('expiresAt is more than 2592000 seconds ahead'), () =>
        at(milliseconds),
      )
    }
    for (const milliseconds of [1, 30 * DAY]) {
      expect((await expectStatus(201, at(milliseconds))).body.expiresAt).toBe(inFuture(now, milliseconds))
    }
  })

  it.each([
    '2026-03-02',
    '2026-03-02T00:00:00',
    '2026-03-02 00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-03-02T24:00:00Z',
    '2026-03-02T00:00:00+24:00',
    'tomorrow',
    '',
    1_772_409_600_000,
    {},
    [],
    true,
  ])('INC-2 refuses %j as expiresAt', async (expiresAt) => {
    const { wallet, send } = await receivingWallet()
    const mistake = typeof expiresAt === 'string' ? 'invalid date-time' : 'expected string'
    await expectRefusal(wallet, invalidRequest(`expiresAt: ${mistake}`), () => send({ walletAddress: BOB, expiresAt }))
  })

  it('INC-2 sets an expiry where none is asked for', async () => {
    const { wallet, send } = await receivingWallet()
    const { body } = await expectStatus(201, send({ walletAddress: BOB }))
    expect(body.expiresAt).toBe(inFuture(wallet.clock.now(), 30 * DAY))
  })

  it('INC-3 answers what was asked, nothing received, not completed, with a way to pay', async () => {
    const { wallet, token, send } = await receivingWallet()
    const asked = { walletAddress: BOB, incomingAmount: usd('18446744073709551615'), metadata: { a: [1, { b: null }] } }
    const created = await expectStatus(201, send(asked))
    expect(created.body).toMatchObject({
      ...asked,
      id: expect.stringMatching(/^https:\/\/wallet\.example\/incoming-payments\/[0-9a-f]{44}$/),
      receivedAmount: usd('0'),
      completed: false,
      createdAt: new Date(wallet.clock.now()).toISOString(),
      methods: [{ type: 'ilp', ilpAddress: expect.stringMatching(/^test\.local\./) }],
    })
    expect((await wallet.send('GET', created.body.id, { token })).body).toEqual(created.body)
  })

  it('INC-4 gives every payment an address and a secret of its own, and the same ones each time it is read', async () => {
    const { wallet, token, send } = await receivingWallet()
    const created: AnswerBody[] = []
    for (let count = 0; count < 5; count++) created.push((await send({ walletAddress: BOB })).body)
    const [addresses, secrets] = [new Set<string>(), new Set<string>()]
    for (const payment of created) {
      const [method] = payment.methods
      addresses.add(method?.ilpAddress ?? '')
      secrets.add(method?.sharedSecret ?? '')
      expect(method?.sharedSecret).toMatch(/^[A-Za-z0-9_-]{43}$/)
      const read = await wallet.send('GET', payment.id, { token })
      expect(read.body.methods).toEqual(payment.methods)
    }
    expect([addresses.size, secrets.size]).toEqual([5, 5])
    const publicly = await wallet.send('GET', created[0]?.id ?? '')
    expect(publicly.text).not.toContain([...secrets][0])
  })

  it.each([
    ['no walletAddress', { walletAddress: undefined }, 'walletAddress: missing'],
    ['a walletAddress that is no text', { walletAddress: 7 }, 'walletAddress: expected string'],
    ['an unknown member', { amount: usd('1') }, 'amount is not a member of this body'],
    ['receivedAmount', { receivedAmount: usd('1') }, 'receivedAmount is not a member of this body'],
    ['completed', { completed: true }, 'completed is not a member of this body'],
    ['id', { id: `${COLLECTION}/${'0'.repeat(32)}` }, 'id is not a member of this body'],
    ['an amount that is no object', { incomingAmount: '1' }, 'incomingAmount: expected Object'],
    ['an amount in a list', { incomingAmount: [usd('1')] }, 'incomingAmount.value: missing'],
    [
      'an amount without a scale',
      { incomingAmount: { value: '1', assetCode: 'USD' } },
      'incomingAmount.assetScale: missing',
    ],
    ['metadata that is no object', { metadata: 'x' }, NO_METADATA],
    ['metadata in a list', { metadata: [] }, NO_METADATA],
  ])('refuses a body with %s', async (_, members, mistake) => {
    const { wallet, send } = await receivingWallet()
    await expectRefusal(wallet, invalidRequest(mistake), () => send({ walletAddress: BOB, ...members }))
  })

  it.each([
    ['', 'a JSON body is required'],
    ['null', 'expected Object'],
    ['[]', 'expected Object'],
    ['"x"', 'expected Object'],
    ['1', 'expected Object'],
    ['{', 'the body is not JSON'],
    ['{}', 'walletAddress: missing'],
    [`{"walletAddress":"${BOB}"`, 'the body is not JSON'],
    [`{"walletAddress":"${BOB}"} x`, 'the body is not JSON'],
  ])('refuses the body %s', async (body, mistake) => {
    const { wallet, token } = await receivingWallet()
    await expectRefusal(wallet, invalidRequest(mistake), () => wallet.send('POST', COLLECTION, { token, body }))
  })

  it('EMB-3 refuses bytes that are not UTF-8, and nesting beyond 32 levels', async () => {
    const { wallet, token } = await receivingWallet()
    const bytes = new TextEncoder().encode(`{"walletAddress":"${BOB}"}`)
    bytes[20] = 0xff
    await expectRefusal(wallet, invalidRequest('the body is not UTF-8'), () =>
      wallet.send('POST', COLLECTION, { token, body: bytes }),
    )
    const deep = `{"walletAddress":"${BOB}","metadata":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
    await expectRefusal(wallet, invalidRequest('the body is nested too deeply'), () =>
      wallet.send('POST', COLLECTION, { token, body: deep }),
    )
  })

  it('T-23 EMB-4 refuses the names of object members as unknown members, and leaves every object alone', async () => {
    const { wallet, token } = await receivingWallet()
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      const body = `{"walletAddress":"${BOB}","${name}":{"polluted":true}}`
      const refusal = invalidRequest(`${name} is not a member of this body`)
      await expectRefusal(wallet, refusal, () => wallet.send('POST', COLLECTION, { token, body }))
    }
    const fine = `{"walletAddress":"${BOB}","metadata":{"__proto__":{"polluted":true},"constructor":{"polluted":true}}}`
    await expectStatus(201, wallet.send('POST', COLLECTION, { token, body: fine }))
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('INC-11 gives metadata back unchanged, an own __proto__ included', async () => {
    const { wallet, token } = await receivingWallet()
    const metadata = `{"__proto__":{"a":1},"constructor":"c","":{"é":"\\ud83d\\ude00","n":[0,-1.5,1e-21,true,null,[],{}]},"__defineGetter__":1}`
    const body = `{"walletAddress":"${BOB}","metadata":${metadata}}`
    const created = await expectStatus(201, wallet.send('POST', COLLECTION, { token, body }))
    const read = await wallet.send('GET', created.body.id, { token })
    const list = await wallet.send('GET', `${COLLECTION}?wallet-address=${BOB}`, { token })
    for (const answer of [created, read, list]) {
      expect(answer.text).toContain(`"metadata":${JSON.stringify(JSON.parse(metadata))}`)
    }
    expect(read.text).toContain('"__proto__":{"a":1}')
  })

  it('INC-11 takes metadata up to 8 KiB and 8 levels', async () => {
    const { wallet, send } = await receivingWallet()
    const sized = (length: number) => ({ walletAddress: BOB, metadata: { a: 'x'.repeat(length - 8) } })
    await expectStatus(201, send(sized(8192)))
    await expectRefusal(wallet, invalidRequest('metadata: too large'), () => send(sized(8193)))
    const nested = (levels: number) => ({
      walletAddress: BOB,
      metadata: JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`),
    })
    await expectStatus(201, send(nested(8)))
    await expectRefusal(wallet, invalidRequest(NO_METADATA), () => send(nested(9)))
  })

  it('refuses an account that cannot receive', async () => {
    const { wallet, send } = await receivingWallet()
    await wallet.ledger.setPermissions('bob', { canSend: true, canReceive: false })
    await expectRefusal(wallet, [403, 'not_allowed', 'not allowed'], () => send({ walletAddress: BOB }))
    await wallet.ledger.setPermissions('bob', { canSend: false, canReceive: true })
    await expectStatus(201, send({ walletAddress: BOB }))
  })

  it('keeps apart two payments that were asked for in one moment with one signature', async () => {
    const { send } = await receivingWallet()
    const created = await Promise.all(Array.from({ length: 20 }, () => send({ walletAddress: BOB })))
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 201))
    expect(new Set(created.map(({ body }) => body.id)).size).toBe(20)
  })
})

describe('an incoming payment over its life', () => {
  it('INC-5 INC-6 INC-9 is completed by the payment that reaches its amount, and gives no way to pay any more', async () => {
    const { wallet, spending, receiving, incoming } = await shop({ incoming: { incomingAmount: usd('10') } })
    const pay = (value: string) =>
      askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd(value) })
    const read = async () => (await wallet.send('GET', incoming.id, { token: receiving })).body
    await expectStatus(201, pay('9'))
    await wallet.openPayments.drain()
    expect(await read()).toMatchObject({ receivedAmount: usd('9'), completed: false, methods: [{ type: 'ilp' }] })
    await expectStatus(201, pay('1'))
    await wallet.openPayments.drain()
    expect(await read()).toMatchObject({ receivedAmount: usd('10'), completed: true, methods: [] })
    await expectRefusal(wallet, ENDED_RECEIVER, () => pay('1'))
    const publicly = await wallet.send('GET', incoming.id)
    expect(publicly.body.receivedAmount).toEqual(usd('10'))
  })

  it('INC-7 takes money to the last millisecond of its life, and none after it', async () => {
    const { wallet, spending, receiving, incoming } = await shop({
      overrides: { settings: { lifetimes: LONG_LIFETIMES } },
      incoming: { incomingAmount: usd('10'), expiresAt: '2026-03-02T00:00:00Z' },
    })
    const pay = () => askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1') })
    wallet.clock.advance(Date.parse('2026-03-02T00:00:00Z') - wallet.clock.now())
    expect(await wallet.openPayments.sweep()).toBe(0)
    await expectStatus(201, pay())
    await wallet.openPayments.drain()
    wallet.clock.advance(1)
    await expectRefusal(wallet, ENDED_RECEIVER, pay)
    await expectRefusal(wallet, ENDED_RECEIVER, () => askQuote(wallet, spending, { receiver: incoming.id }))
    const read = await wallet.send('GET', incoming.id, { token: receiving })
    expect(read.body).toMatchObject({ receivedAmount: usd('1'), completed: false, methods: [] })
    await wallet.openPayments.sweep()
    await expectRefusal(wallet, ENDED_RECEIVER, pay)
    expect((await wallet.send('GET', incoming.id, { token: receiving })).body).toEqual(read.body)
  })

  it('INC-8 two quotes for the same remainder are paid once: what is reserved is not there for the other', async () => {
    const { wallet, spending, incoming } = await shop({ incoming: { incomingAmount: usd('10') } })
    const quotes = [
      await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id })),
      await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id })),
    ]
    await Promise.all(quotes.map(({ body }) => askPayment(wallet, spending, { quoteId: body.id })))
    await wallet.openPayments.drain()
    expect((await wallet.send('GET', incoming.id)).body.receivedAmount).toEqual(usd('10'))
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 10n })
    expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 99_990n, held: 0n })
  })

  it('INC-10 D10 completing is done once, and repeating it changes nothing', async () => {
    const { wallet, receiving, incoming } = await shop({ incoming: { incomingAmount: usd('10') } })
    const complete = () => wallet.send('POST', `${incoming.id}/complete`, { token: receiving })
    const first = await expectStatus(200, complete())
    expect(first.body).toMatchObject({ id: incoming.id, completed: true, receivedAmount: usd('0') })
    expect(first.body).not.toHaveProperty('methods')
    const effects = wallet.effects.length
    expect((await expectStatus(200, complete())).body).toEqual(first.body)
    wallet.clock.advance(1000)
    expect((await expectStatus(200, complete())).body).toEqual(first.body)
    expect(wallet.effects.length).toBe(effects)
    const completions = wallet.events.filter(({ type }) => type === 'incoming_payment.completed')
    expect(completions).toHaveLength(1)
  })

  it('INC-10 many completions at once are one', async () => {
    const { wallet, receiving, incoming } = await shop()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => wallet.send('POST', `${incoming.id}/complete`, { token: receiving })),
    )
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    await wallet.openPayments.drain()
    expect(wallet.events.filter(({ type }) => type === 'incoming_payment.completed')).toHaveLength(1)
  })

  it('INC-10 D10 an expired payment cannot be completed, before and after it was swept; a completed one still is', async () => {
    const { wallet, receiving, incoming } = await shop({
      overrides: { settings: { lifetimes: LONG_LIFETIMES } },
      incoming: { expiresAt: '2026-03-02T00:00:00Z' },
    })
    const done = await createIncoming(wallet, receiving, { expiresAt: '2026-03-02T00:00:00Z' })
    const complete = (id: string) => wallet.send('POST', `${id}/complete`, { token: receiving })
    await expectStatus(200, complete(done.id))
    wallet.clock.advance(DAY)
    await expectRefusal(wallet, WRONG_STATE, () => complete(incoming.id))
    await wallet.openPayments.sweep()
    await expectRefusal(wallet, WRONG_STATE, () => complete(incoming.id))
    await expectStatus(200, complete(done.id))
  })

  it('INC-10 a payment whose quote was made before its receiver completed is refused, and the quote stays unused', async () => {
    const { wallet, spending, receiving, incoming } = await shop()
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('5') })
    await expectStatus(200, wallet.send('POST', `${incoming.id}/complete`, { token: receiving }))
    await expectRefusal(wallet, ENDED_RECEIVER, () => askPayment(wallet, spending, { quoteId: quote.body.id }))
    await expectStatus(200, wallet.send('GET', quote.body.id, { token: spending }))
  })

  it('INC-12 lists without methods what get shows with them', async () => {
    const { wallet, receiving, incoming } = await shop({ incoming: { metadata: { order: 7 } } })
    const list = await wallet.send('GET', `${COLLECTION}?wallet-address=${BOB}`, { token: receiving })
    const { methods: _, ...rest } = incoming
    expect(list.body.result).toEqual([rest])
  })

  it('is the business of its wallet address and client alone', async () => {
    const { wallet, receiving, incoming } = await shop()
    const other = await addClient(wallet, 'other')
    const token = await tokenFor(wallet, RECEIVING_ACCESS, other)
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', incoming.id, { as: other, token }))
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('POST', `${incoming.id}/complete`, { as: other, token }))
    const list = await wallet.send('GET', `${COLLECTION}?wallet-address=${BOB}`, { as: other, token })
    expect(list.body.result).toEqual([])
    const elsewhere = await wallet.send('GET', `${COLLECTION}?wallet-address=${ALICE}`, { token: receiving })
    expect(elsewhere.body.result).toEqual([])
  })
})

describe('who pays and who is paid', () => {
  it('one account may be both, and nothing is lost', async () => {
    const { wallet, spending, receiving } = await shop()
    const mine = await createIncoming(wallet, receiving, { walletAddress: ALICE, incomingAmount: usd('5') })
    await expectStatus(201, askPayment(wallet, spending, { incomingPayment: mine.id, debitAmount: usd('5') }))
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
  })

  it('another client may pay an incoming payment that it cannot read', async () => {
    const { wallet, receiving, incoming } = await shop()
    const other = await addClient(wallet, 'other')
    const token = await tokenFor(wallet, spendingAccess(), other)
    await expectStatus(201, askPayment(wallet, token, { incomingPayment: incoming.id, debitAmount: usd('5') }, other))
    await wallet.openPayments.drain()
    const { body } = await wallet.send('GET', incoming.id, { token: receiving })
    expect(body.receivedAmount).toEqual(usd('5'))
  })
})
