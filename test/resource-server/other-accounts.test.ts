import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import type { AnswerBody } from '../support/answer-body.ts'
import { keyed } from '../support/keyed.ts'
import {
  ALICE,
  type Answer,
  BASE,
  BOB,
  decideAs,
  OWNER,
  referenceOf,
  requestConsent,
  usd,
  usdAmount,
} from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  createIncoming,
  expectRefusal,
  expectStatus,
  grantFor,
  INSUFFICIENT_GRANT,
  idOf,
  invalidReceiver,
  invalidRequest,
  NOT_FOUND,
  NOTHING_SPENT,
  type ObservedWallet,
  observedWallet,
  type Refusal,
  shop,
  spendingAccess,
  spentOf,
  tokenFor,
  UNKNOWN_QUOTE,
} from './observed-wallet.ts'

// A wallet address that was given to somebody else, against all advice, or a directory that is wrong for a while.

const DORA = { account: 'dora', assetCode: 'USD', assetScale: 2 } as const

async function giveTo(wallet: ObservedWallet, walletAddress: string, account: string): Promise<void> {
  if ((await wallet.ledger.balance(account)) === undefined)
    await wallet.ledger.createAccount({ ...DORA, account, balance: 1000n })
  wallet.directory.set(walletAddress, { ...DORA, account })
}

const faultsOf = ({ events }: ObservedWallet): readonly unknown[] =>
  events.flatMap((event) => (event.type === 'fault' ? [[event.message, String(event.cause)]] : []))

const IDEMPOTENCY_CONFLICT: Refusal = [409, 'idempotency_conflict', 'this Idempotency-Key was used for another request']
const FAULT = 'a wallet address now has a different account'
const DIRECTORY_FAILURES = {
  throws: ['the directory of wallet addresses failed', 'Error: the directory is away'],
  'is late': ['the directory of wallet addresses did not answer in time', 'undefined'],
} as const

const list = (wallet: ObservedWallet, token: string): Promise<Answer> =>
  wallet.send('GET', `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}`, { token })

