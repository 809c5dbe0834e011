import type { OperationId } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { violations } from '../support/open-api.ts'
import { ALICE, type Answer, BASE, BOB, usd } from '../support/test-wallet.ts'
import { askPayment, askQuote, createIncoming, expectStatus, shop } from './observed-wallet.ts'

// Invariant 11. Every answer of every test is compared with the published documents as it arrives; here is the proof
// that this comparison knows every operation, and sees what is wrong.

interface Answered {
  readonly operation: OperationId
  readonly answer: Answer
  /** Members that the published schema lets be missing. */
  readonly optional?: readonly string[]
}

async function everyOperation(): Promise<readonly Answered[]> {
  const { wallet, spending, receiving } = await shop()
  const metadata = { order: 7 }
  const incomingAmount = usd('100')
  const incoming = await createIncoming(wallet, receiving, { incomingAmount, metadata })
  const created = await wallet.send('POST', `${BASE}/incoming-payments`, {
    token: receiving,
    json: { walletAddress: BOB, incomingAmount, metadata },
  })
  const quote = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('5') })
  const payment = await askPayment(wallet, spending, { quoteId: quote.body.id, metadata })
  const get = (url: string, token?: string) => wallet.send('GET', url, token === undefined ? {} : { token })
  const listOf = (collection: string, walletAddress: string) =>
    `${BASE}/${collection}?wallet-address=${encodeURIComponent(walletAddress)}`
  const ofIncoming = ['incomingAmount', 'expiresAt', 'metadata']
  const ofList = ['pagination', 'result']
  const ofOutgoing = ['quoteId', 'metadata', 'failed']
  return [
    { operation: 'create-incoming-payment', answer: created, optional: ofIncoming },
    { operation: 'get-incoming-payment', answer: await get(incoming.id, receiving), optional: ofIncoming },
    { operation: 'get-incoming-payment', answer: await get(incoming.id), optional: ['receivedAmount'] },
    {
      operation: 'list-incoming-payments',
      answer: await get(listOf('incoming-payments', BOB), receiving),
      optional: ofList,
    },
    { operation: 'create-quote', answer: quote, optional: ['expiresAt'] },
    { operation: 'get-quote', answer: await get(quote.body.id, spending), optional: ['expiresAt'] },
    {
      operation: 'create-outgoing-payment',
      answer: payment,
      optional: [...ofOutgoing, 'grantSpentDebitAmount', 'grantSpentReceiveAmount'],
    },
    { operation: 'get-outgoing-payment', answer: await get(payment.body.id, spending), optional: ofOutgoing },
    {
      operation: 'list-outgoing-payments',
      answer: await get(listOf('outgoing-payments', ALICE), spending),
      optional: ofList,
    },
    { operation: 'get-outgoing-payment-grant', answer: await get(`${BASE}/outgoing-payment-grant`, spending) },
    {
      operation: 'complete-incoming-payment',
      answer: await wallet.send('POST', `${incoming.id}/complete`, { token: receiving }),
      optional: ofIncoming,
    },
  ]
}

describe('the published documents (invariant 11)', () => {
  it('INC-3 INC-12 OUT-11 have every operation, with the very status and members that are answered', async () => {
    for (const { operation, answer, optional = [] } of await everyOperation()) {
      await expectStatus(operation.startsWith('create-') ? 201 : 200, Promise.resolve(answer))
      const body: Readonly<Record<string, unknown>> = JSON.parse(answer.text ?? '')
      expect(violations(operation, answer.status, body)).toEqual([])
      for (const status of [202, 204, 299]) expect(violations(operation, status, body)).not.toEqual([])
      const needed = Object.keys(body).filter(
        (name) => violations(operation, answer.status, { ...body, [name]: undefined }).length > 0,
      )
      expect([operation, needed.sort()]).toEqual([
        operation,
        Object.keys(body)
          .filter((name) => !optional.includes(name))
          .sort(),
      ])
    }
  })

  it('OUT-11 INC-12 QUO-1 admit no foreign member where they say so', async () => {
    const closed: readonly OperationId[] = [
      'list-incoming-payments',
      'complete-incoming-payment',
      'create-quote',
      'get-quote',
      'get-outgoing-payment',
      'list-outgoing-payments',
    ]
    const answered = await everyOperation()
    for (const name of closed) {
      const one = answered.find(({ operation }) => operation === name)
      const body: { readonly result?: readonly object[] } = JSON.parse(one?.answer.text ?? '')
      const foreign = { grantSpentDebitAmount: usd('1'), methods: [], other: 1 }
      const changed = body.result
        ? { ...body, result: body.result.map((item) => ({ ...item, ...foreign })) }
        : { ...body, ...foreign }
      expect([name, violations(name, 200, changed).length > 0]).toEqual([name, true])
    }
  })
})
