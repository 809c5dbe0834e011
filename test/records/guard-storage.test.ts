import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/testing/ledger-case.ts'
import { ALICE, BASE, BOB, CLIENT, incomingPayment, testWallet, usdAmount } from '../support/test-wallet.ts'

type CallName = keyof Storage

/** A wallet whose storage answers some calls in a way of its own from a moment on: it is not written in TypeScript. */
async function walletOn(name: CallName, answer: (...given: readonly unknown[]) => unknown) {
  const base = memoryStorage()
  let isStrange = false
  const storage = new Proxy<Storage>(base, {
    get: (target, member) => (isStrange && member === name ? answer : Reflect.get(target, member)),
  })
  const wallet = await testWallet({ storage })
  const created = await incomingPayment(wallet, { expiresAt: new Date(wallet.clock.now() + 1000).toISOString() })
  await wallet.openPayments.drain()
  wallet.events.length = 0
  isStrange = true
  const faults = () => wallet.events.filter((event) => event.type === 'fault')
  return { wallet, created, faults }
}

function throwAtOnce(): never {
  throw new Error('the pool is closed')
}

const STRANGE: readonly [string, (...given: readonly unknown[]) => unknown][] = [
  ['throws at once', throwAtOnce],
  ['answers nothing', async () => undefined],
  ['answers no list', async () => ({ rows: [] })],
]

describe('a storage whose read', () => {
  it.each(STRANGE)('%s is told as one that could not be read, by recover() and sweep()', async (_what, answer) => {
    const { wallet, faults } = await walletOn('due', answer)
    await expect(wallet.openPayments.recover()).rejects.toThrow('the storage could not be read')
    await expect(wallet.openPayments.sweep()).rejects.toThrow('the storage could not be read')
    const cause = expect.any(Error)
    const fault = expect.objectContaining({ message: 'the storage could not be read', cause })
    // One for each kind that they look at: what can be read of one is no reason to leave the next.
    expect(faults()).toEqual(Array.from({ length: 3 + 8 }, () => fault))
  })

  it.each(STRANGE)('%s is told so, and its clients are told to come again', async (_what, answer) => {
    for (const name of ['get', 'list'] as const) {
      const { wallet, created, faults } = await walletOn(name, answer)
      const url =
        name === 'get' ? created.payment.id : `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`
      expect((await wallet.send('GET', url, { token: created.token })).status).toBe(503)
      expect(faults()).toContainEqual(expect.objectContaining({ message: 'the storage could not be read' }))
    }
  })

  it.each([
    ['too few', []],
    ['too many', [undefined, undefined, undefined]],
  ])('answers %s records for its keys is told so: which one is missing is not guessed', async (_what, answer) => {
    const { wallet, created, faults } = await walletOn('get', async () => answer)
    expect((await wallet.send('GET', created.payment.id, { token: created.token })).status).toBe(503)
    expect(faults()).toContainEqual(expect.objectContaining({ message: 'the storage could not be read' }))
  })

  it.each([
    ['rows that are no records', { id: 'x', due_at: 1 }],
    ['places that are empty', undefined],
  ])('answers %s is not taken for one where nothing is due', async (_what, row) => {
    const { wallet, faults } = await walletOn('due', async () => [row])
    await expect(wallet.openPayments.recover()).rejects.toThrow('the storage could not be read')
    expect(faults()).not.toEqual([])
  })
})

it('a storage is asked once for what is due, where so much of it is as was asked for', async () => {
  const base = memoryStorage()
  const asked: number[] = []
  const due: Storage['due'] = (kind, now, limit) => {
    if (kind === 'replay-claim') asked.push(limit)
    return base.due(kind, now, limit)
  }
  const wallet = await testWallet({ storage: { ...base, due } })
  const dueAt = wallet.clock.now()
  const claims = Array.from({ length: 150 }, (_, number) => ({ id: idOf(number), expiresAt: dueAt }))
  for (const value of claims) await base.commit([{ action: 'insert', kind: 'replay-claim', value, dueAt }])
  expect(await wallet.openPayments.sweep()).toBeGreaterThan(0)
  expect(asked).toEqual([100])
})

