import type { Storage } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/testing/ledger-case.ts'
import { inFlight, progress } from '../support/fake-rail.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, usd } from '../support/test-wallet.ts'
import { eventsOf, grantTokens, HOUR, moneyWorld, pay, preparePayment } from './money-world.ts'
import { onlyPayment, payRemotely, prepareRailPayment, type RailWorld, railWorld, recoverLater } from './rail-world.ts'
import { later } from './slow-rail.ts'

type Word = 'sent' | 'failed'

/** A payment of 15, of which 13 leave and 11 arrive at least: 4 have left, and of 5 nobody knows. */
async function undecided(): Promise<{ world: RailWorld; id: string }> {
  const world = await railWorld()
  world.method = {
    ...world.method,
    deliver: async (_delivery, _start, record) => {
      await record(inFlight(progress(0n, 0n), 9n, 8n))
      return { outcome: 'unknown', progress: inFlight(progress(4n, 4n), 5n, 4n) }
    },
  }
  await payRemotely(world)
  return { world, id: (await onlyPayment(world)).value.id }
}

/** The same, given over to the host as a whole. */
async function pending(): Promise<{ world: RailWorld; id: string }> {
  const world = await railWorld()
  world.method = { ...world.method, deliver: async () => ({ outcome: 'pending' }) }
  await payRemotely(world)
  return { world, id: (await onlyPayment(world)).value.id }
}

const ask = async ({ wallet }: RailWorld, word: Word, id: string): Promise<unknown> => {
  const answer = await wallet.openPayments.outgoingPayments[word](id)
  await wallet.openPayments.drain()
  return answer
}

async function moneyOf({ ledger, storage }: RailWorld): Promise<readonly unknown[]> {
  const alice = await ledger.balance('alice')
  const [account] = await storage.all('rail-account')
  return [100_000n - (alice?.total ?? 0n), alice?.held, account?.value.sent]
}

