import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { amountOf } from '../../src/protocol/amount.ts'
import {
  assetOf,
  CreateIncomingPayment,
  countReceipt,
  creditReceipt,
  dropReceipt,
  type IncomingPayment,
  incomingPaymentToWire,
  isActive,
  remainderOf,
  reserveReceipt,
  roomOf,
} from '../../src/protocol/incoming-payment.ts'

const usd = { assetCode: 'USD', assetScale: 2 }
const walletAddress = 'https://wallet.example/alice'
const open: IncomingPayment = {
  id: '0123456789abcdef0123456789abcdef',
  walletAddress,
  account: 'alice',
  client: 'https://client.example/pay',
  state: 'pending',
  createdAt: 0,
  received: amountOf(usd, 0n),
  reserved: amountOf(usd, 0n),
  secretId: 's',
}
const fixed: IncomingPayment = { ...open, incomingAmount: amountOf(usd, 100n), expiresAt: 1000 }

function reserve(payment: IncomingPayment, amount: bigint): IncomingPayment {
  const reserved = reserveReceipt(payment, amount, 0)
  if (!reserved.ok) throw new Error(reserved.reason)
  return reserved.payment
}

describe('transitions', () => {
  it('INC-7 takes money until the moment of expiry and not after it', () => {
    expect(isActive(fixed, 1000)).toBe(true)
    expect(isActive(fixed, 1001)).toBe(false)
    expect(reserveReceipt(fixed, 1n, 1000).ok).toBe(true)
    expect(reserveReceipt(fixed, 1n, 1001)).toEqual({ ok: false, reason: 'expired' })
    expect(isActive(open, Number.MAX_SAFE_INTEGER)).toBe(true)
  })

  it.each(['completed', 'expired'] as const)('INC-7 takes none when %s', (state) => {
    expect(isActive({ ...open, state }, 0)).toBe(false)
    expect(reserveReceipt({ ...open, state }, 1n, 0)).toEqual({ ok: false, reason: state })
  })

  it('INC-8 reserves a receipt whole or not at all', () => {
    const half = reserve(fixed, 60n)
    expect(half).toMatchObject({ state: 'processing', reserved: { value: 60n }, received: { value: 0n } })
    expect(remainderOf(half)).toBe(40n)
    expect(reserveReceipt(half, 41n, 0)).toEqual({ ok: false, reason: 'over_remainder' })
    expect(remainderOf(reserve(half, 40n))).toBe(0n)
  })

  it('INC-8 has no remainder without an amount, and none below zero', () => {
    expect(remainderOf(open)).toBeUndefined()
    expect(remainderOf(reserve(open, 2n ** 63n))).toBeUndefined()
    expect(remainderOf({ ...fixed, received: amountOf(usd, 120n) })).toBe(0n)
  })

  it('LIM-11 never receives more than an unsigned 64-bit sum, without an amount either', () => {
    const nearlyFull = reserve(open, 2n ** 64n - 2n)
    expect(reserveReceipt(nearlyFull, 1n, 0)).toMatchObject({ ok: true })
    expect(reserveReceipt(nearlyFull, 2n, 0)).toEqual({ ok: false, reason: 'over_remainder' })
    const mixed = reserve(creditReceipt(reserve(open, 2n ** 63n), 2n ** 63n), 7n)
    expect(roomOf(mixed)).toBe(2n ** 63n - 8n)
    expect(roomOf(reserve(fixed, 60n))).toBe(40n)
  })

  it('INC-6 a receipt that was not reserved counts the same way', () => {
    expect(countReceipt(fixed, 99n).state).toBe('processing')
    expect(countReceipt(fixed, 100n).state).toBe('completed')
    expect(countReceipt(open, 1n).state).toBe('processing')
    expect(countReceipt({ ...open, state: 'expired' }, 1n).state).toBe('expired')
  })

  it('INC-7 receives in one asset, that of its sum', () => {
    expect(assetOf(open)).toMatchObject(usd)
  })

  it('INC-5 INC-6 counts a receipt when it is credited, and completes in the same step', () => {
    const half = creditReceipt(reserve(fixed, 60n), 60n)
    expect(half).toMatchObject({ state: 'processing', reserved: { value: 0n }, received: { value: 60n } })
    expect(creditReceipt(reserve(half, 40n), 40n)).toMatchObject({ state: 'completed', received: { value: 100n } })
    expect(creditReceipt(reserve(open, 60n), 60n).state).toBe('processing')
  })

  it.each(['completed', 'expired'] as const)('INC-5 credits a receipt that was reserved before it was %s', (state) => {
    const late = creditReceipt({ ...reserve(fixed, 60n), state }, 60n)
    expect(late).toMatchObject({ state, reserved: { value: 0n }, received: { value: 60n } })
  })

  it('gives a dropped receipt back', () => {
    expect(dropReceipt(reserve(fixed, 60n), 60n)).toEqual(fixed)
    const other = creditReceipt(reserve(fixed, 10n), 10n)
    expect(dropReceipt(reserve(other, 60n), 60n)).toEqual(other)
    expect(dropReceipt(reserve(reserve(fixed, 10n), 60n), 60n)).toEqual(reserve(fixed, 10n))
    expect(dropReceipt({ ...reserve(fixed, 60n), state: 'expired' }, 60n).state).toBe('expired')
  })

  it('throws where more is credited or dropped than is reserved', () => {
    expect(() => creditReceipt(reserve(fixed, 60n), 61n)).toThrow(RangeError)
    expect(() => dropReceipt(reserve(fixed, 60n), 61n)).toThrow(RangeError)
  })

  it('INC-5 INC-6 INC-8 hold whatever happens in whatever order', () => {
    const step = fc.record({
      action: fc.constantFrom('reserve', 'credit', 'drop'),
      amount: fc.bigInt({ min: 1n, max: 60n }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let payment = fixed
        const pending: bigint[] = []
        let credited = 0n
        for (const { action, amount } of steps) {
          const before = payment.received.value
          if (action === 'reserve') {
            const result = reserveReceipt(payment, amount, 0)
            if (!result.ok) continue
            payment = result.payment
            pending.push(amount)
          } else {
            const receipt = pending.shift()
            if (receipt === undefined) continue
            payment = action === 'credit' ? creditReceipt(payment, receipt) : dropReceipt(payment, receipt)
            if (action === 'credit') credited += receipt
          }
          expect(payment.received.value).toBe(credited)
          expect(payment.received.value >= before).toBe(true)
          expect(payment.reserved.value).toBe(pending.reduce((sum, receipt) => sum + receipt, 0n))
          expect(payment.received.value + payment.reserved.value <= 100n).toBe(true)
          expect(payment.state === 'completed').toBe(credited >= 100n)
          expect(payment.state === 'pending').toBe(credited === 0n && pending.length === 0)
        }
      }),
      { seed: 6, numRuns: 300 },
    )
  })
})

