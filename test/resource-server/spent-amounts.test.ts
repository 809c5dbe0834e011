import { describe, expect, it } from 'vitest'
import type { AnswerBody } from '../support/answer-body.ts'
import { ALICE, BASE, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  expectStatus,
  LONG_LIFETIMES,
  NOTHING_SPENT,
  type Shop,
  shop,
  spentOf,
} from './observed-wallet.ts'

const HOUR = 3_600_000
const FIRST_WINDOW = Date.parse('2026-03-01T00:00:00Z')

interface Paid extends AnswerBody {
  readonly createdAt: string
  readonly failed: boolean
  readonly grantSpentDebitAmount?: unknown
  readonly grantSpentReceiveAmount?: unknown
}

/** What the list says that was spent in the present hour: the sums of all payments of it that did not fail. */
async function sumsOfList({ wallet, spending }: Shop): Promise<{ readonly debit: bigint; readonly receive: bigint }> {
  const url = `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}&first=100`
  const { text = '' } = await expectStatus(200, wallet.send('GET', url, { token: spending }))
  const { result }: { readonly result: readonly Paid[] } = JSON.parse(text)
  const hourOf = (time: number): number => Math.floor((time - FIRST_WINDOW) / HOUR)
  const counted = result.filter(
    ({ createdAt, failed }) => !failed && hourOf(Date.parse(createdAt)) === hourOf(wallet.clock.now()),
  )
  const sum = (name: 'debitAmount' | 'receiveAmount'): bigint =>
    counted.reduce((total, payment) => total + BigInt(payment[name].value), 0n)
  return { debit: sum('debitAmount'), receive: sum('receiveAmount') }
}

describe('what a grant has spent (invariant 15)', () => {
  it('OUT-10 D5 LIM-1 is in every answer the sum of the payments of the window, this one included', async () => {
    const rig = await shop({
      limits: { debitAmount: usd('5000'), interval: 'R/2026-03-01T00:00:00Z/PT1H' },
      overrides: {
        settings: { lifetimes: LONG_LIFETIMES },
        pricing: { price: async () => ({ rate: '1', fee: { basisPoints: 250, fixed: 1n } }) },
      },
    })
    const { wallet, spending, incoming } = rig
    expect(await spentOf(wallet, spending)).toEqual(NOTHING_SPENT)
    const statuses = new Map<string, number>()
    for (let round = 0; round < 28; round++) {
      // An odd step: the rounds wander through the hour, and into the next ones.
      wallet.clock.advance(round % 5 === 4 ? 1_000_003 : 61_000)
      const isRefusedByPayee = round % 7 === 3
      await wallet.ledger.setPermissions('bob', { canSend: true, canReceive: !isRefusedByPayee })
      const debitAmount = usd(String(10 + ((round * 197) % 491) * (round % 11 === 6 ? 20 : 1)))
      const before = await sumsOfList(rig)
      const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount }))
      const { status, text = '' } = await (round % 2 === 0
        ? askPayment(wallet, spending, { quoteId: quote.body.id })
        : askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount }))
      await wallet.openPayments.drain()
      const answer: Paid = JSON.parse(text)
      const isCharged = status === 201
      statuses.set(`${status}`, (statuses.get(`${status}`) ?? 0) + 1)
      if (isCharged) {
        const debit = before.debit + BigInt(answer.debitAmount.value)
        const receive = before.receive + BigInt(answer.receiveAmount.value)
        expect(answer).toMatchObject({
          grantSpentDebitAmount: usd(debit.toString()),
          grantSpentReceiveAmount: usd(receive.toString()),
        })
        expect(debit).toBeLessThanOrEqual(5000n)
      }
      const after = await sumsOfList(rig)
      if (isCharged && isRefusedByPayee) expect(after).toEqual(before)
      expect(await spentOf(wallet, spending)).toEqual({
        spentDebitAmount: usd(after.debit.toString()),
        spentReceiveAmount: usd(after.receive.toString()),
      })
    }
    expect(Object.fromEntries(statuses)).toEqual({ '201': expect.any(Number), '403': expect.any(Number) })
  })
})
