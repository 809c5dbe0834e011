import { describe, expect, it } from 'vitest'
import { inOrderOfTime, isIdentifier, isLedgerId, isTimeOfIds, timeDigitsOf } from '../../src/protocol/identifiers.ts'

describe('points in time in ids', () => {
  it('are as long as each other, and in their own order', () => {
    const moments = [0, 1, 15, 16, 0xffffffff, 1_772_366_463_906, 253_402_300_799_999]
    const written = moments.map(inOrderOfTime)
    expect(written.toSorted()).toEqual(written)
    expect(new Set(written.map(({ length }) => length))).toEqual(new Set([12]))
    expect(written.map((digits) => Number.parseInt(digits, 16))).toEqual(moments)
    expect(written.map((digits) => timeDigitsOf(`${digits}0123`))).toEqual(written)
  })

  it.each([-1, 0.5, 2 ** 48, Number.NaN, Number.POSITIVE_INFINITY])(
    'are not %d: no record would be found again',
    (time) => {
      expect(() => inOrderOfTime(time)).toThrow(RangeError)
      expect(isTimeOfIds(time)).toBe(false)
    },
  )

  it.each([0, 2 ** 48 - 1])('may be %d', (time) => {
    expect(inOrderOfTime(time)).toMatch(/^(0{12}|f{12})$/)
    expect(isTimeOfIds(time)).toBe(true)
  })
})

describe('identifiers', () => {
  it('GRT-15 are 32 lower-case hexadecimal digits, before which there may be the 12 of a time', () => {
    expect(isIdentifier('0123456789abcdef0123456789abcdef')).toBe(true)
    expect(isIdentifier('019ca945311f0123456789abcdef0123456789abcdef')).toBe(true)
    expect(isLedgerId('0123456789abcdef0123456789abcdef')).toBe(true)
    expect(isLedgerId('019ca945311f0123456789abcdef0123456789abcdef')).toBe(false)
  })

  it.each([
    '',
    '0123456789abcdef0123456789abcde',
    '0123456789abcdef0123456789abcdef0',
    '0123456789ABCDEF0123456789ABCDEF',
    '0123456789abcdef0123456789abcdef\n',
    '19ca945311f0123456789abcdef0123456789abcdef',
    '0019ca945311f0123456789abcdef0123456789abcdef',
    '019CA945311F0123456789abcdef0123456789abcdef',
    '019ca945311f0123456789abcdef0123456789abcdef\n',
    '019ca945311f019ca945311f0123456789abcdef0123456789abcdef',
  ])('GRT-15 are not %j', (text) => {
    expect(isIdentifier(text)).toBe(false)
    expect(isLedgerId(text)).toBe(false)
  })
})
