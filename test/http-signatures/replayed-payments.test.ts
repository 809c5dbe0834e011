import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../resource-server/observed-wallet.ts'
import { testLedger } from '../support/test-wallet.ts'
import { type HandSignedPayment, handSignedPayment, keyIdAt, refusedBecause } from './hand-signed-payment.ts'
import type { Draft } from './sign-by-hand.ts'

const REPLAYED = refusedBecause('this signature was used before, sign the request again')

const wire =
  (write: (input: string, base64: string) => readonly [input: string, signature: string]): (() => Partial<Draft>) =>
  () => ({
    wire: (input, signature) => {
      const [signatureInput, written] = write(input, signature.slice(1, -1))
      return { 'signature-input': [signatureInput], signature: [written] }
    },
  })

/** The other ways to write the same bytes: the last digit before the padding holds four bits that mean nothing. */
function otherPaddingBits(base64: string): string {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const last = digits.indexOf(base64.charAt(85))
  return `${base64.slice(0, 85)}${digits.charAt(last + 7)}==`
}

const WAYS: readonly (readonly [string, (payment: HandSignedPayment) => Partial<Draft>])[] = [
  ['as it was', () => ({})],
  ['under another label', wire((input, base64) => [`x=${input}`, `x=:${base64}:`])],
  ['with other padding bits', wire((input, base64) => [`sig1=${input}`, `sig1=:${otherPaddingBits(base64)}:`])],
  ['without padding', wire((input, base64) => [`sig1=${input}`, `sig1=:${base64.replace('==', '')}:`])],
  ['in the shape of the PHP client', wire((input, base64) => [`sig1=${input}`, `sig1=${base64}`])],
  ['with other spaces', wire((input, base64) => [` sig1=${input.replaceAll(' ', '   ')} `, `  sig1=:${base64}:  `])],
  [
    'with a zero before its time',
    wire((input, base64) => [`sig1=${input.replace('created=', 'created=0')}`, `sig1=:${base64}:`]),
  ],
  [
    'with a parameter that is overwritten',
    wire((input, base64) => [`sig1=${input.replace(';created', ';created=1;created')}`, `sig1=:${base64}:`]),
  ],
  [
    'with parameters of its signature',
    wire((input, base64) => [`sig1=${input}`, `sig1=:${base64}:;created=1;keyid="other"`]),
  ],
  [
    'beside a signature of somebody else',
    wire((input, base64) => [`a=${input.replace('key-1', 'other')}, sig1=${input}`, `a=:${base64}:, sig1=:${base64}:`]),
  ],
  [
    'with headers that it does not cover',
    ({ right }) => ({ headers: { ...right.headers, host: ['wallet'], 'x-request-id': ['2'], via: ['1.1 proxy'] } }),
  ],
  [
    'without the length that it covers',
    ({ right }) => ({
      headers: Object.fromEntries(Object.entries(right.headers).filter(([name]) => name !== 'content-length')),
    }),
  ],
]

describe('a payment that was made', () => {
  it.each(WAYS)('T-9 SIG-24 SIG-25 is not made again when it is sent %s', async (_way, change) => {
    const payment = await handSignedPayment()
    expect((await payment.send()).status).toBe(201)
    await expectRefusal(payment.wallet, REPLAYED, () => payment.send(change(payment)))
    expect((await payment.send({ parameters: keyIdAt(payment.now + 1) })).status).toBe(201)
  })

  it.each(WAYS)('T-9 SIG-24 is made once, in whatever way it comes first: %s', async (_way, change) => {
    const payment = await handSignedPayment()
    expect((await payment.send(change(payment))).status).toBe(201)
    await expectRefusal(payment.wallet, REPLAYED, () => payment.send())
  })

  it('T-9 SIG-26 is not made again until its signature is too old', async () => {
    const payment = await handSignedPayment({ settings: { lifetimes: { accessTokenSeconds: 1000 } } })
    const parameters = keyIdAt(payment.now + 60)
    expect((await payment.send({ parameters })).status).toBe(201)
    for (const seconds of [300, 59, 1]) {
      payment.wallet.clock.advance(seconds * 1000)
      await payment.wallet.openPayments.sweep()
      await expectRefusal(payment.wallet, REPLAYED, () => payment.send({ parameters }))
    }
    payment.wallet.clock.advance(1000)
    await payment.wallet.openPayments.sweep()
    await expectRefusal(payment.wallet, refusedBecause('signature is too old'), () => payment.send({ parameters }))
  })

  it.each([
    ['is made in the last millisecond', 360_999, 201, undefined],
    ['is not made any more', 361_000, 401, 'Signature validation error: signature is too old by now'],
  ])(
    'T-9 SIG-26 whose claim may be forgotten before it is committed %s',
    async (_, milliseconds, status, description) => {
      const ledger = testLedger()
      let looksUp = (): void => undefined
      const account: typeof ledger.account = async (name) => {
        looksUp()
        return ledger.account(name)
      }
      const payment = await handSignedPayment({ ledger: { ...ledger, account } })
      looksUp = () => {
        looksUp = () => undefined
        payment.wallet.clock.advance(milliseconds)
      }
      const answer = await payment.send()
      expect([answer.status, answer.body.error?.description]).toEqual([status, description])
    },
  )
})
