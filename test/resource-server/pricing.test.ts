import fc from 'fast-check'
import type { Price, Pricing } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { ALICE, type Answer, BASE, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  createIncoming,
  expectRefusal,
  expectStatus,
  limitExceeded,
  NO_EXCHANGE,
  NON_POSITIVE_RECEIVE,
  OVER_DEBIT_LIMIT,
  OVER_RECEIVE_LIMIT,
  type Shop,
  shop,
  spentOf,
  TOO_LARGE,
} from './observed-wallet.ts'

const CAROL = `${BASE}/carol`
const eur = (value: string) => ({ value, assetCode: 'EUR', assetScale: 4 })

function fixed(price: Price | undefined): Pricing {
  return { price: async () => price }
}

function priced(price: Price, limits?: Readonly<Record<string, unknown>>): Promise<Shop> {
  return shop({ overrides: { pricing: fixed(price) }, ...(limits && { limits }) })
}

/** A quote from Alice's dollars (scale 2) to Carol's euros (scale 4). */
async function exchange(rig: Shop, amount: Readonly<Record<string, unknown>>): Promise<Answer> {
  const { id } = await createIncoming(rig.wallet, rig.receiving, { walletAddress: CAROL })
  return askQuote(rig.wallet, rig.spending, { receiver: id, ...amount })
}

