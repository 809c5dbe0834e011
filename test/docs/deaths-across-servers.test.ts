import type { DeliveryProgress, PaymentMethod, RemoteReceivers } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { readText } from '../architecture/source-tree.ts'
import type { Call } from '../payments/faulty-ports.ts'
import { ask, grantTokens, moneyWorld, OPENING, preparePayment, signedBy, type World } from '../payments/money-world.ts'
import { type RailWorld, railWorld, transferOf } from '../payments/receive-by-rail-world.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, usd, usdAmount } from '../support/test-wallet.ts'

const page = readText('docs/payment-lifecycle.md')

/** The rows of a table of deaths of the page, by their first cell: the cells behind what it says of the moment. */
function rowsOf(letter: string): ReadonlyMap<string, readonly string[]> {
  const lines = page.split('\n').filter((line) => line.startsWith(`| ${letter}`) && /^\| [A-Z]\d \|/.test(line))
  const cells = lines.map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  return new Map(cells.map(([, row = '', , ...rest]) => [row, rest.slice(0, -1)]))
}

type Death = { readonly at: (call: Call) => boolean; readonly when: 'before' | 'after' }

/** The commit in which a record looks so. */
function commitOf(kind: string, matches: (value: Record<string, unknown>) => boolean): Death['at'] {
  return ({ name, arguments: [changes] }) =>
    name === 'commit' &&
    Array.isArray(changes) &&
    changes.some((change) => change.kind === kind && change.value !== undefined && matches(change.value))
}

const PEER = 'test.peer/USD/2'
const RECEIVER = 'https://other.example/incoming-payments/4f1b2c3d4f1b2c3d4f1b2c3d4f1b2c3d'

/** The other server: it lives on, whatever dies here. */
interface OtherServer {
  readonly receivers: RemoteReceivers
  readonly rail: PaymentMethod
  /** What it was asked. */
  readonly asked: string[]
  isPaid(): boolean
}

/** A receiver of 10, and a rail to it that carries them in one packet. */
function otherServer(takesPacketsOnce: boolean): OtherServer {
  const asked: string[] = []
  const fulfilled = new Set<string>()
  const details = {
    type: 'ilp',
    ilpAddress: 'test.peer.bob',
    sharedSecret: 'c2hhcmVkIHNlY3JldCBvZiAzMiBvY3RldHMgb2YgYm9i',
  } as const
  return {
    asked,
    isPaid: () => fulfilled.size === 1,
    receivers: {
      find: async (url) => {
        asked.push('receiver')
        const payment = { url, isCompleted: false, receivedAmount: usdAmount(0n), methods: [details] }
        return { ok: true, payment }
      },
    },
    rail: {
      type: 'ilp',
      createDetails: async ({ address, sharedSecret }) => ({
        type: 'ilp',
        ilpAddress: `test.here.${address}`,
        sharedSecret,
      }),
      quote: async () => ({
        ok: true,
        account: PEER,
        asset: { assetCode: 'USD', assetScale: 2 },
        rate: { sent: 1n, received: 1n },
      }),
      deliver: async ({ id, sendAmount, receiveAmount }, progress, record) => {
        const all = { sent: sendAmount.value, received: receiveAmount.value }
        const leaving: DeliveryProgress = { sent: 0n, received: 0n, inFlight: all, notes: 'one packet' }
        if (progress.inFlight.sent === 0n) await record(leaving)
        else if (!takesPacketsOnce) return { outcome: 'unknown', progress }
        asked.push('packet')
        fulfilled.add(id)
        return { outcome: 'delivered', progress: { ...all, inFlight: { sent: 0n, received: 0n }, notes: '' } }
      },
    },
  }
}

const inFlight = commitOf('outgoing-payment', ({ delivery }) => JSON.stringify(delivery ?? '').includes('one packet'))
const decided = commitOf('outgoing-payment', ({ state }) => state === 'decided')

const SENDING: Readonly<Record<string, Death & { readonly says?: 'sent' | 'failed' }>> = {
  C1: { at: inFlight, when: 'before' },
  C2: { at: inFlight, when: 'after' },
  C3: { at: decided, when: 'before' },
  C4: { at: decided, when: 'after' },
  C5: { at: inFlight, when: 'after', says: 'failed' },
  C6: { at: decided, when: 'before', says: 'sent' },
}

async function paymentOf({ storage }: World) {
  const [record] = await storage.all('outgoing-payment')
  return record?.value
}

/** Alice orders a payment of 10 in a process that dies; answers what the page says of it, cell by cell. */
async function sendAndDie({ at, when, says }: (typeof SENDING)[string], takesPacketsOnce: boolean) {
  const other = otherServer(takesPacketsOnce)
  const world = await moneyWorld({ paymentMethods: [other.rail], remoteReceivers: other.receivers })
  const prepared = await preparePayment(world, await grantTokens(world, { debitAmount: usd('10') }), {
    receiver: RECEIVER,
  })
  const process = world.start()
  process.ports.plan = (call) => (at(call) ? `crashes ${when}` : undefined)
  const answer = await ask(
    process,
    await signedBy(world, 'POST', `${BASE}/outgoing-payments`, prepared.token, prepared.body),
  )
  await Promise.race([process.openPayments.drain(), process.ports.crashed])

  const moneyOf = async (): Promise<string> => {
    const alice = await world.ledger.balance('alice')
    const payer = alice?.held === 10n ? 'held' : alice?.total === OPENING - 10n ? 'taken' : 'untouched'
    return `${payer}, ${other.isPaid() ? 'paid' : 'unpaid'}`
  }
  const found = [
    (await paymentOf(world))?.state,
    await moneyOf(),
    `${answer?.status ?? 'nothing'}`,
    await seenBy(world, prepared.token),
  ]
  other.asked.length = 0
  const next = world.start()
  world.wallet.clock.advance(30_000)
  await next.openPayments.recover()
  await next.openPayments.drain()
  const asked = [...other.asked, ...next.ports.calls.filter(({ port }) => port === 'ledger').map(({ name }) => name)]
  found.push(asked.join(', '))
  const undecided = await next.openPayments.outgoingPayments.undecided()
  expect(undecided.map(({ id }) => id)).toEqual(says ? [(await paymentOf(world))?.id] : [])
  if (says) {
    expect(await next.openPayments.outgoingPayments[says](undecided[0]?.id ?? '')).toEqual({ ok: true })
    await next.openPayments.drain()
  }
  found.push(says ?? '–', (await paymentOf(world))?.state)
  return { world, found, money: await moneyOf() }
}

