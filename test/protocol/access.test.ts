import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { Access, type Action, allowsAction, coversWalletAddress } from '../../src/protocol/access.ts'
import { Limits } from '../../src/protocol/limits.ts'

const alice = 'https://wallet.example/alice'
const usd = { assetCode: 'USD', assetScale: 2 }
const debitAmount = { value: '500', ...usd }
const limits = {
  receiver: 'https://other.example/incoming-payments/1',
  interval: 'R12/2019-08-24T14:15:22Z/P1M',
  debitAmount,
}
const incoming = { type: 'incoming-payment', actions: ['create'], identifier: alice } as const
const quote = { type: 'quote', actions: ['create'] } as const
const outgoing = { type: 'outgoing-payment', actions: ['create', 'read'], identifier: alice, limits } as const

function without(object: Readonly<Record<string, unknown>>, member: string): unknown {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== member))
}

describe('access entries', () => {
  it.each([
    incoming,
    without(incoming, 'identifier'),
    { ...incoming, actions: ['create', 'complete', 'read', 'read-all', 'list', 'list-all'] },
    quote,
    { ...quote, actions: ['create', 'read', 'read-all'] },
    outgoing,
    without(outgoing, 'limits'),
    { ...outgoing, limits: {} },
    { ...outgoing, actions: ['create', 'read', 'read-all', 'list', 'list-all'] },
  ])('GRT-3 are read as they were sent: %j', (entry) => expect(v.parse(Access, entry)).toEqual(entry))

  it.each([
    { ...incoming, type: 'incoming' },
    { ...incoming, actions: [] },
    { ...incoming, actions: ['create', 'create'] },
    { ...incoming, actions: ['delete'] },
    { ...incoming, actions: 'create' },
    without(incoming, 'type'),
    without(incoming, 'actions'),
    { ...quote, actions: ['list'] },
    { ...quote, actions: ['complete'] },
    { ...outgoing, actions: ['complete'] },
  ])('GRT-4 are refused: %j', (entry) => expect(v.is(Access, entry)).toBe(false))

  it.each([
    { ...incoming, limits },
    { ...incoming, extra: 1 },
    { ...incoming, identifier: null },
    { ...incoming, identifier: 'x'.repeat(2049) },
    { ...quote, identifier: alice },
    { ...quote, limits },
    without(outgoing, 'identifier'),
    { ...outgoing, extra: 1 },
    { ...outgoing, limits: { ...limits, extra: 1 } },
  ])('GRT-3 GRT-14 name no member beyond their type and lack none of it: %#', (entry) =>
    expect(v.is(Access, entry)).toBe(false),
  )
})

describe('limits', () => {
  it.each([
    {},
    limits,
    { interval: limits.interval },
    { receiver: limits.receiver },
    { debitAmount },
    { receiveAmount: debitAmount },
  ])('GRT-10 accepts %j', (given) => expect(v.parse(Limits, given)).toEqual(given))

  it('GRT-10 allows one amount only, and says so', () => {
    const parsed = v.safeParse(Limits, { ...limits, receiveAmount: debitAmount })
    expect(parsed.issues?.map(({ message }) => message)).toEqual(['only one access amount allowed'])
  })

  it.each([
    { receiver: 'https://other.example/quotes/1' },
    { receiver: 'other.example' },
    { interval: 'P1M' },
    { interval: 'R/2025-01-01/PT0S' },
    { debitAmount: { ...debitAmount, value: '-1' } },
    { debitAmount: { ...debitAmount, value: 500 } },
    { receiveAmount: { ...debitAmount, value: '18446744073709551616' } },
    { debitAmount: null },
  ])('GRT-10 refuses %j', (given) => expect(v.is(Limits, given)).toBe(false))

  it('AMT-6 drops members that an amount does not have', () => {
    expect(v.parse(Limits, { debitAmount: { ...debitAmount, note: 'x' } })).toEqual({ debitAmount })
  })
})

describe('what a right allows', () => {
  const implied: Readonly<Record<string, readonly Action[]>> = {
    create: ['create'],
    complete: ['complete'],
    read: ['read'],
    'read-all': ['read', 'read-all'],
    list: ['list'],
    'list-all': ['list', 'list-all'],
  }
  const all: readonly Action[] = ['create', 'complete', 'read', 'read-all', 'list', 'list-all']

  it.each(all)('RS-6 RS-7 %s allows itself, its narrower form, and nothing else', (held) => {
    const allowed = all.filter((action) => allowsAction({ type: 'incoming-payment', actions: [held] }, action))
    expect(allowed).toEqual(implied[held])
  })

  it('RS-4 RS-5 covers the wallet address that it names, or all where it names none', () => {
    expect(coversWalletAddress(incoming, alice)).toBe(true)
    expect(coversWalletAddress(incoming, `${alice}/`)).toBe(false)
    expect(coversWalletAddress(outgoing, 'https://wallet.example/bob')).toBe(false)
    expect(coversWalletAddress({ type: 'incoming-payment', actions: ['read'] }, alice)).toBe(true)
    expect(coversWalletAddress(quote, alice)).toBe(true)
  })
})