describe('a delivery of which nobody knows what became of it', () => {
  it('is neither settled nor released nor sent again, but listed, and told of each hour', async () => {
    const { world, id } = await undecided()
    const { wallet } = world
    let asked = 0
    world.method = { ...world.method, deliver: async () => Promise.reject(new Error(`asked ${++asked}`)) }
    for (let hours = 0; hours < 3; hours++) {
      await recoverLater(world, HOUR)
      await recoverLater(world, 0)
    }
    expect(asked).toBe(0)
    expect(await moneyOf(world)).toEqual([0n, 15n, 9n])
    const told = wallet.events.filter(({ type }) => type === 'delivery_unknown')
    const amounts = { sent: usd('4'), received: usd('4'), inFlightSent: usd('5'), inFlightReceived: usd('4') }
    const left = { railAccount: 'g.peer/USD/2', ...amounts }
    expect(told).toHaveLength(4)
    expect(told[3]).toEqual({ type: 'delivery_unknown', at: wallet.clock.now(), outgoingPayment: id, ...left })
    expect(await wallet.openPayments.outgoingPayments.undecided()).toEqual([
      {
        id,
        walletAddress: 'https://wallet.example/alice',
        receiver: world.receiver.url,
        createdAt: expect.any(Number),
        reason: 'unknown',
        ...left,
      },
    ])
  })

  it('counts no more tries of its rail, so that the hourly reminders look like no stalled payment', async () => {
    const world = await railWorld()
    const own = world.method
    world.method = { ...own, deliver: later }
    await payRemotely(world)
    await recoverLater(world)
    expect((await onlyPayment(world)).value.attempts).toBe(2)
    world.method = { ...own, deliver: async () => ({ outcome: 'pending' }) }
    await recoverLater(world, HOUR / 2)
    await recoverLater(world, HOUR)
    expect(eventsOf(world, 'delivery_unknown')).toHaveLength(2)
    expect(eventsOf(world, 'payment_resumed').at(-1)).toMatchObject({ attempts: 0 })
  })

  it.each([
    // 4 are 4 of the 13 and 1 of the fee of 2; 9 are 9 and 2.
    ['sent', [11n, 0n, 9n], ['11', '8']],
    ['failed', [5n, 0n, 4n], ['5', '4']],
  ] as const)('OUT-9 is ended by the word of the host: %s', async (word, money, spent) => {
    const { world, id } = await undecided()
    expect(await ask(world, word, id)).toEqual({ ok: true })
    expect(await moneyOf(world)).toEqual(money)
    const { value } = await onlyPayment(world)
    const delivery = { saidByHost: word, received: spent[1], inFlightSent: '0', inFlightReceived: '0' }
    expect(value).toMatchObject({ state: 'failed', delivery })
    const [spending] = await world.storage.all('spending')
    expect([`${spending?.value.debit.value}`, spending?.value.receive[0]?.value]).toEqual(spent)
    expect(await world.wallet.openPayments.outgoingPayments.undecided()).toEqual([])
    const before = world.wallet.events.length
    await recoverLater(world, HOUR)
    expect(world.wallet.events.slice(before)).toEqual([])
  })

  it.each([
    ['unknown', 'sent', undecided],
    ['pending', 'failed', pending],
  ] as const)('T-42 is told of in the audit, as %s and then as what the host said: %s', async (reason, word, scene) => {
    const { world, id } = await scene()
    const audited = async () => {
      const { value } = await world.wallet.openPayments.audit(ALICE)[Symbol.asyncIterator]().next()
      return [value?.state, value?.rail?.isLeftToHost, value?.rail?.saidByHost]
    }
    expect(await audited()).toEqual(['sending', reason, undefined])
    await ask(world, word, id)
    expect((await audited())[2]).toBe(word)
  })

  it.each(['sent', 'failed'] as const)(
    'is %s once: the same word again is the same answer, the other a conflict',
    async (word) => {
      const { world, id } = await undecided()
      const both = await Promise.all([ask(world, word, id), ask(world, word, id)])
      expect(both).toEqual([{ ok: true }, { ok: true }])
      const money = await moneyOf(world)
      expect(await ask(world, word, id)).toEqual({ ok: true })
      const other = word === 'sent' ? 'failed' : 'sent'
      expect(await ask(world, other, id)).toEqual({ ok: false, reason: 'conflict' })
      expect(await moneyOf(world)).toEqual(money)
    },
  )

  it('is ended by one of two words at once, in one process or in two', async () => {
    for (const isOne of [true, false]) {
      const { world, id } = await undecided()
      const { outgoingPayments } = (isOne ? world.wallet : world.process()).openPayments
      const answers = await Promise.all([outgoingPayments.failed(id), ask(world, 'sent', id)])
      expect(answers).toContainEqual({ ok: true })
      expect(answers).toContainEqual({ ok: false, reason: 'conflict' })
    }
  })

  it('is decided where the host is reminded of it at the same time', async () => {
    const { world, id } = await undecided()
    world.wallet.clock.advance(HOUR)
    const { openPayments } = world.process()
    const [answer] = await Promise.all([ask(world, 'failed', id), openPayments.recover()])
    await openPayments.drain()
    expect(answer).toEqual({ ok: true })
    expect(await moneyOf(world)).toEqual([5n, 0n, 4n])
  })

  it('is not listed any more once it is decided, though the ledger has not heard of that', async () => {
    const { world, id } = await undecided()
    const process = world.process()
    process.ports.plan = ({ name }) => (name === 'settle' ? 'throws' : undefined)
    expect(await process.openPayments.outgoingPayments.failed(id)).toEqual({ ok: true })
    await process.openPayments.drain()
    expect((await onlyPayment(world)).value.state).toBe('decided')
    expect(await world.wallet.openPayments.outgoingPayments.undecided()).toEqual([])
  })

  it('is not told of any more once it is decided while the host was to be reminded', async () => {
    const { world, id } = await undecided()
    const before = world.wallet.events.length
    world.wallet.clock.advance(HOUR)
    const process = world.process()
    let commits = 0
    process.ports.plan = async ({ name }) => {
      // The first takes the lease.
      if (name === 'commit' && ++commits === 2) await ask(world, 'failed', id)
      return undefined
    }
    await process.openPayments.recover()
    await process.openPayments.drain()
    expect(commits).toBe(2)
    expect(await moneyOf(world)).toEqual([5n, 0n, 4n])
    expect(world.wallet.events.slice(before).map(({ type }) => type)).not.toContain('delivery_unknown')
  })

  it('is told of although the storage answers with what is no answer, which is a fault', async () => {
    const { world } = await undecided()
    const { wallet, storage } = world
    wallet.clock.advance(HOUR)
    const commit: Storage['commit'] = async (changes) => {
      const outcome = await storage.commit(changes)
      const isReminder = changes.some((change) => 'value' in change && change.dueAt === wallet.clock.now() + HOUR)
      return isReminder ? { conflicts: [] } : outcome
    }
    const { openPayments } = world.process(undefined, { storage: { ...storage, commit } })
    await openPayments.recover()
    await openPayments.drain()
    const cause = { message: 'the storage answered a commit with neither `committed` nor a conflict' }
    expect(eventsOf(world, 'fault')).toMatchObject([{ message: 'a commit was not answered', cause }])
    expect(eventsOf(world, 'delivery_unknown')).toHaveLength(2)
  })

  it('is listed with others in the order in which they were ordered', async () => {
    const { world, id } = await undecided()
    const ids = [id]
    for (const _ of ['second', 'third']) {
      world.wallet.clock.advance(1000)
      const answer = await payRemotely(world)
      ids.push(lastSegment(answer.body.id))
    }
    // The first was told of last, so it is due last.
    await recoverLater(world, HOUR - 1000)
    const due = await world.storage.due('outgoing-payment', Number.MAX_SAFE_INTEGER, 10)
    expect(due.map(({ value }) => value.id)).not.toEqual(ids)
    const listed = await world.wallet.openPayments.outgoingPayments.undecided()
    expect(listed.map((one) => one.id)).toEqual(ids)
  })
})

