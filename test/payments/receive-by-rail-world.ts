import type {
  OpenPaymentsOptions,
  PaymentMethod,
  RailServer,
  RailTransfer,
  RecordTypes,
  StoredRecord,
  TransferOutcome,
} from 'open-payments-server'
import { expect } from 'vitest'
import { idOf } from '../../src/testing/ledger-case.ts'
import { usdAmount } from '../support/test-wallet.ts'
import type { Call } from './faulty-ports.ts'
import { grantTokens, moneyWorld, type Process, preparePayment, type Tokens, type World } from './money-world.ts'

export const isCredit = ({ name }: Call): boolean => name === 'credit'

/** The account of the rail that transfers come through, unless they say otherwise. */
export const PEER = 'test.peer/USD/2'

/** The most that an amount holds. */
export const MOST = 18_446_744_073_709_551_615n

/** A process with a rail, and what the rail is given by it. */
export interface RailProcess extends Process {
  readonly rail: RailServer
}

/** A world with a rail in each of its processes. */
export interface RailWorld extends World {
  /** What the rail of the process that never fails is given. */
  readonly rail: RailServer
  readonly tokens: Tokens
  startRail(overrides?: Partial<OpenPaymentsOptions>): RailProcess
  /** An incoming payment of Bob, by its id. */
  incoming(members?: Readonly<Record<string, unknown>>): Promise<string>
  /** Tells a transfer, and notes what the rail was told of it: what it may claim. */
  receive(rail: RailServer, transfer: RailTransfer): Promise<TransferOutcome | 'unknown'>
  /** What the rail was told that it may claim, by transfer. */
  readonly claimed: ReadonlyMap<string, RailTransfer>
  /** What the rail was told that it may not claim. */
  readonly refused: ReadonlySet<string>
}

/** A payment method that only receives, and what it is given. */
function receivingRail(): { readonly method: PaymentMethod; readonly server: () => RailServer } {
  let connected: RailServer | undefined
  return {
    method: {
      type: 'ilp',
      createDetails: async ({ address, sharedSecret }) => ({
        type: 'ilp',
        ilpAddress: `test.here.${address}`,
        sharedSecret,
      }),
      quote: async () => ({ ok: false, reason: 'unreachable' }),
      deliver: async () => ({ outcome: 'later', reason: 'this rail only receives' }),
      connect: (server) => {
        connected = server
      },
    },
    server: () => {
      if (connected === undefined) throw new Error('the rail was not connected')
      return connected
    },
  }
}

export async function railWorld(overrides: Partial<OpenPaymentsOptions> = {}): Promise<RailWorld> {
  const { method, server } = receivingRail()
  const world = await moneyWorld({ ...overrides, paymentMethods: [method] })
  const tokens = await grantTokens(world)
  const claimed = new Map<string, RailTransfer>()
  const refused = new Set<string>()
  return {
    ...world,
    rail: server(),
    tokens,
    claimed,
    refused,
    startRail: (more = {}) => {
      const own = receivingRail()
      return { ...world.start({ ...more, paymentMethods: [own.method] }), rail: own.server() }
    },
    incoming: async (members = {}) => {
      const prepared = await preparePayment(world, tokens, { from: 'incoming payment', incoming: members })
      return prepared.incomingId
    },
    receive: async (rail, transfer) => {
      const outcome = await rail.receive(transfer).catch(() => 'unknown' as const)
      if (outcome === 'received') claimed.set(transfer.id, transfer)
      else if (outcome !== 'unknown' && outcome !== 'rate_limited') refused.add(transfer.id)
      return outcome
    },
  }
}

/** An incoming payment as it is stored. */
export async function incomingOf(
  { storage }: RailWorld,
  id: string,
): Promise<RecordTypes['incoming-payment'] | undefined> {
  return (await storage.all('incoming-payment')).find(({ value }) => value.id === id)?.value
}

/** Tells a transfer to a process that may crash, and lets its work run out. */
export async function tell(
  world: RailWorld,
  { rail, openPayments, ports }: RailProcess,
  transfer: RailTransfer,
): Promise<TransferOutcome | 'unknown'> {
  const outcome = await Promise.race([world.receive(rail, transfer), ports.crashed])
  await Promise.race([openPayments.drain(), ports.crashed])
  return outcome ?? 'unknown'
}

/** After all that happens here. */
const LONG_AFTER = Date.parse('2030-01-01T00:00:00Z')

/** A transfer of so much through the account of the peer, one to one, of which its sender insists on all. */
export function transferOf(
  number: number,
  incomingPayment: string,
  value: bigint,
  members: Partial<RailTransfer> = {},
): RailTransfer {
  const amount = usdAmount(value)
  return {
    id: idOf(number),
    incomingPayment,
    amount,
    least: value,
    account: PEER,
    accountAmount: amount,
    notAfter: LONG_AFTER,
    ...members,
  }
}

const MOST_ROUNDS = 12

const isRefusal = ({ value }: StoredRecord): boolean => 'state' in value && value.state === 'dropped'

