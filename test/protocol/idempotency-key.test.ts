import { describe, expect, it } from 'vitest'
import { idempotencyKeyInput, parseIdempotencyKey } from '../../src/protocol/idempotency-key.ts'

describe('idempotency keys', () => {
  it.each([
    [['k'], 'k'],
    [[' order-1\t'], 'order-1'],
    [['!~"'], '!~"'],
    [['k'.repeat(256)], 'k'.repeat(256)],
  ])('OUT-12 reads %j', (lines, key) => expect(parseIdempotencyKey(lines)).toBe(key))

  it.each([[[]], [['']], [[' ']], [['a b']], [['a, a']], [['a', 'a']], [['é']], [['a\u0000b']], [['k'.repeat(257)]]])(
    'OUT-12 refuses %j',
    (lines) => expect(parseIdempotencyKey(lines)).toBeUndefined(),
  )

  it('OUT-12 belong to one client and one operation', () => {
    const input = idempotencyKeyInput('create-outgoing-payment', 'https://client.example/pay', 'k')
    expect(input).toBe('create-outgoing-payment\nhttps://client.example/pay\nk')
  })
})
