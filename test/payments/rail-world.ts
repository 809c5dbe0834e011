import type {
  DeliveryProgress,
  DeliveryResult,
  OpenPaymentsOptions,
  PaymentMethod,
  RailServer,
} from 'open-payments-server'
import { expect } from 'vitest'
import { fakeRail, progress, quoteAt, RAIL_ACCOUNT } from '../support/fake-rail.ts'
import { type FakeReceiver, type FakeRemoteReceivers, fakeRemoteReceivers } from '../support/fake-remote-receivers.ts'
import { ALICE, type Answer, BASE, spendingToken, usd } from '../support/test-wallet.ts'
import { type FaultyPorts, faultAt } from './faulty-ports.ts'
import { moneyWorld, OPENING, type PreparedPayment, type Process, pay, type World } from './money-world.ts'

/** What the far side does with a part that reaches it for the first time. */
export type Fate = 'takes it' | 'rejects it'

/** The other end of a rail. It outlives processes, and a part that it knows has the effect that it had. */
export interface FarSide {
  readonly receivers: FakeRemoteReceivers
  /** By payment and number of the part: what has arrived of it, in the asset of the rail. */
  readonly parts: Map<string, bigint>
  decideFate: (payment: string, part: number) => Fate
}

/** A world of two wallets: this one, whose processes may fail, and another one behind a rail. */
export interface RailWorld extends World {
  readonly far: FarSide
  /** What the rail of the process that never fails is given. */
  readonly server: RailServer
  readonly token: string
  /** The receiver of the next payment. */
  receiver: FakeReceiver
  /** How money is sent in the process that never fails; by default in parts of 4. */
  method: PaymentMethod
  /** Another process, whose rail and receivers it loses when it ends. */
  process(method?: (ports: FaultyPorts) => PaymentMethod, overrides?: Partial<OpenPaymentsOptions>): Process
}

/** What arrives for what leaves in this world: nine tenths, so that the two are never mistaken. */
const RATE = { sent: 10n, received: 9n } as const

/** It is no whole number of units, so that a part of the fee is rounded. */
const FEE = { basisPoints: 700 } as const

export async function railWorld(
  receiverMembers: Partial<FakeReceiver> = {},
  { limits, ...overrides }: Partial<OpenPaymentsOptions> & { readonly limits?: Readonly<Record<string, unknown>> } = {},
): Promise<RailWorld> {
  const receivers = fakeRemoteReceivers()
  const far: FarSide = { receivers, parts: new Map(), decideFate: () => 'takes it' }
  const atOnce = <T>(_name: string, effect: () => Promise<T>): Promise<T> => effect()
  const own = { method: sendInParts(far, atOnce) }
  const rail = fakeRail()
  const outer: PaymentMethod = {
    ...rail,
    quote: (request) => own.method.quote(request),
    deliver: (...given) => own.method.deliver(...given),
  }
  const base = {
    paymentMethods: [outer],
    remoteReceivers: receivers,
    pricing: { price: async () => ({ rate: '1', fee: FEE }) },
    ...overrides,
  }
  const policies = { exchangeToleranceBasisPoints: 1000, ...overrides.settings?.policies }
  const world = await moneyWorld({ ...base, settings: { ...overrides.settings, policies } })
  const token = await spendingToken(world.wallet, limits)
  if (rail.server === undefined) throw new Error('the rail was not connected')
  return {
    ...world,
    far,
    server: rail.server,
    token,
    receiver: receivers.add(receiverMembers),
    get method() {
      return own.method
    },
    set method(method) {
      own.method = method
    },
    process: (method = (ports) => sendInParts(far, ports.reach), more = {}) =>
      world.start((ports) => ({
        ...base,
        remoteReceivers: { find: (url, asker) => ports.reach('find', () => receivers.find(url, asker)) },
        paymentMethods: [method(ports)],
        ...more,
      })),
  }
}

