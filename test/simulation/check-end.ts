import type { RecordTypes } from 'open-payments-server'
import { isExchanged, sendExactly } from '../properties/model/prices.ts'
import { REMOTE } from '../support/fake-remote-receivers.ts'
import { wayBetween } from './far-side.ts'
import { type Order, paymentsOf } from './orders.ts'
import { creditIdOf, isOver } from './payment-facts.ts'
import type { World } from './world.ts'

type OutgoingPayment = RecordTypes['outgoing-payment']

const DAY = 86_400_000

/** What must be so once all faults have stopped and everything has been recovered. */
export async function checkEnd(world: World, orders: readonly Order[]): Promise<void> {
  const payments = world.storage.all('outgoing-payment').map(({ value }) => value)
  for (const { value, dueAt, isListed } of world.storage.all('outgoing-payment')) {
    if (!isOver(value)) world.violate(`8: payment ${value.id} is still ${value.state}`)
    if (dueAt !== undefined) world.violate(`8: payment ${value.id} is over and due`)
    if ((isListed === true) !== (value.state !== 'refused'))
      world.violate(`payment ${value.id} is ${value.state} and listed: ${isListed}`)
  }
  checkPrices(world, payments)
  await checkBooks(world, payments)
  checkReceipts(world, payments)
  checkRails(world)
  checkQuotes(world, payments)
  checkOrders(world, orders)
  checkEvents(world)
}

/** Nobody is charged more than the price, and the receiver gets no more than it pays for. */
function checkPrices(world: World, payments: readonly OutgoingPayment[]): void {
  for (const { id, debitAmount, receiveAmount, fee, rail, receiver } of payments) {
    if ((rail !== undefined) !== receiver.startsWith(REMOTE)) world.violate(`T-41: ${receiver} is paid the other way`)
    if (rail !== undefined) continue
    const price = sendExactly(debitAmount, receiveAmount, debitAmount.value)
    const isFair =
      receiveAmount.value <= price.receive && fee.value <= price.fee && isExchanged(debitAmount, receiveAmount)
    if (!isFair) world.violate(`1: payment ${id} is not what its price says`)
  }
  for (const payment of payments) checkWay(world, payment)
}

/** Over a rail the price leads to where money leaves, and the rate of the rail from there to the receiver. */
function checkWay({ shape, violate }: World, { id, debitAmount, receiveAmount, fee, rail }: OutgoingPayment): void {
  if (rail === undefined || shape.rail === undefined) return
  const { account, asset, rate } = wayBetween(shape.rail, debitAmount, receiveAmount)
  const price = sendExactly(debitAmount, asset, debitAmount.value)
  const leaving = BigInt(rail.sendAmount.value)
  const isPriced =
    fee.value <= price.fee && leaving <= price.receive && leaving * rate.received >= receiveAmount.value * rate.sent
  // One unit more would have brought more than is promised, or cost more than is paid.
  const isTight = (leaving - 1n) * rate.received < (receiveAmount.value + 1n) * rate.sent
  if (!isPriced || !isTight || account !== rail.account)
    violate(`1: payment ${id} is not what its price and its way say`)
}

/** The ledger matches the records line by line, and holds nothing. */
async function checkBooks(world: World, payments: readonly OutgoingPayment[]): Promise<void> {
  const { ledger, violate } = world
  const settled = payments.flatMap((payment) => {
    const { decision, state } = payment
    const isPaid = decision?.action === 'settle' && (state === 'completed' || state === 'failed')
    return isPaid ? [{ ...payment, taken: decision.amount, kept: decision.fee }] : []
  })
  const receipts = world.storage.all('receipt').map(({ value }) => value)
  const ofRail = receipts.filter(({ railAccountId, state }) => railAccountId !== undefined && state === 'credited')
  for (const account of ['alice', 'bob', 'carol']) {
    const held = (await ledger.balance(account))?.held
    if (held !== 0n) violate(`8: ${held} of ${account} are still held`)
    const found = (await ledger.entries(account)).filter(({ transfer }) => !transfer.startsWith('opening:'))
    const expected = settled.flatMap((one) => [
      ...(one.account === account ? [`${one.id} ${-one.taken}`] : []),
      ...(one.payeeAccount === account ? [`${creditIdOf(one.id)} ${one.receiveAmount.value}`] : []),
    ])
    const credited = ofRail.filter(({ payeeAccount }) => payeeAccount === account)
    compare(
      world,
      `the lines of ${account}`,
      found.map(({ transfer, amount }) => `${transfer} ${amount}`),
      [...expected, ...credited.map(({ id, amount }) => `${id} ${amount.value}`)],
    )
  }
  for (const asset of ['USD:2', 'EUR:4']) {
    const own = settled.filter(({ debitAmount }) => `${debitAmount.assetCode}:${debitAmount.assetScale}` === asset)
    const fees = own.reduce((sum, { kept }) => sum + kept, 0n)
    const found = (await ledger.balance(`fees:${asset}`))?.total ?? 0n
    if (found !== fees) violate(`1: the fees in ${asset} are ${found}, not ${fees}`)
  }
}

function compare(world: World, what: string, found: readonly string[], expected: readonly string[]): void {
  const [have, want] = [found.toSorted().join(', '), expected.toSorted().join(', ')]
  if (have !== want) world.violate(`8: ${what} are ${have}, not ${want}`)
}

