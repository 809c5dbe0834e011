import type { RecordTypes } from 'open-payments-server'
import { expect } from 'vitest'
import { OPENING, type World } from './money-world.ts'

type OutgoingPayment = RecordTypes['outgoing-payment']

/** What a quiet world must look like, whatever happened before; section by section. */
export async function checkMoney(world: World, { completedByCall = [] as readonly string[] } = {}): Promise<void> {
  const payments = (await world.storage.all('outgoing-payment')).map(({ value }) => value)
  await checkConservation(world)
  await checkEnds(world)
  await checkLedgerAgainstPayments(world, payments)
  await checkIncomingPayments(world, completedByCall)
  await checkGrants(world, payments)
  await checkQuotes(world, payments)
  await checkEvents(world)
  await checkOrders(world, payments)
}

/** Per asset the sum over all accounts never changes; nothing is held; clearing is empty within one asset. */
async function checkConservation({ ledger }: World): Promise<void> {
  const totals = await ledger.totals()
  for (const total of totals) expect(total.value).toBe(total.assetCode === 'USD' ? OPENING : 0n)
  for (const account of ['alice', 'bob', 'carol']) expect((await ledger.balance(account))?.held).toBe(0n)
  expect((await ledger.balance('clearing:USD:2'))?.total ?? 0n).toBe(0n)
}

/** Every payment is over; a completed one sent all of it, any other one nothing. */
async function checkEnds({ storage }: World): Promise<void> {
  for (const { value, dueAt, isListed } of await storage.all('outgoing-payment')) {
    expect(['completed', 'failed', 'refused']).toContain(value.state)
    expect(dueAt).toBeUndefined()
    expect(isListed === true).toBe(value.state !== 'refused')
    expect(value.sentAmount.value).toBe(value.state === 'completed' ? value.debitAmount.value : 0n)
  }
}

/** Every completed payment was settled once and credited once; no other one moved anything. */
async function checkLedgerAgainstPayments(
  { ledger, storage }: World,
  payments: readonly OutgoingPayment[],
): Promise<void> {
  const lines = (entries: readonly { readonly transfer: string; readonly amount: bigint }[]): string[] =>
    entries.flatMap(({ transfer, amount }) => (transfer.startsWith('opening:') ? [] : [`${transfer} ${amount}`])).sort()
  const completed = payments.filter(({ state }) => state === 'completed')
  expect(lines(await ledger.entries('alice'))).toEqual(
    completed.map(({ id, debitAmount }) => `${id} ${-debitAmount.value}`).sort(),
  )
  const credited = (await storage.all('receipt'))
    .map(({ value }) => value)
    .filter(({ state, outgoingPaymentId }) => state === 'credited' && outgoingPaymentId !== undefined)
  expect(credited.map(({ outgoingPaymentId }) => outgoingPaymentId).sort()).toEqual(
    completed.map(({ id }) => id).sort(),
  )
  expect(lines(await ledger.entries('bob'))).toEqual(credited.map(({ id, amount }) => `${id} ${amount.value}`).sort())
}

/** What was received is the sum of the credited receipts; completed means reached, or completed by a call. */
async function checkIncomingPayments({ storage }: World, completedByCall: readonly string[]): Promise<void> {
  const receipts = (await storage.all('receipt')).map(({ value }) => value)
  for (const { value } of await storage.all('incoming-payment')) {
    const own = receipts.filter(({ incomingPaymentId }) => incomingPaymentId === value.id)
    const sum = own.filter(({ state }) => state === 'credited').reduce((total, { amount }) => total + amount.value, 0n)
    expect(own.filter(({ state }) => state === 'reserved')).toEqual([])
    expect(value.received.value).toBe(sum)
    expect(value.reserved.value).toBe(0n)
    const isReached = value.incomingAmount !== undefined && sum >= value.incomingAmount.value
    expect(value.state === 'completed').toBe(isReached || completedByCall.includes(value.id))
    if (value.incomingAmount !== undefined) expect(sum).toBeLessThanOrEqual(value.incomingAmount.value)
  }
}

