import type { OpenPaymentsOptions, RailServer, RailTransfer } from 'open-payments-server'
import { expect } from 'vitest'
import { type Fault, faultAt } from '../payments/faulty-ports.ts'
import { type PreparedPayment, pay, preparePayment, type Tokens, type World } from '../payments/money-world.ts'
import { type FakeRail, fakeRail, inFlight, progress, RAIL_ACCOUNT } from '../support/fake-rail.ts'
import { fakeRemoteReceivers } from '../support/fake-remote-receivers.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, usd, usdAmount } from '../support/test-wallet.ts'

/** What has moved between a wallet and another one, and is about to, when a release stops. */
export interface RailsInMidlife {
  /** An incoming payment of 5 to which a rail has brought 2, which are credited, and 3, which are not. */
  readonly incoming: string
  /** A quote of 5 for a receiver on another server that nobody has used. */
  readonly quote: PreparedPayment
  /** Payments of 5 of which 2 are in flight: what became of that the rail can find out, or its host alone. */
  readonly later: string
  readonly undecided: string
}

/** A wallet with a rail. */
export interface WorldWithRail extends World {
  /** Connected to the process that was started last. */
  readonly rail: FakeRail
}

/** A rail, and other servers with one incoming payment, the same for every release. */
export function railsOfWallet(): {
  readonly rail: FakeRail
  readonly receiver: string
  readonly options: Partial<OpenPaymentsOptions>
} {
  const rail = fakeRail()
  const remoteReceivers = fakeRemoteReceivers()
  const { url } = remoteReceivers.add()
  return { rail, receiver: url, options: { paymentMethods: [rail], remoteReceivers } }
}

function connected({ server }: FakeRail): RailServer {
  if (server === undefined) throw new Error('the rail was not connected')
  return server
}

function transferOf(number: number, incomingPayment: string, value: bigint): RailTransfer {
  const amount = usdAmount(value)
  const id = String(number).padStart(32, '0')
  const notAfter = Date.parse('2100-01-01T00:00:00Z')
  return { id, incomingPayment, amount, least: value, account: RAIL_ACCOUNT, accountAmount: amount, notAfter }
}

/** Money comes and goes, and some of it is on its way. */
export async function moveBetweenWallets(world: WorldWithRail, tokens: Tokens): Promise<RailsInMidlife> {
  const members = { incoming: { incomingAmount: usd('5') }, from: 'incoming payment' } as const
  const { incomingId } = await preparePayment(world, tokens, members)
  const receive = async (transfer: RailTransfer, fault?: Fault): Promise<string> => {
    const process = world.start()
    if (fault !== undefined) faultAt(process.ports, 1, fault, ({ name }) => name === 'credit')
    const outcome = await connected(world.rail).receive(transfer)
    await Promise.race([process.openPayments.drain(), process.ports.crashed])
    return outcome
  }
  expect(await receive(transferOf(1, incomingId, 2n))).toBe('received')
  expect(await receive(transferOf(2, incomingId, 3n), 'crashes before')).toBe('received')
  expect(await receive({ ...transferOf(3, incomingId, 1n), isRefused: true })).toBe('refused')
  return {
    incoming: incomingId,
    later: await sendPart(world, tokens, 'later'),
    undecided: await sendPart(world, tokens, 'unknown'),
    quote: await quoteRemotely(world, tokens),
  }
}

async function quoteRemotely({ wallet }: World, { spending }: Tokens): Promise<PreparedPayment> {
  const { receiver } = railsOfWallet()
  const json = { walletAddress: ALICE, receiver, method: 'ilp', debitAmount: usd('5') }
  const quoted = await wallet.send('POST', `${BASE}/quotes`, { token: spending, json })
  expect(quoted.status).toBe(201)
  const quoteUrl = quoted.body.id
  return {
    token: spending,
    incomingId: '',
    incomingUrl: receiver,
    quoteUrl,
    body: { walletAddress: ALICE, quoteId: quoteUrl },
  }
}

/** Sends 2 of 5, and does not learn whether they have arrived. Answers the id of the payment. */
async function sendPart(world: WorldWithRail, tokens: Tokens, outcome: 'later' | 'unknown'): Promise<string> {
  const { rail } = world
  const sendAll = rail.answerDelivery
  rail.answerDelivery = async (_delivery, before, record) => {
    const flying = inFlight(before, 2n, 2n, outcome)
    await record(flying)
    return outcome === 'later' ? { outcome, reason: 'a packet is on its way' } : { outcome, progress: flying }
  }
  const answer = await pay(world, world.start(), await quoteRemotely(world, tokens))
  expect(answer).toMatchObject({ status: 201 })
  rail.answerDelivery = sendAll
  return lastSegment(answer?.body.id ?? '')
}

/** Where the rail cannot find out what was on its way, the host says so. */
export async function decideUndecided({ wallet }: World, { undecided }: RailsInMidlife): Promise<void> {
  const { outgoingPayments } = wallet.openPayments
  expect(await outgoingPayments.undecided()).toMatchObject([{ id: undecided, inFlightSent: usd('2') }])
  expect(await outgoingPayments.sent(undecided)).toEqual({ ok: true })
  await wallet.openPayments.drain()
}

/** The rail has found out what was on its way, and has sent the rest; what came was credited. */
export async function goOnBetweenWallets(world: WorldWithRail, midlife: RailsInMidlife): Promise<void> {
  const { rail } = world
  const asked = rail.deliveries.find(({ delivery }) => delivery.id === midlife.later)
  expect(asked).toMatchObject({
    delivery: { account: RAIL_ACCOUNT, sendAmount: usdAmount(5n), details: { ilpAddress: expect.any(String) } },
    progress: inFlight(progress(0n, 0n), 2n, 2n, 'later'),
  })
  const { incoming } = midlife
  for (const [number, value] of [
    [1, 2n],
    [2, 3n],
  ] as const)
    expect(await connected(rail).receive(transferOf(number, incoming, value))).toBe('received')
  expect(await connected(rail).receive(transferOf(3, incoming, 1n))).toBe('refused')
  expect(await connected(rail).balance(RAIL_ACCOUNT)).toEqual({ sent: 7n, received: 5n })
  const [paid] = (await world.storage.all('incoming-payment')).filter(({ value }) => value.id === incoming)
  expect(paid?.value).toMatchObject({ state: 'completed', received: { value: 5n }, reserved: { value: 0n } })
}
