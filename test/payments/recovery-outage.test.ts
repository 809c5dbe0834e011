import {
  type Change,
  type Clock,
  createOpenPayments,
  keepGoing,
  type OnEvent,
  type OpenPaymentsEvent,
  type RecordKind,
} from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/testing/ledger-case.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { gate } from '../support/gate.ts'
import { NO_PAGE } from '../support/no-page.ts'
import { ALICE, AUTH, BASE, BOB, SECRET, usd, usdAmount } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import { type Call, type FaultyPorts, faultyPorts } from './faulty-ports.ts'
import { LEASE } from './money-world.ts'

/** A record of each kind that `recover()` looks at, and of one that `sweep()` does, by its number. */
const RECORDS: Readonly<Record<string, (number: number, now: number) => Change>> = {
  payments: (number, now) => ({
    action: 'insert',
    kind: 'outgoing-payment',
    dueAt: now,
    isListed: true,
    value: {
      id: idOf(number),
      walletAddress: ALICE,
      client: 'https://shop.example/pay',
      state: 'sending',
      states: [{ state: 'sending', at: now }],
      createdAt: now,
      receiver: `${BASE}/incoming-payments/${idOf(0)}`,
      debitAmount: usdAmount(1n),
      receiveAmount: usdAmount(1n),
      fee: usdAmount(0n),
      sentAmount: usdAmount(0n),
      account: 'alice',
      payeeAccount: 'bob',
      incomingPaymentId: idOf(0),
      grantId: idOf(0),
      spendingIds: [],
      attempts: 0,
    },
  }),
  receipts: (number, now) => receipt(number, now, { state: 'reserved', payeeAccount: 'bob', railAccountId: 'ilp a' }),
  'refused transfers': (number, now) => receipt(number, now, { state: 'dropped' }),
  events: (number, now) => ({
    action: 'insert',
    kind: 'event',
    dueAt: now,
    value: {
      id: `${idOf(number)}:1`,
      event: {
        type: 'incoming_payment.created',
        id: `${idOf(number)}:1`,
        at: now,
        incomingPayment: idOf(number),
        walletAddress: BOB,
        receivedAmount: usd('0'),
      },
    },
  }),
}

function receipt(
  number: number,
  now: number,
  members: { readonly state: 'reserved' | 'dropped'; readonly payeeAccount?: string; readonly railAccountId?: string },
): Change {
  const value = { id: idOf(number), incomingPaymentId: idOf(0), amount: usdAmount(1n), createdAt: now, ...members }
  return { action: 'insert', kind: 'receipt', dueAt: now, value }
}

/** A process on a storage with so many records that are due, whose ports may fail. */
async function dueWorld(
  what: string,
  count: number,
  {
    isHeard = true,
    rejects = () => false,
  }: { readonly isHeard?: boolean; readonly rejects?: (event: string) => boolean } = {},
) {
  const clock = fakeClock()
  const base = { storage: memoryStorage(), ledger: memoryLedger(), clock }
  for (let number = 1; number <= count; number++) {
    const record = RECORDS[what]?.(number, clock.now())
    if (record !== undefined) await base.storage.commit([record])
  }
  const start = () => {
    const ports = faultyPorts(base)
    const events: OpenPaymentsEvent[] = []
    const onEvent: OnEvent = async (event) => {
      events.push(event)
      if ('id' in event && rejects(event.id)) throw new Error('the host is busy')
    }
    const openPayments = createOpenPayments({
      authServer: AUTH,
      resourceServer: BASE,
      secrets: [SECRET],
      storage: ports.storage,
      ledger: ports.ledger,
      walletAddresses: { find: async () => undefined },
      consent: NO_PAGE,
      // A pause between two tries brings no lease to its end.
      clock: { ...clock, sleep: async (milliseconds, signal) => signal && clock.sleep(milliseconds, signal) },
      ...(isHeard && { onEvent }),
    })
    const callsOf = (name: string): readonly Call[] => ports.calls.filter((call) => call.name === name)
    return { ports, events, openPayments, callsOf }
  }
  return { clock, storage: base.storage, start, ...start() }
}

