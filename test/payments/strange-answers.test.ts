import type { Ledger, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { describe, expect, it } from 'vitest'
import {
  ALICE,
  BASE,
  incomingPayment,
  requestConsent,
  spendingToken,
  testLedger,
  testWallet,
  usd,
} from '../support/test-wallet.ts'

// What a ledger written without types might say instead of an answer, after it has done the work.
const NO_ANSWERS: readonly unknown[] = ['ok', true, {}, undefined, null, { ok: 'yes' }, { ok: false, reason: 'later' }]

describe('a ledger that answers what is no answer', () => {
  it.each(['hold', 'credit', 'settle'] as const)(
    'is asked again after %s, and nothing is decided on it',
    async (name) => {
      for (const strange of NO_ANSWERS) {
        const books = testLedger()
        let isStrange = true
        const ledger = new Proxy<Ledger>(books, {
          get: (target, member) => {
            const call = Reflect.get(target, member)
            if (member !== name) return call
            return async (request: unknown) => {
              const answer = await call.call(target, request)
              return isStrange ? strange : answer
            }
          },
        })
        const wallet = await testWallet({ ledger })
        const { payment } = await incomingPayment(wallet)
        const token = await spendingToken(wallet)
        const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('1000') }
        const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
        expect(created.status).toBe(201)
        await wallet.openPayments.drain()
        expect(wallet.events).toContainEqual(
          expect.objectContaining({ type: 'fault', message: 'the ledger gave an invalid answer' }),
        )
        expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'payment_stalled' }))
        isStrange = false
        wallet.clock.advance(3_600_000)
        await wallet.openPayments.recover()
        expect(await books.balance('alice')).toMatchObject({ total: 99_000n, held: 0n })
        expect(await books.balance('bob')).toMatchObject({ total: 1000n })
        expect(await books.totals()).toEqual([
          { value: 100_000n, assetCode: 'USD', assetScale: 2 },
          { value: 0n, assetCode: 'EUR', assetScale: 4 },
        ])
      }
    },
  )
})

describe('a ledger that writes into what it is asked', () => {
  // To send a bigint as JSON, one may write its text in its place; to count down what is left to book, zero.
  it.each(['1000', 0n] as const)('changes no payment: %s', async (written) => {
    const books = testLedger()
    const ledger = new Proxy<Ledger>(books, {
      get: (target, member) => {
        const call = Reflect.get(target, member)
        if (!['hold', 'credit', 'settle'].includes(String(member))) return call
        return async (request: { amount: object }) => {
          const answer = call.call(target, structuredClone(request))
          Object.assign(request.amount, { value: written })
          return answer
        }
      },
    })
    const wallet = await testWallet({ ledger, storage: sqliteStorage(await openSqlite(':memory:')) })
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('1000') }
    const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    expect(created.body.debitAmount).toEqual(usd('1000'))
    await wallet.openPayments.drain()
    expect((await wallet.send('GET', created.body.id, { token })).body).toMatchObject({
      debitAmount: usd('1000'),
      receiveAmount: usd('1000'),
      sentAmount: usd('1000'),
    })
    expect(await books.balance('alice')).toMatchObject({ total: 99_000n, held: 0n })
    expect(await books.balance('bob')).toMatchObject({ total: 1000n })
    expect(wallet.events).not.toContainEqual(expect.objectContaining({ type: 'fault' }))
  })
})