/** Sends parts of 4 one after the other; asks the far side again what became of one that is in flight. */
export function sendInParts(far: FarSide, reach: FaultyPorts['reach']): PaymentMethod {
  const sendPart = async (receiver: FakeReceiver, payment: string, part: number, amount: bigint): Promise<bigint> => {
    const name = `${payment}:${part}`
    const known = far.parts.get(name)
    if (known !== undefined) return known
    const isTaken = far.decideFate(payment, part) === 'takes it' && !receiver.isCompleted
    far.parts.set(name, isTaken ? amount : 0n)
    if (isTaken) {
      receiver.receivedValue += leastFor(amount)
      if (receiver.incomingValue !== undefined && receiver.receivedValue >= receiver.incomingValue)
        receiver.isCompleted = true
    }
    return isTaken ? amount : 0n
  }
  return {
    ...fakeRail(),
    quote: async () => quoteAt(RATE.sent, RATE.received),
    deliver: async ({ id, details, sendAmount, receiveAmount, isFixedReceive, isOver }, start, record) => {
      const receiver = far.receivers.all.find(({ address }) => address === details.ilpAddress)
      if (receiver?.sharedSecret !== details.sharedSecret) throw new Error('these are the details of no receiver')
      let at: DeliveryProgress = start
      for (;;) {
        if (at.inFlight.sent > 0n) {
          const part = Number(at.notes)
          const arrived = await reach('send', () => sendPart(receiver, id, part, at.inFlight.sent))
          const got = arrived === 0n ? 0n : at.inFlight.received
          at = progress(at.sent + arrived, at.received + got, at.notes)
          if (arrived === 0n) return ended(at, 'rejected')
        }
        const isDone = isFixedReceive ? at.received >= receiveAmount.value : at.sent === sendAmount.value
        if (isDone) return { outcome: 'delivered', progress: at }
        if (isOver) return ended(at, 'over')
        const left = sendAmount.value - at.sent
        const amount = left < 4n ? left : 4n
        at = {
          ...at,
          inFlight: { sent: amount, received: leastFor(amount) },
          notes: String(Number(at.notes) + 1),
        }
        if ((await record(at)) === 'over_limit') return { outcome: 'later', reason: 'limit' }
      }
    },
  }
}

function ended(at: DeliveryProgress, reason: string): DeliveryResult {
  return { outcome: 'ended', progress: at, reason }
}

/** The least of a part, rounded up as a rail does it. */
function leastFor(amount: bigint): bigint {
  return (amount * RATE.received + RATE.sent - 1n) / RATE.sent
}

/** A payment to the receiver on the other server that only has to be ordered. */
export async function prepareRailPayment(
  { wallet, token, receiver }: RailWorld,
  { amount = '15', from = 'quote' }: { readonly amount?: string; readonly from?: 'quote' | 'incoming payment' } = {},
): Promise<PreparedPayment> {
  const quoteUrl = from === 'quote' ? (await quoted()).body.id : ''
  async function quoted(): Promise<Answer> {
    const json = { walletAddress: ALICE, receiver: receiver.url, method: 'ilp', debitAmount: usd(amount) }
    const answer = await wallet.send('POST', `${BASE}/quotes`, { token, json })
    expect(answer.status).toBe(201)
    return answer
  }
  return {
    token,
    incomingId: '',
    incomingUrl: receiver.url,
    quoteUrl,
    body:
      from === 'quote'
        ? { walletAddress: ALICE, quoteId: quoteUrl }
        : { walletAddress: ALICE, incomingPayment: receiver.url, debitAmount: usd(amount) },
  }
}

/** Pays in the process that never fails. */
export async function payRemotely(
  world: RailWorld,
  members: Parameters<typeof prepareRailPayment>[1] = {},
): Promise<Answer> {
  const { wallet } = world
  const { token, body } = await prepareRailPayment(world, members)
  const answer = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json: body })
  await wallet.openPayments.drain()
  return answer
}

/** Recovers in the process that never fails, by default once a lease is over, and lets everything run out. */
export async function recoverLater({ wallet }: World, milliseconds = 30_000): Promise<void> {
  wallet.clock.advance(milliseconds)
  await wallet.openPayments.recover()
  await wallet.openPayments.drain()
}

/** A payment of 15, of which 13 leave in parts of 4, and whose process ends after some calls of the far side. */
export async function interrupted(sends: number, members: Partial<FakeReceiver> = {}): Promise<RailWorld> {
  const world = await railWorld({ incomingValue: 20n, ...members })
  const process = world.process()
  const isStop = ({ name }: { name: string }): boolean => name === (sends === 0 ? 'find' : 'send')
  // The receiver is read with the order, and again before anything leaves.
  faultAt(process.ports, sends === 0 ? 2 : sends, sends === 0 ? 'crashes before' : 'crashes after', isStop)
  await pay(world, process, await prepareRailPayment(world))
  return world
}

/** The only payment of a world. */
export async function onlyPayment({ storage }: World) {
  const [record, ...others] = await storage.all('outgoing-payment')
  if (record === undefined || others.length > 0) throw new Error('one payment was expected')
  return record
}