/** What each grant has spent is the sum over its payments that did not fail, and within the limits of its entry. */
async function checkGrants({ storage }: World, payments: readonly OutgoingPayment[]): Promise<void> {
  const grants = (await storage.all('grant')).map(({ value }) => value)
  const spendings = (await storage.all('spending')).map(({ value }) => value)
  for (const spending of spendings) {
    const own = payments.filter(
      ({ spendingIds, state }) => spendingIds.includes(spending.id) && state !== 'failed' && state !== 'refused',
    )
    expect(spending.debit.value).toBe(own.reduce((sum, { debitAmount }) => sum + debitAmount.value, 0n))
    expect(receivedOf(spending)).toBe(own.reduce((sum, { receiveAmount }) => sum + receiveAmount.value, 0n))
    const [grantId, entry, window] = spending.id.split(':')
    const access = grants.find(({ id }) => id === grantId)?.access[Number(entry)]
    const { debitAmount: limit, interval } = (access?.type === 'outgoing-payment' && access.limits) || {}
    // With an interval, the limit is that of each window, not of the whole life.
    if (limit !== undefined && (interval === undefined || window !== 'life'))
      expect(spending.debit.value).toBeLessThanOrEqual(BigInt(limit.value))
  }
  const known = spendings.map(({ id }) => id)
  for (const { spendingIds } of payments) expect(known).toEqual(expect.arrayContaining([...spendingIds]))
}

function receivedOf(spending: RecordTypes['spending']): bigint {
  return spending.receive.reduce((sum, { value }) => sum + BigInt(value), 0n)
}

/** A quote backs at most one payment; it is open, and forgotten some day, exactly where it backs none. */
async function checkQuotes({ storage }: World, payments: readonly OutgoingPayment[]): Promise<void> {
  for (const { value, dueAt } of await storage.all('quote')) {
    const backed = payments.filter(({ quoteId, state }) => quoteId === value.id && state !== 'refused')
    expect(backed.length).toBeLessThanOrEqual(1)
    expect(value.state).toBe(backed.length === 0 ? 'open' : 'used')
    expect(dueAt === undefined).toBe(backed.length > 0)
    expect(value.outgoingPaymentId).toBe(backed[0]?.id)
  }
}

/** A payment that was made keeps the request that ordered it, and a key what was made under it; one that was refused neither. */
async function checkOrders({ storage }: World, payments: readonly OutgoingPayment[]): Promise<void> {
  const made = payments.filter(({ state }) => state !== 'refused').map(({ id }) => id)
  const signed = (await storage.all('signed-request')).map(({ value }) => value.id.slice(-32))
  expect(signed.toSorted()).toEqual(made.toSorted())
  const kept = (await storage.all('idempotency-key')).map(({ value }) => value.resourceId)
  expect(made).toEqual(expect.arrayContaining(kept))
  expect(new Set(kept).size).toBe(kept.length)
}

/** The host was told everything that happened, in order, and nothing else; repeats carry the same id. */
async function checkEvents(world: World): Promise<void> {
  expect(await world.storage.all('event')).toEqual([])
  const told = new Map<string, string[]>()
  for (const event of world.told()) {
    const [subject = ''] = event.id.split(':')
    const types = told.get(subject) ?? []
    if (!types.includes(event.type)) told.set(subject, [...types, event.type])
  }
  for (const { value } of await world.storage.all('outgoing-payment')) {
    const expected =
      value.state === 'refused' ? undefined : ['outgoing_payment.created', `outgoing_payment.${value.state}`]
    expect(told.get(value.id)).toEqual(expected)
  }
  for (const { value } of await world.storage.all('incoming-payment')) {
    const isOver = value.state === 'completed' || value.state === 'expired'
    const expected = ['incoming_payment.created', ...(isOver ? [`incoming_payment.${value.state}`] : [])]
    expect(told.get(value.id)).toEqual(expected)
  }
}
