import type { Change, Clock, DeliveryProgress, PaymentMethod, Storage } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { inFlight, progress, RAIL_ACCOUNT } from '../support/fake-rail.ts'
import { gate } from '../support/gate.ts'
import { notedPauses } from '../support/noted-pauses.ts'
import { turns } from '../support/turns.ts'
import type { Call } from './faulty-ports.ts'
import { eventsOf, HOUR, LEASE, type Process, pay } from './money-world.ts'
import {
  checkRailMoney,
  onlyPayment,
  prepareRailPayment,
  type RailWorld,
  railWorld,
  recoverLater,
} from './rail-world.ts'
import { dueWorld } from './slow-rail.ts'

const LOST = 'loses the reply'

/** What a process asks of its rail, whose peer cannot be asked again: all leaves at once, and what became of it this process alone knows. */
function onlyOnce(isRecorded: boolean): PaymentMethod['deliver'] {
  return async (_delivery, start, record) => {
    if (start.inFlight.sent > 0n) return { outcome: 'unknown', progress: start }
    await record(inFlight(start, 13n, 13n))
    if (isRecorded) await record(progress(13n, 13n))
    return { outcome: 'delivered', progress: progress(13n, 13n) }
  }
}

/** Whether a call commits a payment of which something has left, or is about to. */
function isOfDelivery({ name, arguments: [changes] }: Call): boolean {
  return (
    name === 'commit' &&
    Array.isArray(changes) &&
    changes.some(({ kind, value }) => kind === 'outgoing-payment' && value?.delivery !== undefined)
  )
}

/** Pays in a process whose storage fails so many of its commits, from when all has left on; answers how many failed. */
async function payThrough(world: RailWorld, failures: number, isRecorded: boolean): Promise<number> {
  const process = world.process(() => ({ ...world.method, deliver: onlyOnce(isRecorded) }))
  let [commits, failed] = [0, 0]
  process.ports.plan = (call) => {
    if (!isOfDelivery(call) || ++commits === 1 || failed === failures) return undefined
    failed++
    return 'throws'
  }
  await pay(world, process, await prepareRailPayment(world))
  process.ports.plan = () => undefined
  await recoverIn(process, world)
  return failed
}

async function recoverIn({ openPayments }: Process, { wallet }: RailWorld): Promise<void> {
  wallet.clock.advance(2 * LEASE)
  await openPayments.recover()
  await openPayments.drain()
}