/** A clock whose pauses end when a test says so. */
function pauses() {
  const waiting: (() => void)[] = []
  const clock: Clock = {
    now: () => 0,
    sleep: (_milliseconds, signal) =>
      new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve())
        waiting.push(resolve)
      }),
  }
  const end = async (): Promise<void> => {
    for (const wake of waiting.splice(0)) wake()
    await turns(40)
  }
  return { clock, end }
}

/** Nothing can be written; where it is asked for without end, it ends that. */
function noCommits(ports: FaultyPorts): FaultyPorts['plan'] {
  const never = new Promise<undefined>(() => undefined)
  return ({ name }) => {
    if (ports.calls.length > 2000) return never
    return name === 'commit' ? 'throws' : undefined
  }
}

const isRead =
  (kind: RecordKind) =>
  ({ name, arguments: [asked] }: Call): boolean =>
    name === 'due' && asked === kind

describe('a storage that can be read and not be written to', () => {
  it.each(Object.keys(RECORDS))('is left alone for the pause of keepGoing(), with 100 %s due', async (what) => {
    const { openPayments, ports } = await dueWorld(what, 100)
    ports.plan = noCommits(ports)
    const { clock, end } = pauses()
    const stop = keepGoing(openPayments, clock)
    await turns(40)
    const reads = () => ports.calls.filter(isRead('outgoing-payment')).length
    expect(reads()).toBe(1)
    await end()
    expect(reads()).toBe(2)
    await stop()
  })

  it.each(Object.keys(RECORDS))('leaves nothing that recover() could count of 100 %s, nor tell', async (what) => {
    const { openPayments, ports, events } = await dueWorld(what, 100)
    ports.plan = noCommits(ports)
    expect([await openPayments.recover(), await openPayments.sweep()]).toEqual([0, 0])
    expect(events.filter(({ type }) => type === 'recovered' || type === 'swept')).toEqual([])
    expect(events.some(({ type }) => type === 'fault')).toBe(true)
  })

  it.each(['payments', 'receipts'])('is asked for six of 100 %s again, each alone', async (what) => {
    const { openPayments, ports, events, callsOf } = await dueWorld(what, 100)
    ports.plan = noCommits(ports)
    expect(await openPayments.recover()).toBe(0)
    expect(callsOf('commit')).toHaveLength(106)
    expect(events.filter(({ type }) => type === 'fault')).toHaveLength(6)
  })

  it.each(['payments', 'receipts'])(
    'that fails all at once, and some alone, keeps no others of 100 %s',
    async (what) => {
      const { openPayments, ports, callsOf } = await dueWorld(what, 100)
      // More than are let fail at the two ends together, but never one after the other.
      const kept = [10, 20, 30, 40, 60, 70, 80, 90]
      const isKept = (call: Call): boolean => kept.some((number) => isClaimOf(call, idOf(number)))
      ports.plan = (call) =>
        call.name === 'commit' && (callsOf('commit').length <= 100 || isKept(call)) ? 'throws' : undefined
      expect(await openPayments.recover()).toBe(92)
    },
  )

  const range = (first: number, last: number): readonly number[] =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at)
  it.each(
    ['payments', 'receipts'].flatMap((what) => [
      { what, which: 'the ten that have been due longest', kept: range(1, 10) },
      { what, which: 'the ten that have been due for the shortest time', kept: range(91, 100) },
      { what, which: 'two of those and the one that fell due last', kept: [1, 2, 100] },
      { what, which: 'two at either end', kept: [1, 2, 99, 100] },
    ]),
  )('that fails all at once, and alone for some of 100 $what, keeps no others: $which', async ({ what, kept }) => {
    const { openPayments, ports, callsOf } = await dueWorld(what, 100)
    const isKept = (call: Call): boolean => kept.some((number) => isClaimOf(call, idOf(number)))
    ports.plan = async (call) => {
      if (call.name !== 'commit') return undefined
      if (callsOf('commit').length <= 100) return 'throws'
      await turns(1)
      return isKept(call) ? 'throws' : undefined
    }
    expect(await openPayments.recover()).toBe(100 - kept.length)
  })

  it.each(['payments', 'receipts'])(
    'that rejects a claim of %s late is asked for a whole lease again',
    async (what) => {
      const { openPayments, ports, clock, callsOf } = await dueWorld(what, 1)
      ports.plan = ({ name }) => {
        if (name !== 'commit' || callsOf('commit').length > 1) return undefined
        clock.advance(LEASE)
        return 'throws'
      }
      expect(await openPayments.recover()).toBe(1)
      const [late, again] = callsOf('commit').map(({ arguments: [changes] }) => changes)
      expect([late, again]).toMatchObject([[{ dueAt: clock.now() }], [{ dueAt: clock.now() + LEASE }]])
    },
  )

  it('lets a host hear of 100 events once in each pause, and of no more once each is forgotten', async () => {
    const { openPayments, ports, events } = await dueWorld('events', 100)
    ports.plan = noCommits(ports)
    const { clock, end } = pauses()
    const stop = keepGoing(openPayments, clock)
    const heard = () => events.filter(({ type }) => type === 'incoming_payment.created').length
    await turns(40)
    expect(heard()).toBe(100)
    ports.plan = () => undefined
    await end()
    expect(heard()).toBe(200)
    await end()
    expect(heard()).toBe(200)
    await stop()
  })

  it.each(['payments', 'receipts', 'events'])('is no reason to leave the others of 101 %s', async (what) => {
    const { openPayments, ports, events } = await dueWorld(what, 101)
    ports.plan = (call) => (isClaimOf(call, idOf(1)) ? 'throws' : undefined)
    expect(await openPayments.recover()).toBe(99)
    expect(events).toContainEqual(expect.objectContaining({ type: 'recovered', [what]: 99, isFull: false }))
    expect(await openPayments.recover()).toBe(1)
    expect(await openPayments.recover()).toBe(0)
  })
})