describe('fees (QUO-8)', () => {
  const price: Price = { rate: '1', fee: { basisPoints: 150, fixed: 10n } }

  it('QUO-5 a fixed debit is kept exactly: the fee in it rounds up, what arrives rounds down', async () => {
    const { wallet, spending, incoming } = await priced(price)
    for (const [debit, receive] of [
      ['1000', '975'],
      ['1001', '975'],
      ['12', '1'],
    ] as const) {
      const { body } = await expectStatus(
        201,
        askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd(debit) }),
      )
      expect([body.debitAmount.value, body.receiveAmount.value]).toEqual([debit, receive])
    }
  })

  it('QUO-5 a fixed receive is kept exactly: the debit is the smallest that reaches it', async () => {
    const { wallet, spending, incoming } = await priced(price)
    for (const [receive, debit] of [
      ['975', '1000'],
      ['974', '999'],
      ['1', '12'],
    ] as const) {
      const { body } = await expectStatus(
        201,
        askQuote(wallet, spending, { receiver: incoming.id, receiveAmount: usd(receive) }),
      )
      expect([body.debitAmount.value, body.receiveAmount.value]).toEqual([debit, receive])
      const less = usd(String(Number(debit) - 1))
      const below = await askQuote(wallet, spending, { receiver: incoming.id, debitAmount: less })
      expect(BigInt(below.body.receiveAmount?.value ?? '0')).toBeLessThan(BigInt(receive))
    }
  })

  it('QUO-4 refuses a debit of which nothing arrives, and names the smallest of which something does', async () => {
    const { wallet, spending, incoming } = await priced(price)
    for (const debit of ['1', '10', '11']) {
      const ask = () => askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd(debit) })
      const answer = await expectRefusal(wallet, NON_POSITIVE_RECEIVE, ask)
      expect(answer.body.error.details).toEqual({ minSendAmount: usd('12') })
      await expectRefusal(wallet, NON_POSITIVE_RECEIVE, () =>
        askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd(debit) }),
      )
    }
    await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('12') }))
  })

  it('conserves the money: the payer loses the debit, the payee gains the receive, the wallet keeps the fee', async () => {
    const { wallet, spending, incoming } = await priced(price)
    await expectStatus(201, askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1000') }))
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 99_000n, held: 0n })
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 975n })
    expect(await wallet.ledger.balance('fees:USD:2')).toMatchObject({ total: 25n })
    expect(await wallet.ledger.balance('clearing:USD:2')).toMatchObject({ total: 0n })
    expect((await wallet.ledger.totals()).filter(({ value }) => value !== 0n)).toEqual([
      { value: 100_000n, assetCode: 'USD', assetScale: 2 },
    ])
  })

  it('LIM-1 the debit limit counts the fee, the receive limit what arrives', async () => {
    const debit = await priced(price, { debitAmount: usd('1000') })
    const pay = ({ wallet, spending, incoming }: Shop, value: string) =>
      askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd(value) })
    await expectRefusal(debit.wallet, OVER_DEBIT_LIMIT, () => pay(debit, '1001'))
    await expectStatus(201, pay(debit, '1000'))
    expect(await spentOf(debit.wallet, debit.spending)).toEqual({
      spentDebitAmount: usd('1000'),
      spentReceiveAmount: usd('975'),
    })
    const receive = await priced(price, { receiveAmount: usd('975') })
    await expectRefusal(receive.wallet, OVER_RECEIVE_LIMIT, () => pay(receive, '1005'))
    await expectStatus(201, pay(receive, '1000'))
  })

  it('LIM-1 the receive limit counts the whole unit that the smallest payment costs', async () => {
    const rig = await priced({ rate: '1' }, { receiveAmount: eur('250') })
    const { wallet, spending, receiving } = rig
    const { id } = await createIncoming(wallet, receiving, { walletAddress: CAROL })
    const quoteOf = async (value: string): Promise<string> =>
      (await expectStatus(201, askQuote(wallet, spending, { receiver: id, receiveAmount: eur(value) }))).body.id
    const pay = async (value: string): Promise<Answer> =>
      askPayment(wallet, spending, { quoteId: await quoteOf(value) })
    await wallet.ledger.setPermissions('carol', { canSend: true, canReceive: false })
    await expectStatus(201, pay('1'))
    await wallet.openPayments.drain()
    // The payment has failed, and its charge is given back as it was.
    expect(await spentOf(wallet, spending)).toMatchObject({ spentReceiveAmount: eur('0') })
    await wallet.ledger.setPermissions('carol', { canSend: true, canReceive: true })
    await expectStatus(201, pay('1'))
    expect(await spentOf(wallet, spending)).toEqual({ spentDebitAmount: usd('1'), spentReceiveAmount: eur('100') })
    const [tooMuch, another] = [await quoteOf('151'), await quoteOf('1')]
    await expectRefusal(wallet, OVER_RECEIVE_LIMIT, () => askPayment(wallet, spending, { quoteId: tooMuch }))
    // The rounding of a payment counts only against those after it.
    await expectStatus(201, pay('150'))
    await expectRefusal(wallet, OVER_RECEIVE_LIMIT, () => askPayment(wallet, spending, { quoteId: another }))
  })

  it('LIM-1 halves of the receive limit fit into it, whatever is lost to rounding', async () => {
    const { wallet, spending, receiving } = await priced({ rate: '0.92' }, { receiveAmount: eur('200000') })
    const { id } = await createIncoming(wallet, receiving, { walletAddress: CAROL })
    for (const spent of ['100000', '200000']) {
      const half = { receiver: id, receiveAmount: eur('100000') }
      const { body } = await expectStatus(201, askQuote(wallet, spending, half))
      await expectStatus(201, askPayment(wallet, spending, { quoteId: body.id }))
      expect(await spentOf(wallet, spending)).toMatchObject({ spentReceiveAmount: eur(spent) })
    }
  })

  it('LIM-1 the receive limit counts a part of a unit as a unit', async () => {
    // One cent is worth 1.99 of the receiver's units.
    const { wallet, spending, receiving } = await priced({ rate: '0.0199' }, { receiveAmount: eur('10') })
    const { id } = await createIncoming(wallet, receiving, { walletAddress: CAROL })
    const order = async () =>
      askPayment(wallet, spending, { incomingPayment: id, debitAmount: usd('1'), metadata: { order: ++orders } })
    let orders = 0
    for (let paid = 2; paid <= 10; paid += 2) {
      await expectStatus(201, order())
      expect(await spentOf(wallet, spending)).toMatchObject({ spentReceiveAmount: eur(`${paid}`) })
    }
    await expectRefusal(wallet, OVER_RECEIVE_LIMIT, order)
  })

  it('QUO-2 a receiver with an amount gets exactly that, and the payer pays the fee on top', async () => {
    const rig = await shop({ overrides: { pricing: fixed(price) }, incoming: { incomingAmount: usd('975') } })
    const { body } = await expectStatus(201, askQuote(rig.wallet, rig.spending, { receiver: rig.incoming.id }))
    expect(body).toMatchObject({ debitAmount: usd('1000'), receiveAmount: usd('975') })
    const { wallet, spending, receiving, incoming } = rig
    await expectStatus(201, askPayment(wallet, spending, { quoteId: body.id }))
    await wallet.openPayments.drain()
    const paid = await expectStatus(200, wallet.send('GET', incoming.id, { token: receiving }))
    expect(paid.body).toMatchObject({ completed: true, receivedAmount: usd('975') })
  })

  it('AMT-1 refuses what would not fit an amount', async () => {
    const { wallet, spending, incoming } = await priced({ rate: '3' })
    const max = '18446744073709551615'
    await expectRefusal(wallet, TOO_LARGE, () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd(max) }),
    )
    const dear = await priced({ rate: '0.5' })
    await expectRefusal(dear.wallet, TOO_LARGE, () =>
      askQuote(dear.wallet, dear.spending, { receiver: dear.incoming.id, receiveAmount: usd(max) }),
    )
    // Not too little: of the smallest debit of which anything arrives, too much does.
    const cheap = await priced({ rate: '18446744073709551616' })
    await expectRefusal(cheap.wallet, TOO_LARGE, () =>
      askQuote(cheap.wallet, cheap.spending, { receiver: cheap.incoming.id, debitAmount: usd('1') }),
    )
    const even = await priced({ rate: '1' })
    const largest = { receiver: even.incoming.id, receiveAmount: usd(max) }
    const { body } = await expectStatus(201, askQuote(even.wallet, even.spending, largest))
    expect(body.debitAmount).toEqual(usd(max))
  })
})