function checkReceipts({ storage, violate }: World, payments: readonly OutgoingPayment[]): void {
  for (const { value } of storage.all('receipt')) {
    if (value.state === 'reserved') violate(`8: receipt ${value.id} is still reserved`)
    if (value.outgoingPaymentId === undefined) continue
    const payment = payments.find(({ id }) => id === value.outgoingPaymentId)
    if ((payment?.state === 'completed') !== (value.state === 'credited'))
      violate(`8: receipt ${value.id} is ${value.state}, its payment ${payment?.state}`)
  }
}

/** What a rail has moved by the books of this wallet is what it has moved by those of the other one. */
function checkRails({ storage, far, railWatch, violate }: World): void {
  const payments = storage.all('outgoing-payment').map(({ value }) => value)
  for (const { id, state, delivery } of payments) {
    const { sent } = far.movedFor(id)
    const isKnown = BigInt(delivery?.sent ?? 0) === sent && BigInt(delivery?.inFlightSent ?? 0) === 0n
    if (!isKnown) violate(`rail: of ${id} ${sent} left, which is ${state} with ${JSON.stringify(delivery)}`)
  }
  const told = [...railWatch.transfers.values()]
  for (const { value } of storage.all('rail-account')) {
    const own = payments.filter(({ rail }) => rail !== undefined && `ilp:${rail.account}` === value.id)
    const sent = own.reduce((sum, { id }) => sum + far.movedFor(id).sent, 0n)
    const taken = told.filter(({ transfer, isTaken }) => isTaken && `ilp:${transfer.account}` === value.id)
    const received = taken.reduce((sum, { transfer }) => sum + transfer.accountAmount.value, 0n)
    if (value.sent !== sent) violate(`rail: ${value.id} has sent ${value.sent}, and ${sent} left`)
    if (value.inFlight !== 0n) violate(`rail: ${value.id} has ${value.inFlight} in flight`)
    if (value.received !== received) violate(`rail: ${value.id} has received ${value.received}, and ${received} came`)
  }
}

/** A quote is open exactly where it backs no payment. */
function checkQuotes({ storage, violate }: World, payments: readonly OutgoingPayment[]): void {
  for (const { value } of storage.all('quote')) {
    const backed = payments.filter(({ quoteId, state }) => quoteId === value.id && state !== 'refused')
    const isRight = value.state === (backed.length === 0 ? 'open' : 'used') && value.outgoingPaymentId === backed[0]?.id
    if (!isRight || backed.length > 1)
      violate(`3: quote ${value.id} is ${value.state} and backs ${backed.length} payments`)
  }
}

/** Every answer that a client got was true; and what was made was made once. */
function checkOrders(world: World, orders: readonly Order[]): void {
  const { violate } = world
  const byKey = new Map<string, { readonly sentAt: number; readonly made: readonly string[] }[]>()
  for (const order of orders.filter(({ kind }) => kind === 'outgoing-payment')) {
    const name = `order ${order.number}`
    const made = paymentsOf(world, order.number).map(({ id }) => id)
    if (made.length > 1) violate(`3: ${name} was paid ${made.length} times`)
    for (const id of order.made)
      if (made[0] !== id) violate(`${name} was answered with ${id}, which is not what was made`)
    const isRefused = order.exchanges.every(
      ({ answer }) => answer !== undefined && answer.status >= 400 && answer.status < 500,
    )
    if (isRefused && made.length > 0) violate(`${name} was refused each time, and paid`)
    const { key, client } = order.asked
    if (key === undefined) continue
    const { sentAt } = order
    const underKey = [...(byKey.get(`${client.id} ${key}`) ?? []), { sentAt, made }]
    byKey.set(`${client.id} ${key}`, underKey)
    // After a day the key is free.
    const together = underKey.filter((other) => sentAt - other.sentAt < DAY).flatMap((other) => other.made)
    if (together.length > 1) violate(`${key} was paid under ${together.length} times`)
  }
}

/** The host has heard of everything that happened, and of nothing else. */
function checkEvents({ storage, host, violate }: World): void {
  const left = storage.all('event')
  if (left.length > 0) violate(`events: ${left[0]?.value.id} was never acknowledged`)
  for (const { value } of storage.all('outgoing-payment')) {
    const { id, state, sentAmount } = value
    const expected = state === 'refused' ? [] : ['outgoing_payment.created', `outgoing_payment.${state}`]
    const heard = host.heardOf(id)
    if (heard.map(({ type }) => type).join() !== expected.join())
      violate(`events: of ${id} was told ${heard.map(({ type }) => type)}`)
    for (const event of heard) {
      if (!('outgoingPayment' in event)) continue
      const sent = event.type === 'outgoing_payment.created' ? 0n : sentAmount.value
      if (BigInt(event.sentAmount.value) !== sent) violate(`events: ${event.id} tells ${event.sentAmount.value} sent`)
    }
  }
  for (const { value } of storage.all('incoming-payment')) {
    const { id, state } = value
    const isEnded = state === 'completed' || state === 'expired'
    const expected = ['incoming_payment.created', ...(isEnded ? [`incoming_payment.${state}`] : [])]
    const heard = host.heardOf(id).map(({ type }) => type)
    if (heard.join() !== expected.join()) violate(`events: of ${id} was told ${heard}`)
  }
  for (const { value } of storage.all('receipt')) {
    const { id, state, payeeAccount } = value
    const isRefused = state === 'dropped' && payeeAccount !== undefined
    const heard = host.heardOf(`receipt-${id}`).length
    if (heard !== (isRefused ? 1 : 0)) violate(`events: of receipt ${id} was told ${heard}`)
  }
}
