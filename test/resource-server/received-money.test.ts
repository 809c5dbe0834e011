import type { Ledger } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../support/fake-clock.ts'
import { BOB, testLedger, testWallet, usd, usdAmount } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  createIncoming,
  expectRefusal,
  expectStatus,
  FILLED_RECEIVER,
  idOf,
  LONG_LIFETIMES,
  NO_AMOUNT,
  OVER_REMAINDER,
  shop,
} from './observed-wallet.ts'

describe('money that reached the wallet on a rail of its own (INC-8)', () => {
  const ready = (excessReceipt: 'cap' | 'accept' | 'refuse') =>
    shop({ incoming: { incomingAmount: usd('100') }, overrides: { settings: { policies: { excessReceipt } } } })

  async function received(rig: Awaited<ReturnType<typeof shop>>) {
    const { body } = await rig.wallet.send('GET', rig.incoming.id, { token: rig.receiving })
    return [body.receivedAmount.value, body.completed, body.methods.length]
  }

  it('INC-5 counts a transfer once; the same again is answered the same, anything else is a conflict', async () => {
    const rig = await ready('cap')
    const other = await createIncoming(rig.wallet, rig.receiving)
    const { incomingPayments } = rig.wallet.openPayments
    const id = idOf(rig.incoming)
    expect(await incomingPayments.received(id, usdAmount(60n), 't1')).toEqual({ ok: true, accepted: 60n, excess: 0n })
    expect(await incomingPayments.received(id, usdAmount(60n), 't1')).toEqual({ ok: true, accepted: 60n, excess: 0n })
    expect(await incomingPayments.received(id, usdAmount(61n), 't1')).toEqual({ ok: false, reason: 'conflict' })
    expect(await incomingPayments.received(idOf(other), usdAmount(60n), 't1')).toEqual({
      ok: false,
      reason: 'conflict',
    })
    expect(await received(rig)).toEqual(['60', false, 1])
    expect(await rig.wallet.ledger.balance('bob')).toMatchObject({ total: 0n })
  })

  it('INC-5 INC-13 counts also what comes once the directory knows the wallet address no more', async () => {
    const rig = await ready('cap')
    rig.wallet.directory.delete(BOB)
    const { incomingPayments } = rig.wallet.openPayments
    const counted = { ok: true, accepted: 60n, excess: 0n }
    expect(await incomingPayments.received(idOf(rig.incoming), usdAmount(60n), 't1')).toEqual(counted)
  })

  it('INC-8 caps what is above the remainder, says how much, and repeats exactly that', async () => {
    const rig = await ready('cap')
    const { incomingPayments } = rig.wallet.openPayments
    const id = idOf(rig.incoming)
    expect(await incomingPayments.received(id, usdAmount(70n), 't1')).toEqual({ ok: true, accepted: 70n, excess: 0n })
    const capped = { ok: true, accepted: 30n, excess: 20n }
    expect(await incomingPayments.received(id, usdAmount(50n), 't2')).toEqual(capped)
    expect(await incomingPayments.received(id, usdAmount(50n), 't2')).toEqual(capped)
    expect(await incomingPayments.received(id, usdAmount(30n), 't2')).toEqual({ ok: false, reason: 'conflict' })
    expect(await received(rig)).toEqual(['100', true, 0])
    expect(await incomingPayments.received(id, usdAmount(1n), 't3')).toEqual({ ok: false, reason: 'completed' })
    expect(rig.wallet.events.filter(({ type }) => type === 'incoming_payment.completed')).toHaveLength(1)
  })

  it('INC-8 caps also what no amount could hold together with what is there', async () => {
    const rig = await ready('cap')
    const { incomingPayments } = rig.wallet.openPayments
    const id = idOf(rig.incoming)
    await incomingPayments.received(id, usdAmount(70n), 't1')
    const most = 2n ** 64n - 1n
    expect(await incomingPayments.received(id, usdAmount(most), 't2')).toEqual({
      ok: true,
      accepted: 30n,
      excess: most - 30n,
    })
    expect(await received(rig)).toEqual(['100', true, 0])
  })

  it('INC-5 a transfer that comes when nothing is taken any more may be reported for another payment', async () => {
    const rig = await ready('cap')
    const { incomingPayments } = rig.wallet.openPayments
    await incomingPayments.received(idOf(rig.incoming), usdAmount(100n), 't1')
    const late = { ok: false, reason: 'completed' }
    expect(await incomingPayments.received(idOf(rig.incoming), usdAmount(3n), 't2')).toEqual(late)
    expect(await incomingPayments.received(idOf(rig.incoming), usdAmount(3n), 't2')).toEqual(late)
    const other = await createIncoming(rig.wallet, rig.receiving)
    expect(await incomingPayments.received(idOf(other), usdAmount(3n), 't2')).toEqual({
      ok: true,
      accepted: 3n,
      excess: 0n,
    })
  })

  it('INC-8 accepts it whole where the wallet says so', async () => {
    const rig = await ready('accept')
    const { incomingPayments } = rig.wallet.openPayments
    expect(await incomingPayments.received(idOf(rig.incoming), usdAmount(150n), 't1')).toEqual({
      ok: true,
      accepted: 150n,
      excess: 0n,
    })
    expect(await received(rig)).toEqual(['150', true, 0])
  })

  it('INC-8 refuses it where the wallet says so, and takes what fits', async () => {
    const rig = await ready('refuse')
    const { incomingPayments } = rig.wallet.openPayments
    const id = idOf(rig.incoming)
    expect(await incomingPayments.received(id, usdAmount(101n), 't1')).toEqual({ ok: false, reason: 'over_remainder' })
    expect(await received(rig)).toEqual(['0', false, 1])
    expect(await incomingPayments.received(id, usdAmount(100n), 't2')).toEqual({ ok: true, accepted: 100n, excess: 0n })
    expect(await received(rig)).toEqual(['100', true, 0])
  })

  it('INC-5 INC-8 never counts a transfer that it has refused, though there may be room again', async () => {
    const ledger = testLedger()
    const away = async (): Promise<never> => {
      throw new Error('the ledger is away')
    }
    let credit: Ledger['credit'] = away
    const rig = await shop({
      overrides: {
        ledger: { ...ledger, credit: (one) => credit(one) },
        settings: { policies: { excessReceipt: 'refuse' } },
      },
      incoming: { incomingAmount: usd('100') },
    })
    const { wallet, spending, incoming } = rig
    const { incomingPayments } = wallet.openPayments
    const id = idOf(incoming)
    await askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('60') })
    await wallet.openPayments.drain()
    const refused = { ok: false, reason: 'over_remainder' }
    expect(await incomingPayments.received(id, usdAmount(50n), 't1')).toEqual(refused)
    credit = async () => ({ ok: false, reason: 'not_allowed' })
    wallet.clock.advance(120_000)
    await wallet.openPayments.recover()
    await wallet.openPayments.drain()
    expect(await incomingPayments.received(id, usdAmount(50n), 't1')).toEqual(refused)
    expect(await incomingPayments.received(id, usdAmount(49n), 't1')).toEqual({ ok: false, reason: 'conflict' })
    expect(await incomingPayments.received(id, usdAmount(50n), 't2')).toEqual({ ok: true, accepted: 50n, excess: 0n })
    expect(await received(rig)).toEqual(['50', false, 1])
  })

  it('LIM-11 accepts no more than 64 bits hold, with what is on its way', async () => {
    const away = () => Promise.reject(new Error('the ledger is away'))
    const settings = { policies: { excessReceipt: 'accept' } } as const
    const overrides = { ledger: { ...testLedger(), credit: away }, settings }
    const { wallet, spending, incoming } = await shop({ overrides, incoming: { incomingAmount: usd('100') } })
    const { incomingPayments } = wallet.openPayments
    await askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('60') })
    await wallet.openPayments.drain()
    const most = 2n ** 64n - 1n
    const tooMuch = await incomingPayments.received(idOf(incoming), usdAmount(most - 59n), 't1')
    expect(tooMuch).toEqual({ ok: false, reason: 'over_remainder' })
    const all = await incomingPayments.received(idOf(incoming), usdAmount(most - 60n), 't2')
    expect(all).toEqual({ ok: true, accepted: most - 60n, excess: 0n })
  })

  it('LIM-11 QUO-3 OUT-4 a payment that names no amount is quoted and paid no more than its sum can still hold', async () => {
    const { wallet, spending, incoming } = await shop()
    const receiver = incoming.id
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver, debitAmount: usd('6') }))
    await wallet.openPayments.incomingPayments.received(idOf(incoming), usdAmount(2n ** 64n - 6n), 't1')
    await expectRefusal(wallet, FILLED_RECEIVER, () => askPayment(wallet, spending, { quoteId: quote.body.id }))
    for (const amount of [{ debitAmount: usd('6') }, { receiveAmount: usd('6') }]) {
      await expectRefusal(wallet, OVER_REMAINDER, () => askQuote(wallet, spending, { receiver, ...amount }))
    }
    const order = (value: string) =>
      askPayment(wallet, spending, { incomingPayment: receiver, debitAmount: usd(value) })
    await expectRefusal(wallet, OVER_REMAINDER, () => order('6'))
    await expectRefusal(wallet, NO_AMOUNT, () => askQuote(wallet, spending, { receiver }))
    await expectStatus(201, order('5'))
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 5n })
  })

  it('INC-5 INC-7 never counts a transfer that it has refused as too late, by the clock of a process that is behind', async () => {
    const storage = memoryStorage()
    const rig = await shop({ overrides: { storage }, incoming: { expiresAt: '2026-03-01T12:01:00Z' } })
    const behind = await testWallet({ storage })
    const id = idOf(rig.incoming)
    rig.wallet.clock.advance(60_500)
    behind.clock.advance(58_500)
    const expired = { ok: false, reason: 'expired' }
    expect(await rig.wallet.openPayments.incomingPayments.received(id, usdAmount(5n), 't1')).toEqual(expired)
    expect(await behind.openPayments.incomingPayments.received(id, usdAmount(5n), 't1')).toEqual(expired)
    expect(await behind.openPayments.incomingPayments.received(id, usdAmount(5n), 't2')).toMatchObject({ ok: true })
    await rig.wallet.openPayments.sweep()
    expect(await rig.wallet.openPayments.incomingPayments.received(id, usdAmount(5n), 't1')).toEqual(expired)
  })

  it('INC-5 INC-7 answers the same again for a payment that another process ended, by a clock that is still behind its expiry', async () => {
    const storage = memoryStorage()
    const rig = await shop({ overrides: { storage }, incoming: { expiresAt: '2026-03-01T12:01:00Z' } })
    const behind = await testWallet({ storage })
    const { incomingPayments } = behind.openPayments
    rig.wallet.clock.advance(60_500)
    behind.clock.advance(58_500)
    await rig.wallet.openPayments.sweep()
    const expired = { ok: false, reason: 'expired' }
    expect(await incomingPayments.received(idOf(rig.incoming), usdAmount(5n), 't1')).toEqual(expired)
    expect(await incomingPayments.received(idOf(rig.incoming), usdAmount(5n), 't1')).toEqual(expired)
  })

  it('INC-5 INC-8 answers the same again for a transfer that was too large, once its payment has expired', async () => {
    const incoming = { incomingAmount: usd('100'), expiresAt: '2026-03-01T12:01:00Z' }
    const rig = await shop({ incoming, overrides: { settings: { policies: { excessReceipt: 'refuse' } } } })
    const { openPayments, clock } = rig.wallet
    const report = () => openPayments.incomingPayments.received(idOf(rig.incoming), usdAmount(101n), 't1')
    const refused = { ok: false, reason: 'over_remainder' }
    expect(await report()).toEqual(refused)
    clock.advance(60_001)
    expect(await openPayments.sweep()).toBeGreaterThan(0)
    expect(await report()).toEqual(refused)
  })

  it('INC-5 INC-7 INC-8 answers the same again where the payment expires while the transfer is looked at', async () => {
    const storage = memoryStorage()
    const rig = await shop({
      overrides: { storage },
      incoming: { incomingAmount: usd('100'), expiresAt: '2026-03-01T12:01:00Z' },
    })
    let now = 0
    const clock = { ...fakeClock(), now: () => now++ }
    const settings = { policies: { excessReceipt: 'refuse' } } as const
    const { incomingPayments } = (await testWallet({ storage, settings, clock })).openPayments
    for (let looks = 0; looks < 20; looks++) {
      now = Date.parse('2026-03-01T12:01:00Z') - looks
      const report = () => incomingPayments.received(idOf(rig.incoming), usdAmount(101n), `t${looks}`)
      const refused = await report()
      expect([looks, await report()]).toEqual([looks, refused])
    }
  })

  it.each([
    { assetCode: 'EUR', assetScale: 2 },
    { assetCode: 'USD', assetScale: 3 },
  ])('INC-5 refuses money of another asset: %o', async (asset) => {
    const rig = await ready('cap')
    const { incomingPayments } = rig.wallet.openPayments
    const id = idOf(rig.incoming)
    const refused = { ok: false, reason: 'wrong_asset' }
    expect(await incomingPayments.received(id, { ...asset, value: 10n }, 't1')).toEqual(refused)
    expect(await received(rig)).toEqual(['0', false, 1])
    expect(await incomingPayments.received(id, usdAmount(10n), 't1')).toMatchObject({ ok: true })
    expect(await incomingPayments.received(id, { ...asset, value: 10n }, 't1')).toEqual({
      ok: false,
      reason: 'conflict',
    })
  })

  it.each([10n, 10, '10', undefined, { value: '10', assetCode: 'USD', assetScale: 2 }])(
    'INC-5 what is no amount is a fault of the caller: %o',
    async (amount) => {
      const rig = await ready('cap')
      const call = Reflect.apply(rig.wallet.openPayments.incomingPayments.received, undefined, [
        idOf(rig.incoming),
        amount,
        't',
      ])
      await expect(call).rejects.toThrow(TypeError)
      expect(await received(rig)).toEqual(['0', false, 1])
    },
  )

  it('INC-7 refuses what comes after completion or expiry, and for a payment that does not exist', async () => {
    const rig = await shop({
      overrides: { settings: { lifetimes: LONG_LIFETIMES } },
      incoming: { expiresAt: '2026-03-02T00:00:00Z' },
    })
    const { incomingPayments } = rig.wallet.openPayments
    const id = idOf(rig.incoming)
    expect(await incomingPayments.received('0'.repeat(32), usdAmount(1n), 't0')).toEqual({
      ok: false,
      reason: 'unknown',
    })
    const done = await createIncoming(rig.wallet, rig.receiving)
    await rig.wallet.send('POST', `${done.id}/complete`, { token: rig.receiving })
    expect(await incomingPayments.received(idOf(done), usdAmount(1n), 't1')).toEqual({ ok: false, reason: 'completed' })
    rig.wallet.clock.advance(Date.parse('2026-03-02T00:00:00Z') - rig.wallet.clock.now())
    expect(await incomingPayments.received(id, usdAmount(1n), 't2')).toMatchObject({ ok: true })
    rig.wallet.clock.advance(1)
    expect(await incomingPayments.received(id, usdAmount(1n), 't3')).toEqual({ ok: false, reason: 'expired' })
    expect(await incomingPayments.received(id, usdAmount(1n), 't2')).toMatchObject({ ok: true })
    expect(await received(rig)).toEqual(['1', false, 0])
  })

  it('T-30 INC-6 many transfers at once fill the payment exactly and complete it once', async () => {
    const rig = await ready('cap')
    const { incomingPayments } = rig.wallet.openPayments
    const id = idOf(rig.incoming)
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => incomingPayments.received(id, usdAmount(7n), `t${index % 25}`)),
    )
    const accepted = new Map<number, bigint>()
    for (const [index, result] of results.entries()) if (result.ok) accepted.set(index % 25, result.accepted)
    expect([...accepted.values()].reduce((sum, value) => sum + value, 0n)).toBe(100n)
    expect(await received(rig)).toEqual(['100', true, 0])
    expect(rig.wallet.events.filter(({ type }) => type === 'incoming_payment.completed')).toHaveLength(1)
  })

  it('T-30 transfers of a rail and payments inside the wallet never overfill a payment together', async () => {
    const rig = await ready('refuse')
    const { wallet, spending, incoming } = rig
    const id = idOf(incoming)
    const pay = (order: number) =>
      askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('30'), metadata: { order } })
    const counts = [0, 1, 2, 3, 4]
    await Promise.all([
      ...counts.map(pay),
      ...counts.map((count) => wallet.openPayments.incomingPayments.received(id, usdAmount(30n), `t${count}`)),
    ])
    await wallet.openPayments.drain()
    expect((await received(rig))[0]).toBe('90')
    const { total = 0n } = (await wallet.ledger.balance('bob')) ?? {}
    const { total: left, held } = (await wallet.ledger.balance('alice')) ?? {}
    expect([left, held]).toEqual([100_000n - total, 0n])
  })

  it.each(['cap', 'accept', 'refuse'] as const)(
    'T-26 INC-5 never counts more than an amount holds (%s)',
    async (policy) => {
      const max = 2n ** 64n - 1n
      const rig = await shop({ overrides: { settings: { policies: { excessReceipt: policy } } } })
      const { incomingPayments } = rig.wallet.openPayments
      const id = idOf(rig.incoming)
      expect(await incomingPayments.received(id, usdAmount(max), 't1')).toEqual({ ok: true, accepted: max, excess: 0n })
      expect(await incomingPayments.received(id, usdAmount(1n), 't2')).toEqual({ ok: false, reason: 'over_remainder' })
      expect(await received(rig)).toEqual([max.toString(), false, 1])
    },
  )

  it.each([0n, -1n, 2n ** 64n])('INC-5 an amount of %d is a fault of the caller', async (amount) => {
    const rig = await ready('cap')
    await expect(
      rig.wallet.openPayments.incomingPayments.received(idOf(rig.incoming), usdAmount(amount), 't'),
    ).rejects.toThrow(RangeError)
    expect(await received(rig)).toEqual(['0', false, 1])
  })

  it.each(['', 'a'.repeat(257), 'a\0b', '\ud800', 'a\udfff'])(
    'T-26 INC-5 a transfer id that no database keeps apart from others is a fault of the caller (%j)',
    async (transferId) => {
      const rig = await ready('cap')
      const { incomingPayments } = rig.wallet.openPayments
      await expect(incomingPayments.received(idOf(rig.incoming), usdAmount(1n), transferId)).rejects.toThrow(RangeError)
      expect(await received(rig)).toEqual(['0', false, 1])
      const longest = '\u{1f600}'.repeat(256)
      expect(await incomingPayments.received(idOf(rig.incoming), usdAmount(1n), longest)).toMatchObject({ ok: true })
    },
  )

  // What plain JavaScript gives where a member is misspelt.
  const none: readonly unknown[] = [undefined, null, 7, {}]

  it.each(none)('INC-5 a transfer id that is no text is a fault of the caller (%j)', async (transferId) => {
    const rig = await ready('cap')
    const call = Reflect.get(rig.wallet.openPayments.incomingPayments, 'received')
    await expect(Reflect.apply(call, undefined, [idOf(rig.incoming), usdAmount(1n), transferId])).rejects.toThrow(
      TypeError,
    )
    expect(await received(rig)).toEqual(['0', false, 1])
  })

  it.each([...none, '', 'a\0b', `${'0'.repeat(31)}A`])('INC-5 an id that is none is unknown (%j)', async (id) => {
    const rig = await ready('cap')
    const call = Reflect.get(rig.wallet.openPayments.incomingPayments, 'received')
    const tell = (name: unknown): unknown => Reflect.apply(call, undefined, [name, usdAmount(1n), 't'])
    expect(await tell(id)).toEqual({ ok: false, reason: 'unknown' })
    expect(await tell(idOf(rig.incoming))).toMatchObject({ ok: true })
    expect(await tell(id)).toEqual({ ok: false, reason: 'conflict' })
    // A stranger may have typed it.
    expect(rig.wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  it('INC-5 a URL for an id is unknown, and a fault: the wallet has taken it for one', async () => {
    const { wallet, incoming } = await ready('cap')
    const url = incoming.id
    const answer = await wallet.openPayments.incomingPayments.received(url, usdAmount(1n), 't')
    expect(answer).toEqual({ ok: false, reason: 'unknown' })
    expect(wallet.events.filter(({ type }) => type === 'fault')).toMatchObject([
      {
        message: 'a URL was reported as the id of an incoming payment',
        cause: { message: `the id is the last segment of the URL, not ${JSON.stringify(url)}` },
      },
    ])
  })

  it.each(none)('INC-5 an amount without its asset is a fault of the caller (%j)', async (wrong) => {
    const rig = await ready('cap')
    const call = Reflect.get(rig.wallet.openPayments.incomingPayments, 'received')
    const amounts: readonly unknown[] = [
      wrong,
      { ...usdAmount(1n), value: wrong },
      { ...usdAmount(1n), assetCode: wrong },
      { ...usdAmount(1n), assetScale: wrong === 7 ? '7' : wrong },
    ]
    for (const amount of amounts)
      await expect(Reflect.apply(call, undefined, [idOf(rig.incoming), amount, 't'])).rejects.toThrow(TypeError)
    expect(await received(rig)).toEqual(['0', false, 1])
  })
})