describe('from one asset to another (QUO-8)', () => {
  it('receive rounds down, debit rounds up, and neither is ever a float', async () => {
    const rig = await priced({ rate: '0.3333333333333333333333333333' })
    const send = await expectStatus(201, exchange(rig, { debitAmount: usd('1') }))
    expect(send.body).toMatchObject({ debitAmount: usd('1'), receiveAmount: eur('33') })
    const receive = await expectStatus(201, exchange(rig, { receiveAmount: eur('34') }))
    expect(receive.body).toMatchObject({ debitAmount: usd('2'), receiveAmount: eur('34') })
    const large = await expectStatus(201, exchange(rig, { debitAmount: usd('90071992547409930') }))
    expect(large.body.receiveAmount).toEqual(eur('3002399751580330999'))
  })

  it('QUO-4 names the smallest debit of which anything arrives', async () => {
    const rig = await priced({ rate: '0.0001' })
    await expectStatus(201, exchange(rig, { debitAmount: usd('100') }))
    const answer = await exchange(rig, { debitAmount: usd('99') })
    expect(answer.body.error).toEqual({
      code: NON_POSITIVE_RECEIVE[1],
      description: NON_POSITIVE_RECEIVE[2],
      details: { minSendAmount: usd('100') },
    })
  })

  it('QUO-4 names none if of the smallest such debit more arrives than an amount can hold', async () => {
    const { wallet, spending, incoming } = await priced({ rate: '18446744073709551616', fee: { fixed: 1n } })
    const ask = (value: string) => askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd(value) })
    const { body } = await expectRefusal(wallet, NON_POSITIVE_RECEIVE, () => ask('1'))
    expect(body.error.details).toBeUndefined()
    await expectRefusal(wallet, TOO_LARGE, () => ask('2'))
  })

  it('conserves the money of each asset, and leaves the exchange in clearing', async () => {
    const rig = await priced({ rate: '0.92', fee: { fixed: 5n } })
    const { id } = await createIncoming(rig.wallet, rig.receiving, { walletAddress: CAROL })
    const payment = await expectStatus(
      201,
      askPayment(rig.wallet, rig.spending, { incomingPayment: id, debitAmount: usd('1005') }),
    )
    expect(payment.body).toMatchObject({ debitAmount: usd('1005'), receiveAmount: eur('92000'), sentAmount: usd('0') })
    await rig.wallet.openPayments.drain()
    const { ledger } = rig.wallet
    expect(await ledger.balance('alice')).toMatchObject({ total: 98_995n, held: 0n })
    expect(await ledger.balance('carol')).toMatchObject({ total: 92_000n })
    expect(await ledger.balance('fees:USD:2')).toMatchObject({ total: 5n })
    expect(await ledger.balance('clearing:USD:2')).toMatchObject({ total: 1000n })
    expect(await ledger.balance('clearing:EUR:4')).toMatchObject({ total: -92_000n })
    const totals = (await ledger.totals()).map(({ assetCode, value }) => [assetCode, value])
    expect(totals).toEqual(
      expect.arrayContaining([
        ['USD', 100_000n],
        ['EUR', 0n],
      ]),
    )
  })

  it('asks the wallet for the price with its own names, and takes no answer for no exchange', async () => {
    const asked: unknown[] = []
    const pricing: Pricing = {
      price: async (request) => {
        asked.push(request)
        return undefined
      },
    }
    const rig = await shop({ overrides: { pricing } })
    const { id } = await createIncoming(rig.wallet, rig.receiving, { walletAddress: CAROL })
    await expectRefusal(rig.wallet, NO_EXCHANGE, () =>
      askQuote(rig.wallet, rig.spending, { receiver: id, debitAmount: usd('1') }),
    )
    expect(asked).toEqual([
      {
        walletAddress: ALICE,
        from: { assetCode: 'USD', assetScale: 2 },
        to: { assetCode: 'EUR', assetScale: 4 },
      },
    ])
  })

  it('LIM-6 a receive limit in one asset admits no receiver in another', async () => {
    const rig = await priced({ rate: '1' }, { receiveAmount: usd('1000') })
    const { id } = await createIncoming(rig.wallet, rig.receiving, { walletAddress: CAROL })
    await expectRefusal(rig.wallet, limitExceeded('the receive limit is in another asset'), () =>
      askPayment(rig.wallet, rig.spending, { incomingPayment: id, debitAmount: usd('1') }),
    )
    await expectStatus(
      201,
      askPayment(rig.wallet, rig.spending, { incomingPayment: rig.incoming.id, debitAmount: usd('1') }),
    )
  })

  it('LIM-9 says null for what receivers of several assets got', async () => {
    const rig = await priced({ rate: '1' }, { debitAmount: usd('1000') })
    const { id } = await createIncoming(rig.wallet, rig.receiving, { walletAddress: CAROL })
    const first = await expectStatus(
      201,
      askPayment(rig.wallet, rig.spending, { incomingPayment: id, debitAmount: usd('3') }),
    )
    expect(first.body).toMatchObject({ grantSpentDebitAmount: usd('3'), grantSpentReceiveAmount: eur('300') })
    const second = await expectStatus(
      201,
      askPayment(rig.wallet, rig.spending, { incomingPayment: rig.incoming.id, debitAmount: usd('4') }),
    )
    expect(second.body).toMatchObject({ grantSpentDebitAmount: usd('7') })
    expect(second.body).not.toHaveProperty('grantSpentReceiveAmount')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual({ spentDebitAmount: usd('7'), spentReceiveAmount: null })
  })
})

