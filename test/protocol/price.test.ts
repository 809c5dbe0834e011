import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_AMOUNT_VALUE } from '../../src/protocol/amount.ts'
import {
  arrivingFor,
  type ExactPrice,
  isNotable,
  isWithinTolerance,
  leavingFor,
  minimumSend,
  ONE_TO_ONE,
  parseRate,
  priceFixedReceive,
  priceFixedSend,
  priceOfPart,
  worthOf,
} from '../../src/protocol/price.ts'
import vectors from '../vectors/amounts.json' with { type: 'json' }

const runs = { seed: 5, numRuns: 500 }
const usd = { assetCode: 'USD', assetScale: 2 }
const eur = { assetCode: 'EUR', assetScale: 2 }
const one = { numerator: 1n, denominator: 1n }
const free: ExactPrice = { from: usd, to: usd, rate: one, basisPoints: 0, fixed: 0n }

function rate(text: string): ExactPrice['rate'] {
  const parsed = parseRate(text)
  if (parsed === undefined) throw new Error(`${text} is no rate`)
  return parsed
}

/** A fraction, so that the expected result is found without the order of operations under test. */
type Fraction = readonly [numerator: bigint, denominator: bigint]
const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d]
const powerOfTen = (exponent: number): Fraction =>
  exponent >= 0 ? [10n ** BigInt(exponent), 1n] : [1n, 10n ** BigInt(-exponent)]

function expectedReceive(debit: bigint, terms: ExactPrice): bigint | undefined {
  const share: Fraction = times([debit, 1n], [BigInt(terms.basisPoints), 10_000n])
  const proportional = share[0] % share[1] === 0n ? share[0] / share[1] : share[0] / share[1] + 1n
  const sent = debit - proportional - terms.fixed
  if (sent < 0n) return undefined
  const major = times([sent, 1n], powerOfTen(-terms.from.assetScale))
  const exchanged = times(major, [terms.rate.numerator, terms.rate.denominator])
  const minor = times(exchanged, powerOfTen(terms.to.assetScale))
  return minor[0] / minor[1]
}

const scale = fc.oneof(fc.constantFrom(0, 2, 9), fc.integer({ min: 0, max: 30 }))
const terms: fc.Arbitrary<ExactPrice> = fc.record({
  from: scale.map((assetScale) => ({ assetCode: 'AAA', assetScale })),
  to: scale.map((assetScale) => ({ assetCode: 'BBB', assetScale })),
  rate: fc
    .record({ whole: fc.nat(2000), fraction: fc.nat(999_999) })
    .map(({ whole, fraction }) => rate(`${whole}.${String(fraction).padStart(6, '0')}1`)),
  basisPoints: fc.oneof(fc.constantFrom(0, 1, 9999), fc.integer({ min: 0, max: 9999 })),
  fixed: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 1000n })),
})
const value = fc.oneof(fc.bigInt({ min: 0n, max: 2000n }), fc.bigInt({ min: 0n, max: MAX_AMOUNT_VALUE }))

describe('rates', () => {
  it.each([
    ['1', 1n, 1n],
    ['0.92', 92n, 100n],
    ['1234567890.000000001', 1234567890000000001n, 1_000_000_000n],
    ['0.1', 1n, 10n],
    [`0.${'0'.repeat(37)}1`, 1n, 10n ** 38n],
    ['9'.repeat(40), BigInt('9'.repeat(40)), 1n],
  ])('QUO-8 reads %s exactly', (text, numerator, denominator) =>
    expect(parseRate(text)).toEqual({ numerator, denominator }),
  )

  it.each([
    '',
    '0',
    '0.00',
    '-1',
    '+1',
    '1.',
    '.5',
    '1,5',
    '1e3',
    '0x1',
    ' 1',
    '1\n',
    '1/3',
    'NaN',
    'Infinity',
    '1.2.3',
    '9'.repeat(41),
  ])('QUO-8 refuses %j', (text) => expect(parseRate(text)).toBeUndefined())
})

