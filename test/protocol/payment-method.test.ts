import { describe, expect, it } from 'vitest'
import { isIlpAddress, isIlpPrefix } from '../../src/protocol/payment-method.ts'

describe('the prefix of ILP addresses', () => {
  it.each([
    'g',
    'private',
    'example',
    'peer',
    'self',
    'test',
    'test1',
    'test3',
    'local',
    'test.wallet',
    'g.a-b_c~d.9Z',
  ])('INC-12 can be %s', (text) => expect(isIlpPrefix(text)).toBe(true))

  it.each([
    '',
    'h',
    'test0',
    'test4',
    'testx',
    'xg',
    ' g',
    'g ',
    'g.',
    '.g',
    'g..a',
    'g.a!',
    'g.a b',
    'g.é',
    'G',
    'g.a\n',
  ])('INC-12 cannot be %j', (text) => expect(isIlpPrefix(text)).toBe(false))

  it('INC-12 has 960 characters and not 961', () => {
    expect(isIlpPrefix('g.'.padEnd(960, 'a'))).toBe(true)
    expect(isIlpPrefix('g.'.padEnd(961, 'a'))).toBe(false)
  })
})

describe('an ILP address', () => {
  it.each(['g.a', 'test.wallet.4b1f', 'private.a-b_c~d.9Z', 'g.'.padEnd(1023, 'a')])('is %s', (text) =>
    expect(isIlpAddress(text)).toBe(true),
  )

  it.each(['', 'g', 'h.a', 'g.', 'g..a', 'g.a ', 'g.a\n', 'G.a', 'g.é', 'g.'.padEnd(1024, 'a')])('is not %j', (text) =>
    expect(isIlpAddress(text)).toBe(false),
  )
})
