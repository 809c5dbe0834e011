import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import {
  Amount,
  AssetCode,
  AssetScale,
  addAmounts,
  amountOf,
  amountToWire,
  ceilDivide,
  convertScale,
  formatAmount,
  isSameAsset,
  MAX_AMOUNT_VALUE,
  parseAmountValue,
  subtractAmounts,
} from '../../src/protocol/amount.ts'
import vectors from '../vectors/amounts.json' with { type: 'json' }

const usd = { assetCode: 'USD', assetScale: 2 }
const wire = { value: '1000', ...usd }
const value = fc.bigInt({ min: 0n, max: MAX_AMOUNT_VALUE })

describe('amount values', () => {
  it.each(vectors.valid)('AMT-1 accepts %j', (text) => {
    expect(parseAmountValue(text)).toBe(BigInt(text))
    expect(v.is(Amount, { ...wire, value: text })).toBe(true)
  })

  it.each(vectors.invalid)('AMT-1 refuses %j', (invalid) => {
    expect(v.is(Amount, { ...wire, value: invalid })).toBe(false)
  })

  it('AMT-1 refuses a line break after the digits and digits of other scripts', () => {
    expect(parseAmountValue('1\n')).toBeUndefined()
    expect(parseAmountValue('١')).toBeUndefined()
  })

  it('AMT-1 AMT-3 reads back whatever it writes', () => {
    fc.assert(
      fc.property(value, (expected) => {
        const written = amountToWire(amountOf(usd, expected))
        expect(written).toEqual({ value: expected.toString(), assetCode: 'USD', assetScale: 2 })
        expect(v.parse(Amount, written)).toEqual(amountOf(usd, expected))
      }),
    )
  })

  it('AMT-1 agrees with BigInt on every text of digits, signs and spaces', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('0', '1', '9', '-', '+', ' ', 'x', 'e', '.'), maxLength: 22 }),
        (text) => {
          const parsed = parseAmountValue(text)
          if (parsed === undefined) return
          expect(parsed.toString()).toBe(text)
          expect(parsed <= MAX_AMOUNT_VALUE).toBe(true)
        },
      ),
    )
  })

  it('AMT-6 drops members that an amount does not have', () => {
    expect(v.parse(Amount, { ...wire, note: 'x' })).toEqual({ value: 1000n, ...usd })
  })
})

describe('assets', () => {
  it.each(vectors.asset_scale.valid)('AMT-2 accepts the scale %j', (scale) =>
    expect(v.is(AssetScale, scale)).toBe(true),
  )
  it.each(vectors.asset_scale.invalid)('AMT-2 refuses the scale %j', (scale) =>
    expect(v.is(AssetScale, scale)).toBe(false),
  )
  it.each(['U', 'USD', '123456789012', '!~'])('AMT-2 accepts the code %j', (code) =>
    expect(v.is(AssetCode, code)).toBe(true),
  )
  it.each(['', '1234567890123', 'U D', 'USD\n', 'É', 'USD\u0000'])('AMT-2 refuses the code %j', (code) =>
    expect(v.is(AssetCode, code)).toBe(false),
  )

  it('AMT-2 compares code and scale exactly', () => {
    expect(isSameAsset(usd, { ...usd })).toBe(true)
    expect(isSameAsset(usd, { ...usd, assetCode: 'usd' })).toBe(false)
    expect(isSameAsset(usd, { ...usd, assetScale: 3 })).toBe(false)
  })
})

describe('arithmetic', () => {
  it.each(vectors.scale)(
    'AMT-4 converts $value from scale $from to $to',
    ({ value: text, from, to, exact, floor, ceil, overflow }) => {
      const convert = (rounding: 'floor' | 'ceil') => convertScale(BigInt(text), from, to, rounding)?.toString()
      expect(convert('floor')).toBe(overflow ? undefined : (floor ?? exact))
      expect(convert('ceil')).toBe(overflow ? undefined : (ceil ?? exact))
    },
  )

  it('AMT-4 rounds by less than one unit and never across it', () => {
    fc.assert(
      fc.property(value, fc.integer({ min: 0, max: 30 }), (amount, digits) => {
        const unit = 10n ** BigInt(digits)
        const floor = convertScale(amount, digits, 0, 'floor') ?? -1n
        const ceil = convertScale(amount, digits, 0, 'ceil') ?? -1n
        expect(floor * unit <= amount && amount < (floor + 1n) * unit).toBe(true)
        expect(ceil * unit >= amount && amount > (ceil - 1n) * unit).toBe(true)
      }),
    )
  })

  it('AMT-5 adds and subtracts within an asset', () => {
    expect(addAmounts(amountOf(usd, 3n), amountOf(usd, 4n))).toEqual(amountOf(usd, 7n))
    expect(subtractAmounts(amountOf(usd, 4n), amountOf(usd, 4n))).toEqual(amountOf(usd, 0n))
  })

  it.each([
    { assetCode: 'EUR', assetScale: 2 },
    { assetCode: 'USD', assetScale: 3 },
  ])('AMT-5 throws on %o and USD at 2', (other) => {
    expect(() => addAmounts(amountOf(usd, 1n), amountOf(other, 1n))).toThrow(TypeError)
    expect(() => subtractAmounts(amountOf(usd, 1n), amountOf(other, 1n))).toThrow(TypeError)
  })

  it('AMT-5 throws below zero', () => {
    expect(() => subtractAmounts(amountOf(usd, 3n), amountOf(usd, 4n))).toThrow(RangeError)
  })

  it('LIM-11 adds beyond 64 bits without losing a digit', () => {
    expect(addAmounts(amountOf(usd, MAX_AMOUNT_VALUE), amountOf(usd, 1n)).value).toBe(18446744073709551616n)
  })

  it.each([
    [0n, 3n, 0n],
    [1n, 3n, 1n],
    [3n, 3n, 1n],
    [4n, 3n, 2n],
  ])('divides %s by %s up to %s', (dividend, divisor, quotient) => expect(ceilDivide(dividend, divisor)).toBe(quotient))

  it.each([
    [1000n, 2, '10.00 USD'],
    [5n, 2, '0.05 USD'],
    [0n, 2, '0.00 USD'],
    [7n, 0, '7 USD'],
    [MAX_AMOUNT_VALUE, 9, '18446744073.709551615 USD'],
  ])('INT-11 shows %s at scale %i as %s', (amount, assetScale, text) =>
    expect(formatAmount({ value: amount, assetCode: 'USD', assetScale })).toBe(text),
  )
})