/** What a quiet world must look like, whatever happened before: the payer lost what left, the fee of it, and nothing else. */
export async function checkRailMoney(world: RailWorld): Promise<void> {
  const { ledger, storage, far } = world
  const payments = (await storage.all('outgoing-payment')).map(({ value }) => value)
  const totals = await ledger.totals()
  for (const total of totals) expect(total.value).toBe(total.assetCode === 'USD' ? OPENING : 0n)
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((one, other) => one + other, 0n)
  const settled = payments.flatMap(({ decision }) => (decision?.action === 'settle' ? [decision] : []))
  const total = async (account: string): Promise<bigint> => (await ledger.balance(account))?.total ?? 0n
  expect(await ledger.balance('alice')).toMatchObject({
    held: 0n,
    total: OPENING - sum(settled.map((one) => one.amount)),
  })
  expect(await total('fees:USD:2')).toBe(sum(settled.map(({ fee }) => fee)))
  expect(await total('clearing:USD:2')).toBe(sum(settled.map(({ amount, fee }) => amount - fee)))

  for (const payment of payments) {
    const { id, state, sentAmount, debitAmount, fee, rail, delivery, decision } = payment
    expect(['completed', 'failed', 'refused']).toContain(state)
    const arrived = sum([...far.parts].flatMap(([part, amount]) => (part.startsWith(id) ? [amount] : [])))
    const known = BigInt(delivery?.sent ?? 0)
    expect([known, delivery?.inFlightSent ?? '0']).toEqual([arrived, '0'])
    expect(state === 'completed').toBe(sentAmount.value === debitAmount.value)
    if (rail === undefined || decision?.action !== 'settle') {
      expect([arrived, sentAmount.value]).toEqual([0n, 0n])
      continue
    }
    expect(sentAmount.value).toBe(decision.amount)
    // The payer gave at least the price of what left, and less than one unit more.
    const priced = (debitAmount.value - fee.value) * arrived
    const given = (decision.amount - decision.fee) * BigInt(rail.sendAmount.value)
    if (state === 'failed') {
      expect(given >= priced && given - priced < BigInt(rail.sendAmount.value)).toBe(true)
      const kept = decision.fee * BigInt(rail.sendAmount.value) - fee.value * arrived
      expect(kept >= 0n && kept < BigInt(rail.sendAmount.value)).toBe(true)
    }
  }
  const left = sum([...far.parts.values()])
  const [account] = await storage.all('rail-account')
  const { id, sent, inFlight } = account?.value ?? { id: `ilp:${RAIL_ACCOUNT}`, sent: 0n, inFlight: 0n }
  expect([id, sent, inFlight]).toEqual([`ilp:${RAIL_ACCOUNT}`, left, 0n])

  for (const { value } of await storage.all('spending')) {
    const own = payments.filter(({ spendingIds, state }) => spendingIds.includes(value.id) && state !== 'refused')
    expect(value.debit.value).toBe(sum(own.map(({ sentAmount }) => sentAmount.value)))
    expect(sum(value.receive.map((amount) => BigInt(amount.value)))).toBe(sum(own.map(receivedBy)))
  }
  for (const { value } of await storage.all('quote')) {
    const backed = payments.filter(({ quoteId, state }) => quoteId === value.id && state !== 'refused')
    expect([value.state, value.outgoingPaymentId]).toEqual(
      backed.length === 0 ? ['open', undefined] : ['used', backed[0]?.id],
    )
  }
  expect(await storage.all('event')).toEqual([])
}

function receivedBy({
  state,
  sentAmount,
  receiveAmount,
  rail,
  delivery,
}: Awaited<ReturnType<typeof onlyPayment>>['value']): bigint {
  if (state === 'completed') return receiveAmount.value
  if (sentAmount.value === 0n || rail === undefined) return 0n
  const sendAmount = BigInt(rail.sendAmount.value)
  const paidFor = (receiveAmount.value * BigInt(delivery?.sent ?? 0) + sendAmount - 1n) / sendAmount
  const received = [BigInt(delivery?.received ?? 0), paidFor].reduce((one, other) => (one > other ? one : other))
  return received < receiveAmount.value ? received : receiveAmount.value
}

/** How a rail carries a payment. */
export type Deliver = PaymentMethod['deliver']

/** A payment of 15, of which 13 leave and 11 arrive at least, in the hands of a rail that does as it is told. */
export async function paidBy(deliver: Deliver): Promise<RailWorld> {
  const world = await railWorld()
  world.method = { ...world.method, deliver }
  expect((await payRemotely(world)).status).toBe(201)
  return world
}

/** The state of the only payment, what it has sent, and what the ledger shows of Alice and the fees. */
export async function outcomeOf(world: RailWorld): Promise<readonly unknown[]> {
  const { value } = await onlyPayment(world)
  const alice = await world.ledger.balance('alice')
  const fees = await world.ledger.balance('fees:USD:2')
  return [value.state, value.sentAmount.value, 100_000n - (alice?.total ?? 0n), alice?.held, fees?.total ?? 0n]
}

/** What went wrong, as the host is told. */
export function faultsOf({ wallet }: RailWorld): readonly unknown[] {
  return wallet.events.flatMap((event) => (event.type === 'fault' ? [(event.cause as Error).message] : []))
}

/** What the grant has spent: debit, and receive. */
export async function spentBy({ storage }: RailWorld): Promise<readonly unknown[]> {
  const [spending] = await storage.all('spending')
  return [spending?.value.debit.value, spending?.value.receive.map(({ value }) => value).join()]
}
