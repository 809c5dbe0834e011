import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import {
  Amount,
  addAmounts,
  amountOf,
  amountToWire,
  formatAmount,
  isAssetCode,
  isAssetScale,
  isSameAsset,
  MAX_AMOUNT_VALUE,
  parseAmountValue,
  storedAmount,
  subtractAmounts,
} from '../../src/protocol/amount.ts'
import vectors from '../vectors/amounts.json' with { type: 'json' }

const usd = { assetCode: 'USD', assetScale: 2 }
const wire = { value: '1000', ...usd }
const runs = { seed: 3, numRuns: 300 }
const value = fc.oneof(
  fc.bigInt({ min: 0n, max: MAX_AMOUNT_VALUE }),
  fc.bigInt({ min: 0n, max: 300n }).map((less) => MAX_AMOUNT_VALUE - less),
)

/** The value of a text, worked out without a pattern and without `BigInt(text)`. */
function digitByDigit(given: string): bigint | undefined {
  if (given.length === 0 || (given.length > 1 && given.startsWith('0'))) return undefined
  let sum = 0n
  for (let at = 0; at < given.length; at++) {
    const digit = given.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) return undefined
    sum = sum * 10n + BigInt(digit)
    if (sum >= 2n ** 64n) return undefined
  }
  return sum
}

const digits = fc.oneof(
  value.map(String),
  fc.bigInt({ min: 0n, max: 10n ** 22n }).map(String),
  fc.bigInt({ min: -300n, max: 300n }).map((more) => String(2n ** 64n + more)),
)
const foreign = fc.constantFrom(
  '-',
  '+',
  ' ',
  '0',
  '.',
  'e',
  'x',
  'n',
  '_',
  ',',
  '\n',
  '\t',
  '\u0000',
  '\u0661',
  '\uff11',
)
const text = fc.oneof(
  digits,
  // Digits with one more character somewhere.
  fc.tuple(digits, foreign, fc.nat(22)).map(([number, one, at]) => number.slice(0, at) + one + number.slice(at)),
  fc.string({ unit: fc.constantFrom('0', '1', '9', '-', '+', ' ', 'x', 'e', '.'), maxLength: 22 }),
  fc.string({ unit: 'binary' }),
)

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
        expect(v.parse(Amount, JSON.parse(JSON.stringify(written)))).toStrictEqual(amountOf(usd, expected))
      }),
      runs,
    )
  })

  it.each(Object.entries(vectors.bigint_traps))('T-26 AMT-1 %s is %s, and no amount', (call, result) => {
    const text = call.slice("BigInt('".length, -"')".length)
    expect(`${BigInt(text)}n`).toBe(result)
    expect(parseAmountValue(text)).toBeUndefined()
    expect(v.is(Amount, { ...wire, value: text })).toBe(false)
  })

  it.each([...Object.keys(vectors.bigint_traps), "BigInt('1\\n')", "BigInt('many')"])(
    'T-26 a record that holds the text of %s is damaged',
    (call) => {
      const text = JSON.parse(`"${call.slice("BigInt('".length, -"')".length)}"`)
      expect(() => storedAmount(text)).toThrow(
        new TypeError(`a record holds no amount where it must: ${JSON.stringify(text)}`),
      )
    },
  )

  it('T-26 are read from a record as they were written, sums above the largest amount too', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 70n }), (sum) => {
        expect(storedAmount(sum.toString())).toBe(sum)
      }),
      runs,
    )
  })

  it('AMT-1 T-26 is what a count of its digits says, for every text', () => {
    fc.assert(
      fc.property(text, (given) => {
        const expected = digitByDigit(given)
        expect(parseAmountValue(given)).toBe(expected)
        const parsed = v.safeParse(Amount, { ...wire, value: given })
        expect(parsed.success ? parsed.output.value : undefined).toBe(expected)
        // What is read is written back as it came.
        if (parsed.success) expect(amountToWire(parsed.output).value).toBe(given)
      }),
      { ...runs, numRuns: 1000 },
    )
  })

  it('AMT-1 is no value of another type', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true }).filter((given) => typeof given !== 'string'),
        (given) => {
          expect(v.is(Amount, { ...wire, value: given })).toBe(false)
        },
      ),
      runs,
    )
  })

  it('AMT-6 drops members that an amount does not have', () => {
    expect(v.parse(Amount, { ...wire, note: 'x' })).toEqual({ value: 1000n, ...usd })
  })
})

describe('assets', () => {
  it.each(vectors.asset_scale.valid)('AMT-2 accepts the scale %j', (scale) => expect(isAssetScale(scale)).toBe(true))
  it.each(vectors.asset_scale.invalid)('AMT-2 refuses the scale %j', (scale) => expect(isAssetScale(scale)).toBe(false))
  it.each(['U', 'USD', '123456789012', '!~'])('AMT-2 accepts the code %j', (code) =>
    expect(isAssetCode(code)).toBe(true),
  )
  it.each(['', '1234567890123', 'U D', 'USD\n', 'É', 'USD\u0000'])('AMT-2 refuses the code %j', (code) =>
    expect(isAssetCode(code)).toBe(false),
  )

  it('AMT-2 compares code and scale exactly', () => {
    expect(isSameAsset(usd, { ...usd })).toBe(true)
    expect(isSameAsset(usd, { ...usd, assetCode: 'usd' })).toBe(false)
    expect(isSameAsset(usd, { ...usd, assetScale: 3 })).toBe(false)
  })
})

describe('arithmetic', () => {
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

  it('AMT-5 adds, subtracts and compares within one asset only, and names the two', () => {
    const asset = fc.record({ assetCode: fc.constantFrom('USD', 'usd', 'EUR'), assetScale: fc.constantFrom(0, 2, 3) })
    fc.assert(
      fc.property(asset, asset, value, value, (one, other, most, least) => {
        const [a, b] = most < least ? [least, most] : [most, least]
        const isOne = one.assetCode === other.assetCode && one.assetScale === other.assetScale
        expect(isSameAsset(one, other)).toBe(isOne)
        const add = () => addAmounts(amountOf(one, a), amountOf(other, b))
        const subtract = () => subtractAmounts(amountOf(one, a), amountOf(other, b))
        if (isOne) {
          expect([add(), subtract()]).toStrictEqual([amountOf(one, a + b), amountOf(one, a - b)])
          return
        }
        const both = `${one.assetCode}/${one.assetScale} and ${other.assetCode}/${other.assetScale}`
        expect(add).toThrow(new TypeError(`amounts of ${both} do not add up`))
        expect(subtract).toThrow(TypeError)
      }),
      runs,
    )
  })

  it('AMT-5 throws below zero', () => {
    expect(() => subtractAmounts(amountOf(usd, 3n), amountOf(usd, 4n))).toThrow(
      new RangeError('an amount cannot be negative'),
    )
  })

  it('LIM-11 adds beyond 64 bits without losing a digit', () => {
    expect(addAmounts(amountOf(usd, MAX_AMOUNT_VALUE), amountOf(usd, 1n)).value).toBe(18446744073709551616n)
  })

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
