import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { amountOf, MAX_AMOUNT_VALUE } from '../../src/protocol/amount.ts'
import { chargeSpending, receivedIn, type Spending, spentAmountsOf } from '../../src/protocol/spent-amounts.ts'

const runs = { seed: 9, numRuns: 300 }
const usd = { assetCode: 'USD', assetScale: 2 }
const eur = { assetCode: 'EUR', assetScale: 2 }
const cents = { assetCode: 'EUR', assetScale: 3 }
const fresh: Spending = { id: 'g:0:life', debit: amountOf(usd, 0n), receive: [] }

describe('spending', () => {
  it('LIM-1 adds payments up and takes failed ones out again', () => {
    const charged = chargeSpending(chargeSpending(fresh, 10n, eur, 9n), 20n, eur, 18n)
    expect(charged.debit.value).toBe(30n)
    expect(receivedIn(charged, eur)).toBe(27n)
    const back = chargeSpending(charged, -20n, eur, -18n)
    expect(back.debit.value).toBe(10n)
    expect(receivedIn(back, eur)).toBe(9n)
    expect(fresh.receive).toEqual([])
  })

  it('LIM-9 keeps one sum per asset of the receivers', () => {
    const charged = chargeSpending(chargeSpending(fresh, 10n, eur, 9n), 10n, cents, 90n)
    expect(receivedIn(charged, eur)).toBe(9n)
    expect(receivedIn(charged, cents)).toBe(90n)
    expect(receivedIn(charged, usd)).toBe(0n)
  })

  it('T-37 D15 keeps nothing of an asset of which nothing is left, but the last one', () => {
    const refused = chargeSpending(chargeSpending(fresh, 10n, eur, 9n), -10n, eur, -9n)
    expect(refused.receive).toEqual([{ ...eur, value: '0' }])
    const other = chargeSpending(chargeSpending(refused, 10n, cents, 9n), -10n, cents, -9n)
    expect(other.receive).toEqual([{ ...cents, value: '0' }])
    const paid = chargeSpending(chargeSpending(chargeSpending(other, 10n, usd, 10n), 1n, eur, 1n), -1n, eur, -1n)
    expect(paid.receive).toEqual([{ ...usd, value: '10' }])
  })

  it('T-37 counts a hundred assets, and takes out nothing of one that it had no room for', () => {
    const nth = (number: number) => ({ assetCode: `X${number}`, assetScale: 2 })
    let spending = fresh
    for (let number = 0; number < 100; number++) spending = chargeSpending(spending, 1n, nth(number), 1n)
    const full = chargeSpending(spending, 1n, nth(100), 5n)
    expect(full.receive).toEqual(spending.receive)
    expect(full.debit.value).toBe(101n)
    expect(chargeSpending(full, -1n, nth(100), -5n)).toEqual(spending)
    // There is room now, for a later payment in that asset; the earlier one fails all the same.
    const later = chargeSpending(chargeSpending(full, -1n, nth(0), -1n), 1n, nth(100), 3n)
    expect(receivedIn(later, nth(100))).toBe(3n)
    expect(receivedIn(chargeSpending(later, -1n, nth(100), -5n), nth(100))).toBe(0n)
    // A sum below zero could not be read again, also where no other is left.
    let empty = full
    for (let number = 0; number < 100; number++) empty = chargeSpending(empty, -1n, nth(number), -1n)
    expect(chargeSpending(empty, -1n, nth(100), -5n)).toMatchObject({
      debit: { value: 0n },
      receive: [{ ...nth(100), value: '0' }],
    })
  })

  const charge = fc.record({
    debit: fc.bigInt({ min: 0n, max: MAX_AMOUNT_VALUE }),
    asset: fc.constantFrom(usd, eur, cents),
    receive: fc.bigInt({ min: 0n, max: MAX_AMOUNT_VALUE }),
    fails: fc.boolean(),
  })

  it('LIM-1 LIM-9 LIM-11 is that of the payments that are left, in whatever order others were taken out', () => {
    fc.assert(
      fc.property(fc.array(charge, { maxLength: 20 }), fc.boolean(), (charges, isLate) => {
        let spending = fresh
        const take = ({ debit, asset, receive }: { debit: bigint; asset: typeof usd; receive: bigint }): void => {
          spending = chargeSpending(spending, -debit, asset, -receive)
        }
        for (const payment of charges) {
          spending = chargeSpending(spending, payment.debit, payment.asset, payment.receive)
          if (payment.fails && !isLate) take(payment)
        }
        for (const payment of charges.toReversed()) if (payment.fails && isLate) take(payment)
        const left = charges.filter(({ fails }) => !fails)
        const sums = [usd, eur, cents].flatMap((asset) => {
          const paid = left.filter((payment) => payment.asset === asset)
          const sum = paid.reduce((total, { receive }) => total + receive, 0n)
          return sum === 0n ? [] : [{ value: sum.toString(), ...asset }]
        })
        const { spentDebitAmount, spentReceiveAmount } = spentAmountsOf(spending)
        expect(spentDebitAmount).toStrictEqual({
          value: left.reduce((total, { debit }) => total + debit, 0n).toString(),
          ...usd,
        })
        if (sums.length > 1) expect(spentReceiveAmount).toBeNull()
        else if (sums.length === 1) expect(spentReceiveAmount).toStrictEqual(sums[0])
        else expect(spentReceiveAmount?.value ?? '0').toBe('0')
        expect(new Set(spending.receive.map((sum) => `${sum.assetCode} ${sum.assetScale}`)).size).toBe(
          spending.receive.length,
        )
      }),
      runs,
    )
  })

  it('LIM-1 LIM-11 is the sum of what was charged, beyond 64 bits too', () => {
    fc.assert(
      fc.property(fc.array(charge, { maxLength: 20 }), (charges) => {
        const spending = charges.reduce(
          (sum, { debit, asset, receive }) => chargeSpending(sum, debit, asset, receive),
          fresh,
        )
        expect(spending.debit.value).toBe(charges.reduce((sum, { debit }) => sum + debit, 0n))
        for (const asset of [usd, eur, cents]) {
          const expected = charges.filter((one) => one.asset === asset).reduce((sum, { receive }) => sum + receive, 0n)
          expect(receivedIn(spending, asset)).toBe(expected)
        }
      }),
      runs,
    )
  })
})

describe('spent amounts', () => {
  it('LIM-9 are the sums of the window', () => {
    expect(spentAmountsOf(chargeSpending(fresh, 10n, eur, 9n))).toEqual({
      spentDebitAmount: { value: '10', ...usd },
      spentReceiveAmount: { value: '9', ...eur },
    })
  })

  it('LIM-9 have no receive amount where receivers of several assets were paid', () => {
    const both = chargeSpending(chargeSpending(fresh, 10n, eur, 9n), 10n, cents, 90n)
    expect(spentAmountsOf(both).spentReceiveAmount).toBeNull()
    expect(spentAmountsOf(chargeSpending(both, -10n, eur, -9n)).spentReceiveAmount).toEqual({ value: '90', ...cents })
  })

  it('D13 are zero once everything was given back', () => {
    const back = chargeSpending(chargeSpending(fresh, 10n, eur, 9n), -10n, eur, -9n)
    expect(spentAmountsOf(back)).toEqual({
      spentDebitAmount: { value: '0', ...usd },
      spentReceiveAmount: { value: '0', ...eur },
    })
  })
})
