import { existsSync, readFileSync } from 'node:fs'
import type { RecordTypes, StoredRecord } from 'open-payments-server'
import { lastSegment } from '../support/last-segment.ts'
import type { Books } from './books.ts'
import { creditIdOf } from './check-ledger.ts'
import type { Notebook, PaymentOrder } from './notebook.ts'

type OutgoingPayment = RecordTypes['outgoing-payment']
type IncomingPayment = RecordTypes['incoming-payment']
type Receipt = RecordTypes['receipt']

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

function orderOf({ metadata }: OutgoingPayment): unknown {
  return metadata?.['order']
}

/** How many payments have begun and not ended. */
export function interruptedIn(records: readonly StoredRecord<'outgoing-payment'>[]): number {
  return records.filter(({ value }) => ['created', 'sending', 'decided'].includes(value.state)).length
}

/** At any moment: one live payment for each order at most, and no grant has spent more than its limit. */
export async function checkRecordsUnderWay(books: Books): Promise<readonly string[]> {
  const payments = (await books.records('outgoing-payment')).map(({ value }) => value)
  return [...checkOrderedOnce(payments), ...(await checkLimits(books))]
}

function checkOrderedOnce(payments: readonly OutgoingPayment[]): readonly string[] {
  const orders = payments.filter(({ state }) => state !== 'refused').map(orderOf)
  const doubled = orders.filter((order, index) => orders.indexOf(order) !== index)
  return doubled.map((order) => `the order ${order} has two payments`)
}

async function checkLimits(books: Books): Promise<readonly string[]> {
  const grants = new Map((await books.records('grant')).map(({ value }) => [value.id, value]))
  const spendings = await books.records('spending')
  return spendings.flatMap(({ value }) => {
    const [grantId = '', entry] = value.id.split(':')
    const access = grants.get(grantId)?.access[Number(entry)]
    const limit = access?.type === 'outgoing-payment' ? access.limits?.debitAmount : undefined
    if (limit === undefined || value.debit.value <= BigInt(limit.value)) return []
    return [`the grant ${grantId} has spent ${value.debit.value} of ${limit.value}`]
  })
}

/** In the end: every record has come to its end, and they say the same as each other and as what clients were told. */
export async function checkRecordsAtRest(
  books: Books,
  notebook: Notebook,
  toldFile: string,
): Promise<readonly string[]> {
  const records = await books.records('outgoing-payment')
  const payments = records.map(({ value }) => value)
  const receipts = (await books.records('receipt')).map(({ value }) => value)
  const incoming = (await books.records('incoming-payment')).map(({ value }) => value)
  return [
    ...checkOrderedOnce(payments),
    ...(await checkLimits(books)),
    ...records.flatMap(({ value, dueAt, isListed }) => {
      const isOver = dueAt === undefined && ['completed', 'failed', 'refused'].includes(value.state)
      const isShown = (isListed === true) === (value.state !== 'refused')
      const sent = value.state === 'completed' ? value.debitAmount.value : 0n
      if (isOver && isShown && value.sentAmount.value === sent) return []
      return [
        `the payment ${value.id} is left ${value.state}, due ${dueAt}, listed ${isListed}, sent ${value.sentAmount.value}`,
      ]
    }),
    ...checkReceipts(payments, receipts, notebook),
    ...incoming.flatMap((payment) => checkIncoming(payment, receipts, notebook)),
    ...(await checkSpending(books, payments)),
    ...(await checkQuotes(books, payments)),
    ...(await checkKept(books, payments)),
    ...(await checkEvents(books, payments, incoming, toldFile)),
    ...notebook.orders.flatMap((order) => checkFate(order, payments)),
    ...checkRivals(notebook, payments),
  ]
}

/** Each completed payment has one receipt that counts, each accepted transfer of a rail too, and nobody else. */
function checkReceipts(
  payments: readonly OutgoingPayment[],
  receipts: readonly Receipt[],
  { transfers }: Notebook,
): readonly string[] {
  const expected = [
    ...payments
      .filter(({ state }) => state === 'completed')
      .map(({ id, receiveAmount }) => `${creditIdOf(id)} ${receiveAmount.value}`),
    ...transfers
      .filter(({ answer }) => answer.body['ok'] === true)
      .map(({ transferId, answer }) => `rail:${transferId} ${answer.body['accepted']}`),
  ].sort()
  const found = receipts.filter(({ state }) => state === 'credited').map(({ id, amount }) => `${id} ${amount.value}`)
  return [
    ...receipts.flatMap(({ id, state }) => (state === 'reserved' ? [`the receipt ${id} is still reserved`] : [])),
    ...found.filter((line) => !expected.includes(line)).map((line) => `nobody paid the receipt ${line}`),
    ...expected.filter((line) => !found.includes(line)).map((line) => `the receipt ${line} is missing`),
  ]
}

/** What was received is the sum of the receipts; completed means reached, or completed by a call. */
function checkIncoming(
  payment: IncomingPayment,
  receipts: readonly Receipt[],
  { completed }: Notebook,
): readonly string[] {
  const { id, state, incomingAmount, received, reserved } = payment
  const own = receipts.filter((receipt) => receipt.incomingPaymentId === id && receipt.state === 'credited')
  const expected = sum(own.map(({ amount }) => amount.value))
  const isReached = incomingAmount !== undefined && expected >= incomingAmount.value
  const isRight =
    received.value === expected &&
    reserved.value === 0n &&
    (incomingAmount === undefined || expected <= incomingAmount.value) &&
    (state === 'completed') === (isReached || completed.has(id))
  return isRight
    ? []
    : [`the incoming payment ${id} is ${state} with ${received.value} received, ${reserved.value} reserved`]
}

