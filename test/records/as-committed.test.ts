import { describe, expect, it } from 'vitest'
import type { StoredRecord } from '../../src/ports/storage.ts'
import { asCommitted, isWrittenBy, type Write } from '../../src/records/as-committed.ts'

const receipt = {
  id: 'receipt',
  incomingPaymentId: 'incoming',
  state: 'reserved',
  amount: { value: 5n, assetCode: 'USD', assetScale: 2 },
  createdAt: 1,
} as const

// A worker's claim: it moves the moment at which the record is due, and nothing else.
const claim: Write = { action: 'replace', kind: 'receipt', value: receipt, version: 3, dueAt: 9, isListed: true }

function left(members: Partial<StoredRecord<'receipt'>> = {}): StoredRecord<'receipt'> {
  return { kind: 'receipt', version: 4, value: { ...receipt }, dueAt: 9, isListed: true, ...members }
}

// Whether a commit of which there is no answer has happened is decided by this: a worker that took another's
// claim for its own would work on the payment beside it.
describe('a record that a write would have left', () => {
  it('is recognised', () => expect(isWrittenBy(left(), claim)).toBe(true))

  it.each([
    ['at the version before', left({ version: 3 })],
    ['at a later version', left({ version: 5 })],
    ['due at another moment, as another worker has claimed it', left({ dueAt: 10 })],
    ['due at no moment', { kind: 'receipt', version: 4, value: receipt, isListed: true } as const],
    ['not listed', left({ isListed: false })],
    ['with another value', left({ value: { ...receipt, state: 'credited' } })],
    ['with another value of a part', left({ value: { ...receipt, amount: { ...receipt.amount, value: 6n } } })],
    ['with one member more', left({ value: { ...receipt, excess: 0n } })],
  ])('is not a record %s', (_, record) => expect(isWrittenBy(record, claim)).toBe(false))

  it('has no member less', () =>
    expect(isWrittenBy(left(), { ...claim, value: { ...receipt, excess: 0n } })).toBe(false))

  it.each([
    ['left', true, false],
    ['written', false, true],
    ['left and written', true, true],
  ])('has no member where undefined was %s: not every storage keeps one', (_, isLeft, isWritten) => {
    // The types allow none.
    const holding: object = { excess: undefined }
    const holdingIf = (isHolding: boolean) => ({ ...receipt, ...(isHolding && holding) })
    expect(isWrittenBy(left({ value: holdingIf(isLeft) }), { ...claim, value: holdingIf(isWritten) })).toBe(true)
  })

  it('that is not listed may say so', () => {
    const { isListed: _, ...unlisted } = claim
    expect(isWrittenBy(left({ isListed: false }), unlisted)).toBe(true)
  })

  it('OUT-12 INC-5 that is inserted at a version of its own has that one', () => {
    const insert: Write = { action: 'insert', kind: 'receipt', value: receipt, version: 7 }
    expect(asCommitted(insert)).toEqual({ kind: 'receipt', value: receipt, version: 7 })
    const record = { kind: 'receipt', value: receipt } as const
    expect([1, 7, 8].map((version) => isWrittenBy({ ...record, version }, insert))).toEqual([false, true, false])
  })

  it('that is inserted has the first version', () => {
    const insert: Write = { action: 'insert', kind: 'receipt', value: receipt }
    expect(asCommitted(insert)).toEqual({ kind: 'receipt', value: receipt, version: 1 })
    expect(isWrittenBy({ kind: 'receipt', value: receipt, version: 1 }, insert)).toBe(true)
    expect(isWrittenBy({ kind: 'receipt', value: receipt, version: 2 }, insert)).toBe(false)
  })
})
