import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { lastSegment } from '../support/last-segment.ts'
import {
  ALICE,
  BASE,
  BOB,
  incomingPayment,
  spendingToken,
  type TestWallet,
  testWallet,
  usd,
} from '../support/test-wallet.ts'

/** A wallet whose first read of each request is noted, by kinds; and an order that can be varied. */
async function readWallet() {
  const inner = memoryStorage()
  const reads: string[] = []
  const wallet = await testWallet({
    storage: {
      ...inner,
      get: async (keys) => {
        reads.push(keys.map(({ kind }) => kind).join(' '))
        return inner.get(keys)
      },
    },
  })
  const token = await spendingToken(wallet)
  const { payment: receiver } = await incomingPayment(wallet)
  const firstRead = async (path: string, json: unknown, more: Parameters<TestWallet['send']>[2] = {}) => {
    reads.length = 0
    const { status } = await wallet.send('POST', `${BASE}${path}`, { token, json, ...more })
    return [status, reads[0]]
  }
  return { wallet, token, receiver, reads, firstRead }
}

describe('what a body names', () => {
  it('is read together with the token: the receiver of a quote, the quote and the receiver of an order', async () => {
    const { wallet, token, receiver, firstRead } = await readWallet()
    const quote = { walletAddress: ALICE, receiver: receiver.id, method: 'ilp', debitAmount: usd('10') }
    const both = 'access-token incoming-payment'
    expect(await firstRead('/quotes', quote)).toEqual([201, both])
    const { body } = await wallet.send('POST', `${BASE}/quotes`, { token, json: quote })
    const order = { walletAddress: ALICE, quoteId: body.id }
    expect(await firstRead('/outgoing-payments', order)).toEqual([201, 'access-token quote incoming-payment spending'])
    const direct = { walletAddress: ALICE, incomingPayment: receiver.id, debitAmount: usd('10') }
    expect(await firstRead('/outgoing-payments', direct)).toEqual([201, `${both} spending`])
  })

  it.each([
    ['is on another server', (id: string) => ({ incomingPayment: id.replace('wallet.', 'other.') }), 400],
    ['has no identifier', (id: string) => ({ incomingPayment: `${id}0` }), 400],
    ['is no text', () => ({ incomingPayment: 1 }), 400],
    ['is written in another way', (id: string) => ({ incomingPayment: id.replace('.example/', '.example:443/') }), 201],
    [
      'is a quote at the place of a receiver',
      (id: string) => ({ incomingPayment: id.replace(/in\w+-\w+/, 'quotes') }),
      400,
    ],
    ['stands in a long body', (id: string) => ({ incomingPayment: id, metadata: { note: 'x'.repeat(4096) } }), 201],
  ])('is not read ahead where it %s', async (_, varied, status) => {
    const { receiver, firstRead } = await readWallet()
    const order = { walletAddress: ALICE, debitAmount: usd('10'), ...varied(receiver.id) }
    expect(await firstRead('/outgoing-payments', order)).toEqual([status, 'access-token spending'])
  })

  it('T-38 decides nothing for somebody without a token: whatever the body is, it gets the same 401', async () => {
    const { receiver, firstRead } = await readWallet()
    const order = { walletAddress: ALICE, incomingPayment: receiver.id, debitAmount: usd('10') }
    for (const json of [order, { ...order, incomingPayment: `${receiver.id.slice(0, -1)}x` }, 'no object', null, []])
      expect((await firstRead('/outgoing-payments', json, { token: 'unknown' }))[0]).toBe(401)
    expect(await firstRead('/outgoing-payments', order, { token: '' })).toEqual([401, undefined])
  })
})

describe('the item that a cursor names', () => {
  it.each([
    ['is read together with the token', (id: string) => `cursor=${id}`, 200, 'access-token incoming-payment'],
    ['also in the middle of a query', (id: string) => `first=1&cursor=${id}&x=y`, 200, 'access-token incoming-payment'],
    ['is not read ahead where it is no identifier', (id: string) => `cursor=${id}0`, 400, 'access-token'],
    [
      'is not read ahead where it is written in another way',
      (id: string) => `cursor=%${hexOf(id)}`,
      200,
      'access-token',
    ],
    [
      'is refused where there are two',
      (id: string) => `cursor=${id}&cursor=${id}`,
      400,
      'access-token incoming-payment',
    ],
  ])('%s', async (_, queryOf, status, read) => {
    const { wallet, reads } = await readWallet()
    const { payment, token } = await incomingPayment(wallet)
    const id = lastSegment(payment.id)
    reads.length = 0
    const url = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}&${queryOf(id)}`
    expect((await wallet.send('GET', url, { token })).status).toBe(status)
    expect(reads[0]).toBe(read)
  })
})

/** An id whose first character is given as its code. */
function hexOf(id: string): string {
  return `${id.charCodeAt(0).toString(16)}${id.slice(1)}`
}