it('payments that wait for the host are all listed, however many others are on their way before them', async () => {
  const { world } = await pending()
  const { value, kind } = await onlyPayment(world)
  const on = { ...value, state: 'created', createdAt: value.createdAt + 1 } as const
  const others = Array.from({ length: 230 }, (_, number) => idOf(number))
  await world.storage.commit(others.map((id) => ({ action: 'insert', kind, dueAt: 0, value: { ...on, id } })))
  const listed = await world.wallet.openPayments.outgoingPayments.undecided()
  expect(listed.map(({ id }) => id)).toEqual([value.id])
})

describe('a delivery that its rail has given over to the host', () => {
  it.each([
    ['sent', 'completed', [15n, 0n, 13n]],
    ['failed', 'failed', [0n, 0n, 0n]],
  ] as const)('OUT-8 is in flight as a whole, and %s as a whole', async (word, state, money) => {
    const { world, id } = await pending()
    expect(await moneyOf(world)).toEqual([0n, 15n, 13n])
    expect(await world.wallet.openPayments.outgoingPayments.undecided()).toMatchObject([
      { reason: 'pending', inFlightSent: usd('13'), inFlightReceived: usd('11') },
    ])
    expect(await ask(world, word, id)).toEqual({ ok: true })
    expect((await onlyPayment(world)).value.state).toBe(state)
    expect(await moneyOf(world)).toEqual(money)
    expect(world.told().at(-1)?.type).toBe(`outgoing_payment.${state}`)
  })

  it.each([
    // 4 of the 13 are 4 of the 15; what is left of the 11 was 7.
    ['sent', 4n, '7', [15n, 0n, 13n]],
    ['failed', 4n, '7', [5n, 0n, 4n]],
    // More has arrived than was priced: nothing is left to arrive.
    ['sent', 12n, '0', [15n, 0n, 13n]],
  ] as const)('OUT-9 is in flight but for what has left, and %s', async (word, arrived, left, money) => {
    const world = await railWorld()
    world.method = {
      ...world.method,
      deliver: async (_delivery, start, record) => {
        await record(inFlight(start, 4n, 4n))
        await record(progress(4n, arrived))
        return { outcome: 'pending' }
      },
    }
    await payRemotely(world)
    expect(await moneyOf(world)).toEqual([0n, 15n, 13n])
    expect(await world.wallet.openPayments.outgoingPayments.undecided()).toMatchObject([
      { sent: usd('4'), inFlightSent: usd('9'), inFlightReceived: usd(left) },
    ])
    expect(await ask(world, word, (await onlyPayment(world)).value.id)).toEqual({ ok: true })
    expect(await moneyOf(world)).toEqual(money)
  })

  it('is in flight as it was recorded, where it was', async () => {
    const world = await railWorld()
    world.method = {
      ...world.method,
      deliver: async (_delivery, start, record) => {
        await record(inFlight(start, 4n, 4n))
        return { outcome: 'pending' }
      },
    }
    await payRemotely(world)
    expect(await world.wallet.openPayments.outgoingPayments.undecided()).toMatchObject([{ inFlightSent: usd('4') }])
  })
})

