import { describe, expect, it } from 'vitest'
import { inFlight, progress } from '../support/fake-rail.ts'
import { usd } from '../support/test-wallet.ts'
import { HOUR, pay, recoverUntilQuiet } from './money-world.ts'
import {
  checkRailMoney,
  type Deliver,
  faultsOf,
  onlyPayment,
  outcomeOf,
  paidBy,
  payRemotely,
  prepareRailPayment,
  type RailWorld,
  railWorld,
  recoverLater,
} from './rail-world.ts'

describe('a delivery that is to go on later', () => {
  it('is asked for again with longer and longer pauses, and told of', async () => {
    let asked = 0
    const world = await paidBy(async () => {
      asked++
      return { outcome: 'later', reason: 'busy' }
    })
    const { wallet, storage } = world
    for (const [index, seconds] of [30, 60, 120, 240].entries()) {
      const [due] = await storage.due('outgoing-payment', Number.MAX_SAFE_INTEGER, 1)
      expect([asked, (due?.dueAt ?? 0) - wallet.clock.now()]).toEqual([index + 1, seconds * 1000])
      await recoverLater(world, seconds * 1000)
    }
    const stalled = wallet.events.filter(({ type }) => type === 'payment_stalled')
    expect(stalled.map((event) => 'attempts' in event && event.attempts)).toEqual([1, 2, 3, 4, 5])
    expect(stalled).toMatchObject(Array.from({ length: 5 }, () => ({ state: 'sending', reason: 'busy' })))
  })

  it('has its pauses short again once money moves', async () => {
    let sent = 0n
    const world = await paidBy(async (_delivery, _start, record) => {
      if (++asked > 3) await record(progress(++sent, sent))
      return { outcome: 'later', reason: 'busy' }
    })
    let asked = 1
    for (const seconds of [30, 60, 120]) await recoverLater(world, seconds * 1000)
    expect((await onlyPayment(world)).value).toMatchObject({ attempts: 1, delivery: { sent: '1' } })
  })

  it('keeps its pauses long where what is recorded moves no money', async () => {
    const world = await paidBy(async (_delivery, start, record) => {
      await record(start)
      return { outcome: 'later', reason: 'busy' }
    })
    for (const seconds of [30, 60, 120]) await recoverLater(world, seconds * 1000)
    expect((await onlyPayment(world)).value).toMatchObject({ attempts: 4, delivery: { sent: '0' } })
  })

  it('is given back after an hour in which nothing has left, and its rail not asked again', async () => {
    let asked = 0
    const world = await paidBy(async () => {
      asked++
      return { outcome: 'later', reason: 'no way' }
    })
    await recoverLater(world, HOUR - 1)
    expect([(await onlyPayment(world)).value.state, asked]).toEqual(['sending', 2])
    await recoverLater(world, HOUR)
    expect(await outcomeOf(world)).toEqual(['failed', 0n, 0n, 0n, 0n])
    expect((await onlyPayment(world)).value.decision).toEqual({ action: 'release', reason: 'out_of_time' })
    expect(asked).toBe(2)
    await checkRailMoney(world)
  })

  it('is given back at once where the hour is over when its rail says so', async () => {
    const world = await paidBy(async () => ({ outcome: 'later', reason: 'no way' }))
    const { deliver } = world.method
    world.method = {
      ...world.method,
      deliver: (...given) => {
        world.wallet.clock.advance(20_000)
        return deliver(...given)
      },
    }
    await recoverLater(world, HOUR - 10_000)
    expect((await onlyPayment(world)).value.decision).toEqual({ action: 'release', reason: 'no way' })
  })

  it('sends no more after an hour, and ends with what is found out', async () => {
    const asked: boolean[] = []
    const world = await paidBy(async ({ isOver }, start, record) => {
      asked.push(isOver)
      if (start.inFlight.sent === 0n) await record(inFlight(start, 4n, 4n))
      return isOver
        ? { outcome: 'ended', progress: progress(4n, 4n), reason: 'over' }
        : { outcome: 'later', reason: 'silence' }
    })
    await recoverLater(world, HOUR - 1)
    await recoverLater(world, HOUR)
    expect(asked).toEqual([false, false, true])
    expect(await outcomeOf(world)).toEqual(['failed', 5n, 5n, 0n, 1n])
    expect((await onlyPayment(world)).value.delivery?.reason).toBe('out_of_time')
  })

  it('T-34 is told of with what its rail says, in bounds and without the secret', async () => {
    const world = await paidBy(async ({ details }) => ({
      outcome: 'later',
      reason: `lost ${details.sharedSecret}\0\n${'x'.repeat(300)}`,
    }))
    const [stalled] = world.wallet.events.filter(({ type }) => type === 'payment_stalled')
    expect(stalled).toMatchObject({ reason: `lost …  ${'x'.repeat(248)}` })
    world.method = {
      ...world.method,
      deliver: async ({ details }) => ({ outcome: 'ended', progress: progress(0n, 0n), reason: details.sharedSecret }),
    }
    await recoverLater(world)
    expect((await onlyPayment(world)).value.decision).toEqual({ action: 'release', reason: '…' })
  })

  it('T-34 is so too where the rail throws, and its secret is in no event', async () => {
    const world = await paidBy(async ({ details }) => Promise.reject(new Error(`lost ${details.sharedSecret}`)))
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'sending', attempts: 1 })
    const faults = world.wallet.events.filter(({ type }) => type === 'fault')
    expect(faults).toMatchObject([{ message: 'a payment method failed', cause: { message: 'lost …' } }])
    expect(JSON.stringify(world.wallet.events.filter(({ type }) => type !== 'fault'))).not.toContain(
      world.receiver.sharedSecret,
    )
  })
})

