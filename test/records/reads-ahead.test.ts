import type { Key, ListQuery } from 'open-payments-server'
import { expect, it } from 'vitest'
import { createReadsAhead } from '../../src/records/reads-ahead.ts'

const token = (id: number): Key => ({ kind: 'access-token', id: String(id) })
const spending = (count: number): readonly Key[] =>
  Array.from({ length: count }, (_, index) => ({ kind: 'spending', id: String(index) }))

it('what is read with a record is what was noted last', () => {
  const reads = createReadsAhead()
  expect(reads.with(token(1))).toEqual([])
  reads.note(token(1), spending(1))
  reads.note(token(1), spending(2))
  expect(reads.with(token(1))).toEqual(spending(2))
  expect(reads.with({ kind: 'quote', id: '1' })).toEqual([])
})

it('the client of a token is known for as long as what is read with it', () => {
  const reads = createReadsAhead()
  const client = 'https://shop.example/'
  reads.note(token(1), spending(1), client)
  reads.note(token(2), spending(1))
  reads.note(token(3), [], client)
  expect([1, 2, 3, 4].map((id) => reads.clientOf(token(id)))).toEqual([client, undefined, undefined, undefined])
})

it('the 4,096 records noted last are remembered, less than twice as many, and no more than four keys for one', () => {
  const reads = createReadsAhead()
  const count = (id: number): number => reads.with(token(id)).length
  for (let id = 0; id < 4096; id++) reads.note(token(id), spending(4))
  reads.note(token(0), spending(1))
  for (let id = 4096; id < 4096 + 4094; id++) reads.note(token(id), spending(2))
  expect([0, 1, 8189].map(count)).toEqual([1, 4, 2])
  reads.note(token(8190), spending(5))
  reads.note(token(8191), [])
  expect([1, 8190, 8191].map(count)).toEqual([4, 0, 0])
  reads.note(token(8192), spending(3))
  expect([0, 1, 4096, 8189, 8192].map(count)).toEqual([1, 0, 2, 2, 3])
})

it('the 4,096 pages noted last are remembered, and less than twice as many', () => {
  const reads = createReadsAhead()
  const page: ListQuery = {
    kind: 'incoming-payment',
    walletAddress: 'https://bob.example/',
    direction: 'older',
    limit: 1,
  }
  const isKnown = (id: number): boolean => reads.pageOf(token(id), '/') === page
  for (let id = 0; id < 8191; id++) reads.notePage(token(id), '/', page)
  expect([0, 4095, 4096, 8190].map(isKnown)).toEqual([true, true, true, true])
  reads.notePage(token(8191), '/', page)
  expect([0, 4095, 4096, 8191].map(isKnown)).toEqual([false, false, true, true])
})