it('a delivery that another worker has moved on is not given over to the host by this one', async () => {
  const world = await railWorld()
  let [isOver, asked] = [false, 0]
  const process = world.process(() => ({
    ...world.method,
    deliver: async () => {
      isOver = true
      asked++
      return { outcome: 'pending' }
    },
  }))
  process.ports.plan = async ({ name }) => {
    if (name !== 'commit' || !isOver) return undefined
    isOver = false
    await recoverLater(world)
    return undefined
  }
  await pay(world, process, await prepareRailPayment(world))
  expect((await onlyPayment(world)).value.state).toBe('completed')
  expect(await moneyOf(world)).toEqual([15n, 0n, 13n])
  expect([asked, eventsOf(world, 'delivery_unknown')]).toEqual([1, []])
})

describe('a word about a payment that is not the host’s to decide', () => {
  it('comes too early while its hold is not answered', async () => {
    const world = await railWorld()
    const process = world.process()
    process.ports.plan = ({ name }) => (name === 'hold' ? 'crashes before' : undefined)
    await pay(world, process, await prepareRailPayment(world))
    const { value } = await onlyPayment(world)
    expect(value.state).toBe('created')
    expect(await ask(world, 'sent', value.id)).toEqual({ ok: false, reason: 'too_early' })
  })

  it('comes too early while the rail is at it, and may come again', async () => {
    const world = await railWorld()
    const answers: unknown[] = []
    world.method = {
      ...world.method,
      deliver: async ({ id }) => {
        answers.push(await world.wallet.openPayments.outgoingPayments.sent(id))
        return { outcome: 'pending' }
      },
    }
    await payRemotely(world)
    expect(answers).toEqual([{ ok: false, reason: 'too_early' }])
    expect(await ask(world, 'sent', (await onlyPayment(world)).value.id)).toEqual({ ok: true })
  })

  it('is not asked for where the rail knew the end, and where the receiver is here', async () => {
    const world = await railWorld()
    await payRemotely(world)
    const known = (await onlyPayment(world)).value.id
    const local = await moneyWorld()
    await pay(local, local.start(), await preparePayment(local, await grantTokens(local)))
    const here = (await onlyPayment(local)).value.id
    for (const word of ['sent', 'failed'] as const) {
      expect(await ask(world, word, known)).toEqual({ ok: false, reason: 'not_asked' })
      expect(await local.wallet.openPayments.outgoingPayments[word](here)).toEqual({ ok: false, reason: 'not_asked' })
      expect(await ask(world, word, '0'.repeat(32))).toEqual({ ok: false, reason: 'unknown' })
    }
  })

  it.each(['sent', 'failed'] as const)(
    '%s is not said of what has no id: it is a mistake of the caller',
    async (word) => {
      const { world, id } = await undecided()
      const call = Reflect.get(world.wallet.openPayments.outgoingPayments, word)
      const none: readonly unknown[] = [undefined, null, 17, '', 'x', `https://wallet.example/outgoing-payments/${id}`]
      for (const other of none) {
        const mistake = `outgoingPayments.${word}: the id must be the last segment of the payment's URL, not ${other}`
        await expect(Reflect.apply(call, undefined, [other])).rejects.toThrow(new TypeError(mistake))
      }
      expect(await ask(world, word, id)).toEqual({ ok: true })
    },
  )
})
