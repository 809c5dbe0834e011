import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { BASE, BOB, incomingPayment, testWallet } from '../support/test-wallet.ts'

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

  it('answers rows that are no records is not taken for one where nothing is due', async () => {
    const { wallet, faults } = await walletOn('due', async () => [{ id: 'x', due_at: 1 }])
    await expect(wallet.openPayments.recover()).rejects.toThrow('the storage could not be read')
    expect(faults()).not.toEqual([])
  })
})

describe('a commit', () => {
  it('that throws at once is one whose outcome is unknown', async () => {
    const { wallet, faults } = await walletOn('commit', throwAtOnce)
    wallet.clock.advance(2000)
    expect(await wallet.openPayments.sweep()).toBe(0)
    expect(faults()).toMatchObject([
      { message: 'a record could not be swept', cause: { message: 'the pool is closed' } },
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