describe('fixed send', () => {
  it('QUO-8 passes an amount on one to one without a fee', () => {
    expect(priceFixedSend(1000n, free)).toEqual({ receive: 1000n, fee: 0n })
  })

  it('QUO-8 rounds the fee up and the receive amount down', () => {
    expect(priceFixedSend(1001n, { ...free, to: eur, rate: rate('0.92'), basisPoints: 100, fixed: 5n })).toEqual({
      receive: 906n,
      fee: 16n,
    })
  })

  it.each([
    [{ assetCode: 'JPY', assetScale: 0 }, 10n],
    [{ assetCode: 'XRP', assetScale: 9 }, 10_000_000_000n],
  ])('AMT-4 converts ten units to %o', (to, receive) =>
    expect(priceFixedSend(1000n, { ...free, to })?.receive).toBe(receive),
  )

  it('QUO-4 gives zero for a debit that is too small', () => {
    expect(priceFixedSend(99n, { ...free, to: { assetCode: 'JPY', assetScale: 0 } })).toEqual({ receive: 0n, fee: 0n })
    expect(priceFixedSend(5n, { ...free, fixed: 5n })).toEqual({ receive: 0n, fee: 5n })
  })

  it('QUO-8 gives nothing where the fee exceeds the debit', () => {
    expect(priceFixedSend(4n, { ...free, fixed: 5n })).toBeUndefined()
  })

  it('LIM-11 gives nothing beyond 64 bits', () => {
    expect(priceFixedSend(MAX_AMOUNT_VALUE, free)?.receive).toBe(MAX_AMOUNT_VALUE)
    expect(priceFixedSend(MAX_AMOUNT_VALUE, { ...free, rate: rate('1.00000000000000000001') })?.receive).toBe(
      MAX_AMOUNT_VALUE,
    )
    expect(priceFixedSend(MAX_AMOUNT_VALUE, { ...free, rate: rate('1.000000000000000001') })).toBeUndefined()
  })

  it('QUO-8 equals an independent rational computation', () => {
    fc.assert(
      fc.property(value, terms, (debit, given) => {
        const expected = expectedReceive(debit, given)
        const fits = expected !== undefined && expected <= MAX_AMOUNT_VALUE
        expect(priceFixedSend(debit, given)?.receive).toBe(fits ? expected : undefined)
      }),
      runs,
    )
  })
})

describe('fixed receive', () => {
  it('QUO-8 rounds the debit up', () => {
    expect(priceFixedReceive(1000n, free)).toEqual({ debit: 1000n, fee: 0n })
    expect(priceFixedReceive(906n, { ...free, to: eur, rate: rate('0.92'), basisPoints: 100, fixed: 5n })).toEqual({
      debit: 1000n,
      fee: 15n,
    })
  })

  it('QUO-8 reaches the receive amount, and one unit less does not', () => {
    fc.assert(
      fc.property(value, terms, (receive, given) => {
        const priced = priceFixedReceive(receive, given)
        if (priced === undefined) {
          const most = expectedReceive(MAX_AMOUNT_VALUE, given)
          expect(most === undefined || most < receive).toBe(true)
          return
        }
        expect(expectedReceive(priced.debit, given)).toBeGreaterThanOrEqual(receive)
        const less = priced.debit === 0n ? undefined : expectedReceive(priced.debit - 1n, given)
        expect(less === undefined || less < receive).toBe(true)
      }),
      runs,
    )
  })

  it('QUO-8 takes the same fee as a fixed send of its debit', () => {
    fc.assert(
      fc.property(value, terms, (receive, given) => {
        const priced = priceFixedReceive(receive, given)
        const sent = priced && priceFixedSend(priced.debit, given)
        if (sent !== undefined) expect(sent.fee).toBe(priced?.fee)
      }),
      runs,
    )
  })

  it('LIM-11 gives nothing where the debit does not fit an amount', () => {
    expect(priceFixedReceive(MAX_AMOUNT_VALUE, free)?.debit).toBe(MAX_AMOUNT_VALUE)
    expect(priceFixedReceive(MAX_AMOUNT_VALUE, { ...free, fixed: 1n })).toBeUndefined()
  })
})

