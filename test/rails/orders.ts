import { setTimeout as pause } from 'node:timers/promises'
import { type Answer, type ClientRequest, sign } from '../crashes/client.ts'
import type { Random } from '../fuzz/random.ts'
import { lastSegment } from '../support/last-segment.ts'
import { type AccountName, amountOf, otherOf, type WalletName } from './wallet-process/wallets.ts'
import type { World } from './world.ts'

/** What must have become of a payment in the end: `paid`: all of it; `open`: all, a part or nothing. */
export type Fate = 'paid' | 'open'

/** One thing after the other that the client of a payer's wallet does; it has several lanes at once. */
export interface Lane {
  readonly world: World
  /** Whose accounts pay; the payees are at the other wallet. */
  readonly from: WalletName
  readonly random: Random
  readonly orders: Map<string, Fate>
  /** Why orders were refused, and how often. */
  readonly refusals: Map<string, number>
  /** A name that no other request of this lane's client has as its key. */
  freshName(): string
}

type Payer = 'alice' | 'carol'

const MOST_TRIES = 300

/** Asks the process of a wallet until there is an outcome, however often it is killed meanwhile; what creates, under a key. */
async function ask(lane: Lane, wallet: WalletName, unkeyed: ClientRequest): Promise<Answer> {
  const { world } = lane
  const request = unkeyed.json === undefined ? unkeyed : { ...unkeyed, key: lane.freshName() }
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const answer = await world.send(wallet, await sign(world.clients[wallet].signer, request, world.now()))
    if (answer !== undefined && answer.status < 500) return answer
    await pause(20)
  }
  throw new Error(`${request.url} was never answered`)
}

function refused(lane: Lane, what: string, { status, body }: Answer): undefined {
  const reason = `${what}: ${status} ${body.error?.code} ${body.error?.description}`
  lane.refusals.set(reason, (lane.refusals.get(reason) ?? 0) + 1)
  return undefined
}

/** An incoming payment at the other wallet; `undefined` where it takes none for this account now. */
export async function receive(lane: Lane, payee: AccountName, members: object = {}): Promise<string | undefined> {
  const wallet = otherOf(lane.from)
  const { base, tokens } = lane.world.clients[wallet]
  const json = { walletAddress: `${base}/${payee}`, ...members }
  const request = { method: 'POST', url: `${base}/incoming-payments`, token: tokens.receiving, json } as const
  const answer = await ask(lane, wallet, request)
  const { id, methods } = answer.body
  if (answer.status !== 201 || id === undefined || !Array.isArray(methods))
    return refused(lane, 'incoming payment', answer)
  for (const { ilpAddress } of methods) lane.world.addresses.set(String(ilpAddress), lastSegment(id))
  return id
}

/** How often a client asks for what the bad network did not let the wallet do. */
const MOST_QUOTES = 20

/** A quote; for what its receiver asks for where no amount is given. */
export async function quote(
  lane: Lane,
  payer: Payer,
  receiver: string,
  members: object = {},
): Promise<string | undefined> {
  const { base, tokens } = lane.world.clients[lane.from]
  const json = { walletAddress: `${base}/${payer}`, receiver, method: 'ilp', ...members }
  for (let tries = 0; tries < MOST_QUOTES; tries++) {
    const answer = await ask(lane, lane.from, { method: 'POST', url: `${base}/quotes`, token: tokens[payer], json })
    if (answer.status === 201) return answer.body.id
    refused(lane, 'quote', answer)
    await pause(lane.random.below(100))
  }
  return undefined
}

/** Orders a payment, and notes what must have become of it. */
export async function order(lane: Lane, payer: Payer, members: object, fate: Fate): Promise<void> {
  const { world, from, orders } = lane
  const { base, tokens } = world.clients[from]
  const json = { walletAddress: `${base}/${payer}`, ...members }
  for (let tries = 0; tries < MOST_QUOTES; tries++) {
    const request = { method: 'POST', url: `${base}/outgoing-payments`, token: tokens[payer], json } as const
    const answer = await ask(lane, from, request)
    if (answer.status === 201 && answer.body.id !== undefined) {
      orders.set(answer.body.id, fate)
      return world.noteOrder(answer.body.id)
    }
    refused(lane, 'payment', answer)
    await pause(lane.random.below(100))
  }
}

async function payQuoted(lane: Lane, payer: Payer, receiver: string, members: object, fate: Fate): Promise<void> {
  const quoteId = await quote(lane, payer, receiver, members)
  if (quoteId !== undefined) await order(lane, payer, { quoteId }, fate)
}

