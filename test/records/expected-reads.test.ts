import type { Key, ListQuery } from 'open-payments-server'
import { expect, it } from 'vitest'
import { createExpectedReads, expectSpending } from '../../src/records/expected-reads.ts'

const client = 'https://shop.example/'
const page: ListQuery = {
  kind: 'incoming-payment',
  walletAddress: 'https://bob.example/',
  direction: 'older',
  limit: 1,
}

it('of a token, its client and the spending records that were named last are expected: no more than four', () => {
  const expectedReads = createExpectedReads()
  const spending = (count: number): readonly Key[] =>
    Array.from({ length: count }, (_, index) => ({ kind: 'spending', id: String(index) }))
  const expecting = (id: string, count: number) => {
    const ids = spending(count).map((key) => key.id)
    expectSpending({ expectedReads }, { id, client }, ids)
    return expectedReads.ofTokens.get(id)
  }
  expect(expecting('a', 1)).toEqual({ client, spending: spending(1) })
  expect(expecting('a', 4)).toEqual({ client, spending: spending(4) })
  expect(expecting('a', 5)).toEqual({ client, spending: spending(4) })
  expect(expecting('b', 5)).toBeUndefined()
  expect(expecting('b', 0)).toBeUndefined()
})

it.each([
  ['ofTokens', { client, spending: [] }],
  ['ofQuotes', { kind: 'incoming-payment', id: '1' }],
  ['ofPages', page],
] as const)('the latest 4,096 are remembered, and less than twice as many: %s', (name, value) => {
  const { get, set } = createExpectedReads()[name] as {
    get(name: string): unknown
    set(name: string, value: unknown): void
  }
  const isKnown = (id: number): boolean => get(String(id)) === value
  for (let id = 0; id < 8191; id++) set(String(id), value)
  expect([0, 4095, 4096, 8190].map(isKnown)).toEqual([true, true, true, true])
  set('8191', value)
  expect([0, 4095, 4096, 8191].map(isKnown)).toEqual([false, false, true, true])
})

it('what was set again last is the latest', () => {
  const { get, set } = createExpectedReads().ofQuotes
  const key = (id: string): Key => ({ kind: 'incoming-payment', id })
  for (let id = 0; id < 4096; id++) set(String(id), key('a'))
  set('0', key('b'))
  for (let id = 4096; id < 8191; id++) set(String(id), key('a'))
  expect([get('0'), get('1')]).toEqual([key('b'), undefined])
})
