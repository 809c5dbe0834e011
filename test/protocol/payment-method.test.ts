import { describe, expect, it } from 'vitest'
import { isIlpPrefix } from '../../src/protocol/payment-method.ts'

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