describe('a price that is none', () => {
  it.each<readonly [string, Price]>([
    ['a rate of zero', { rate: '0' }],
    ['a negative rate', { rate: '-1' }],
    ['a rate with an exponent', { rate: '1e3' }],
    ['an empty rate', { rate: '' }],
    ['a rate that is a number, which may not be exact', JSON.parse('{ "rate": 1 }')],
    ['a fee below zero', { rate: '1', fee: { fixed: -1n } }],
    ['basis points below zero', { rate: '1', fee: { basisPoints: -1 } }],
    ['basis points that are no integer', { rate: '1', fee: { basisPoints: 1.5 } }],
    ['basis points that are no number', { rate: '1', fee: { basisPoints: Number.NaN } }],
    ['a fee of all there is', { rate: '1', fee: { basisPoints: 10_000 } }],
    ['a fee of more than there is', { rate: '1', fee: { basisPoints: 20_000 } }],
  ])('is a fault of the wallet and no quote: %s', async (_, price) => {
    const { wallet, spending, incoming } = await priced(price)
    for (const amount of [{ debitAmount: usd('100') }, { receiveAmount: usd('100') }]) {
      await expectRefusal(wallet, [500, 'internal_error', 'internal server error'], () =>
        askQuote(wallet, spending, { receiver: incoming.id, ...amount }),
      )
    }
    const faults = wallet.events.filter(({ type }) => type === 'fault')
    expect(faults).toEqual([
      expect.objectContaining({ message: expect.stringContaining('Pricing.price') }),
      expect.objectContaining({ message: expect.stringContaining('Pricing.price') }),
    ])
  })
})

