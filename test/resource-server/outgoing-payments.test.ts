import type { Ledger } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { ALICE, addClient, BASE, BOB, testLedger, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  ENDED_RECEIVER,
  EXPIRED_QUOTE,
  expectRefusal,
  expectStatus,
  FILLED_RECEIVER,
  grantFor,
  INVALID_TOKEN,
  idOf,
  invalidRequest,
  NOT_FOUND,
  NOTHING_SPENT,
  OVER_DEBIT_LIMIT,
  OVER_REMAINDER,
  type Shop,
  shop,
  spendingAccess,
  spent,
  spentOf,
  tokenFor,
  UNKNOWN_QUOTE,
  WRONG_ASSET,
  ZERO_AMOUNT,
} from './observed-wallet.ts'

const COLLECTION = `${BASE}/outgoing-payments`

/** A body without a quote; `IN` stands for the receiver. */
const DIRECT = { incomingPayment: 'IN', debitAmount: usd('1') } as const

async function pay(
  { wallet, spending, incoming }: Shop,
  value: string,
  members: Readonly<Record<string, unknown>> = {},
) {
  return askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd(value), ...members })
}

async function outgoingPayments({ wallet, spending }: Shop): Promise<readonly unknown[]> {
  const list = await wallet.send('GET', `${COLLECTION}?wallet-address=${ALICE}`, { token: spending })
  return list.body.result
}

