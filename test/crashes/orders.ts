import { lastSegment } from '../support/last-segment.ts'
import { askAnew, askUnderKey, type Lane, orderPayment } from './ask.ts'
import type { Answer } from './client.ts'
import { LIMITED } from './grants.ts'
import { type AccountName, amountOf, BASE, walletAddressOf } from './wallet-process/accounts.ts'

/** An incoming payment; `undefined` where the wallet takes none for this account now. */
export async function receive(lane: Lane, payee: AccountName, members: object = {}): Promise<string | undefined> {
  const { random, client } = lane
  const json = { walletAddress: walletAddressOf(payee), ...members }
  const request = { method: 'POST', url: `${BASE}/incoming-payments`, token: client.tokens.receiving, json } as const
  const mayBeRefused = payee === 'erin' || 'expiresAt' in members
  const answer = random.oneIn(3) ? await askAnew(lane, request) : await askUnderKey(lane, request, { mayBeRefused })
  if (answer.status === 201) return answer.body.id
  if (!mayBeRefused) lane.world.notebook.violations.push(`no incoming payment for ${payee}: ${JSON.stringify(answer)}`)
  return undefined
}

/** A quote; for the amount that its receiver names where none is given. */
export async function quote(
  lane: Lane,
  token: string,
  payer: AccountName,
  receiver: string,
  members: object = {},
): Promise<Answer> {
  const json = { walletAddress: walletAddressOf(payer), receiver, method: 'ilp', ...members }
  const request = { method: 'POST', url: `${BASE}/quotes`, token, json } as const
  return lane.random.oneIn(3) ? askAnew(lane, request) : askUnderKey(lane, request)
}

function payeeOf(lane: Lane): AccountName {
  return lane.random.pick((['alice', 'bob', 'carol'] as const).filter((account) => account !== lane.client.payer))
}

/** The body of an order from a quote. */
export function fromQuote(payer: AccountName, quoteId: string | undefined): object {
  return { walletAddress: walletAddressOf(payer), quoteId }
}

/** The body of an order straight to an incoming payment. */
export function straight(payer: AccountName, incomingPayment: string, debit: number): object {
  return { walletAddress: walletAddressOf(payer), incomingPayment, debitAmount: amountOf(payer, debit) }
}

/** Pays what it can and must: from a quote for a fixed receipt, from one for a fixed debit, or straight. */
async function pay(lane: Lane): Promise<void> {
  const { random, client } = lane
  const { payer } = client
  const payee = payeeOf(lane)
  const token = client.tokens.spending
  const isKeyed = !random.oneIn(3)
  const way = random.below(3)
  const members = way === 0 ? { incomingAmount: amountOf(payee, 200 + random.below(5_000)) } : {}
  const incoming = await receive(lane, payee, members)
  if (incoming === undefined) return
  const debit = 100 + random.below(5_000)
  if (way === 1) {
    await orderPayment(lane, { token, json: straight(payer, incoming, debit), isKeyed, fate: 'paid' })
    return
  }
  const quoted = await quote(lane, token, payer, incoming, way === 0 ? {} : { debitAmount: amountOf(payer, debit) })
  if (quoted.status !== 201) lane.world.notebook.violations.push(`no quote: ${JSON.stringify(quoted)}`)
  else await orderPayment(lane, { token, json: fromQuote(payer, quoted.body.id), isKeyed, fate: 'paid' })
}

/** Pays under a grant whose budget ends, at times somebody whose account is closed: then the budget comes back. */
async function payLimited(lane: Lane): Promise<void> {
  const incoming = await receive(lane, lane.random.oneIn(2) ? 'erin' : 'bob')
  if (incoming !== undefined) await orderLimited(lane, incoming, !lane.random.oneIn(3))
}

/** One payment under the limited grant. */
async function orderLimited(lane: Lane, incoming: string, isKeyed: boolean): Promise<Answer> {
  const token = lane.client.tokens.limited
  return orderPayment(lane, { token, json: straight('alice', incoming, LIMITED.debit), isKeyed, fate: 'open' })
}

/** Uses up what is left of the budget; answers the refusal. */
export async function exhaustBudget(lane: Lane): Promise<Answer> {
  for (;;) {
    const incoming = await receive(lane, 'bob')
    if (incoming === undefined) throw new Error('Bob takes no money')
    const answer = await orderLimited(lane, incoming, true)
    if (answer.status !== 201) return answer
  }
}

