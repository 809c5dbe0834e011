import type { BookedLine, Books, Received } from 'open-payments-server/reconciliation'
import { expect } from 'vitest'
import { ALICE, BASE, incomingPayment, spendingToken, type TestWallet, usd } from '../support/test-wallet.ts'

/** The end of a day. */
export const MIDNIGHT = Date.parse('2026-11-21')

/** What came in at midnight: 0.05, which are credited with `CREDIT_OF_RECEIPT`. */
export const RECEIPT: Received = {
  id: 'e'.repeat(32),
  state: 'credited',
  payeeAccount: 'bob',
  amount: { value: '5', assetCode: 'USD', assetScale: 2 },
  createdAt: MIDNIGHT,
  railAccount: 'ilp:g.other-wallet/USD/2',
}

export const CREDIT_OF_RECEIPT = { bob: 5n, 'clearing:USD:2': -5n }

/** Orders a payment of 10.00 within a wallet, and lets everything run out. */
export async function payTenDollars(wallet: TestWallet): Promise<void> {
  const { payment } = await incomingPayment(wallet)
  const token = await spendingToken(wallet)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('1000') }
  expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(201)
  await wallet.openPayments.drain()
}

/** Reads of a ledger's books no more than what is asked for. */
export function readBooksOf(lines: readonly BookedLine[]): (since: number, ids: readonly string[]) => Books {
  return (since, ids) => ({ lines: lines.filter(({ id, at }) => at >= since || ids.includes(id)), openHolds: [] })
}