describe('the body of POST /incoming-payments', () => {
  const body = {
    walletAddress,
    incomingAmount: { value: '100', ...usd },
    expiresAt: '1970-01-01T00:00:01Z',
    metadata: { note: 'x' },
  }

  it('is read', () => {
    expect(v.parse(CreateIncomingPayment, body)).toEqual({
      walletAddress,
      incomingAmount: amountOf(usd, 100n),
      expiresAt: 1000,
      metadata: { note: 'x' },
    })
    expect(v.parse(CreateIncomingPayment, { walletAddress })).toEqual({ walletAddress })
  })

  it('may hold null where one client sends it', () => {
    const given = { walletAddress, incomingAmount: null, expiresAt: null, metadata: null }
    expect(v.parse(CreateIncomingPayment, given)).toEqual(given)
  })

  it.each([
    {},
    { ...body, walletAddress: 1 },
    { ...body, walletAddress: 'x'.repeat(2049) },
    { ...body, incomingAmount: '100' },
    { ...body, expiresAt: 'soon' },
    { ...body, metadata: [] },
    { ...body, methods: [] },
  ])('is refused: %#', (given) => expect(v.is(CreateIncomingPayment, given)).toBe(false))
})

describe('the JSON form', () => {
  const url = 'https://wallet.example/incoming-payments/1'

  it('INC-3 INC-12 holds what is there and no methods', () => {
    expect(incomingPaymentToWire({ ...fixed, metadata: { a: 1 } }, url)).toEqual({
      id: url,
      walletAddress,
      completed: false,
      incomingAmount: { value: '100', ...usd },
      receivedAmount: { value: '0', ...usd },
      expiresAt: '1970-01-01T00:00:01.000Z',
      metadata: { a: 1 },
      createdAt: '1970-01-01T00:00:00.000Z',
    })
  })

  it('INC-5 leaves absent members out and counts credited receipts only', () => {
    const payment = reserve(creditReceipt(reserve(open, 5n), 5n), 7n)
    expect(incomingPaymentToWire({ ...payment, state: 'completed' }, url)).toEqual({
      id: url,
      walletAddress,
      completed: true,
      receivedAmount: { value: '5', ...usd },
      createdAt: '1970-01-01T00:00:00.000Z',
    })
  })
})