/** Dave orders what he cannot pay. */
async function payTooMuch(lane: Lane): Promise<void> {
  const token = lane.client.tokens.poor
  const incoming = await receive(lane, 'bob')
  if (incoming === undefined) return
  const isKeyed = lane.random.oneIn(2)
  await orderPayment(lane, { token, json: straight('dave', incoming, 100), isKeyed, fate: 'unpaid' })
}

/** Two payments for one incoming payment that has room for one. */
async function payTwice(lane: Lane): Promise<void> {
  const { client } = lane
  const { payer } = client
  const token = client.tokens.spending
  const payee = payeeOf(lane)
  const incoming = await receive(lane, payee, { incomingAmount: amountOf(payee, 300) })
  if (incoming === undefined) return
  const quotes = [await quote(lane, token, payer, incoming), await quote(lane, token, payer, incoming)]
  await Promise.all(
    quotes.map(({ body }) =>
      orderPayment(lane, { token, json: fromQuote(payer, body.id), isKeyed: true, fate: 'open', rivals: incoming }),
    ),
  )
}

/** The payee wants no more while a payment is on its way. */
async function payAndComplete(lane: Lane): Promise<void> {
  const { client, world } = lane
  const payee = payeeOf(lane)
  const incoming = await receive(lane, payee)
  if (incoming === undefined) return
  world.notebook.completed.add(lastSegment(incoming))
  const [, completed] = await Promise.all([
    orderPayment(lane, {
      token: client.tokens.spending,
      json: straight(client.payer, incoming, 500),
      isKeyed: lane.random.oneIn(2),
      fate: 'open',
    }),
    askAnew(lane, { method: 'POST', url: `${incoming}/complete`, token: client.tokens.receiving }),
  ])
  if (completed.status !== 200) world.notebook.violations.push(`not completed: ${JSON.stringify(completed)}`)
}

/** An incoming payment that expires at about the time when it is paid. */
async function payLate(lane: Lane): Promise<void> {
  const { client, world, random } = lane
  const expiresAt = new Date(world.now() + 500 + random.below(60_000)).toISOString()
  const incoming = await receive(lane, payeeOf(lane), { expiresAt })
  if (incoming === undefined) return
  const json = straight(client.payer, incoming, 500)
  await orderPayment(lane, { token: client.tokens.spending, json, isKeyed: random.oneIn(2), fate: 'open' })
}

/** Money arrives on a rail of the wallet's own, more than once in its reports, and at times more than is wanted. */
async function receiveByRail(lane: Lane): Promise<void> {
  const { random } = lane
  const incoming = await receive(lane, 'bob', random.oneIn(2) ? { incomingAmount: amountOf('bob', 400) } : {})
  if (incoming === undefined) return
  await Promise.all([reportTransfer(lane, lastSegment(incoming)), reportTransfer(lane, lastSegment(incoming))])
}

/** Has the rail report some money for Bob, until the wallet answers. */
export async function reportTransfer(lane: Lane, incomingPaymentId: string): Promise<void> {
  const { world, random } = lane
  const transferId = lane.freshName()
  const json = { id: incomingPaymentId, amount: amountOf('bob', 100 + random.below(400)), transferId }
  const body = new TextEncoder().encode(JSON.stringify(json))
  const request = { method: 'POST', target: '/rail', headers: {}, body }
  for (;;) {
    const answer = await world.send(request, random)
    if (answer?.status !== 200) continue
    world.notebook.transfers.push({ incomingPaymentId, transferId, request, answer })
    return
  }
}

/** The wallet closes Erin's account, or opens it again. */
async function closeOrOpen({ world, random }: Lane): Promise<void> {
  // Where the database is away the wallet does it another time.
  await world.books.setOpen('erin', random.oneIn(2)).catch(() => undefined)
}

const WORK: readonly ((lane: Lane) => Promise<void>)[] = [
  ...Array.from({ length: 8 }, () => pay),
  payLimited,
  payLimited,
  payTooMuch,
  payTwice,
  payAndComplete,
  payLate,
  receiveByRail,
  closeOrOpen,
]

/** Does one thing after the other until it is told that it is enough. */
export async function work(lane: Lane, isEnough: () => boolean): Promise<void> {
  while (!isEnough()) await lane.random.pick(WORK)(lane)
}