it.each(['payments', 'receipts'])('%s are taken up in the order in which they fell due', async (what) => {
  const { openPayments, callsOf } = await dueWorld(what, 10)
  expect(await openPayments.recover()).toBe(10)
  const claims = callsOf('commit').slice(0, 10)
  expect(claims.map((call, at) => isClaimOf(call, idOf(at + 1)))).toEqual(Array(10).fill(true))
})

describe('a host that is told of 300 events', () => {
  it.each([
    ['is left alone for the pause of keepGoing() after 100 where it rejects all', () => true, 100],
    ['is told of all at once where it takes some', (event: string) => !event.endsWith('0:1'), 300],
  ])('%s', async (_, rejects, told) => {
    const { openPayments, events } = await dueWorld('events', 300, { rejects })
    const heard = () => events.filter(({ type }) => type === 'incoming_payment.created').length
    const { clock: standing, end } = pauses()
    const stop = keepGoing(openPayments, standing)
    await turns(300)
    expect(heard()).toBe(told)
    await end()
    await turns(300)
    expect(heard()).toBe(Math.min(300, 2 * told))
    await stop()
  })
})

describe('a storage that answers a commit with what is no answer', () => {
  it.each(['payments', 'receipts'])('is told of by recover() where it claims %s', async (what) => {
    const { openPayments, ports, events } = await dueWorld(what, 1)
    ports.plan = ({ name }) => (name === 'commit' ? { answer: undefined } : undefined)
    expect(await openPayments.recover()).toBe(0)
    const cause = {
      message: expect.stringMatching(/^the commit of (?:outgoing-payment|receipt) \S+ failed$/),
      cause: expect.any(TypeError),
    }
    expect(events).toMatchObject([{ type: 'fault', message: 'a due record could not be claimed', cause }])
  })

  it('is told of by recover() where it leaves a payment for later', async () => {
    const { openPayments, events, ports, callsOf } = await dueWorld('payments', 1)
    const isClaimed = (): boolean => callsOf('commit').length > 1
    ports.plan = ({ name }) => (name === 'commit' && isClaimed() ? { answer: undefined } : undefined)
    await openPayments.recover()
    const message = 'a payment could not be moved on'
    const faults = events.filter(({ type }) => type === 'fault')
    expect(faults.at(-1)).toMatchObject({ message, cause: { cause: expect.any(TypeError) } })
  })
})