describe('the conversion between scales', () => {
  const at = (assetScale: number): ExactPrice['from'] => ({ assetCode: 'USD', assetScale })
  /** A fixed send rounds down, a fixed receive rounds up. */
  const floorTo = (amount: bigint, from: number, to: number): bigint | undefined =>
    priceFixedSend(amount, { ...free, from: at(from), to: at(to) })?.receive
  const ceilTo = (amount: bigint, from: number, to: number): bigint | undefined =>
    priceFixedReceive(amount, { ...free, from: at(to), to: at(from) })?.debit

  it.each(vectors.scale)(
    'AMT-4 takes $value from scale $from to $to',
    ({ value: text, from, to, exact, floor, ceil, overflow }) => {
      const amount = BigInt(text)
      expect(floorTo(amount, from, to)?.toString()).toBe(overflow ? undefined : (floor ?? exact))
      expect(ceilTo(amount, from, to)?.toString()).toBe(overflow ? undefined : (ceil ?? exact))
    },
  )

  it('AMT-4 T-26 rounds by less than one unit in the named direction, and lets no overflow through', () => {
    const anyScale = fc.oneof(fc.integer({ min: 0, max: 22 }), fc.constantFrom(0, 254, 255))
    fc.assert(
      fc.property(value, anyScale, anyScale, (amount, from, to) => {
        // amount / 10^from = exact / 10^to, compared crosswise.
        const worth = amount * 10n ** BigInt(to)
        const unit = 10n ** BigInt(from)
        const down = floorTo(amount, from, to)
        const up = ceilTo(amount, from, to)
        expect(down === undefined).toBe(worth / unit > MAX_AMOUNT_VALUE)
        expect(up === undefined).toBe(worth > MAX_AMOUNT_VALUE * unit)
        if (down !== undefined) expect(down * unit <= worth && worth < (down + 1n) * unit).toBe(true)
        if (up !== undefined) expect(up * unit >= worth && worth > (up - 1n) * unit).toBe(true)
        if (down !== undefined && up !== undefined) expect(up - down).toBe(worth % unit === 0n ? 0n : 1n)
      }),
      runs,
    )
  })

  it('AMT-4 never gains on the way there and back, and is exact on the way to a finer scale', () => {
    const anyScale = fc.integer({ min: 0, max: 22 })
    fc.assert(
      fc.property(value, anyScale, anyScale, (amount, from, to) => {
        const there = floorTo(amount, from, to)
        const back = there === undefined ? undefined : floorTo(there, to, from)
        if (back !== undefined) expect(back <= amount).toBe(true)
        if (back !== undefined && to >= from) expect(back).toBe(amount)
        const up = ceilTo(amount, from, to)
        const down = up === undefined ? undefined : ceilTo(up, to, from)
        if (down !== undefined) expect(down >= amount).toBe(true)
      }),
      runs,
    )
  })
})

describe('minimum send', () => {
  it('QUO-4 is the smallest debit of which anything arrives', () => {
    expect(minimumSend(free, ONE_TO_ONE)).toBe(1n)
    expect(minimumSend({ ...free, to: { assetCode: 'JPY', assetScale: 0 } }, ONE_TO_ONE)).toBe(100n)
    expect(minimumSend({ ...free, fixed: 5n, basisPoints: 5000 }, ONE_TO_ONE)).toBe(12n)
    expect(
      minimumSend(
        { ...free, from: { assetCode: 'XRP', assetScale: 40 }, to: { assetCode: 'JPY', assetScale: 0 } },
        ONE_TO_ONE,
      ),
    ).toBeUndefined()
  })
})

const units = fc.bigInt({ min: 1n, max: MAX_AMOUNT_VALUE })
const railRate = fc.record({ sent: units, received: units })

describe('the rate of a rail', () => {
  it('QUO-8 lets no more arrive than it carries, and lets just enough leave', () => {
    fc.assert(
      fc.property(units, railRate, (amount, way) => {
        const arriving = arrivingFor(amount, way)
        expect(arriving * way.sent <= amount * way.received).toBe(true)
        expect((arriving + 1n) * way.sent > amount * way.received).toBe(true)
        const leaving = leavingFor(amount, way)
        expect(arrivingFor(leaving, way) >= amount).toBe(true)
        expect(arrivingFor(leaving - 1n, way) < amount).toBe(true)
      }),
      runs,
    )
  })

  it('QUO-4 makes the smallest debit that arrives larger', () => {
    expect(minimumSend({ ...free, fixed: 5n }, { sent: 7n, received: 2n })).toBe(9n)
    expect(minimumSend({ ...free, fixed: 5n }, { sent: 7n, received: 7n })).toBe(6n)
    expect(minimumSend({ ...free, fixed: 5n }, { sent: 10_000n, received: 1n })).toBe(10_015n)
  })
})

