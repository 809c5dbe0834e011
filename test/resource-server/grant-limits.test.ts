import { memoryLedger } from 'open-payments-server/ledger/memory'
import { describe, expect, it } from 'vitest'
import { ALICE, type Answer, BASE, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  createIncoming,
  expectRefusal,
  expectStatus,
  grantFor,
  invalidRequest,
  LIMITED_TO_ANOTHER_RECEIVER,
  LONG_LIFETIMES,
  limitExceeded,
  NOTHING_SPENT,
  OVER_DEBIT_LIMIT,
  OVER_RECEIVE_LIMIT,
  observedWallet,
  RECEIVING_ACCESS,
  type Shop,
  shop,
  spendingAccess,
  spent,
  spentOf,
  tokenFor,
  USED_QUOTE,
} from './observed-wallet.ts'

const DAY = 24 * 3600 * 1000

/** A shop whose grant outlives every window of a test. */
function limited(
  limits: Readonly<Record<string, unknown>> | undefined,
  intervalCounting: 'additional' | 'total' = 'additional',
): Promise<Shop> {
  return shop({
    ...(limits && { limits }),
    overrides: { settings: { lifetimes: LONG_LIFETIMES, policies: { intervalCounting } } },
  })
}

async function pay(rig: Shop, value: string, token = rig.spending): Promise<Answer> {
  return askPayment(rig.wallet, token, {
    incomingPayment: rig.incoming.id,
    debitAmount: usd(value),
    // Equal payments of one moment would be one signature, which is taken once.
    metadata: { order: crypto.randomUUID() },
  })
}

/** A ledger in which the largest amounts can be paid more than once. */
function wealthy(): ReturnType<typeof memoryLedger> {
  const money = { assetCode: 'USD', assetScale: 2, balance: 40n * 10n ** 18n }
  return memoryLedger({ accounts: ['alice', 'bob'].map((account) => ({ account, ...money })) })
}

const NO_WINDOW = limitExceeded('no window of the interval is current')

function refusePay(rig: Shop, value: string, refusal = OVER_DEBIT_LIMIT): Promise<Answer> {
  return expectRefusal(rig.wallet, refusal, () => pay(rig, value))
}

function moveTo({ wallet }: Shop, moment: string): void {
  wallet.clock.advance(Date.parse(moment) - wallet.clock.now())
}

