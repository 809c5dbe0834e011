import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { ALICE, BASE, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'

describe('the records of an order that nobody is shown', () => {
  it('are in the order of time by their ids, so that databases add them at one place', async () => {
    const inner = memoryStorage()
    const written = new Map<string, string[]>()
    const storage: Storage = {
      ...inner,
      commit: (changes) => {
        for (const change of changes)
          if (change.action === 'insert' && ['signed-request', 'replay-claim'].includes(change.kind))
            written.set(change.kind, [...(written.get(change.kind) ?? []), change.value.id])
        return inner.commit(changes)
      },
    }
    const wallet = await testWallet({ storage })
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('1') }
    for (let order = 0; order < 20; order++) {
      const { status } = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
      expect(status).toBe(201)
      wallet.clock.advance(1000)
    }
    for (const kind of ['signed-request', 'replay-claim']) {
      const ids = written.get(kind) ?? []
      expect(ids).toHaveLength(20)
      expect(ids.toSorted()).toEqual(ids)
    }
  })
})

describe('a payment whose intent is durable', () => {
  it('is answered 201 though the store fails afterwards, and is paid once by recovery', async () => {
    const inner = memoryStorage()
    let isDown = false
    const fail = async (): Promise<never> => {
      throw new Error('the connection was reset')
    }
    const storage: Storage = {
      get: (keys) => (isDown ? fail() : inner.get(keys)),
      list: (query) => (isDown ? fail() : inner.list(query)),
      due: (...query) => (isDown ? fail() : inner.due(...query)),
      commit: async (changes) => {
        if (isDown) return fail()
        const outcome = await inner.commit(changes)
        if (changes.some(({ action, kind }) => action === 'insert' && kind === 'outgoing-payment')) isDown = true
        return outcome
      },
    }
    const wallet = await testWallet({ storage })
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('1000') }
    const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    expect(created.status).toBe(201)
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 0n })
    isDown = false
    wallet.clock.advance(30_000)
    expect(await wallet.openPayments.recover()).toBeGreaterThan(0)
    const paid = await wallet.send('GET', created.body.id, { token })
    expect(paid.body).toMatchObject({ failed: false, sentAmount: usd('1000') })
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 1000n })
    expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 99_000n, held: 0n })
  })
})
