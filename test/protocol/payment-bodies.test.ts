import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { amountOf } from '../../src/protocol/amount.ts'
import {
  CreateOutgoingPayment,
  type OutgoingPayment,
  outgoingPaymentToWire,
} from '../../src/protocol/outgoing-payment.ts'
import { CreateQuote, type Quote, quoteToWire } from '../../src/protocol/quote.ts'

const usd = { assetCode: 'USD', assetScale: 2 }
const walletAddress = 'https://wallet.example/alice'
const receiver = 'https://other.example/incoming-payments/1'
const amount = { value: '100', ...usd }

describe('the body of POST /quotes', () => {
  const body = { walletAddress, receiver, method: 'ilp' }

  it.each([
    [body, {}],
    [{ ...body, debitAmount: amount }, { debitAmount: amountOf(usd, 100n) }],
    [{ ...body, receiveAmount: amount }, { receiveAmount: amountOf(usd, 100n) }],
  ])('QUO-1 is one of three: %#', (given, amounts) =>
    expect(v.parse(CreateQuote, given)).toEqual({ ...body, ...amounts }),
  )

  it.each([
    { ...body, debitAmount: amount, receiveAmount: amount },
    { ...body, debitAmount: null },
    { ...body, method: 'card' },
    { ...body, extra: 1 },
    { walletAddress, method: 'ilp' },
    { receiver, method: 'ilp' },
    { walletAddress, receiver },
    { ...body, receiver: 'x'.repeat(2049) },
  ])('QUO-1 is refused: %#', (given) => expect(v.is(CreateQuote, given)).toBe(false))
})

describe('the body of POST /outgoing-payments', () => {
  const fromQuote = { walletAddress, quoteId: 'https://wallet.example/quotes/1' }
  const fromIncomingPayment = { walletAddress, incomingPayment: receiver, debitAmount: amount }

  it('OUT-1 is one of two', () => {
    expect(v.parse(CreateOutgoingPayment, { ...fromQuote, metadata: { a: 1 } })).toEqual({
      ...fromQuote,
      metadata: { a: 1 },
    })
    expect(v.parse(CreateOutgoingPayment, fromIncomingPayment)).toEqual({
      ...fromIncomingPayment,
      debitAmount: amountOf(usd, 100n),
    })
  })

  it.each([
    { ...fromQuote, ...fromIncomingPayment },
    { ...fromQuote, debitAmount: amount },
    { ...fromQuote, extra: 1 },
    { ...fromQuote, metadata: 'x' },
    { walletAddress },
    { walletAddress, incomingPayment: receiver },
    { walletAddress, debitAmount: amount },
    { quoteId: fromQuote.quoteId },
  ])('OUT-1 is refused: %#', (given) => expect(v.is(CreateOutgoingPayment, given)).toBe(false))
})

describe('the JSON forms', () => {
  const base = { id: '1', walletAddress, client: 'https://client.example/pay', createdAt: 0, receiver }
  const amounts = { debitAmount: amountOf(usd, 100n), receiveAmount: amountOf(usd, 99n), fee: amountOf(usd, 1n) }
  const wireAmounts = { debitAmount: { value: '100', ...usd }, receiveAmount: { value: '99', ...usd } }

  it('QUO-5 QUO-6 of a quote holds its frozen amounts and its expiry', () => {
    const quote: Quote = {
      ...base,
      ...amounts,
      account: 'alice',
      state: 'used',
      expiresAt: 1000,
      outgoingPaymentId: '2',
    }
    expect(quoteToWire(quote, 'https://wallet.example/quotes/1')).toEqual({
      id: 'https://wallet.example/quotes/1',
      walletAddress,
      receiver,
      ...wireAmounts,
      method: 'ilp',
      expiresAt: '1970-01-01T00:00:01.000Z',
      createdAt: '1970-01-01T00:00:00.000Z',
    })
  })

  const payment: OutgoingPayment = {
    ...base,
    ...amounts,
    state: 'sending',
    states: [{ state: 'created', at: 0 }],
    sentAmount: amountOf(usd, 0n),
    account: 'a',
    incomingPaymentId: 'i',
    payeeAccount: 'b',
    grantId: 'g',
    spendingIds: ['g:0:life'],
    attempts: 0,
  }
  const wire = {
    id: 'https://wallet.example/outgoing-payments/1',
    walletAddress,
    failed: false,
    receiver,
    ...wireAmounts,
    sentAmount: { value: '0', ...usd },
    createdAt: '1970-01-01T00:00:00.000Z',
  }

  it('OUT-11 of an outgoing payment holds no spent amounts, no account and no grant', () => {
    expect(outgoingPaymentToWire(payment, wire.id)).toStrictEqual(wire)
  })

  it('OUT-8 of an outgoing payment names its quote, its metadata and its failure', () => {
    const failed: OutgoingPayment = { ...payment, state: 'failed', metadata: { a: 1 } }
    const quoteId = 'https://wallet.example/quotes/1'
    expect(outgoingPaymentToWire(failed, wire.id, quoteId)).toEqual({
      ...wire,
      failed: true,
      metadata: { a: 1 },
      quoteId,
    })
  })
})