function isAbout(changes: unknown, id: string): boolean {
  return Array.isArray(changes) && changes.some((change) => (change.value?.id ?? change.id).startsWith(id))
}

describe('recover()', () => {
  it.each(['outgoing-payment', 'receipt'] as const)(
    'has done what else is due, and all of it, by the time that it rejects because no %s can be read',
    async (kind) => {
      const { openPayments, ports, events, storage, clock } = await dueWorld('payments', 1)
      const given = ['receipts', 'events'].flatMap((what) => RECORDS[what]?.(1, clock.now()) ?? [])
      await storage.commit(given)
      ports.plan = (call) => (call.name === 'due' && call.arguments[0] === kind ? 'throws' : undefined)
      await expect(openPayments.recover()).rejects.toThrow()
      const asked = ports.calls.length
      await turns(100)
      expect(ports.calls.length).toBe(asked)
      const other = kind === 'receipt' ? 'outgoing-payment' : 'receipt'
      expect(ports.calls.some(({ name, arguments: [read] }) => name === 'due' && read === other)).toBe(true)
      expect(events.filter(({ type }) => type === 'incoming_payment.created')).toHaveLength(1)
    },
  )

  it('sweep() deletes what is over although a kind before it cannot be read', async () => {
    const { openPayments, ports, storage, clock } = await dueWorld('refused transfers', 1)
    ports.plan = (call) => (call.name === 'due' && call.arguments[0] === 'quote' ? 'throws' : undefined)
    await expect(openPayments.sweep()).rejects.toThrow()
    expect(await storage.due('receipt', clock.now(), 1)).toEqual([])
  })

  it('reads no events where nobody listens to them', async () => {
    const { openPayments, callsOf, storage, clock } = await dueWorld('events', 100, { isHeard: false })
    expect(await openPayments.recover()).toBe(0)
    expect(callsOf('due').map(({ arguments: [kind] }) => kind)).toEqual(['outgoing-payment', 'receipt'])
    // They wait for whoever listens again.
    expect(await storage.due('event', clock.now(), 1000)).toHaveLength(100)
  })

  it('tells and counts each of two events of one payment once', async () => {
    const { openPayments, storage, clock, events } = await dueWorld('events', 1)
    const [id, at] = [`${idOf(1)}:2`, clock.now()]
    const about = { incomingPayment: idOf(1), walletAddress: BOB, receivedAmount: usd('0') }
    const event = { type: 'incoming_payment.completed', id, at, ...about } as const
    await storage.commit([{ action: 'insert', kind: 'event', dueAt: at, value: { id, event } }])
    expect(await openPayments.recover()).toBe(2)
    expect(events).toMatchObject([
      { type: 'incoming_payment.created' },
      { type: 'incoming_payment.completed' },
      { type: 'recovered', events: 2 },
    ])
  })

  it.each(['payments', 'receipts'])('counts %s that others are faster with, but for those alone', async (what) => {
    const { openPayments: one, start, ports, events } = await dueWorld(what, 100)
    const other = start()
    // Each has read all of them, and gets what the other one is slow with: one of them, and all but that.
    const { open, opened } = gate()
    ports.plan = (call) => (isClaimOf(call, idOf(1)) ? opened : undefined)
    const first = one.recover()
    other.ports.plan = (call) => (isClaimOf(call, idOf(1)) || call.name !== 'commit' ? undefined : opened)
    const second = other.openPayments.recover()
    await turns(40)
    open()
    expect(await Promise.all([first, second])).toEqual([100, 100])
    const told = [...events, ...other.events].filter((event) => event.type === 'recovered')
    expect(told).toMatchObject([{ isFull: true }, { isFull: true }])
    expect(new Set(told.map((event) => Object(event)[what]))).toEqual(new Set([1, 99]))
  })

  it.each(['payments', 'receipts'])('counts none of %s where another process has them all', async (what) => {
    const { openPayments: one, start } = await dueWorld(what, 100)
    expect(await Promise.all([one.recover(), start().openPayments.recover()])).toEqual([100, 0])
  })
})

function isClaimOf({ name, arguments: [changes] }: Call, id: string): boolean {
  return name === 'commit' && isAbout(changes, id)
}
