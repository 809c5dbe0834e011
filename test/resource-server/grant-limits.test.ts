import { memoryLedger } from 'open-payments-server/ledger/memory'
import { describe, expect, it } from 'vitest'
import { BASE, usd } from '../support/test-wallet.ts'
import { DAY, limited, pay, refusePay } from './grant-rig.ts'
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

/** A ledger in which the largest amounts can be paid more than once. */
function wealthy(): ReturnType<typeof memoryLedger> {
  const money = { assetCode: 'USD', assetScale: 2, balance: 40n * 10n ** 18n }
  return memoryLedger({ accounts: ['alice', 'bob'].map((account) => ({ account, ...money })) })
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
    const again = { ...rig, incoming: await createIncoming(rig.wallet, rig.receiving) }
    await refusePay(again, max)
    await refusePay(again, '18446744073709551614'.replace(/4$/, '5'))
    const inBudget = await pay(again, '18446744073709551614')
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