describe('any price at all (properties of QUO-5 and QUO-8)', () => {
  it('never creates money, never debits more than needed, and is the same both ways', async () => {
    let price: Price = { rate: '1' }
    const rig = await shop({
      overrides: { pricing: { price: async () => price }, settings: { lifetimes: { accessTokenSeconds: 36_000 } } },
    })
    const { id: receiver } = await createIncoming(rig.wallet, rig.receiving, { walletAddress: CAROL })
    const decimals = fc.tuple(fc.bigInt(0n, 10n ** 12n), fc.integer({ min: 0, max: 12 }))
    await fc.assert(
      fc.asyncProperty(
        decimals.filter(([digits]) => digits > 0n),
        fc.integer({ min: 0, max: 9999 }),
        fc.bigInt(0n, 1000n),
        fc.bigInt(1n, 10n ** 15n),
        async ([digits, places], basisPoints, flat, receive) => {
          const text = digits.toString().padStart(places + 1, '0')
          const whole = text.slice(0, text.length - places)
          price = { rate: places === 0 ? whole : `${whole}.${text.slice(-places)}`, fee: { basisPoints, fixed: flat } }
          const ask = (amount: unknown) => askQuote(rig.wallet, rig.spending, { receiver, ...(amount as object) })
          const wanted = await ask({ receiveAmount: eur(receive.toString()) })
          if (wanted.status !== 201) {
            expect(wanted.body.error.code).toBe('invalid_amount')
            return
          }
          expect(wanted.body.receiveAmount.value).toBe(receive.toString())
          const debit = BigInt(wanted.body.debitAmount.value)
          // Exactly, in integers: what is left of the debit after the fee, at the rate.
          const fee = (debit * BigInt(basisPoints) + 9999n) / 10_000n + flat
          const worth = (debit - fee) * digits * 100n
          expect(worth >= receive * 10n ** BigInt(places)).toBe(true)
          const back = await ask({ debitAmount: usd(debit.toString()) })
          if (back.status === 201) expect(BigInt(back.body.receiveAmount.value)).toBe(worth / 10n ** BigInt(places))
          if (debit === 1n) return
          const less = await ask({ debitAmount: usd((debit - 1n).toString()) })
          if (less.status === 201) expect(BigInt(less.body.receiveAmount.value)).toBeLessThan(receive)
        },
      ),
      { numRuns: 60 },
    )
  })
})
