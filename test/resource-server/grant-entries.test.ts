import { describe, expect, it } from 'vitest'
import { ALICE, type Answer, usd } from '../support/test-wallet.ts'
import { limited, moveTo, NO_WINDOW, pay, refusePay } from './grant-rig.ts'
import {
  createIncoming,
  expectStatus,
  LIMITED_TO_ANOTHER_RECEIVER,
  NOTHING_SPENT,
  observedWallet,
  RECEIVING_ACCESS,
  type Shop,
  spent,
  spentOf,
  tokenFor,
} from './observed-wallet.ts'

describe('several entries in one grant (LIM-10)', () => {
  const entry = (limits?: unknown, actions: readonly string[] = ['create']) => ({
    type: 'outgoing-payment',
    actions,
    identifier: ALICE,
    ...(limits !== undefined && { limits }),
  })

  async function withEntries(...access: readonly unknown[]): Promise<Shop> {
    const rig = await limited(undefined)
    return { ...rig, spending: await tokenFor(rig.wallet, access) }
  }

  it('LIM-10 charges the first entry that admits a payment, and each keeps its own budget', async () => {
    const rig = await withEntries(entry({ debitAmount: usd('10') }), entry({ debitAmount: usd('100') }))
    const first = await expectStatus(201, pay(rig, '8'))
    expect(first.body).toMatchObject({ grantSpentDebitAmount: usd('8') })
    const second = await expectStatus(201, pay(rig, '50'))
    expect(second.body).toMatchObject({ grantSpentDebitAmount: usd('50') })
    const third = await expectStatus(201, pay(rig, '2'))
    expect(third.body).toMatchObject({ grantSpentDebitAmount: usd('10') })
    await refusePay(rig, '51')
    const fourth = await expectStatus(201, pay(rig, '50'))
    expect(fourth.body).toMatchObject({ grantSpentDebitAmount: usd('100') })
    await refusePay(rig, '1')
  })

  it('LIM-10 one payment is never split over two entries', async () => {
    const rig = await withEntries(entry({ debitAmount: usd('10') }), entry({ debitAmount: usd('11') }))
    await refusePay(rig, '12')
    await refusePay(rig, '21')
    await expectStatus(201, pay(rig, '11'))
    await expectStatus(201, pay(rig, '10'))
    await refusePay(rig, '1')
  })

  it('LIM-10 shows the entry that was charged last', async () => {
    const rig = await withEntries(entry({ debitAmount: usd('10') }), entry({ debitAmount: usd('100') }))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(NOTHING_SPENT)
    await expectStatus(201, pay(rig, '8'))
    rig.wallet.clock.advance(1)
    await expectStatus(201, pay(rig, '50'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('50'))
    rig.wallet.clock.advance(1)
    await expectStatus(201, pay(rig, '2'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('10'))
  })

  it('LIM-10 D15 a payment that the wallet refused hides nothing of what another entry has spent', async () => {
    const rig = await withEntries(entry({ debitAmount: usd('10') }), entry({ debitAmount: usd('200000') }))
    await expectStatus(201, pay(rig, '8'))
    rig.wallet.clock.advance(1)
    const refused = await pay(rig, '100001')
    expect(refused.body.error.code).toBe('insufficient_funds')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('8'))
  })

  it('LIM-10 D15 a payment that the wallet refused hides nothing of what its own window has spent before', async () => {
    const rig = await withEntries(entry({ debitAmount: usd('200000'), interval: 'R/2026-03-01T00:00:00Z/P1D' }))
    await expectStatus(201, pay(rig, '8'))
    expect((await pay(rig, '100001')).body.error.code).toBe('insufficient_funds')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('8'))
  })

  it('LIM-10 a payment that the wallet refused does not make its entry the one that was charged last', async () => {
    const rig = await withEntries(entry({ debitAmount: usd('10') }), entry({ debitAmount: usd('200000') }))
    await expectStatus(201, pay(rig, '50'))
    rig.wallet.clock.advance(1)
    await expectStatus(201, pay(rig, '8'))
    rig.wallet.clock.advance(1)
    expect((await pay(rig, '100001')).body.error.code).toBe('insufficient_funds')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('8'))
    rig.wallet.clock.advance(1)
    await expectStatus(201, pay(rig, '3'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('53'))
  })

  it('D13 a payment that failed is one that the grant has, whatever the wallet refuses afterwards', async () => {
    const rig = await withEntries(entry({ debitAmount: usd('200000') }))
    const { ledger, openPayments, clock } = rig.wallet
    await ledger.setPermissions('bob', { canSend: true, canReceive: false })
    await expectStatus(201, pay(rig, '5'))
    await openPayments.drain()
    await ledger.setPermissions('bob', { canSend: true, canReceive: true })
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('0'))
    clock.advance(1)
    expect((await pay(rig, '100001')).body.error.code).toBe('insufficient_funds')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('0'))
  })

  it.each([
    ['the second', ['8', '50'], '50'],
    ['the first', ['50', '8'], '8'],
  ])('LIM-10 shows %s entry, charged last, where all was charged in one millisecond', async (_, values, last) => {
    const rig = await withEntries(entry({ debitAmount: usd('10') }), entry({ debitAmount: usd('100') }))
    for (const value of values) await expectStatus(201, pay(rig, value))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent(last))
  })

  /** Resolves when the wallet is asked to hold the money: to what lets it refuse, and waits for the answer to the order. */
  async function beginRefused(rig: Shop, value: string): Promise<() => Promise<Answer>> {
    return new Promise((resolve) => {
      let answer: Promise<Answer>
      rig.wallet.ledger.hold = () =>
        new Promise((refuse) => {
          resolve(() => {
            refuse({ ok: false, reason: 'not_allowed' })
            return answer
          })
        })
      answer = pay(rig, value)
    })
  }

  it.each([
    ['in their order', [0, 1, 2]],
    ['the last one first', [2, 1, 0]],
    ['the last one in between', [0, 2, 1]],
  ])('LIM-10 payments that overlap and are refused %s leave the entry that was charged last', async (_, order) => {
    const rig = await withEntries(entry({ debitAmount: usd('10') }), entry({ debitAmount: usd('1000') }))
    const { hold } = rig.wallet.ledger
    await expectStatus(201, pay(rig, '50'))
    rig.wallet.clock.advance(1)
    await expectStatus(201, pay(rig, '8'))
    const refusals: (() => Promise<Answer>)[] = []
    for (const value of ['100', '200', '300']) {
      rig.wallet.clock.advance(1)
      refusals.push(await beginRefused(rig, value))
    }
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('650'))
    for (const place of order) expect((await refusals[place]?.())?.body.error.code).toBe('not_allowed')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('8'))
    rig.wallet.ledger.hold = hold
    await expectStatus(201, pay(rig, '60'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('110'))
  })

  it('LIM-10 a payment that is refused late takes nothing from one that was charged to its entry after it', async () => {
    const rig = await withEntries(entry({ debitAmount: usd('10') }), entry({ debitAmount: usd('1000') }))
    const { hold } = rig.wallet.ledger
    await expectStatus(201, pay(rig, '50'))
    await expectStatus(201, pay(rig, '8'))
    const refuse = await beginRefused(rig, '100')
    rig.wallet.ledger.hold = hold
    await expectStatus(201, pay(rig, '60'))
    expect((await refuse()).body.error.code).toBe('not_allowed')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('110'))
  })

  it('LIM-10 an entry whose window is over makes room for the next', async () => {
    const rig = await withEntries(
      entry({ debitAmount: usd('10'), interval: 'R0/2026-03-01T00:00:00Z/P1D' }),
      entry({ debitAmount: usd('100'), interval: 'R0/2026-03-01T00:00:00Z/P2D' }),
    )
    await expectStatus(201, pay(rig, '10'))
    moveTo(rig, '2026-03-02T00:00:00Z')
    const second = await expectStatus(201, pay(rig, '10'))
    expect(second.body).toMatchObject({ grantSpentDebitAmount: usd('10') })
    await expectStatus(201, pay(rig, '90'))
    await refusePay(rig, '1')
    moveTo(rig, '2026-03-03T00:00:00Z')
    await refusePay(rig, '1', NO_WINDOW)
  })

  it('LIM-10 shows the entry that was charged last where another has an interval', async () => {
    const rig = await withEntries(
      entry({ debitAmount: usd('10'), interval: 'R/2026-03-01T00:00:00Z/P1D' }),
      entry({ debitAmount: usd('100') }),
    )
    await expectStatus(201, pay(rig, '8'))
    await expectStatus(201, pay(rig, '50'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('50'))
    await expectStatus(201, pay(rig, '2'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('10'))
  })

  it('LIM-10 D13 shows nothing while the entry that was charged last has no window, whatever another has spent', async () => {
    const rig = await withEntries(
      entry({ debitAmount: usd('100'), interval: 'R0/2026-03-01T00:00:00Z/P1D' }),
      entry({ debitAmount: usd('1000') }),
    )
    await expectStatus(201, pay(rig, '500'))
    await expectStatus(201, pay(rig, '50'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('50'))
    moveTo(rig, '2026-03-02T00:00:00Z')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(NOTHING_SPENT)
    await expectStatus(201, pay(rig, '5'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('505'))
  })

  it('LIM-10 an entry that may not create lends its missing limits to nobody', async () => {
    const rig = await withEntries(entry(undefined, ['read', 'list']), entry({ debitAmount: usd('10') }, ['create']))
    await refusePay(rig, '11')
    await expectStatus(201, pay(rig, '10'))
  })

  it('LIM-10 a failed payment gives its budget back to the entry that it was taken from', async () => {
    const rig = await withEntries(entry({ debitAmount: usd('10') }), entry({ debitAmount: usd('20') }))
    await rig.wallet.ledger.setPermissions('bob', { canSend: true, canReceive: false })
    const created = await expectStatus(201, pay(rig, '15'))
    expect(created.body).toMatchObject({ grantSpentDebitAmount: usd('15') })
    await rig.wallet.openPayments.drain()
    await rig.wallet.ledger.setPermissions('bob', { canSend: true, canReceive: true })
    await expectStatus(201, pay(rig, '20'))
    await expectStatus(201, pay(rig, '10'))
    await refusePay(rig, '1')
  })

  it('LIM-10 entries of several receivers keep them apart', async () => {
    const wallet = await observedWallet()
    const receiving = await tokenFor(wallet, RECEIVING_ACCESS)
    const [first, second] = [await createIncoming(wallet, receiving), await createIncoming(wallet, receiving)]
    const spending = await tokenFor(wallet, [
      entry({ receiver: first.id, debitAmount: usd('10') }),
      entry({ receiver: second.id, debitAmount: usd('20') }),
    ])
    const rig: Shop = { wallet, receiving, spending, incoming: first }
    // Of several entries the last one says why.
    await refusePay(rig, '11', LIMITED_TO_ANOTHER_RECEIVER)
    await refusePay({ ...rig, incoming: second }, '21')
    await expectStatus(201, pay({ ...rig, incoming: second }, '20'))
    await expectStatus(201, pay(rig, '10'))
    await refusePay(rig, '1', LIMITED_TO_ANOTHER_RECEIVER)
    await refusePay({ ...rig, incoming: second }, '1')
  })
})