/** What each grant has spent is the sum over its payments that did not fail. */
async function checkSpending(books: Books, payments: readonly OutgoingPayment[]): Promise<readonly string[]> {
  const spendings = (await books.records('spending')).map(({ value }) => value)
  const known = new Set(spendings.map(({ id }) => id))
  const lost = payments.flatMap(({ spendingIds }) => spendingIds).filter((id) => !known.has(id))
  return [
    ...lost.map((id) => `what was spent in ${id} is not kept`),
    ...spendings.flatMap(({ id, debit, lastCharge }) => {
      const charged = payments.filter(({ spendingIds, state }) => spendingIds.includes(id) && state !== 'refused')
      const live = charged.filter(({ state }) => state !== 'failed')
      const expected = sum(live.map(({ debitAmount }) => debitAmount.value))
      const isLastKnown = charged.some((payment) => payment.id === lastCharge?.payment)
      if (debit.value === expected && isLastKnown === (charged.length > 0 && id.endsWith(':life'))) return []
      return [
        `${id} says that ${debit.value} was spent, last by ${lastCharge?.payment}, its payments say ${expected} in ${charged.length}`,
      ]
    }),
  ]
}

/** A quote backs at most one payment, and is used where it backs one. */
async function checkQuotes(books: Books, payments: readonly OutgoingPayment[]): Promise<readonly string[]> {
  return (await books.records('quote')).flatMap(({ value }) => {
    const backed = payments.filter(({ quoteId, state }) => quoteId === value.id && state !== 'refused')
    const isRight = value.state === (backed.length === 0 ? 'open' : 'used') && value.outgoingPaymentId === backed[0]?.id
    return isRight && backed.length <= 1 ? [] : [`the quote ${value.id} is ${value.state} and backs ${backed.length}`]
  })
}

/** A payment keeps the request that ordered it; a key that was not freed is kept with what was made under it, or not at all. */
async function checkKept(books: Books, payments: readonly OutgoingPayment[]): Promise<readonly string[]> {
  const made = new Set(payments.filter(({ state }) => state !== 'refused').map(({ id }) => id))
  const signed = new Set((await books.records('signed-request')).map(({ value }) => value.id.slice(-32)))
  const others = [...(await books.records('incoming-payment')), ...(await books.records('quote'))].map(
    ({ value }) => value.id,
  )
  const resources = new Set([...made, ...others])
  const keys = (await books.records('idempotency-key')).map(({ value }) => value).filter((key) => key.expiresAt > 0)
  return [
    ...[...made].filter((id) => !signed.has(id)).map((id) => `the order of ${id} is not kept`),
    ...[...signed].filter((id) => !made.has(id)).map((id) => `an order is kept of ${id}, which was refused`),
    ...keys.filter(({ resourceId }) => !resources.has(resourceId)).map(({ resourceId }) => `a key keeps ${resourceId}`),
  ]
}

/** The host was told everything that happened, in order, and nothing else; repeats carry the same id. */
async function checkEvents(
  books: Books,
  payments: readonly OutgoingPayment[],
  incoming: readonly IncomingPayment[],
  toldFile: string,
): Promise<readonly string[]> {
  const told = new Map<string, string[]>()
  for (const line of existsSync(toldFile) ? readFileSync(toldFile, 'utf8').split('\n') : []) {
    const event = line === '' ? {} : JSON.parse(line)
    if (!/^(?:incoming|outgoing)_payment\./.test(event.type)) continue
    const subject = event.outgoingPayment ?? event.incomingPayment
    const types = told.get(subject) ?? []
    if (!types.includes(event.type)) told.set(subject, [...types, event.type])
  }
  const expected = [
    ...payments.map(({ id, state }): [string, readonly string[]] => [
      id,
      state === 'refused' ? [] : ['outgoing_payment.created', `outgoing_payment.${state}`],
    ]),
    ...incoming.map(({ id, state }): [string, readonly string[]] => [
      id,
      [
        'incoming_payment.created',
        ...(state === 'completed' || state === 'expired' ? [`incoming_payment.${state}`] : []),
      ],
    ]),
  ]
  const pending = await books.records('event')
  return [
    ...pending.map(({ value }) => `the event ${value.id} was never told`),
    ...expected.flatMap(([id, types]) => {
      const heard = told.get(id) ?? []
      return String(heard) === String(types) ? [] : [`of ${id} the host heard ${heard} instead of ${types}`]
    }),
  ]
}

/** What became of an order is what must have. */
function checkFate({ name, fate, url }: PaymentOrder, payments: readonly OutgoingPayment[]): readonly string[] {
  const found = payments.filter((payment) => orderOf(payment) === name && payment.state !== 'refused')
  const states = found.map(({ state }) => state)
  const isRight =
    (fate === 'open' && states.length <= 1) ||
    (fate === 'unpaid' && !states.includes('completed')) ||
    (fate === 'paid' && String(states) === 'completed')
  const isThere = url === undefined || found.some(({ id }) => id === lastSegment(url))
  return [
    ...(isRight ? [] : [`the order ${name}, which must be ${fate}, has come to: ${states}`]),
    ...(isThere ? [] : [`the payment ${url} of which a client was told is not there`]),
  ]
}

/** Of those that had room for one between them, one was paid. */
function checkRivals({ orders }: Notebook, payments: readonly OutgoingPayment[]): readonly string[] {
  const rivals = new Set(orders.flatMap((order) => order.rivals ?? []))
  return [...rivals].flatMap((incoming) => {
    const paid = payments.filter(({ receiver, state }) => receiver === incoming && state === 'completed')
    return paid.length === 1 ? [] : [`${incoming} was paid ${paid.length} times`]
  })
}
