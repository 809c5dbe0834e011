import type { RecordTypes, StoredRecord } from 'open-payments-server'
import { expect } from 'vitest'
import { lastSegment } from '../../support/last-segment.ts'
import { valuesOf } from './final-records.ts'
import type { Model } from './state.ts'
import type { ModelWorld } from './world.ts'

/** What must be true after every step. */
export async function auditStep({ wallet, storage, model, broken }: ModelWorld): Promise<void> {
  expect(broken).toEqual([])
  for (const [name, { balance }] of Object.entries(model.accounts)) {
    const booked = await wallet.ledger.balance(name)
    expect({ name, total: booked?.total, held: booked?.held }).toEqual({ name, total: balance, held: 0n })
  }
  const now = wallet.clock.now()
  const tokens = valuesOf(await storage.records(), 'access-token')
  const usable = tokens.filter(({ state, expiresAt }) => state === 'active' && now < expiresAt)
  const grants = usable.map(({ grantId }) => grantId)
  expect(new Set(grants).size, 'invariant 6: no grant has two usable tokens').toBe(grants.length)
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)

/** What must be true of everything that is stored, whatever was done. */
export async function auditEnd({ wallet, storage, model }: ModelWorld): Promise<void> {
  for (const { assetCode, value } of await wallet.ledger.totals())
    expect([assetCode, value]).toEqual([assetCode, assetCode === 'USD' ? 100_000n : 0n])
  const fees = model.payments.filter(({ isFailed }) => !isFailed).map(({ fee }) => fee)
  expect((await wallet.ledger.balance('fees:USD:2'))?.total ?? 0n, 'invariant 1').toBe(sum(fees))

  const records = await storage.records()
  const payments = valuesOf(records, 'outgoing-payment').filter(({ state }) => state !== 'refused')
  expect(payments.length).toBe(model.payments.length)
  for (const { state } of payments) expect(['completed', 'failed']).toContain(state)
  checkStates(model, records)
  const receipts = valuesOf(records, 'receipt')
  for (const incoming of valuesOf(records, 'incoming-payment')) checkReceived(incoming, receipts)
  for (const quote of valuesOf(records, 'quote')) {
    const backed = payments.filter(({ quoteId }) => quoteId === quote.id)
    expect(backed.length, 'invariant 3').toBe(quote.state === 'used' ? 1 : 0)
  }
  for (const { id, debit } of valuesOf(records, 'spending')) {
    const own = payments.filter(({ spendingIds, state }) => spendingIds.includes(id) && state === 'completed')
    expect(debit.value, 'invariant 2').toBe(sum(own.map(({ debitAmount }) => debitAmount.value)))
  }
}

/** What is stored is what was told: also where nobody has asked for it since. */
function checkStates(model: Model, records: readonly StoredRecord[]): void {
  const idOf = ({ url }: { readonly url: string }): string => lastSegment(url)
  const sorted = (lines: readonly unknown[][]): readonly string[] => lines.map((line) => line.join(' ')).sort()
  const incomings = valuesOf(records, 'incoming-payment')
  expect(sorted(incomings.map(({ id, state, received }) => [id, state === 'completed', received.value]))).toEqual(
    sorted(model.incomings.map((one) => [idOf(one), one.isCompleted, one.received])),
  )
  const payments = valuesOf(records, 'outgoing-payment').filter(({ state }) => state !== 'refused')
  expect(sorted(payments.map(({ id, state, sentAmount }) => [id, state === 'failed', sentAmount.value]))).toEqual(
    sorted(model.payments.map((one) => [idOf(one), one.isFailed, one.isFailed ? '0' : one.debit.value])),
  )
  const quotes = model.quotes.filter(({ isForgotten }) => !isForgotten)
  expect(sorted(valuesOf(records, 'quote').map(({ id, state }) => [id, state === 'used']))).toEqual(
    sorted(quotes.map((one) => [idOf(one), one.isUsed])),
  )
}

function checkReceived(incoming: RecordTypes['incoming-payment'], receipts: readonly RecordTypes['receipt'][]): void {
  const credited = receipts.filter((one) => one.incomingPaymentId === incoming.id && one.state === 'credited')
  expect(incoming.received.value, 'invariant 4').toBe(sum(credited.map(({ amount }) => amount.value)))
  expect(incoming.reserved.value, 'invariant 4').toBe(0n)
}