/** Some amount of an account's asset: of a few packets at most. */
function someAmount({ random }: Lane, account: AccountName): number {
  const value = 100 + random.below(5_900)
  return account === 'carol' ? value * 100 + random.below(100) : value
}

/** Pays what its receiver asks for, or a sum of the payer's, from a quote or straight. */
async function payWhole(lane: Lane): Promise<void> {
  const { random } = lane
  const payer = random.pick(['alice', 'carol'] as const)
  const payee = random.pick(['alice', 'carol'] as const)
  const way = random.below(3)
  const incomingAmount = amountOf(payee, someAmount(lane, payee))
  const incoming = await receive(lane, payee, way === 0 ? { incomingAmount } : {})
  if (incoming === undefined) return
  const debitAmount = amountOf(payer, someAmount(lane, payer))
  if (way === 0) await payQuoted(lane, payer, incoming, {}, 'paid')
  else if (way === 1) await payQuoted(lane, payer, incoming, { debitAmount }, 'paid')
  else await order(lane, payer, { incomingPayment: incoming, debitAmount }, 'paid')
}

/** Two payments at once for parts of what is asked for; there is room for more than the two. */
async function payInParts(lane: Lane): Promise<void> {
  const { random } = lane
  const payee = random.pick(['alice', 'carol'] as const)
  const parts = [someAmount(lane, payee), someAmount(lane, payee)]
  const total = parts.reduce((sum, part) => sum + part, 0)
  const incoming = await receive(lane, payee, { incomingAmount: amountOf(payee, 2 * total) })
  if (incoming === undefined) return
  const pay = (part: number): Promise<void> =>
    payQuoted(
      lane,
      random.pick(['alice', 'carol'] as const),
      incoming,
      { receiveAmount: amountOf(payee, part) },
      'paid',
    )
  await Promise.all(parts.map(pay))
}

/** Two payments for one incoming payment, which takes less than the two of them. */
async function payTwice(lane: Lane): Promise<void> {
  const { random } = lane
  const payee = random.pick(['alice', 'carol'] as const)
  const incoming = await receive(lane, payee, { incomingAmount: amountOf(payee, someAmount(lane, payee)) })
  if (incoming === undefined) return
  const pay = (payer: Payer): Promise<void> => payQuoted(lane, payer, incoming, {}, 'open')
  await Promise.all([pay('alice'), pay(random.pick(['alice', 'carol'] as const))])
}

/** The payee wants no more while a payment is on its way. */
async function payAndComplete(lane: Lane): Promise<void> {
  const { random, world, from } = lane
  const wallet = otherOf(from)
  const incoming = await receive(lane, 'alice')
  if (incoming === undefined) return
  const debitAmount = amountOf('alice', someAmount(lane, 'alice'))
  await payQuoted(lane, 'alice', incoming, { debitAmount }, 'open')
  await pause(random.below(30))
  const token = world.clients[wallet].tokens.receiving
  await ask(lane, wallet, { method: 'POST', url: `${incoming}/complete`, token })
}

/** An incoming payment that expires at about the time when it is paid. */
async function payLate(lane: Lane): Promise<void> {
  const { world, random } = lane
  const expiresAt = new Date(world.now() + 200 + random.below(2_000)).toISOString()
  const incoming = await receive(lane, 'alice', { expiresAt })
  if (incoming === undefined) return
  const debitAmount = amountOf('carol', someAmount(lane, 'carol'))
  await order(lane, 'carol', { incomingPayment: incoming, debitAmount }, 'open')
}

/** Somebody whose account the other wallet closes, and opens again. */
async function payClosed(lane: Lane): Promise<void> {
  const { world, random, from } = lane
  const incoming = await receive(lane, 'erin')
  const close = (): Promise<void> => world.books[otherOf(from)].setOpen('erin', random.oneIn(2)).catch(() => undefined)
  if (incoming === undefined) return close()
  const debitAmount = amountOf('alice', someAmount(lane, 'alice'))
  await Promise.all([payQuoted(lane, 'alice', incoming, { debitAmount }, 'open'), close()])
}

const WORK: readonly ((lane: Lane) => Promise<void>)[] = [
  ...Array.from({ length: 14 }, () => payWhole),
  payInParts,
  payInParts,
  payTwice,
  payAndComplete,
  payLate,
  payClosed,
]

/** Does one thing after the other until it is told that it is enough. */
export async function work(lane: Lane, isEnough: () => boolean): Promise<void> {
  while (!isEnough()) await lane.random.pick(WORK)(lane)
}