describe('the worth of a debit', () => {
  it('LIM-1 is what arrives of a fixed debit, rounded up, and never less than a fixed amount that is to arrive', () => {
    fc.assert(
      fc.property(value, terms, (given, price) => {
        const sent = priceFixedSend(given, price)
        if (sent !== undefined)
          expect([sent.receive, sent.receive + 1n]).toContain(worthOf(given - sent.fee, price, ONE_TO_ONE))
        const received = priceFixedReceive(given, price)
        if (received === undefined) return
        expect(worthOf(received.debit - received.fee, price, ONE_TO_ONE)).toBeGreaterThanOrEqual(given)
      }),
      runs,
    )
  })

  it('LIM-1 is at least what can arrive over a rail of what leaves', () => {
    fc.assert(
      fc.property(value, terms, railRate, (given, price, rate) => {
        const sent = priceFixedSend(given, price)
        if (sent === undefined) return
        const worth = worthOf(given - sent.fee, price, rate)
        expect(worth * rate.sent).toBeGreaterThanOrEqual(sent.receive * rate.received)
      }),
      runs,
    )
  })

  it('LIM-1 is notable above a hundredth more than what arrives, and not at exactly that', () => {
    for (const arriving of [100n, 5000n, MAX_AMOUNT_VALUE - (MAX_AMOUNT_VALUE % 100n)]) {
      const hundredth = arriving / 100n
      expect(isNotable(arriving, arriving)).toBe(false)
      expect(isNotable(arriving + hundredth, arriving)).toBe(false)
      expect(isNotable(arriving + hundredth + 1n, arriving)).toBe(true)
    }
    expect(isNotable(1n, 0n)).toBe(true)
  })
})

describe('the price of a part', () => {
  const priced = fc
    .record({
      fixedFee: fc.bigInt({ min: 0n, max: MAX_AMOUNT_VALUE }),
      proportionalFee: fc.bigInt({ min: 0n, max: MAX_AMOUNT_VALUE }),
      net: units,
      sendAmount: units,
      thousandths: fc.integer({ min: 0, max: 1000 }),
    })
    .map(({ fixedFee, proportionalFee, net, sendAmount, thousandths }) => {
      const fee = fixedFee + proportionalFee
      return {
        price: { debit: net + fee, fee, fixedFee, sendAmount },
        sent: (sendAmount * BigInt(thousandths)) / 1000n,
      }
    })

  it('OUT-9 is at least what the part is worth, with all of the fixed fee and at least its share of the other', () => {
    fc.assert(
      fc.property(priced, ({ price, sent }) => {
        const part = priceOfPart(price, sent)
        const net = part.debit - part.fee
        expect(net * price.sendAmount >= (price.debit - price.fee) * sent).toBe(true)
        expect((net - 1n) * price.sendAmount < (price.debit - price.fee) * sent).toBe(true)
        expect(part.debit <= price.debit && part.fee <= part.debit).toBe(true)
        if (sent === 0n) return
        const proportional = (part.fee - price.fixedFee) * price.sendAmount
        const share = (price.fee - price.fixedFee) * sent
        expect(proportional >= share && proportional - price.sendAmount < share).toBe(true)
      }),
      runs,
    )
  })

  it('OUT-9 is nothing of nothing, and all of all', () => {
    fc.assert(
      fc.property(priced, ({ price }) => {
        expect(priceOfPart(price, 0n)).toEqual({ debit: 0n, fee: 0n })
        expect(priceOfPart(price, price.sendAmount)).toEqual({ debit: price.debit, fee: price.fee })
      }),
      runs,
    )
  })
})

describe('the exchange on the way', () => {
  const exchange = fc.record({
    from: fc.record({ assetCode: fc.constant('USD'), assetScale: fc.nat(20) }),
    to: fc.record({ assetCode: fc.constant('EUR'), assetScale: fc.nat(20) }),
    rate: fc.record({ numerator: units, denominator: units }),
  })

  it('QUO-8 may give less than the wallet by the tolerance, and no more: to the last unit', () => {
    fc.assert(
      fc.property(exchange, fc.nat(9999), units, (own, tolerance, sent) => {
        // What the wallet would give at least, as one fraction of the smallest units.
        const [numerator, denominator]: Fraction = times(
          times(
            [own.rate.numerator, own.rate.denominator],
            [10n ** BigInt(own.to.assetScale), 10n ** BigInt(own.from.assetScale)],
          ),
          [BigInt(10_000 - tolerance) * sent, 10_000n],
        )
        const least = (numerator + denominator - 1n) / denominator
        expect(isWithinTolerance({ sent, received: least }, own, tolerance)).toBe(true)
        expect(isWithinTolerance({ sent, received: least - 1n }, own, tolerance)).toBe(false)
      }),
      runs,
    )
  })
})
