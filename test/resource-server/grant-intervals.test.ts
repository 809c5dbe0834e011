import { describe, expect, it } from 'vitest'
import { usd } from '../support/test-wallet.ts'
import { DAY, limited, moveTo, NO_WINDOW, pay, refusePay } from './grant-rig.ts'
import { expectStatus, NOTHING_SPENT, OVER_DEBIT_LIMIT, spent, spentOf } from './observed-wallet.ts'

describe('the windows of an interval', () => {
  it('LIM-1 LIM-7 each window has the whole limit and nothing of the one before', async () => {
    const rig = await limited({ debitAmount: usd('10'), interval: 'R/2026-02-10T00:00:00Z/P1M' })
    await expectStatus(201, pay(rig, '4'))
    moveTo(rig, '2026-03-09T23:59:59.999Z')
    await refusePay(rig, '7')
    await expectStatus(201, pay(rig, '6'))
    await refusePay(rig, '1')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('10'))
    rig.wallet.clock.advance(1)
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('0'))
    await refusePay(rig, '11')
    const first = await expectStatus(201, pay(rig, '3'))
    expect(first.body).toMatchObject({ grantSpentDebitAmount: usd('3'), grantSpentReceiveAmount: usd('3') })
    moveTo(rig, '2026-04-10T00:00:00Z')
    await refusePay(rig, '11')
    await expectStatus(201, pay(rig, '10'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('10'))
  })

  it('LIM-2 OUT-9 a payment counts in the window of its creation, also when it fails in a later one', async () => {
    const rig = await limited({ debitAmount: usd('10'), interval: 'R/2026-03-01T00:00:00Z/P1D' })
    const { ledger } = rig.wallet
    moveTo(rig, '2026-03-01T23:59:59Z')
    // The wallet refuses the credit of this payment, but only after the window has changed.
    const { credit } = ledger
    let refuse = (): void => undefined
    ledger.credit = () =>
      new Promise((resolve) => {
        refuse = () => resolve({ ok: false, reason: 'not_allowed' })
      })
    const created = await expectStatus(201, pay(rig, '10'))
    const whileOpen = await pay(rig, '1')
    expect([whileOpen.status, whileOpen.body.error.code]).toEqual([403, 'grant_limit_exceeded'])
    ledger.credit = credit
    moveTo(rig, '2026-03-02T00:00:00Z')
    await expectStatus(201, pay(rig, '8'))
    refuse()
    await rig.wallet.openPayments.drain()
    const read = await rig.wallet.send('GET', created.body.id, { token: rig.spending })
    expect(read.body).toMatchObject({ failed: true, sentAmount: usd('0') })
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('8'))
    await refusePay(rig, '3')
    await expectStatus(201, pay(rig, '2'))
  })

  it.each([
    ['before the first', 'R/2026-06-01T00:00:00Z/P1M', '2026-03-01T12:00:01Z'],
    ['after the last', 'R1/2026-03-01T00:00:00Z/P1D', '2026-03-03T00:00:00Z'],
    ['after the end', 'R1/P1D/2026-03-02T00:00:00Z', '2026-03-02T00:00:00Z'],
  ])('LIM-3 %s window every payment is refused and nothing is said to be spent', async (_, interval, moment) => {
    for (const amount of [{ debitAmount: usd('1000') }, {}]) {
      const rig = await limited({ ...amount, interval })
      if (!interval.includes('06-01')) await expectStatus(201, pay(rig, '5'))
      moveTo(rig, moment)
      await refusePay(rig, '1', NO_WINDOW)
      expect(await spentOf(rig.wallet, rig.spending)).toEqual(NOTHING_SPENT)
    }
  })

  it('LIM-3 a window before its beginning opens on its first millisecond', async () => {
    const rig = await limited({ debitAmount: usd('10'), interval: 'R0/2026-06-01T00:00:00Z/P1D' })
    moveTo(rig, '2026-05-31T23:59:59.999Z')
    await refusePay(rig, '1', NO_WINDOW)
    rig.wallet.clock.advance(1)
    await expectStatus(201, pay(rig, '10'))
    moveTo(rig, '2026-06-01T23:59:59.999Z')
    await refusePay(rig, '1')
    rig.wallet.clock.advance(1)
    await refusePay(rig, '1', NO_WINDOW)
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(NOTHING_SPENT)
  })

  it.each([
    ['additional', 3],
    ['total', 2],
  ] as const)('D4 R2 counted as %s has %d windows', async (counting, windows) => {
    const rig = await limited({ debitAmount: usd('10'), interval: 'R2/2026-03-01T00:00:00Z/P1D' }, counting)
    let admitted = 0
    for (let day = 0; day < 5; day++) {
      const answer = await pay(rig, '10')
      if (answer.status === 201) admitted++
      else expect(answer.body.error.description).toBe('unauthorized')
      await refusePay(rig, '1', day < windows ? OVER_DEBIT_LIMIT : NO_WINDOW)
      rig.wallet.clock.advance(DAY)
    }
    expect(admitted).toBe(windows)
  })

  it('LIM-4 an interval without an amount says when, not how much', async () => {
    const rig = await limited({ interval: 'R0/2026-03-01T00:00:00Z/P1D' })
    await expectStatus(201, pay(rig, '50000'))
    await expectStatus(201, pay(rig, '40000'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('90000'))
    moveTo(rig, '2026-03-02T00:00:00Z')
    await refusePay(rig, '1', NO_WINDOW)
  })

  it('D13 null before the first payment, amounts after it, zeros in a fresh window', async () => {
    const rig = await limited({ debitAmount: usd('10'), interval: 'R/2026-03-01T00:00:00Z/P1D' })
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(NOTHING_SPENT)
    await refusePay(rig, '11')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(NOTHING_SPENT)
    await expectStatus(201, pay(rig, '5'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('5'))
    rig.wallet.clock.advance(DAY)
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('0'))
    rig.wallet.clock.advance(100 * DAY)
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('0'))
  })

  it('LIM-1 a clock far from the beginning finds its window at once', async () => {
    const rig = await limited({ debitAmount: usd('10'), interval: 'R/1970-01-01T00:00:00Z/PT60S' })
    await expectStatus(201, pay(rig, '10'))
    await refusePay(rig, '1')
    rig.wallet.clock.advance(60_000)
    await expectStatus(201, pay(rig, '10'))
  })

  it('IVL-1 windows of a month follow the calendar: one that began on the 31st ends on the last day', async () => {
    const rig = await limited({ debitAmount: usd('10'), interval: 'R/2026-01-31T00:00:00Z/P1M' })
    await expectStatus(201, pay(rig, '10'))
    moveTo(rig, '2026-03-30T23:59:59.999Z')
    await refusePay(rig, '1')
    moveTo(rig, '2026-03-31T00:00:00Z')
    await expectStatus(201, pay(rig, '10'))
    moveTo(rig, '2026-04-29T23:59:59.999Z')
    await refusePay(rig, '1')
    moveTo(rig, '2026-04-30T00:00:00Z')
    await expectStatus(201, pay(rig, '10'))
  })
})