/** Recovers until nothing is due any more, however late, but refusals, which are for `sweep()`. */
export async function recoverReceiptsUntilQuiet(
  world: RailWorld,
  openPayments = world.wallet.openPayments,
): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const due = await Promise.all(
      (['receipt', 'outgoing-payment', 'event'] as const).map((kind) =>
        world.storage.due(kind, Number.MAX_SAFE_INTEGER, 100),
      ),
    )
    const latest = Math.max(0, ...due.flat().map((record) => (isRefusal(record) ? 0 : (record.dueAt ?? 0))))
    if (latest === 0) return
    world.wallet.clock.advance(Math.max(0, latest - world.wallet.clock.now()))
    await openPayments.recover()
  }
  throw new Error('recover() never came to an end')
}

type Receipt = RecordTypes['receipt']

function sumOf(receipts: readonly Receipt[], value: (receipt: Receipt) => bigint | undefined): bigint {
  return receipts.reduce((sum, receipt) => sum + (value(receipt) ?? 0n), 0n)
}

/**
 * What must hold at every moment: what the rail may claim is what was credited, what is reserved for it, what the ledger
 * refused, and what was above the remainder. Where nothing is due any more, nothing is reserved, and everybody was told.
 */
export async function checkReceived(world: RailWorld, { isQuiet = true } = {}): Promise<void> {
  const receipts = (await world.storage.all('receipt')).map(({ value }) => value)
  const taken = receipts.filter(({ railAmount }) => railAmount !== undefined)
  const inState = (state: Receipt['state']): readonly Receipt[] => taken.filter((receipt) => receipt.state === state)
  const parts = (['credited', 'reserved', 'dropped'] as const).map((state) =>
    sumOf(inState(state), (r) => r.amount.value),
  )
  const [credited = 0n, reserved = 0n, refused = 0n] = parts
  const excess = sumOf(taken, (receipt) => receipt.excess)
  const came = sumOf(taken, ({ railAmount }) => railAmount)
  expect(came).toBe(credited + reserved + refused + excess)
  expect(await receivedByAccounts(world)).toBe(came)
  checkClaims(world, taken)
  await checkLedger(world, inState('credited'), isQuiet)
  await checkSums(world, receipts)
  if (!isQuiet) return
  expect(reserved).toBe(0n)
  expect(await world.storage.all('event')).toEqual([])
  await checkTold(world)
  const toldOf = world.told().flatMap((event) => (event.type === 'credit_refused' ? [event.receipt] : []))
  expect(new Set(toldOf)).toEqual(new Set(inState('dropped').map(({ id }) => id)))
}

async function receivedByAccounts(world: RailWorld): Promise<bigint> {
  const accounts = (await world.storage.all('rail-account')).map(({ value }) => value)
  for (const { id, received } of accounts)
    expect(await world.rail.balance(id.replace(/^ilp:/, ''))).toMatchObject({ received })
  return accounts.reduce((sum, { received }) => sum + received, 0n)
}

/** What the rail was told to claim was taken, for just as much; what it was told was refused was not. */
function checkClaims({ claimed, refused }: RailWorld, taken: readonly Receipt[]): void {
  for (const [id, { incomingPayment, accountAmount }] of claimed) {
    expect(taken).toContainEqual(
      expect.objectContaining({ id, incomingPaymentId: incomingPayment, railAmount: accountAmount.value }),
    )
  }
  for (const { id } of taken) expect(refused).not.toContain(id)
}

/** Every receipt is credited once in the ledger, under its id; nothing else is. */
async function checkLedger({ ledger }: RailWorld, credited: readonly Receipt[], isQuiet: boolean): Promise<void> {
  const lines = (await ledger.entries('bob')).map(({ transfer, amount }) => `${transfer} ${amount}`)
  expect(new Set(lines).size).toBe(lines.length)
  const expected = credited.map(({ id, amount }) => `${id} ${amount.value}`)
  if (isQuiet) expect(lines.toSorted()).toEqual(expected.toSorted())
  // The ledger may be ahead of what is written down, never behind it.
  else expect(lines).toEqual(expect.arrayContaining(expected))
  for (const { assetCode, value } of await ledger.totals()) expect(value).toBe(assetCode === 'USD' ? 100_000n : 0n)
}

async function checkSums({ storage }: RailWorld, receipts: readonly Receipt[]): Promise<void> {
  for (const { value } of await storage.all('incoming-payment')) {
    const own = receipts.filter(({ incomingPaymentId }) => incomingPaymentId === value.id)
    const sum = (state: Receipt['state']): bigint =>
      sumOf(
        own.filter((receipt) => receipt.state === state),
        ({ amount }) => amount.value,
      )
    expect(value.received.value).toBe(sum('credited'))
    expect(value.reserved.value).toBe(sum('reserved'))
    if (value.incomingAmount !== undefined && value.received.value >= value.incomingAmount.value)
      expect(value.state).toBe('completed')
  }
}

async function checkTold(world: RailWorld): Promise<void> {
  for (const { value } of await world.storage.all('incoming-payment')) {
    const told = world.told().filter(({ id }) => id.startsWith(`${value.id}:`))
    const isOver = value.state === 'completed' || value.state === 'expired'
    const expected = ['incoming_payment.created', ...(isOver ? [`incoming_payment.${value.state}`] : [])]
    expect([...new Set(told.map(({ type }) => type))]).toEqual(expected)
  }
}