describe('a limit on the sum of payments (LIM-1)', () => {
  it.each([
    ['debitAmount', OVER_DEBIT_LIMIT],
    ['receiveAmount', OVER_RECEIVE_LIMIT],
  ])('LIM-1 a %s of 10.00 never lets 10.01 through', async (limit, over) => {
    const rig = await limited({ [limit]: usd('1000') })
    await refusePay(rig, '1001', over)
    await expectStatus(201, pay(rig, '400'))
    await refusePay(rig, '601', over)
    await expectStatus(201, pay(rig, '599'))
    await refusePay(rig, '2', over)
    const last = await expectStatus(201, pay(rig, '1'))
    expect(last.body).toMatchObject({ grantSpentDebitAmount: usd('1000'), grantSpentReceiveAmount: usd('1000') })
    await refusePay(rig, '1', over)
    await rig.wallet.openPayments.drain()
    await refusePay(rig, '1', over)
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('1000'))
  })

  it('LIM-1 a refused payment leaves its quote unused: another grant may still use it', async () => {
    const rig = await limited({ debitAmount: usd('10') })
    const quote = await askQuote(rig.wallet, rig.spending, { receiver: rig.incoming.id, debitAmount: usd('11') })
    await expectRefusal(rig.wallet, OVER_DEBIT_LIMIT, () =>
      askPayment(rig.wallet, rig.spending, { quoteId: quote.body.id }),
    )
    const larger = await tokenFor(rig.wallet, spendingAccess({ debitAmount: usd('11') }))
    await expectStatus(201, askPayment(rig.wallet, larger, { quoteId: quote.body.id }))
    await expectRefusal(rig.wallet, USED_QUOTE, () =>
      askPayment(rig.wallet, rig.spending, { quoteId: quote.body.id, metadata: {} }),
    )
  })

  it('LIM-1 a limit of zero admits nothing', async () => {
    await refusePay(await limited({ debitAmount: usd('0') }), '1')
  })

  it('LIM-1 two grants have a budget each', async () => {
    const rig = await limited({ debitAmount: usd('10') })
    const second = await tokenFor(rig.wallet, spendingAccess({ debitAmount: usd('10') }))
    await expectStatus(201, pay(rig, '10'))
    await expectStatus(201, pay(rig, '9', second))
    await refusePay(rig, '1')
    await refusePay({ ...rig, spending: second }, '2')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('10'))
    expect(await spentOf(rig.wallet, second)).toEqual(spent('9'))
  })

  it('TOK-8 a rotated token spends what is left, not from the beginning', async () => {
    const rig = await limited(undefined)
    const granted = await grantFor(rig.wallet, spendingAccess({ debitAmount: usd('10') }))
    const { value, manage } = granted.body.access_token
    await expectStatus(201, pay(rig, '6', value))
    const rotated = await expectStatus(200, rig.wallet.send('POST', manage, { token: value }))
    const token = rotated.body.access_token.value
    await refusePay({ ...rig, spending: token }, '5')
    await expectStatus(201, pay(rig, '4', token))
    expect(await spentOf(rig.wallet, token)).toEqual(spent('10'))
  })

  it('LIM-4 without limits there is no cap, and what is spent is written down all the same', async () => {
    const rig = await limited(undefined)
    await expectStatus(201, pay(rig, '60000'))
    await expectStatus(201, pay(rig, '30000'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('90000'))
  })

  it('LIM-5 a receiver admits the incoming payment that it means, however it is written, and no other', async () => {
    const wallet = await observedWallet()
    const receiving = await tokenFor(wallet, RECEIVING_ACCESS)
    const incoming = await createIncoming(wallet, receiving)
    const other = await createIncoming(wallet, receiving)
    const written = incoming.id.replace('https://wallet.example/', 'https://WALLET.example:443/x/../')
    const spending = await tokenFor(wallet, spendingAccess({ receiver: written, debitAmount: usd('10') }))
    const rig: Shop = { wallet, receiving, spending, incoming }
    await expectStatus(201, pay(rig, '1'))
    await refusePay({ ...rig, incoming: other }, '1', LIMITED_TO_ANOTHER_RECEIVER)
    const quote = await askQuote(wallet, spending, { receiver: other.id, debitAmount: usd('1') })
    await expectRefusal(wallet, LIMITED_TO_ANOTHER_RECEIVER, () =>
      askPayment(wallet, spending, { quoteId: quote.body.id }),
    )
  })

  it('LIM-5 a receiver on another server, or with the same id under another path, admits nothing here', async () => {
    const wallet = await observedWallet()
    const receiving = await tokenFor(wallet, RECEIVING_ACCESS)
    const incoming = await createIncoming(wallet, receiving)
    for (const receiver of [
      incoming.id.replace('wallet.example', 'evil.example'),
      incoming.id.replace('/incoming-payments', '/x/incoming-payments'),
      incoming.id.replace('https:', 'http:'),
      incoming.id.toUpperCase().replace(/^HTTPS:\/\/(.*)\/INCOMING-PAYMENTS/, 'https://$1/incoming-payments'),
    ]) {
      const spending = await tokenFor(wallet, spendingAccess({ receiver }))
      await refusePay({ wallet, receiving, spending, incoming }, '1', LIMITED_TO_ANOTHER_RECEIVER)
    }
  })

  it('LIM-11 compares sums as they are: the largest amounts neither wrap nor round', async () => {
    const max = '18446744073709551615'
    const rig = await limited({ debitAmount: usd(max) })
    await expectStatus(201, pay(rig, '1'))
    await refusePay(rig, max)
    await refusePay(rig, '18446744073709551614'.replace(/4$/, '5'))
    const inBudget = await pay(rig, '18446744073709551614')
    expect(inBudget.body.error.code).toBe('insufficient_funds')
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('1'))
  })

  it.each<[string, object | undefined]>([
    ['without limits', undefined],
    ['with an interval alone', { interval: 'R/2026-01-01T00:00:00Z/P1M' }],
  ])('LIM-11 AMT-1 a grant %s spends no more than an amount can be', async (_name, limits) => {
    const rig = await shop({ ...(limits && { limits: { ...limits } }), overrides: { ledger: wealthy() } })
    const other = await createIncoming(rig.wallet, rig.receiving)
    await expectStatus(201, pay(rig, '12000000000000000000'))
    const again = { ...rig, incoming: other }
    await refusePay(
      again,
      '6446744073709551616',
      limitExceeded('the grant would have spent more than an amount can be'),
    )
    await expectStatus(201, pay(again, '6446744073709551615'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('18446744073709551615'))
  })

  it('LIM-11 AMT-1 in each window of its interval a grant spends what an amount can be', async () => {
    const overrides = { ledger: wealthy(), settings: { lifetimes: LONG_LIFETIMES } }
    const rig = await shop({ limits: { interval: 'R/2026-03-01T00:00:00Z/P1D' }, overrides })
    await expectStatus(201, pay(rig, '12000000000000000000'))
    rig.wallet.clock.advance(DAY)
    const next = { ...rig, incoming: await createIncoming(rig.wallet, rig.receiving) }
    await expectStatus(201, pay(next, '12000000000000000000'))
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('12000000000000000000'))
  })

  it.each([
    ['debits', '0.5', '12000000000000000000', '6446744073709551616'],
    ['amounts received', '2', '6000000000000000000', '3223372036854775808'],
  ])('LIM-11 AMT-1 the sum of the %s alone is no more than an amount can be', async (_what, rate, first, over) => {
    const rig = await shop({ overrides: { ledger: wealthy(), pricing: { price: async () => ({ rate }) } } })
    await expectStatus(201, pay(rig, first))
    const again = { ...rig, incoming: await createIncoming(rig.wallet, rig.receiving) }
    await refusePay(again, over, limitExceeded('the grant would have spent more than an amount can be'))
    await expectStatus(201, pay(again, String(BigInt(over) - 1n)))
  })

  it('GRT-10 a limit that no payment could ever meet is refused when it is asked for', async () => {
    const { wallet } = await limited(undefined)
    const at = 'access_token.access.0.limits'
    const inOtherAsset = 'limits.debitAmount is not in the asset of the wallet address'
    const period = 'a repeating interval with a period of at least 60 seconds and at most 100000000 days'
    for (const [limits, mistake] of [
      [{ debitAmount: { ...usd('1'), assetCode: 'EUR' } }, inOtherAsset],
      [{ debitAmount: { ...usd('1'), assetScale: 3 } }, inOtherAsset],
      [
        { debitAmount: usd('18446744073709551616') },
        `${at}.debitAmount.value: must be whole smallest units in plain digits, at most 18446744073709551615`,
      ],
      // A list reads as an object without members: limits that limit nothing.
      [[], `${at}: must be an object, not a list`],
      [{ debitAmount: usd('1'), receiveAmount: usd('1') }, `${at}: only one access amount allowed`],
      [{ receiver: `${BASE}/bob` }, `${at}.receiver: not the URL of an incoming payment`],
      [{ interval: 'R/2026-01-01T00:00:00Z/PT0S' }, `${at}.interval: not ${period}`],
    ] as const) {
      await expectRefusal(wallet, invalidRequest(mistake), async () => {
        const answer = await wallet.send('POST', 'https://auth.wallet.example/', {
          json: {
            client: wallet.client.client,
            access_token: { access: spendingAccess(limits) },
            interact: { start: ['redirect'] },
          },
        })
        return answer
      })
    }
  })
})

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
