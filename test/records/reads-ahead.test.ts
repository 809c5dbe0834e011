import type { Key } from 'open-payments-server'
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

it('it remembers the 4,096 records noted last, and no more than four keys for one', () => {
  const reads = createReadsAhead()
  for (let id = 0; id < 4096; id++) reads.note(token(id), spending(4))
  reads.note(token(0), spending(1))
  reads.note(token(4096), spending(5))
  expect(reads.with(token(4096))).toEqual([])
  reads.note(token(4097), [])
  expect([0, 1].map((id) => reads.with(token(id)))).toEqual([spending(1), spending(4)])
  reads.note(token(4098), spending(1))
  expect([0, 1, 2, 4098].map((id) => reads.with(token(id)).length)).toEqual([1, 0, 4, 1])
})