describe('create-outgoing-payment', () => {
  const EITHER = 'give either quoteId, or incomingPayment and debitAmount'

  it.each([
    ['nothing to pay', {}, EITHER],
    ['an incoming payment and no amount', { incomingPayment: 'IN' }, 'debitAmount: missing'],
    ['an amount and no incoming payment', { debitAmount: usd('1') }, EITHER],
    ['a quote and an amount', { quoteId: 'Q', debitAmount: usd('1') }, 'debitAmount is not a member of this body'],
    ['a quote and an incoming payment', { quoteId: 'Q', incomingPayment: 'IN' }, EITHER],
    ['both bodies in one', { quoteId: 'Q', incomingPayment: 'IN', debitAmount: usd('1') }, EITHER],
    ['a receiveAmount', { incomingPayment: 'IN', receiveAmount: usd('1') }, 'debitAmount: missing'],
    ['both amounts', { ...DIRECT, receiveAmount: usd('1') }, 'receiveAmount is not a member of this body'],
    ['a receiver', { ...DIRECT, receiver: 'IN' }, 'receiver is not a member of this body'],
    ['a sentAmount', { ...DIRECT, sentAmount: usd('0') }, 'sentAmount is not a member of this body'],
    ['a client of its choice', { ...DIRECT, client: 'x' }, 'client is not a member of this body'],
    ['a grant of its choice', { ...DIRECT, grantId: 'x' }, 'grantId is not a member of this body'],
    ['an amount that is null', { ...DIRECT, debitAmount: null }, 'debitAmount: expected Object'],
    ['metadata that is too large', { ...DIRECT, metadata: { a: 'x'.repeat(8192) } }, 'metadata: too large'],
    ['no walletAddress', { walletAddress: undefined, quoteId: 'Q' }, 'walletAddress: missing'],
    ['a quote that is null', { quoteId: null }, 'quoteId: expected string'],
    ['a list of quotes', { quoteId: ['Q'] }, 'quoteId: expected string'],
    [
      'metadata that is no object',
      { quoteId: 'Q', metadata: 'x' },
      'metadata: must be an object of at most 8 levels, with no number beyond 2^53 - 1: write larger ones as text',
    ],
  ])('OUT-1 refuses a body with %s', async (_, members, mistake) => {
    const { wallet, spending, incoming } = await shop()
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') })
    const json = JSON.parse(
      JSON.stringify(members).replaceAll('"IN"', `"${incoming.id}"`).replaceAll('"Q"', `"${quote.body.id}"`),
    )
    const removed = 'walletAddress' in members ? { walletAddress: undefined } : {}
    await expectRefusal(wallet, invalidRequest(mistake), () => askPayment(wallet, spending, { ...json, ...removed }))
    await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    await expectStatus(
      201,
      askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1'), metadata: null }),
    )
  })

  it('OUT-1 OUT-10 answers the payment and what the grant has spent with it', async () => {
    const rig = await shop()
    const first = await expectStatus(201, pay(rig, '3', { metadata: { order: 7 } }))
    expect(first.body).toEqual({
      id: expect.stringMatching(/^https:\/\/wallet\.example\/outgoing-payments\/[0-9a-f]{32}$/),
      walletAddress: ALICE,
      failed: false,
      receiver: rig.incoming.id,
      debitAmount: usd('3'),
      receiveAmount: usd('3'),
      sentAmount: usd('0'),
      grantSpentDebitAmount: usd('3'),
      grantSpentReceiveAmount: usd('3'),
      metadata: { order: 7 },
      createdAt: new Date(rig.wallet.clock.now()).toISOString(),
    })
    const second = await expectStatus(201, pay(rig, '4'))
    expect(second.body).toMatchObject({ grantSpentDebitAmount: usd('7'), grantSpentReceiveAmount: usd('7') })
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('7'))
  })

  it('OUT-2 refuses a quote that never was', async () => {
    const { wallet, spending } = await shop()
    await expectRefusal(wallet, UNKNOWN_QUOTE, () =>
      askPayment(wallet, spending, { quoteId: `${BASE}/quotes/${'0'.repeat(32)}` }),
    )
  })

  it.each([
    ['in another asset code', { ...usd('1'), assetCode: 'EUR' }, WRONG_ASSET],
    ['in another scale', { ...usd('1'), assetScale: 0 }, WRONG_ASSET],
    ['of zero', usd('0'), ZERO_AMOUNT],
    ['above what the receiver takes', usd('101'), OVER_REMAINDER],
  ])('OUT-3 refuses a debitAmount %s', async (_, debitAmount, refusal) => {
    const rig = await shop({ incoming: { incomingAmount: usd('100') } })
    await expectRefusal(rig.wallet, refusal, () =>
      askPayment(rig.wallet, rig.spending, { incomingPayment: rig.incoming.id, debitAmount }),
    )
    await expectStatus(201, pay(rig, '100'))
  })

  it('OUT-4 refuses a receiver that is completed, and one that has expired, with a quote or without', async () => {
    for (const end of ['completed', 'expired'] as const) {
      const rig = await shop({ incoming: { expiresAt: '2026-03-01T12:01:00Z' } })
      const { wallet, spending, receiving, incoming } = rig
      const quote = await expectStatus(
        201,
        askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }),
      )
      if (end === 'completed') await wallet.send('POST', `${incoming.id}/complete`, { token: receiving })
      else wallet.clock.advance(60_000)
      await expectRefusal(wallet, ENDED_RECEIVER, () => pay(rig, '1'))
      // The quote ended with its receiver.
      const refusal = end === 'completed' ? ENDED_RECEIVER : EXPIRED_QUOTE
      await expectRefusal(wallet, refusal, () => askPayment(wallet, spending, { quoteId: quote.body.id }))
    }
  })

  it('OUT-4 refuses a quote for more than the receiver takes by now', async () => {
    const rig = await shop({ incoming: { incomingAmount: usd('100') } })
    const quote = await askQuote(rig.wallet, rig.spending, { receiver: rig.incoming.id })
    await expectStatus(201, pay(rig, '1'))
    await rig.wallet.openPayments.drain()
    await expectRefusal(rig.wallet, FILLED_RECEIVER, () =>
      askPayment(rig.wallet, rig.spending, { quoteId: quote.body.id }),
    )
  })

  it('OUT-5 takes quote, budget, payment and replay claim in one commit', async () => {
    const commits: (readonly string[])[] = []
    const rig = await shop({ limits: { debitAmount: usd('100') } })
    const { wallet, spending, incoming } = rig
    const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('10') })
    const commit = wallet.storage.commit
    wallet.storage.commit = (changes) => {
      commits.push(changes.flatMap(({ action, kind }) => (action === 'check' ? [] : [kind])))
      return commit(changes)
    }
    await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    expect([...(commits[0] ?? [])].sort()).toEqual([
      'outgoing-payment',
      'quote',
      'replay-claim',
      'signed-request',
      'spending',
    ])
  })

  it.each(['a quote', 'an incoming payment'])(
    'TOK-4 is refused if its token expires while its terms are read: from %s',
    async (from) => {
      const { wallet, incoming } = await shop()
      const granted = await grantFor(wallet, spendingAccess())
      const { value: token, expires_in: seconds } = granted.body.access_token
      wallet.clock.advance(seconds * 1000 - 1)
      const quote = await askQuote(wallet, token, { receiver: incoming.id, debitAmount: usd('1') })
      const order =
        from === 'a quote' ? { quoteId: quote.body.id } : { incomingPayment: incoming.id, debitAmount: usd('1') }
      const find = wallet.directory.get.bind(wallet.directory)
      wallet.directory.get = (url) => {
        if (url === BOB) wallet.clock.advance(1)
        return find(url)
      }
      await expectRefusal(wallet, INVALID_TOKEN, () => askPayment(wallet, token, order))
    },
  )

  it('OUT-6 holds under the id of the payment, and credits under an id derived from it', async () => {
    const ledger = testLedger()
    const calls: string[] = []
    const watched: Ledger = {
      ...ledger,
      hold: (hold) => {
        calls.push(`hold ${hold.id}`)
        return ledger.hold(hold)
      },
      credit: (credit) => {
        calls.push(`credit ${credit.id}`)
        return ledger.credit(credit)
      },
      settle: (settlement) => {
        calls.push(`settle ${settlement.id}`)
        return ledger.settle(settlement)
      },
    }
    const rig = await shop({ overrides: { ledger: watched } })
    const { body } = await expectStatus(201, pay(rig, '10'))
    await rig.wallet.openPayments.drain()
    const id = idOf(body)
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`credit:${id}`))
    const credit = Buffer.from(digest).toString('hex').slice(0, 32)
    expect(calls).toEqual([`hold ${id}`, `credit ${credit}`, `settle ${id}`])
  })

  it('takes 50 payments of one grant at once, each with an id of its own', async () => {
    const rig = await shop()
    const answers = await Promise.all(Array.from({ length: 50 }, (_, order) => pay(rig, '1', { metadata: { order } })))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(50)
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('50'))
  })
})