describe('a token, once its wallet address has another account', () => {
  it('RS-13 spends nothing and shows nothing there, and goes on once the directory is right again', async () => {
    const { wallet, spending, incoming } = await shop()
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('5') }))
    await giveTo(wallet, ALICE, 'dora')
    const direct = { incomingPayment: incoming.id, debitAmount: usd('5') }
    const requests = [
      () => askPayment(wallet, spending, direct),
      () => askPayment(wallet, spending, { quoteId: quote.body.id }),
      () => askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('5') }),
      () => list(wallet, spending),
    ]
    for (const request of requests) await expectRefusal(wallet, INSUFFICIENT_GRANT, request)
    const cause = `Error: ${ALICE}: account "alice" before, "dora" in the directory`
    expect(faultsOf(wallet)).toEqual(requests.map(() => [FAULT, cause]))
    expect(await spentOf(wallet, spending)).toEqual(NOTHING_SPENT)
    expect(await wallet.ledger.balance('dora')).toMatchObject({ total: 1000n })

    await giveTo(wallet, ALICE, 'alice')
    await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 5n })
  })

  it('RS-13 is refused whatever it is rotated to', async () => {
    const wallet = await observedWallet()
    const granted = await grantFor(wallet, [{ type: 'outgoing-payment', actions: ['list'], identifier: ALICE }])
    const { value: token, manage } = granted.body.access_token
    await giveTo(wallet, ALICE, 'dora')
    const rotated = await expectStatus(200, wallet.send('POST', manage, { token }))
    await expectRefusal(wallet, INSUFFICIENT_GRANT, () => list(wallet, rotated.body.access_token.value))
  })

  it('RS-13 sees what was made for its account, and nothing of the next one', async () => {
    const { wallet, receiving } = await shop()
    const access = [{ type: 'outgoing-payment', actions: ['create', 'read-all', 'list-all'], identifier: ALICE }]
    const pay = async (token: string): Promise<string> => {
      const incoming = await createIncoming(wallet, receiving)
      const json = { incomingPayment: incoming.id, debitAmount: usd('5') }
      return (await expectStatus(201, askPayment(wallet, token, json))).body.id
    }
    const tokenOfAlice = await tokenFor(wallet, access)
    const paymentOfAlice = await pay(tokenOfAlice)
    await giveTo(wallet, ALICE, 'dora')
    const tokenOfDora = await tokenFor(wallet, access)
    const paymentOfDora = await pay(tokenOfDora)
    const read = (url: string, token: string): Promise<Answer> => wallet.send('GET', url, { token })
    await expectStatus(200, read(paymentOfAlice, tokenOfAlice))
    await expectStatus(200, read(paymentOfDora, tokenOfDora))
    await expectRefusal(wallet, NOT_FOUND, () => read(paymentOfDora, tokenOfAlice))
    await expectRefusal(wallet, NOT_FOUND, () => read(paymentOfAlice, tokenOfDora))
    const listed = await expectStatus(200, list(wallet, tokenOfDora))
    expect(listed.body.result.map(({ id }: AnswerBody) => id)).toEqual([paymentOfDora])
  })

  it('RS-13 T-38 lists past what it does not show, and tells no id of it', async () => {
    const storage = memoryStorage()
    const limits: number[] = []
    const counted: Storage = {
      ...storage,
      list: (query) => {
        limits.push(query.limit)
        return storage.list(query)
      },
    }
    const { wallet, receiving } = await shop({ overrides: { storage: counted } })
    const access = [{ type: 'outgoing-payment', actions: ['create', 'list'], identifier: ALICE }]
    const pay = async (token: string): Promise<string> => {
      wallet.clock.advance(1000)
      const incoming = await createIncoming(wallet, receiving)
      const json = { incomingPayment: incoming.id, debitAmount: usd('5') }
      return idOf((await expectStatus(201, askPayment(wallet, token, json))).body)
    }
    const tokenOfAlice = await tokenFor(wallet, access)
    const ofAlice = [await pay(tokenOfAlice), await pay(tokenOfAlice), await pay(tokenOfAlice)]
    await giveTo(wallet, ALICE, 'dora')
    const token = await tokenFor(wallet, access)
    const older = await pay(token)
    await giveTo(wallet, ALICE, 'alice')
    ofAlice.push(await pay(tokenOfAlice), await pay(tokenOfAlice), await pay(tokenOfAlice))
    await giveTo(wallet, ALICE, 'dora')
    const newer = await pay(token)
    await giveTo(wallet, ALICE, 'alice')
    ofAlice.push(await pay(tokenOfAlice), await pay(tokenOfAlice))
    await giveTo(wallet, ALICE, 'dora')
    const page = (query: string): Promise<Answer> => {
      const url = `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}&${query}`
      return wallet.send('GET', url, { token })
    }
    const pages = [
      ['first=1', [newer], true, false],
      ['first=2', [newer, older], false, false],
      [`first=1&cursor=${newer}`, [older], false, true],
      [`last=1&cursor=${older}`, [newer], true, false],
    ] as const
    for (const [query, ids, hasNextPage, hasPreviousPage] of pages) {
      const { body, text } = await expectStatus(200, page(query))
      expect(body.result.map(idOf)).toEqual(ids)
      const [startCursor, endCursor] = [ids[0], ids.at(-1)]
      expect(body.pagination).toEqual({ startCursor, endCursor, hasNextPage, hasPreviousPage })
      for (const hidden of ofAlice) expect(text).not.toContain(hidden)
    }
    // However few are asked for, many that are not shown cost few reads: from the second on, each reads a hundred.
    limits.length = 0
    await expectStatus(200, page('first=1'))
    expect(limits).toEqual([2, 100])
    for (const id of ofAlice) await expectRefusal(wallet, invalidRequest('unknown cursor'), () => page(`cursor=${id}`))
    // A page is full, and what was read to see whether more follow is not shown: others behind it are.
    await giveTo(wallet, ALICE, 'alice')
    const url = `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}&first=2`
    const { body } = await expectStatus(200, wallet.send('GET', url, { token: tokenOfAlice }))
    expect(body.result.map(idOf)).toEqual(ofAlice.slice(-2).reverse())
    expect(body.pagination).toMatchObject({ hasNextPage: true, hasPreviousPage: false })
  })

  it('RS-13 OUT-12 repeats no order of the earlier owner under its key', async () => {
    const { wallet, spending, incoming } = await shop()
    const json = { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('5') }
    const order = (token: string, nonce: string): Promise<Answer> =>
      wallet.send('POST', `${BASE}/outgoing-payments`, { ...keyed('order-7'), json, token, nonce })
    const first = await expectStatus(201, order(spending, 'one'))
    await wallet.openPayments.drain()
    await giveTo(wallet, ALICE, 'dora')
    const tokenOfDora = await tokenFor(wallet, spendingAccess())
    await expectRefusal(wallet, IDEMPOTENCY_CONFLICT, () => order(tokenOfDora, 'two'))
    expect((await expectStatus(201, order(spending, 'three'))).text).toBe(first.text)
    expect(await wallet.ledger.balance('dora')).toMatchObject({ total: 1000n })
  })

  it.each([
    ['incoming payment', 'incoming-payments', () => ({ metadata: { order: 'of Alice' } })],
    ['quote', 'quotes', (receiver: string) => ({ receiver, method: 'ilp', debitAmount: usd('5') })],
  ])(
    'RS-13 OUT-12 repeats no %s that was made for the earlier owner under its key',
    async (_what, path, membersFor) => {
      const { wallet, incoming } = await shop()
      const access = [
        { type: 'outgoing-payment', actions: ['list'], identifier: ALICE },
        { type: 'incoming-payment', actions: ['create'], identifier: ALICE },
        { type: 'quote', actions: ['create'] },
      ]
      const json = { walletAddress: ALICE, ...membersFor(incoming.id) }
      const create = (token: string, nonce: string): Promise<Answer> =>
        wallet.send('POST', `${BASE}/${path}`, { ...keyed('order-7'), json, token, nonce })
      const tokenOfAlice = await tokenFor(wallet, access)
      const first = await expectStatus(201, create(tokenOfAlice, 'one'))
      await giveTo(wallet, ALICE, 'dora')
      const tokenOfDora = await tokenFor(wallet, access)
      await expectRefusal(wallet, IDEMPOTENCY_CONFLICT, () => create(tokenOfDora, 'two'))
      expect((await expectStatus(201, create(tokenOfAlice, 'three'))).text).toBe(first.text)
    },
  )

  it('RS-13 T-52 neither reads nor pays by a quote that was made for the earlier one', async () => {
    const { wallet, spending, incoming } = await shop()
    const terms = { receiver: incoming.id, debitAmount: usd('5') }
    const quote = async (token: string): Promise<string> =>
      (await expectStatus(201, askQuote(wallet, token, terms))).body.id
    const quoteOfAlice = await quote(spending)
    await giveTo(wallet, ALICE, 'dora')
    const tokenOfDora = await tokenFor(wallet, spendingAccess())
    const quoteOfDora = await quote(tokenOfDora)
    const read = (url: string, token: string): Promise<Answer> => wallet.send('GET', url, { token })
    await expectRefusal(wallet, NOT_FOUND, () => read(quoteOfAlice, tokenOfDora))
    await expectRefusal(wallet, NOT_FOUND, () => read(quoteOfDora, spending))
    await expectRefusal(wallet, UNKNOWN_QUOTE, () => askPayment(wallet, tokenOfDora, { quoteId: quoteOfAlice }))
    await expectStatus(200, read(quoteOfAlice, spending))
    await expectStatus(200, read(quoteOfDora, tokenOfDora))
    await expectStatus(201, askPayment(wallet, tokenOfDora, { quoteId: quoteOfDora }))
    await giveTo(wallet, ALICE, 'alice')
    await expectStatus(201, askPayment(wallet, spending, { quoteId: quoteOfAlice }))
  })

  it('RS-13 reads the incoming payments of its account, and none of the next one', async () => {
    const { wallet } = await shop()
    const access = [
      { type: 'outgoing-payment', actions: ['list'], identifier: ALICE },
      { type: 'incoming-payment', actions: ['create', 'read-all'], identifier: ALICE },
    ]
    const members = { walletAddress: ALICE }
    const tokenOfAlice = await tokenFor(wallet, access)
    const ofAlice = await createIncoming(wallet, tokenOfAlice, members)
    await giveTo(wallet, ALICE, 'dora')
    const tokenOfDora = await tokenFor(wallet, access)
    const ofDora = await createIncoming(wallet, tokenOfDora, members)
    const read = (payment: AnswerBody, token: string): Promise<Answer> => wallet.send('GET', payment.id, { token })
    await expectStatus(200, read(ofAlice, tokenOfAlice))
    await expectStatus(200, read(ofDora, tokenOfDora))
    await expectRefusal(wallet, NOT_FOUND, () => read(ofDora, tokenOfAlice))
    await expectRefusal(wallet, NOT_FOUND, () => read(ofAlice, tokenOfDora))
  })

  it('RS-13 completes no incoming payment of the next one, and goes on at other wallet addresses', async () => {
    const { wallet, receiving } = await shop()
    const actions = ['create', 'complete', 'read']
    const token = await tokenFor(wallet, [
      { type: 'outgoing-payment', actions: ['list'], identifier: ALICE },
      { type: 'incoming-payment', actions },
      { type: 'incoming-payment', actions, identifier: BOB },
    ])
    const create = (walletAddress: string, by = token): Promise<Answer> =>
      wallet.send('POST', `${BASE}/incoming-payments`, { token: by, json: { walletAddress } })
    await giveTo(wallet, ALICE, 'dora')
    await expectRefusal(wallet, INSUFFICIENT_GRANT, () => create(ALICE))
    // What needs nobody's consent is given for no account.
    const ofDora = await expectStatus(201, create(ALICE, receiving))
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('POST', `${ofDora.body.id}/complete`, { token }))
    await expectStatus(200, wallet.send('POST', `${ofDora.body.id}/complete`, { token: receiving }))
    const ofBob = await expectStatus(201, create(BOB))
    await expectStatus(200, wallet.send('POST', `${ofBob.body.id}/complete`, { token }))
  })
})