describe('a ledger that answers `account` with what is no account', () => {
  const ALLOWED = { assetCode: 'USD', assetScale: 2, canSend: true, canReceive: true }
  it.each<readonly [mistake: string, answer: unknown]>([
    ['is not an object', 'ok'],
    ['is not an object', true],
    ['is not an object', 0],
    ['canSend and canReceive must be true or false', {}],
    ['assetCode must be a string of 1 to 12 visible ASCII characters, not 840', { ...ALLOWED, assetCode: 840 }],
    ['assetScale must be an integer from 0 to 255, not "2"', { ...ALLOWED, assetScale: '2' }],
    ['canSend and canReceive must be true or false', { ...ALLOWED, canSend: undefined }],
    ['canSend and canReceive must be true or false', { ...ALLOWED, canSend: 1 }],
    ['canSend and canReceive must be true or false', { ...ALLOWED, canReceive: 'no' }],
  ])('is told that "%s", and nothing is decided on it: %j', async (mistake, strange) => {
    const books = testLedger()
    let isStrange = false
    const ledger = new Proxy<Ledger>(books, {
      get: (target, member) => (member === 'account' && isStrange ? async () => strange : Reflect.get(target, member)),
    })
    const wallet = await testWallet({ ledger })
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    isStrange = true
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('1000') }
    const order = () => wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    expect((await order()).status).toBe(500)
    expect(wallet.events).toContainEqual(
      expect.objectContaining({
        type: 'fault',
        message: 'the ledger gave an invalid answer',
        cause: new TypeError(`account('alice'): ${mistake}`),
        call: 'account',
        callId: 'alice',
      }),
    )
    isStrange = false
    wallet.clock.advance(1000)
    expect((await order()).status).toBe(201)
  })
})

describe('a ledger that refuses a settlement, which it may not', () => {
  it('is asked again after the credit, and the payment does not end before it has settled', async () => {
    const books = testLedger()
    let refuses = true
    const ledger = new Proxy<Ledger>(books, {
      get: (target, member) =>
        member === 'settle' && refuses
          ? async () => ({ ok: false, reason: 'account_closed' })
          : Reflect.get(target, member),
    })
    const wallet = await testWallet({ ledger })
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('1000') }
    const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    expect(created.status).toBe(201)
    await wallet.openPayments.drain()
    expect(wallet.events).toContainEqual(
      expect.objectContaining({
        type: 'payment_stalled',
        state: 'decided',
        reason: 'the ledger refuses what was decided: account_closed',
      }),
    )
    expect(wallet.events).not.toContainEqual(expect.objectContaining({ type: 'outgoing_payment.completed' }))
    expect(await books.balance('alice')).toMatchObject({ total: 100_000n, held: 1000n })
    const sent = async () => (await wallet.send('GET', created.body.id, { token })).body
    expect(await sent()).toMatchObject({ failed: false, sentAmount: usd('0') })
    refuses = false
    wallet.clock.advance(60_000)
    await wallet.openPayments.recover()
    await wallet.openPayments.drain()
    expect(await sent()).toMatchObject({ failed: false, sentAmount: usd('1000') })
    expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'outgoing_payment.completed' }))
    expect(await books.balance('alice')).toMatchObject({ total: 99_000n, held: 0n })
    expect(await books.balance('bob')).toMatchObject({ total: 1000n })
  })
})

describe('a storage that answers a commit with what is no answer', () => {
  it('makes a fault of each in sweep(), which ends', async () => {
    const storage = memoryStorage()
    let strangeAnswers = 0
    const commit: Storage['commit'] = async (changes) => {
      if (strangeAnswers === 0) return storage.commit(changes)
      if (--strangeAnswers === 0) throw new Error('asked again and again')
      return { conflicts: [] }
    }
    const wallet = await testWallet({ storage: { ...storage, commit } })
    await requestConsent(wallet, [{ type: 'outgoing-payment', actions: ['create'], identifier: ALICE }])
    wallet.clock.advance(2 * 24 * 3_600_000)
    strangeAnswers = 20
    expect(await wallet.openPayments.sweep()).toBe(0)
    const fault = {
      message: 'a record could not be swept',
      cause: {
        message: expect.stringMatching(/^the commit of (?:interaction|grant) \S+ failed$/),
        cause: { message: 'the storage answered a commit with neither `committed` nor a conflict' },
      },
    }
    // Of the interaction, which is deleted, and of the grant, which is ended.
    expect(wallet.events.filter(({ type }) => type === 'fault')).toMatchObject([fault, fault])
  })
})