async function seenBy({ wallet }: World, token: string): Promise<string> {
  const url = `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}`
  const [payment] = (await wallet.send('GET', url, { token })).body.result
  return payment === undefined ? 'nothing' : `sent ${payment.sentAmount.value}`
}

describe('T-31 the page about a process that dies while it pays a receiver on another server', () => {
  const rows = rowsOf('C')

  it('has a row for every moment of a payment that is played here', () => {
    expect([...rows.keys()]).toEqual(Object.keys(SENDING))
  })

  const plays = [...rows].flatMap(([row, [takes = '']]) =>
    (takes === 'either' ? [true, false] : [takes === 'yes']).map((once) => [row, once] as const),
  )
  it.each(plays)('is right about %s where that the peer takes a packet once is %s', async (row, once) => {
    const play = SENDING[row]
    if (play === undefined) throw new Error(`nothing is played for ${row}`)
    const [, ...cells] = rows.get(row) ?? []
    const { world, found, money } = await sendAndDie(play, once)
    expect(found).toEqual(cells)
    expect(money).toBe(found.at(-1) === 'completed' ? 'taken, paid' : 'untouched, unpaid')
    const balances = (await world.storage.all('rail-account')).map(({ value }) => value.sent)
    expect(balances).toEqual([found.at(-1) === 'completed' ? 10n : 0n])
  })
})

const reserved = commitOf('receipt', ({ state }) => state === 'reserved')

const RECEIVING: Readonly<Record<string, Death & { readonly isRefused?: true }>> = {
  D1: { at: reserved, when: 'before' },
  D2: { at: reserved, when: 'after' },
  D3: { at: ({ name }) => name === 'credit', when: 'before' },
  D4: { at: ({ name }) => name === 'credit', when: 'after' },
  D5: { at: ({ name }) => name === 'credit', when: 'after', isRefused: true },
}

async function receiptOf({ storage }: RailWorld, id: string): Promise<string> {
  const receipts = await storage.all('receipt')
  return receipts.find(({ value }) => value.id === id)?.value.state ?? 'none'
}

const TOLD = { received: 'fulfilled' } as const

/** A packet of 10 comes to a process that dies; answers what the page says of it, cell by cell. */
async function receiveAndDie({ at, when, isRefused }: (typeof RECEIVING)[string]) {
  const world = await railWorld()
  const incomingPayment = await world.incoming({ incomingAmount: usd('10') })
  const transfer = transferOf(1, incomingPayment, 10n)
  const process = world.startRail()
  process.ports.plan = async (call) => {
    if (!at(call)) return undefined
    if (isRefused) await world.ledger.setPermissions('bob', { canSend: true, canReceive: false })
    return `crashes ${when}`
  }
  // What it has said by the time of its death was said.
  const death = process.ports.crashed.then(() => new Promise<undefined>((resolve) => setImmediate(resolve, undefined)))
  const heard = await Promise.race([process.rail.receive(transfer), death])
  await death
  const bob = async (): Promise<string> =>
    (await world.ledger.balance('bob'))?.total === 10n ? 'credited' : 'untouched'
  const found = [
    await receiptOf(world, transfer.id),
    await bob(),
    heard === undefined ? 'nothing' : heard === 'received' ? TOLD[heard] : heard,
  ]
  const next = world.startRail()
  world.wallet.clock.advance(30_000)
  await next.openPayments.recover()
  found.push(
    next.ports.calls
      .filter(({ port }) => port === 'ledger')
      .map(({ name }) => name)
      .join(', ') || 'nothing',
  )
  const again = await next.rail.receive(transfer)
  await next.openPayments.drain()
  found.push(again === 'received' ? TOLD[again] : again, await receiptOf(world, transfer.id))
  return { world, found, incomingPayment, bob: await bob() }
}

describe('T-31 the page about a process that dies while a packet comes to it', () => {
  const rows = rowsOf('D')

  it('has a row for every moment of a packet that is played here', () => {
    expect([...rows.keys()]).toEqual(Object.keys(RECEIVING))
  })

  it.each(Object.entries(RECEIVING))('is right about %s', async (row, play) => {
    const { world, found, incomingPayment, bob } = await receiveAndDie(play)
    expect(found).toEqual(rows.get(row))
    const isCredited = found.at(-1) === 'credited'
    expect(bob).toBe(isCredited ? 'credited' : 'untouched')
    expect(await world.ledger.entries('bob')).toHaveLength(isCredited ? 1 : 0)
    // However often it came, the peer owes it once.
    expect(await world.rail.balance(PEER)).toEqual({ sent: 0n, received: 10n })
    expect((await world.storage.all('incoming-payment')).map(({ value }) => value.id)).toEqual([
      lastSegment(incomingPayment),
    ])
  })
})