describe('a grant', () => {
  it('RS-13 is not given while the directory knows no account that it would be for', async () => {
    const wallet = await observedWallet()
    const access = [{ type: 'outgoing-payment', actions: ['list'], identifier: ALICE }]
    const pending = await requestConsent(wallet, access)
    const opened = await wallet.openPayments.interactions.find(referenceOf(pending), OWNER)
    const csrf = opened.ok ? opened.csrf : ''
    const known = wallet.directory.get(ALICE) ?? DORA
    wallet.directory.delete(ALICE)
    const approver = { ...OWNER, csrf, access: 'all' } as const
    const refused = await wallet.openPayments.interactions.approve(referenceOf(pending), approver)
    expect(refused).toEqual({ ok: false, reason: 'wider_access' })
    wallet.directory.set(ALICE, known)
    expect(await decideAs(wallet, pending)).toBeInstanceOf(URL)
  })
})

describe('an incoming payment, once its wallet address has another account', () => {
  it('INC-13 is not paid, with a quote or without, until the directory is right again', async () => {
    const { wallet, spending, incoming } = await shop()
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('5') }))
    await giveTo(wallet, BOB, 'emil')
    const amounts = { debitAmount: usd('5') }
    for (const request of [
      () => askPayment(wallet, spending, { incomingPayment: incoming.id, ...amounts }),
      () => askPayment(wallet, spending, { quoteId: quote.body.id }),
      () => askQuote(wallet, spending, { receiver: incoming.id, ...amounts }),
    ])
      await expectRefusal(
        wallet,
        invalidReceiver('the wallet address of the receiver now has a different account'),
        request,
      )
    const cause = `Error: ${BOB}: account "bob" before, "emil" in the directory`
    expect(faultsOf(wallet)).toEqual(Array(3).fill([FAULT, cause]))

    await giveTo(wallet, BOB, 'bob')
    await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 5n })
  })

  it('INC-13 counts no money of a rail of the wallet, and the same transfer once it has its own account again', async () => {
    const { wallet, incoming } = await shop()
    const { received } = wallet.openPayments.incomingPayments
    const counted = { ok: true, accepted: 3n, excess: 0n }
    expect(await received(idOf(incoming), usdAmount(3n), 'earlier')).toEqual(counted)
    await giveTo(wallet, BOB, 'emil')
    // No answer, which would be final.
    await expect(received(idOf(incoming), usdAmount(3n), 'later')).rejects.toThrow(FAULT)
    expect(await received(idOf(incoming), usdAmount(3n), 'earlier')).toEqual(counted)
    expect(faultsOf(wallet)).toHaveLength(1)
    await giveTo(wallet, BOB, 'bob')
    expect(await received(idOf(incoming), usdAmount(3n), 'later')).toEqual(counted)
  })

  it.each(['completed', 'expired'] as const)('INC-13 takes nothing anyway, and says so, once it is %s', async (end) => {
    const { wallet, receiving, incoming } = await shop({ incoming: { expiresAt: '2026-03-02T00:00:00Z' } })
    if (end === 'completed') await wallet.send('POST', `${incoming.id}/complete`, { token: receiving })
    else wallet.clock.advance(Date.parse('2026-03-02T00:00:00Z') + 1 - wallet.clock.now())
    await giveTo(wallet, BOB, 'emil')
    const { received } = wallet.openPayments.incomingPayments
    expect(await received(idOf(incoming), usdAmount(3n), 'later')).toEqual({ ok: false, reason: end })
  })

  it.each(['throws', 'is late'] as const)(
    'INC-13 is counted for nobody while the directory %s, and not asked about where it is known',
    async (failure) => {
      const { wallet, receiving } = await shop()
      const { received } = wallet.openPayments.incomingPayments
      const incoming = await createIncoming(wallet, receiving)
      await received(idOf(incoming), usdAmount(3n), 'earlier')
      Object.assign(wallet.directory, {
        get: () => {
          if (failure === 'throws') throw new Error('the directory is away')
          wallet.clock.advance(3_000)
          return new Promise(() => undefined)
        },
      })
      const refused = { name: 'OpenPaymentsError', condition: { status: 503 } }
      await expect(received(idOf(incoming), usdAmount(3n), 'later')).rejects.toMatchObject(refused)
      expect(faultsOf(wallet)).toEqual([DIRECTORY_FAILURES[failure]])
      expect(await received(idOf(incoming), usdAmount(3n), 'earlier')).toMatchObject({ ok: true })
      Reflect.deleteProperty(wallet.directory, 'get')
      expect(await received(idOf(incoming), usdAmount(3n), 'later')).toMatchObject({ ok: true })
      await wallet.openPayments.drain()
      expect((await wallet.send('GET', incoming.id)).body.receivedAmount).toEqual(usd('6'))
    },
  )

  it('INC-13 credits the account that it was paid for', async () => {
    const { wallet, spending, incoming } = await shop()
    await expectStatus(201, askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('5') }))
    await giveTo(wallet, BOB, 'emil')
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 5n })
    expect(await wallet.ledger.balance('emil')).toMatchObject({ total: 1000n })
  })
})