describe('an outgoing payment over its life', () => {
  it('OUT-7 OUT-11 shows what was sent in the asset of the debit, and never what the grant has spent', async () => {
    const rig = await shop()
    const { wallet, spending } = rig
    const created = await pay(rig, '10')
    await wallet.openPayments.drain()
    const read = await expectStatus(200, wallet.send('GET', created.body.id, { token: spending }))
    expect(read.body).toMatchObject({ sentAmount: usd('10'), failed: false })
    expect(Object.keys(read.body).sort()).toEqual(
      ['createdAt', 'debitAmount', 'failed', 'id', 'receiveAmount', 'receiver', 'sentAmount', 'walletAddress'].sort(),
    )
    expect(await outgoingPayments(rig)).toEqual([read.body])
  })

  it('OUT-8 OUT-9 a payment that fails has sent nothing, and its budget may be spent again', async () => {
    const rig = await shop({ limits: { debitAmount: usd('10') } })
    const { wallet, spending } = rig
    await wallet.ledger.setPermissions('bob', { canSend: true, canReceive: false })
    const created = await expectStatus(201, pay(rig, '10'))
    expect(created.body).toMatchObject({ grantSpentDebitAmount: usd('10') })
    await wallet.openPayments.drain()
    const read = await wallet.send('GET', created.body.id, { token: spending })
    expect(read.body).toMatchObject({ failed: true, sentAmount: usd('0'), debitAmount: usd('10') })
    expect(await spentOf(wallet, spending)).toEqual(spent('0'))
    expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
    await wallet.ledger.setPermissions('bob', { canSend: true, canReceive: true })
    await expectStatus(201, pay(rig, '10', { metadata: { again: true } }))
    await expectRefusal(wallet, OVER_DEBIT_LIMIT, () => pay(rig, '1'))
  })

  it.each([
    ['no funds', 'insufficient_funds', 'insufficient funds', '100001', undefined],
    ['a closed account', 'account_closed', 'account closed', '1', { canSend: false, canReceive: false }],
    ['an account that may not send', 'not_allowed', 'not allowed', '1', { canSend: false, canReceive: true }],
  ] as const)('D15 %s: 403, and no payment, no used quote and no spending is left behind', async (...row) => {
    const [, code, description, value, permissions] = row
    const rig = await shop({ limits: { debitAmount: usd('100001') } })
    const { wallet, spending, incoming } = rig
    const quote = await expectStatus(
      201,
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd(value) }),
    )
    if (permissions !== undefined) await wallet.ledger.setPermissions('alice', permissions)
    const refused = await askPayment(wallet, spending, { quoteId: quote.body.id })
    expect([refused.status, refused.body.error]).toEqual([403, { code, description }])
    await wallet.openPayments.drain()
    expect(await outgoingPayments(rig)).toEqual([])
    expect(await spentOf(wallet, spending)).toEqual(NOTHING_SPENT)
    expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
    expect((await wallet.send('GET', incoming.id)).body.receivedAmount).toEqual(usd('0'))
    const payments = wallet.effects.flatMap((change) => (change.kind === 'outgoing-payment' ? [change] : []))
    const id = payments[0]?.action === 'insert' ? payments[0].value.id : ''
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', `${COLLECTION}/${id}`, { token: spending }))
    expect(wallet.events.filter(({ type }) => type.startsWith('outgoing_payment'))).toEqual([])

    if (permissions !== undefined) await wallet.ledger.setPermissions('alice', { canSend: true, canReceive: true })
    else await addMoney(rig)
    wallet.clock.advance(1000)
    const again = await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    expect(again.body).toMatchObject({ grantSpentDebitAmount: usd(value) })
  })

  it('D15 without a quote: the same refusal, and the whole budget is there again', async () => {
    const rig = await shop({ limits: { debitAmount: usd('100001') } })
    const refused = await pay(rig, '100001')
    expect(refused.body.error).toEqual({ code: 'insufficient_funds', description: 'insufficient funds' })
    expect(await outgoingPayments(rig)).toEqual([])
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(NOTHING_SPENT)
    await addMoney(rig)
    await expectStatus(201, pay(rig, '100001', { metadata: { again: true } }))
  })

  it('D15 of payments that race for the last of the balance the rest is refused, and the sum is right', async () => {
    const rig = await shop()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, order) => pay(rig, '30000', { metadata: { order } })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    const codes = new Set(answers.filter(({ status }) => status !== 201).map(({ body }) => body.error.code))
    expect([...codes]).toEqual(['insufficient_funds'])
    await rig.wallet.openPayments.drain()
    expect(await outgoingPayments(rig)).toHaveLength(3)
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('90000'))
    expect(await rig.wallet.ledger.balance('bob')).toMatchObject({ total: 90_000n })
    expect(await rig.wallet.ledger.balance('alice')).toMatchObject({ total: 10_000n, held: 0n })
  })

  it('RS-6 is read and listed by its own client alone', async () => {
    const rig = await shop()
    const { wallet, spending } = rig
    const created = await pay(rig, '1')
    const other = await addClient(wallet, 'other')
    const token = await tokenFor(wallet, spendingAccess(), other)
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', created.body.id, { as: other, token }))
    const list = await wallet.send('GET', `${COLLECTION}?wallet-address=${ALICE}`, { as: other, token })
    expect(list.body.result).toEqual([])
    await expectStatus(200, wallet.send('GET', created.body.id, { token: spending }))
  })

  it('RS-6 is read by another grant of the same client on the same wallet address', async () => {
    const rig = await shop()
    const created = await pay(rig, '1')
    const second = await tokenFor(rig.wallet, spendingAccess())
    await expectStatus(200, rig.wallet.send('GET', created.body.id, { token: second }))
  })
})

async function addMoney({ wallet }: Shop): Promise<void> {
  const result = await wallet.ledger.credit({
    id: 'f'.repeat(32),
    account: 'alice',
    amount: { value: 1n, assetCode: 'USD', assetScale: 2 },
    counterparty: { kind: 'rail', method: 'card', address: 'top-up' },
  })
  expect(result).toEqual({ ok: true })
}