describe('a delivery whose payment method is not configured any more', () => {
  it('waits an hour for it, says so, and is then given back', async () => {
    const world = await paidBy(async () => ({ outcome: 'later', reason: 'busy' }))
    const { openPayments } = world.process(undefined, { paymentMethods: [] })
    world.wallet.clock.advance(HOUR - 1)
    await openPayments.recover()
    await openPayments.drain()
    expect(world.wallet.events.findLast(({ type }) => type === 'payment_stalled')).toMatchObject({
      reason: 'no_payment_method',
    })
    world.wallet.clock.advance(HOUR)
    await openPayments.recover()
    await openPayments.drain()
    expect((await onlyPayment(world)).value.decision).toEqual({ action: 'release', reason: 'no_payment_method' })
    expect(await outcomeOf(world)).toEqual(['failed', 0n, 0n, 0n, 0n])
    expect(faultsOf(world)).toEqual([])
  })
})

describe('a delivery with something in flight of which its rail finds nothing out', () => {
  it.each<readonly [string, (world: RailWorld) => Deliver]>([
    ['says "later"', () => async () => ({ outcome: 'later', reason: 'silence' })],
    ['throws', () => async () => Promise.reject(new Error('broken'))],
    ['says what cannot be', () => async () => ({ outcome: 'delivered', progress: progress(99n, 99n) })],
    ['says what there is not', () => async () => ({ outcome: 'sent' }) as never],
    [
      'says "later", and records each time that it does not know',
      () => async (_delivery, start, record) => {
        await record(start)
        return { outcome: 'later', reason: 'silence' }
      },
    ],
    [
      'never answers',
      (world) => async () => {
        setImmediate(() => world.wallet.clock.advance(30_000))
        return new Promise(() => undefined)
      },
    ],
  ])('is asked for a day, then the host is: it %s', async (_, deliver) => {
    const world = await paidBy(async (_delivery, start, record) => {
      await record(inFlight(start, 4n, 4n))
      return { outcome: 'later', reason: 'silence' }
    })
    const orderedAt = (await onlyPayment(world)).value.createdAt
    world.method = { ...world.method, deliver: deliver(world) }
    const { outgoingPayments } = world.wallet.openPayments
    while (world.wallet.clock.now() + HOUR < orderedAt + 25 * HOUR) {
      await recoverLater(world, HOUR)
      expect(await outgoingPayments.undecided()).toEqual([])
    }
    await recoverLater(world, 2 * HOUR)
    const { id } = (await onlyPayment(world)).value
    expect(await outgoingPayments.undecided()).toMatchObject([{ id, reason: 'unknown', inFlightSent: usd('4') }])
    expect(await outgoingPayments.failed(id)).toEqual({ ok: true })
    await world.wallet.openPayments.drain()
    expect(await outcomeOf(world)).toEqual(['failed', 0n, 0n, 0n, 0n])
    expect((await world.storage.all('rail-account'))[0]?.value.sent).toBe(0n)
  })

  it('waits where its payment method is not configured, and goes on once that is back', async () => {
    const world = await paidBy(async (_delivery, start, record) => {
      await record(inFlight(start, 4n, 4n))
      return { outcome: 'later', reason: 'silence' }
    })
    world.wallet.clock.advance(HOUR)
    const { openPayments } = world.process(undefined, { paymentMethods: [] })
    await openPayments.recover()
    await openPayments.drain()
    expect(world.wallet.events.findLast(({ type }) => type === 'payment_stalled')).toMatchObject({
      reason: 'no_payment_method',
    })
    expect(faultsOf(world)).toEqual([])
    expect(await outcomeOf(world)).toEqual(['sending', 0n, 0n, 15n, 0n])
    world.method = {
      ...world.method,
      deliver: async () => ({ outcome: 'ended', progress: progress(4n, 4n), reason: 'it was there' }),
    }
    await recoverLater(world, HOUR)
    expect(await outcomeOf(world)).toEqual(['failed', 5n, 5n, 0n, 1n])
  })

  it('is asked for once more where nobody could ask for days, and ends with what is found out', async () => {
    const world = await paidBy(async (_delivery, start, record) => {
      await record(inFlight(start, 4n, 4n))
      return { outcome: 'later', reason: 'silence' }
    })
    world.method = {
      ...world.method,
      deliver: async () => ({ outcome: 'ended', progress: progress(4n, 4n), reason: 'it was there' }),
    }
    await recoverLater(world, 72 * HOUR)
    expect(await outcomeOf(world)).toEqual(['failed', 5n, 5n, 0n, 1n])
  })
})