describe('records that are due and damaged', () => {
  it('leave as much to a run as it has without them, though more is read to look past them', async () => {
    const handle = await openSqlite(':memory:')
    const { clock, openPayments, storage } = await testWallet({ storage: sqliteStorage(handle) })
    const dueAt = clock.now()
    const claims = Array.from({ length: 150 }, (_, number) => ({ id: idOf(number), expiresAt: dueAt }))
    for (const value of claims) await storage.commit([{ action: 'insert', kind: 'replay-claim', value, dueAt }])
    handle.exec(`UPDATE op_replay_claim SET version = 'x' WHERE id = '${idOf(0)}'`)
    const swept = [await openPayments.sweep(), await openPayments.sweep(), await openPayments.sweep()]
    expect(swept).toEqual([100, 49, 0])
  })

  it('keep no other one waiting, however many are in front of it, and the longest due is told of in each run', async () => {
    const handle = await openSqlite(':memory:')
    const base = sqliteStorage(handle)
    const asked: number[] = []
    const get: Storage['get'] = (keys) => {
      asked.push(keys.length)
      return base.get(keys)
    }
    const limits: number[] = []
    const due: Storage['due'] = (kind, at, limit, onUnreadable) => {
      if (kind === 'outgoing-payment') limits.push(limit)
      return base.due(kind, at, limit, onUnreadable)
    }
    const wallet = await testWallet({ storage: { ...base, get, due } })
    const { clock, events, ledger, openPayments, storage } = wallet
    const now = clock.now()
    const [receiver, amount, zero] = [`${BASE}/incoming-payments/${idOf(0)}`, usdAmount(1n), usdAmount(0n)]
    for (let number = 1; number <= 102; number++) {
      const id = idOf(number)
      const counterparty = { kind: 'local', account: 'bob', incomingPayment: idOf(0) } as const
      await ledger.hold({ id, account: 'alice', amount, counterparty })
      const orders = { walletAddress: ALICE, client: CLIENT, receiver, account: 'alice', payeeAccount: 'bob' }
      const sums = { debitAmount: amount, receiveAmount: amount, fee: zero, sentAmount: zero, spendingIds: [] }
      const decided = {
        state: 'decided',
        states: [],
        decision: { action: 'release', reason: 'account_closed' },
      } as const
      const value = { id, ...orders, ...sums, ...decided, createdAt: now, grantId: idOf(0), attempts: 0 }
      await storage.commit([{ action: 'insert', kind: 'outgoing-payment', dueAt: now - 200 + number, value }])
    }
    handle.exec(`UPDATE op_outgoing_payment SET states = '' WHERE id < '${idOf(102)}'`)
    expect(await openPayments.recover()).toBe(1)
    // A whole table may be damaged: each read is of twice as many, or reading past them all would take for ever.
    expect(limits).toEqual([100, 200])
    expect(await ledger.balance('alice')).toMatchObject({ held: 101n })
    expect(await openPayments.recover()).toBe(0)
    const message = 'a record that is due could not be read'
    const cause = {
      message: `the row ${idOf(1)} of op_outgoing_payment holds no outgoing-payment: states holds no JSON, or null`,
    }
    const faults = () => events.filter(({ type }) => type === 'fault')
    expect(faults()).toMatchObject([
      { message, cause },
      { message, cause },
    ])
    // One alone is told of as well.
    handle.exec(`UPDATE op_outgoing_payment SET states = '[]' WHERE id > '${idOf(1)}'`)
    expect(await openPayments.recover()).toBe(100)
    expect(faults().slice(2)).toMatchObject([{ message, cause }])
    // Mended, it goes on.
    handle.exec(`UPDATE op_outgoing_payment SET states = '[]'`)
    expect(await openPayments.recover()).toBe(1)
    expect(await ledger.balance('alice')).toMatchObject({ held: 0n })
    // Not every database takes a read of no keys: none of these payments was charged to a limit.
    expect(asked).not.toContain(0)
  })
})

describe('a commit', () => {
  it('that throws at once is one whose outcome is unknown', async () => {
    const { wallet, faults } = await walletOn('commit', throwAtOnce)
    wallet.clock.advance(2000)
    expect(await wallet.openPayments.sweep()).toBe(0)
    expect(faults()).toMatchObject([
      {
        message: 'a record could not be swept',
        cause: {
          message: expect.stringMatching(/^the commit of incoming-payment \S+ and 1 more failed$/),
          cause: { message: 'the pool is closed' },
        },
      },
    ])
  })
})

describe('whatever else makes a call of a timer reject', () => {
  it.each(['recover', 'sweep'] as const)('is told: %s()', async (name) => {
    const { wallet, faults } = await walletOn('due', async (kind) => [{ kind, version: 1, dueAt: 0 }])
    await expect(wallet.openPayments[name]()).rejects.toThrow(TypeError)
    expect(faults()).toMatchObject([{ message: `${name}() failed`, cause: expect.any(TypeError) }])
  })
})