describe('T-31 T-51 what became of a payment that a process alone knows', () => {
  it.each([
    ['with its end', 1, false],
    ['with its end', 5, false],
    ['while it is on its way', 2, true],
    ['while it is on its way', 5, true],
  ])('is written down although the storage fails %s %i times', async (_, failures, isRecorded) => {
    const world = await railWorld({ incomingValue: 13n })
    expect(await payThrough(world, failures, isRecorded)).toBe(failures)
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'completed', delivery: { sent: '13' } })
    expect((await world.ledger.balance('alice'))?.held).toBe(0n)
    expect(eventsOf(world, 'delivery_unknown')).toEqual([])
  })

  it.each([false, true])(
    'is not tried without end, nor without pauses, while it is on its way: %s',
    async (isRecorded) => {
      const world = await railWorld({ incomingValue: 13n })
      const before = world.wallet.clock.now()
      const failed = await payThrough(world, Number.POSITIVE_INFINITY, isRecorded)
      // Some two seconds apart at the longest: so it ends soon after the storage is back.
      expect(failed).toBeGreaterThan(12)
      expect(failed).toBeLessThan(40)
      // The lease alone: the rest is what the recovery waited.
      expect(world.wallet.clock.now() - before).toBeLessThanOrEqual(LEASE + 2 * LEASE)
      await recoverLater(world, LEASE)
      expect(await world.wallet.openPayments.outgoingPayments.undecided()).toMatchObject([{ reason: 'unknown' }])
    },
  )

  it.each(['throws', 'loses the reply'] as const)(
    'is left as it is stored where the storage fails for the whole lease, and its rail has not failed: a commit %s',
    async (fault) => {
      const world = await railWorld({ incomingValue: 13n })
      const process = world.process(() => ({ ...world.method, deliver: onlyOnce(false) }))
      let isAway = false
      process.ports.plan = (call) => {
        isAway ||= isOfDelivery(call)
        if (isOfDelivery(call)) return fault
        return isAway && call.name === 'get' ? 'throws' : undefined
      }
      await pay(world, process, await prepareRailPayment(world))
      expect((await onlyPayment(world)).value).toMatchObject({ state: 'sending', attempts: 0 })
      const faults = eventsOf(world, 'fault').map(({ message }) => message)
      expect(faults).toContain('a commit was not answered')
      expect(faults).not.toContain('a payment method failed')
      expect(eventsOf(world, 'payment_stalled')).toEqual([])
    },
  )

  it.each([
    ['a whole lease after the storage was away for nearly one, where a commit throws', LEASE - 3000, 'throws'],
    ['a whole lease after the storage was away for nearly one, where a commit loses the reply', LEASE - 3000, LOST],
    ['after the storage was away for a moment, in which a commit loses the reply', 1, LOST],
  ] as const)('is waited for %s', async (_, away, fault) => {
    const world = await railWorld({ incomingValue: 13n })
    const { clock } = world.wallet
    const deliver: PaymentMethod['deliver'] = async (_delivery, start, record) => {
      if (start.inFlight.sent > 0n) return { outcome: 'unknown', progress: start }
      await record(inFlight(start, 13n, 13n))
      clock.advance(5000)
      await turns(50)
      return { outcome: 'delivered', progress: progress(13n, 13n) }
    }
    const process = world.process(() => ({ ...world.method, deliver }))
    let awayUntil: number | undefined
    process.ports.plan = (call) => {
      if (isOfDelivery(call)) awayUntil ??= clock.now() + away
      if (call.port !== 'storage' || clock.now() >= (awayUntil ?? 0)) return undefined
      return isOfDelivery(call) ? fault : 'throws'
    }
    await pay(world, process, await prepareRailPayment(world))
    await recoverIn(process, world)
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'completed', delivery: { sent: '13' } })
    expect((await world.ledger.balance('alice'))?.held).toBe(0n)
    expect(eventsOf(world, 'delivery_unknown')).toEqual([])
  })

  it.each([
    ['nothing leaves where its commit is answered once nobody waits any more', LEASE, 0],
    ['what leaves has a lease of its own where its commit is answered late', LEASE - 1000, 1],
  ])('%s', async (_, late, leaves) => {
    const world = await railWorld({ incomingValue: 13n })
    const { clock } = world.wallet
    const leases: number[] = []
    const deliver: PaymentMethod['deliver'] = async (_delivery, start, record) => {
      if (start.inFlight.sent > 0n) return { outcome: 'unknown', progress: start }
      await record(inFlight(start, 13n, 13n))
      leases.push(((await onlyPayment(world)).dueAt ?? 0) - clock.now())
      return { outcome: 'delivered', progress: progress(13n, 13n) }
    }
    let commits = 0
    const commit: Storage['commit'] = async (changes) => {
      const outcome = await world.storage.commit(changes)
      if (!isOfDelivery({ port: 'storage', name: 'commit', arguments: [changes] }) || ++commits > 1) return outcome
      clock.advance(late)
      await turns(20)
      return outcome
    }
    const process = world.process(() => ({ ...world.method, deliver }), { storage: { ...world.storage, commit } })
    await pay(world, process, await prepareRailPayment(world))
    // The call goes on although nobody waits for it.
    await turns(50)
    expect(leases).toEqual(Array.from({ length: leaves }, () => LEASE))
    // What this process knows never to have left is nothing that a person could find out.
    await recoverIn(process, world)
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'completed' })
    expect(eventsOf(world, 'delivery_unknown')).toEqual([])
  })

  it.each([
    ['what has left', (start: DeliveryProgress) => [progress(4n, 4n, start.notes)], { sent: '4', inFlightSent: '0' }],
    [
      'what has left of what was in flight, and what follows it',
      (start: DeliveryProgress) => [inFlight(start, 4n, 4n), inFlight(progress(4n, 4n), 9n, 7n)],
      { sent: '4', inFlightSent: '9' },
    ],
  ])('T-45 %s stays written where its commit is answered once nobody waits any more', async (_, stepsFrom, left) => {
    const world = await railWorld({ incomingValue: 13n })
    const { clock } = world.wallet
    const answers: string[] = []
    let [commits, recorded] = [0, 0]
    const deliver: PaymentMethod['deliver'] = async (_delivery, start, record) => {
      const steps = stepsFrom(start)
      recorded = steps.length
      for (const step of steps) answers.push(await record(step).catch(() => 'refused'))
      return { outcome: 'later', reason: 'silence' }
    }
    const commit: Storage['commit'] = async (changes) => {
      const outcome = await world.storage.commit(changes)
      if (!isOfDelivery({ port: 'storage', name: 'commit', arguments: [changes] }) || ++commits !== recorded)
        return outcome
      clock.advance(LEASE)
      await turns(20)
      return outcome
    }
    const process = world.process(() => ({ ...world.method, deliver }), { storage: { ...world.storage, commit } })
    await pay(world, process, await prepareRailPayment(world))
    await turns(50)
    expect(answers.at(-1)).toBe('refused')
    expect((await onlyPayment(world)).value.delivery).toMatchObject(left)
  })

  it('is left to the next lease where its end cannot be written while a late commit is answered', async () => {
    const world = await dueWorld()
    const { clock } = world.wallet
    // The hour after which nothing may leave ends within this lease.
    clock.advance(HOUR - LEASE - 10_000)
    const deliver: PaymentMethod['deliver'] = async (_delivery, start, record) => {
      await record(inFlight(start, 13n, 13n))
      return { outcome: 'delivered', progress: progress(13n, 13n) }
    }
    const { open, opened } = gate()
    let commits = 0
    const commit: Storage['commit'] = async (changes) => {
      const ofDelivery = isOfDelivery({ port: 'storage', name: 'commit', arguments: [changes] })
      const count = ofDelivery ? ++commits : 0
      if (count === 2) {
        open()
        await turns(20)
        throw new Error('connection lost')
      }
      const outcome = await world.storage.commit(changes)
      if (count !== 1) return outcome
      clock.advance(LEASE)
      await opened
      return outcome
    }
    const { openPayments } = world.process(() => ({ ...world.method, deliver }), {
      storage: { ...world.storage, commit },
    })
    await openPayments.recover()
    await openPayments.drain()
    // What was recorded late is renewed first, and then taken back.
    expect(commits).toBe(4)
    const faults = eventsOf(world, 'fault').map(({ message }) => message)
    expect(faults).not.toContain('a payment could not be moved on')
    await recoverLater(world, 2 * LEASE)
    expect((await onlyPayment(world)).value.state).toBe('failed')
    await checkRailMoney(world)
  })

  it('T-45 what another worker has written is not taken for a commit that has failed unheard', async () => {
    const world = await railWorld({ incomingValue: 13n })
    const startedAt = world.wallet.clock.now()
    // Its own clock stands still, so that it goes on for longer than its lease.
    const clock: Clock = { now: () => startedAt, sleep: async (_, signal) => signal && new Promise(() => undefined) }
    const answers: string[] = []
    const deliver: PaymentMethod['deliver'] = async (_delivery, start, record) => {
      answers.push(await record(inFlight(start, 13n, 13n)).catch(() => 'refused'))
      return { outcome: 'later', reason: 'silence' }
    }
    const process = world.process(() => ({ ...world.method, deliver }), { clock })
    let isTaken = false
    process.ports.plan = async (call) => {
      if (isTaken || !isOfDelivery(call)) return undefined
      isTaken = true
      await recoverLater(world)
      return 'throws'
    }
    await pay(world, process, await prepareRailPayment(world))
    expect(answers).toEqual(['refused'])
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'completed', delivery: { sent: '13' } })
  })

  it('is known by the first of two commits, where that takes effect just before the second', async () => {
    const world = await railWorld({ incomingValue: 13n })
    const late: Change[][] = []
    const commit: Storage['commit'] = async (changes) => {
      if (!isOfDelivery({ port: 'storage', name: 'commit', arguments: [changes] })) return world.storage.commit(changes)
      late.push([...changes])
      if (late.length === 1) throw new Error('connection lost')
      if (late.length === 2) expect(await world.storage.commit(late[0] ?? [])).toBe('committed')
      return world.storage.commit(changes)
    }
    const process = world.process(() => ({ ...world.method, deliver: onlyOnce(true) }), {
      storage: { ...world.storage, commit },
    })
    await pay(world, process, await prepareRailPayment(world))
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'completed', delivery: { sent: '13' } })
    expect(eventsOf(world, 'payment_resumed')).toEqual([])
  })

  it('T-45 is told to leave nothing where, by the renewal after a slow commit, another worker has it', async () => {
    const world = await railWorld({ incomingValue: 13n })
    const { clock } = world.wallet
    // Its own clock is behind: the lease is over for others while nearly half of it is left here.
    const behind: Clock = { ...clock, now: () => clock.now() - LEASE / 2 }
    const answers: string[] = []
    const deliver: PaymentMethod['deliver'] = async (_delivery, start, record) => {
      answers.push(await record(inFlight(start, 13n, 13n)).catch(() => 'refused'))
      return { outcome: 'later', reason: 'silence' }
    }
    let isTaken = false
    const commit: Storage['commit'] = async (changes) => {
      const outcome = await world.storage.commit(changes)
      if (isTaken || !isOfDelivery({ port: 'storage', name: 'commit', arguments: [changes] })) return outcome
      isTaken = true
      await recoverLater(world, LEASE / 2 + 1000)
      return outcome
    }
    const process = world.process(() => ({ ...world.method, deliver }), {
      clock: behind,
      storage: { ...world.storage, commit },
    })
    await pay(world, process, await prepareRailPayment(world))
    expect(answers).toEqual(['refused'])
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'completed', delivery: { sent: '13' } })
  })

  it('T-37 is renewed, where nothing more leaves, while others wait to write the account of the rail', async () => {
    const world = await railWorld()
    const { open: renewed, opened: isRenewed } = gate()
    let begun = 0
    const deliver: PaymentMethod['deliver'] = async (_delivery, start, record) => {
      const isFirst = ++begun === 1
      await record(inFlight(start, 13n, 13n))
      if (isFirst) {
        // Until the other one writes the account, and waits for this one to be renewed.
        while (process.ports.calls.filter(isOfDelivery).length < 2) await turns(1)
        await record(inFlight(start, 13n, 13n))
        renewed()
      }
      return { outcome: 'ended', reason: 'the receiver takes no more', progress: start }
    }
    const process = world.process(() => ({ ...world.method, deliver }))
    let commits = 0
    process.ports.plan = (call) => (isOfDelivery(call) && ++commits === 2 ? isRenewed : undefined)
    const [one, other] = [await prepareRailPayment(world), await prepareRailPayment(world)]
    await Promise.all([pay(world, process, one), pay(world, process, other)])
    await process.openPayments.drain()
    expect(eventsOf(world, 'outgoing_payment.failed')).toHaveLength(2)
  })

  it('is tried once where no pause would help: what it moves is in another asset than its account', async () => {
    const world = await railWorld({ incomingValue: 13n })
    const order: string[] = []
    const deliver: PaymentMethod['deliver'] = async (_delivery, start, record) => {
      const value = { id: `ilp:${RAIL_ACCOUNT}`, assetCode: 'JPY', assetScale: 0, sent: 0n, inFlight: 0n, received: 0n }
      await world.storage.commit([{ action: 'insert', kind: 'rail-account', value }])
      await record(inFlight(start, 13n, 13n)).catch(() => order.push('refused'))
      return { outcome: 'later', reason: 'an account in another asset' }
    }
    const clock = notedPauses(world.wallet.clock, order)
    await pay(
      world,
      world.process(() => ({ ...world.method, deliver }), { clock }),
      await prepareRailPayment(world),
    )
    expect(order).toEqual(['refused'])
  })

  it('is written down again only when the pause is over', async () => {
    const world = await railWorld({ incomingValue: 13n })
    const order: string[] = []
    const process = world.process(() => ({ ...world.method, deliver: onlyOnce(false) }), {
      clock: notedPauses(world.wallet.clock, order),
    })
    let commits = 0
    process.ports.plan = (call) => {
      if (!isOfDelivery(call)) return undefined
      order.push('commit')
      return [2, 3].includes(++commits) ? 'throws' : undefined
    }
    await pay(world, process, await prepareRailPayment(world))
    const again = ['pause', 'over', 'commit']
    expect(order.slice(0, 8)).toEqual(['commit', 'commit', ...again, ...again])
  })

  it('keeps no other payment waiting that leaves through the same account of the rail', async () => {
    const world = await railWorld()
    const { open, opened } = gate()
    const { clock } = world.wallet
    const held: Clock = { ...clock, sleep: async (pause, signal) => (signal ? clock.sleep(pause, signal) : opened) }
    const process = world.process(undefined, { clock: held })
    let failed = 0
    process.ports.plan = (call) => (isOfDelivery(call) && failed++ === 0 ? 'throws' : undefined)
    const [one, other] = [await prepareRailPayment(world), await prepareRailPayment(world)]
    const first = pay(world, process, one)
    while (failed === 0) await turns(1)
    const second = pay(world, process, other)
    const completed = () => eventsOf(world, 'outgoing_payment.completed').length
    for (let left = 5000; left > 0 && completed() === 0; left--) await turns(1)
    expect(completed()).toBe(1)
    open()
    await Promise.all([first, second])
    expect(completed()).toBe(2)
  })
})