describe('a rail that works for somebody who has lost the payment', () => {
  const more = inFlight(progress(4n, 4n), 4n, 4n)
  const same = inFlight(progress(0n, 0n), 4n, 4n)

  it.each([
    ['by its own clock', false, more, false],
    ['by a commit, where its own clock stands still', true, more, false],
    ['by a commit that only renews the lease', true, same, false],
    ['and has not failed where it passes that on', true, more, true],
  ])('is told before anything more leaves, %s', async (_, isClockBehind, next, passesOn) => {
    const world = await railWorld()
    const { clock } = world.wallet
    const startedAt = clock.now()
    const standing = { now: () => startedAt, sleep: async () => new Promise<void>(() => undefined) }
    let tell = (_error: unknown): void => undefined
    const refused = new Promise((resolve) => {
      tell = resolve
    })
    const late = world.process(
      () => ({
        ...world.method,
        deliver: async (_delivery, start, record) => {
          await record(inFlight(start, 4n, 4n))
          await recoverLater(world, 30_000)
          await record(next).catch((error) => {
            tell(error)
            if (passesOn) throw error
          })
          return { outcome: 'delivered', progress: progress(13n, 11n) }
        },
      }),
      isClockBehind ? { clock: standing } : {},
    )
    world.method = {
      ...world.method,
      deliver: async () => ({ outcome: 'ended', progress: progress(0n, 0n), reason: 'none of it arrived' }),
    }
    await pay(world, late, await prepareRailPayment(world))
    expect(await refused).toBeInstanceOf(Error)
    expect(faultsOf(world)).toEqual([])
    expect(await outcomeOf(world)).toEqual(['failed', 0n, 0n, 0n, 0n])
    await checkRailMoney(world)
  })
})

describe('a rail that never answers', () => {
  it('is waited for without a rush where the clock is set back far', async () => {
    const world = await railWorld()
    const { clock } = world.wallet
    let back = 0
    const sleeps: number[] = []
    const late = world.process(
      () => ({
        ...world.method,
        deliver: async () => {
          back = 40 * 24 * 3_600_000
          setImmediate(() => clock.advance(30_000))
          return new Promise(() => undefined)
        },
      }),
      {
        clock: {
          now: () => clock.now() - back,
          sleep: async (milliseconds, signal) => {
            if (back > 0) sleeps.push(milliseconds)
            if (sleeps.length === 3) back = 0
            else if (back > 0) setImmediate(() => clock.advance(30_000))
            return clock.sleep(milliseconds, signal)
          },
        },
      },
    )
    await pay(world, late, await prepareRailPayment(world))
    await expect.poll(() => sleeps).toEqual([30_000, 30_000, 30_000])
    clock.advance(30_000)
    world.method = {
      ...world.method,
      deliver: async () => ({ outcome: 'ended', progress: progress(0n, 0n), reason: 'found out' }),
    }
    await recoverUntilQuiet(world)
    expect(await outcomeOf(world)).toEqual(['failed', 0n, 0n, 0n, 0n])
  })

  it('is waited for until the lease of the payment lapses, and each record renews that', async () => {
    const world = await railWorld()
    let recorded = 0
    world.method = {
      ...world.method,
      deliver: async (_delivery, start, record) => {
        for (const part of [1n, 2n]) {
          world.wallet.clock.advance(20_000)
          await record(inFlight(start, part, part))
          recorded++
        }
        setImmediate(() => world.wallet.clock.advance(30_000))
        return new Promise(() => undefined)
      },
    }
    await payRemotely(world)
    expect(recorded).toBe(2)
    expect(faultsOf(world)).toEqual([])
    expect(world.wallet.events).toContainEqual(
      expect.objectContaining({ type: 'payment_stalled', reason: 'the payment method did not answer' }),
    )
    world.method = {
      ...world.method,
      deliver: async () => ({ outcome: 'ended', progress: progress(2n, 2n), reason: 'found out' }),
    }
    await recoverUntilQuiet(world)
    expect(await outcomeOf(world)).toEqual(['failed', 3n, 3n, 0n, 1n])
  })
})
