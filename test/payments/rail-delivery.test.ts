import type { DeliveryProgress, DeliveryResult, PaymentMethod } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { inFlight, progress, quoteAt } from '../support/fake-rail.ts'
import { type FakeReceiver, REMOTE } from '../support/fake-remote-receivers.ts'
import { usd } from '../support/test-wallet.ts'
import { faultAt } from './faulty-ports.ts'
import { HOUR, LEASE, pay, recoverUntilQuiet } from './money-world.ts'
import {
  checkRailMoney,
  onlyPayment,
  payRemotely,
  prepareRailPayment,
  type RailWorld,
  railWorld,
  recoverLater,
} from './rail-world.ts'

type Deliver = PaymentMethod['deliver']

/** A payment of 15, of which 13 leave and 11 arrive at least, in the hands of a rail that does as it is told. */
async function paidBy(deliver: Deliver, members: Partial<FakeReceiver> = {}): Promise<RailWorld> {
  const world = await railWorld(members)
  world.method = { ...world.method, deliver }
  expect((await payRemotely(world)).status).toBe(201)
  return world
}

/** The state of the only payment, what it has sent, and what the ledger shows of Alice and the fees. */
async function outcomeOf(world: RailWorld): Promise<readonly unknown[]> {
  const { value } = await onlyPayment(world)
  const alice = await world.ledger.balance('alice')
  const fees = await world.ledger.balance('fees:USD:2')
  return [value.state, value.sentAmount.value, 100_000n - (alice?.total ?? 0n), alice?.held, fees?.total ?? 0n]
}

/** What went wrong, as the host is told. */
function faultsOf({ wallet }: RailWorld): readonly unknown[] {
  return wallet.events.flatMap((event) => (event.type === 'fault' ? [(event.cause as Error).message] : []))
}

/** What the grant has spent: debit, and receive. */
async function spentBy({ storage }: RailWorld): Promise<readonly unknown[]> {
  const [spending] = await storage.all('spending')
  return [spending?.value.debit.value, spending?.value.receive.map(({ value }) => value).join()]
}

describe('a delivery that comes to its end', () => {
  it('T-47 OUT-6 is held for the wallet address that its server named at the order, however often it is held', async () => {
    const world = await railWorld({ walletAddress: `${REMOTE}/carol` })
    const process = world.process()
    const { calls } = process.ports
    faultAt(process.ports, 1, 'crashes after', ({ name }) => name === 'hold')
    await pay(world, process, await prepareRailPayment(world))
    world.receiver.walletAddress = `${REMOTE}/mallory`
    const again = world.process()
    world.wallet.clock.advance(LEASE)
    await again.openPayments.recover()
    await again.openPayments.drain()
    const holds = [...calls, ...again.ports.calls].flatMap(({ name, arguments: [hold] }) =>
      name === 'hold' ? [hold] : [],
    )
    const { value } = await onlyPayment(world)
    const { address } = world.receiver
    const counterparty = { kind: 'rail', method: 'ilp', address, walletAddress: `${REMOTE}/carol` }
    const hold = { id: value.id, account: 'alice', amount: value.debitAmount, counterparty }
    expect(holds).toEqual([hold, hold])
    expect(await outcomeOf(world)).toEqual(['completed', 15n, 15n, 0n, 2n])
    await checkRailMoney(world)
  })

  it('is held against the address of the receiver, and given to the rail as it was priced', async () => {
    const world = await railWorld()
    const asked: unknown[] = []
    const { deliver } = world.method
    world.method = {
      ...world.method,
      deliver: (delivery, ...rest) => {
        asked.push(delivery)
        return deliver(delivery, ...rest)
      },
    }
    const holds: unknown[] = []
    const { hold } = world.ledger
    world.ledger.hold = (request) => {
      holds.push(request)
      return hold(request)
    }
    await payRemotely(world)
    const { receiver } = world
    const { value } = await onlyPayment(world)
    const counterparty = { kind: 'rail', method: 'ilp', address: receiver.address }
    expect(holds).toEqual([{ id: value.id, account: 'alice', amount: value.debitAmount, counterparty }])
    expect(asked).toEqual([
      {
        id: value.id,
        details: { type: 'ilp', ilpAddress: receiver.address, sharedSecret: receiver.sharedSecret },
        account: 'g.peer/USD/2',
        sendAmount: { ...usd('13'), value: 13n },
        receiveAmount: { ...usd('11'), value: 11n },
        rate: { sent: 10n, received: 9n },
        isFixedReceive: false,
        isOver: false,
        sendUntil: value.createdAt + HOUR,
      },
    ])
    expect(await outcomeOf(world)).toEqual(['completed', 15n, 15n, 0n, 2n])
    await checkRailMoney(world)
  })

  // 10 might leave for the 9; 11 with the fee of 1 is the price.
  it.each<readonly [string, DeliveryResult, readonly unknown[], bigint]>([
    [
      'whole where all has arrived that was to: delivered',
      { outcome: 'delivered', progress: progress(9n, 9n) },
      ['completed', 11n, 11n, 0n, 1n],
      9n,
    ],
    [
      'whole where all has arrived that was to: ended',
      { outcome: 'ended', progress: progress(9n, 9n), reason: 'the way is closed' },
      ['completed', 11n, 11n, 0n, 1n],
      9n,
    ],
    [
      'a part where one less has arrived',
      { outcome: 'ended', progress: progress(9n, 8n), reason: 'the way is closed' },
      ['failed', 10n, 10n, 0n, 1n],
      9n,
    ],
  ])('OUT-7 OUT-9 of a fixed amount settles %s', async (_, result, outcome, sent) => {
    const world = await railWorld()
    world.method = {
      ...world.method,
      deliver: async (_delivery, _start, record) => {
        await record(inFlight(progress(0n, 0n), 9n, 9n))
        return result
      },
    }
    const { wallet, token, receiver } = world
    const json = { walletAddress: 'https://wallet.example/alice', receiver: receiver.url, method: 'ilp' }
    const quote = await wallet.send('POST', 'https://wallet.example/quotes', {
      token,
      json: { ...json, receiveAmount: usd('9') },
    })
    const order = { walletAddress: json.walletAddress, quoteId: quote.body.id }
    await wallet.send('POST', 'https://wallet.example/outgoing-payments', { token, json: order })
    await wallet.openPayments.drain()
    expect(await outcomeOf(world)).toEqual(outcome)
    expect((await world.storage.all('rail-account'))[0]?.value.sent).toBe(sent)
  })

  it('OUT-7 is settled for what has left, also if the rail counts in what it was given', async () => {
    const world = await railWorld()
    const begun: DeliveryProgress[] = []
    world.method = {
      ...world.method,
      quote: async (request) => {
        Object.assign(request.amount ?? {}, { value: 1n })
        return quoteAt(10n, 9n)
      },
      deliver: async (delivery, start, record) => {
        begun.push(structuredClone(start))
        await record(inFlight(progress(0n, 0n), 5n, 4n))
        Object.assign(start, { sent: 5n, received: 4n })
        Object.assign(delivery.receiveAmount, { value: 0n })
        Object.assign(delivery.details, { sharedSecret: '' })
        return { outcome: 'ended', progress: progress(5n, 4n), reason: 'the way is closed' }
      },
    }
    const { wallet, token, receiver } = world
    for (const _ of ['one', 'another']) {
      const json = { walletAddress: 'https://wallet.example/alice', receiver: receiver.url, method: 'ilp' }
      const quote = await wallet.send('POST', 'https://wallet.example/quotes', {
        token,
        json: { ...json, receiveAmount: usd('9') },
      })
      expect(quote.body.receiveAmount).toEqual(usd('9'))
      const order = { walletAddress: json.walletAddress, quoteId: quote.body.id }
      await wallet.send('POST', 'https://wallet.example/outgoing-payments', { token, json: order })
      await wallet.openPayments.drain()
    }
    expect(begun).toEqual([progress(0n, 0n), progress(0n, 0n)])
    const payments = (await world.storage.all('outgoing-payment')).map(({ value }) => value)
    expect(payments.map(({ state, receiveAmount }) => [state, receiveAmount.value])).toEqual([
      ['failed', 9n],
      ['failed', 9n],
    ])
    expect(await world.ledger.balance('alice')).toMatchObject({ held: 0n })
    expect(wallet.events).not.toContainEqual(expect.objectContaining({ type: 'fault' }))
  })

  it('OUT-7 OUT-8 settles whole where its rail has delivered it, though a little of it has stayed', async () => {
    const world = await paidBy(async (_delivery, start, record) => {
      await record(inFlight(start, 13n, 11n))
      return { outcome: 'delivered', progress: progress(12n, 11n) }
    })
    expect(await outcomeOf(world)).toEqual(['completed', 15n, 15n, 0n, 2n])
    expect(await spentBy(world)).toEqual([15n, '11'])
    expect((await world.storage.all('rail-account'))[0]?.value.sent).toBe(12n)
    expect((await onlyPayment(world)).value.delivery?.reason).toBeUndefined()
  })

  it.each([
    ['all', 13n, 'completed', [15n, 2n], ['15', '11']],
    ['the most of it', 12n, 'failed', [14n, 2n], ['14', '11']],
    ['half', 7n, 'failed', [9n, 2n], ['9', '6']],
    ['the least', 1n, 'failed', [2n, 1n], ['2', '1']],
  ] as const)(
    'OUT-8 OUT-9 takes its part where %s has left, and gives the grant the rest back',
    async (_, sent, state, [taken, fee], [debit, receive]) => {
      const received = sent === 1n ? 1n : (sent * 11n) / 13n + (sent === 7n ? 1n : 0n)
      const world = await paidBy(async (_delivery, _start, record) => {
        await record(inFlight(progress(0n, 0n), 13n, 11n))
        return { outcome: 'ended', progress: progress(sent, received), reason: 'the way is closed' }
      })
      expect(await outcomeOf(world)).toEqual([state, taken, taken, 0n, fee])
      expect(await spentBy(world)).toEqual([BigInt(debit), receive])
      expect((await world.storage.all('rail-account'))[0]?.value.sent).toBe(sent)
      const { delivery } = (await onlyPayment(world)).value
      const reason = state === 'failed' ? { reason: 'the way is closed' } : {}
      expect(delivery?.reason).toBe(reason.reason)
      expect(world.told().at(-1)).toEqual(expect.objectContaining({ type: `outgoing_payment.${state}`, ...reason }))
      expect(Object.keys(world.told().at(-1) ?? {}).includes('reason')).toBe(state === 'failed')
    },
  )

  it('OUT-9 takes nothing where nothing has left', async () => {
    const world = await paidBy(async (_delivery, _start, record) => {
      await record(inFlight(progress(0n, 0n), 4n, 4n))
      return { outcome: 'ended', progress: progress(0n, 0n), reason: 'rejected' }
    })
    expect(await outcomeOf(world)).toEqual(['failed', 0n, 0n, 0n, 0n])
    expect(await spentBy(world)).toEqual([0n, '0'])
    expect((await world.storage.all('rail-account'))[0]?.value.sent).toBe(0n)
    expect(world.told().map(({ type }) => type)).toEqual(['outgoing_payment.created', 'outgoing_payment.failed'])
  })

  it('OUT-9 brought its receiver nothing where nothing has left, whatever that says', async () => {
    const world = await paidBy(async () => ({ outcome: 'ended', progress: progress(0n, 5n), reason: 'rejected' }))
    expect(await spentBy(world)).toEqual([0n, '0'])
  })

  it('OUT-9 ends with what has left where its rail knows no more, and nothing is on its way', async () => {
    const world = await paidBy(async () => ({ outcome: 'unknown', progress: progress(7n, 6n) }))
    expect(await outcomeOf(world)).toEqual(['failed', 9n, 9n, 0n, 2n])
    expect((await onlyPayment(world)).value.delivery?.reason).toBe('unknown')
  })

  it('OUT-9 brought its receiver more than was priced: the grant counts what was priced', async () => {
    const world = await paidBy(async () => ({ outcome: 'ended', progress: progress(12n, 50n), reason: 'enough' }))
    expect(await spentBy(world)).toEqual([14n, '11'])
  })
})

/** A payment of 2.00 over a rail that counts in hundredths of a cent, where all is the debit of what has left of it. */
async function paidInFineUnits(result: DeliveryResult): Promise<RailWorld> {
  const world = await railWorld(
    { asset: { assetCode: 'USD', assetScale: 4 } },
    { pricing: { price: async () => ({ rate: '1' }) } },
  )
  world.method = {
    ...world.method,
    quote: async () => ({ ...quoteAt(1n, 1n), asset: { assetCode: 'USD', assetScale: 4 } }),
    deliver: async (_delivery, start, record) => {
      await record(inFlight(start, 20_000n, 20_000n))
      return result
    },
  }
  expect((await payRemotely(world, { amount: '200' })).status).toBe(201)
  return world
}

describe('a delivery of which less has stayed than the smallest unit of the payer', () => {
  it.each([1n, 99n])('OUT-8 OUT-9 has failed, and shows a unit less than was taken: %s', async (stayed) => {
    const sent = progress(20_000n - stayed, 20_000n - stayed)
    const world = await paidInFineUnits({ outcome: 'ended', progress: sent, reason: 'the way is closed' })
    // What the receiver refuses would be free otherwise, in payment after payment.
    expect(await outcomeOf(world)).toEqual(['failed', 199n, 200n, 0n, 0n])
    expect(await spentBy(world)).toEqual([200n, '20000'])
    expect(world.told().at(-1)).toMatchObject({
      type: 'outgoing_payment.failed',
      sentAmount: usd('199'),
      reason: 'the way is closed',
    })
  })

  it('OUT-8 is complete where its rail says so', async () => {
    const world = await paidInFineUnits({ outcome: 'delivered', progress: progress(19_999n, 19_999n) })
    expect(await outcomeOf(world)).toEqual(['completed', 200n, 200n, 0n, 0n])
    expect(await spentBy(world)).toEqual([200n, '20000'])
  })
})

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

describe('a rail that says what cannot be', () => {
  const odd = (result: DeliveryResult): Deliver => {
    return async () => result
  }

  /** What a rail in plain JavaScript may say. */
  const untyped = (members: object): DeliveryProgress => Object.assign(progress(4n, 4n), members)
  const ended = (progress: DeliveryProgress): Deliver => odd({ outcome: 'ended', progress, reason: '' })
  const NO_PROGRESS = 'a payment method reported invalid progress'
  const TOO_MUCH = 'a payment method sent more than it may'
  const NO_NOTES = 'the notes of a payment method must be text of at most 16384 characters'

  it.each<readonly [string, Deliver, string]>([
    ['more has left than may', ended(progress(14n, 1n)), TOO_MUCH],
    [
      'more has left than may, with what is in flight',
      odd({ outcome: 'unknown', progress: inFlight(progress(10n, 0n), 4n, 1n) }),
      TOO_MUCH,
    ],
    [
      'it has delivered, and nothing has left',
      odd({ outcome: 'delivered', progress: progress(0n, 11n) }),
      'a payment method reported a payment as delivered of which nothing had left',
    ],
    ['less than nothing has left', ended(progress(-1n, 0n)), NO_PROGRESS],
    ['less than nothing has arrived', ended(progress(0n, -1n)), NO_PROGRESS],
    [
      'less than nothing is on its way',
      odd({ outcome: 'unknown', progress: inFlight(progress(4n, 4n), -1n, 1n) }),
      NO_PROGRESS,
    ],
    [
      'less than nothing is about to arrive',
      odd({ outcome: 'unknown', progress: inFlight(progress(4n, 4n), 1n, -1n) }),
      NO_PROGRESS,
    ],
    ['what has left is a number', ended(untyped({ sent: 4 })), NO_PROGRESS],
    ['what has arrived is a text', ended(untyped({ received: '4' })), NO_PROGRESS],
    [
      'it has ended with something in flight',
      ended(inFlight(progress(0n, 0n), 1n, 1n)),
      'a payment method ended a delivery with something still in flight',
    ],
    [
      'it has ended with something in flight of which nothing may arrive',
      ended(inFlight(progress(0n, 0n), 1n, 0n)),
      'a payment method ended a delivery with something still in flight',
    ],
    [
      'it has ended with something about to arrive',
      ended(inFlight(progress(0n, 0n), 0n, 1n)),
      'a payment method ended a delivery with something still in flight',
    ],
    [
      'it has delivered with something in flight',
      odd({ outcome: 'delivered', progress: inFlight(progress(4n, 4n), 1n, 1n) }),
      'a payment method ended a delivery with something still in flight',
    ],
    [
      'an outcome that there is not',
      async () => ({ outcome: 'sent' }) as never,
      'a payment method answered with an outcome that does not exist',
    ],
    ['notes that are too long', ended({ ...progress(4n, 4n), notes: 'x'.repeat(16_385) }), NO_NOTES],
    ['notes that no database takes', ended({ ...progress(4n, 4n), notes: '\0' }), NO_NOTES],
    ['notes of half a character', ended({ ...progress(4n, 4n), notes: '\ud83d' }), NO_NOTES],
    ['notes that are no text', ended(untyped({ notes: {} })), NO_NOTES],
  ])('is not believed, and asked again: %s', async (_, deliver, message) => {
    const world = await paidBy(deliver)
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'sending', attempts: 1 })
    expect(faultsOf(world)).toEqual([message])
    expect(await outcomeOf(world)).toEqual(['sending', 0n, 0n, 15n, 0n])
  })

  it('has notes of 16384 characters, and no longer ones', async () => {
    const notes = 'x'.repeat(16_384)
    const world = await paidBy(ended({ ...progress(4n, 4n), notes }))
    expect((await onlyPayment(world)).value.delivery?.notes).toBe(notes)
    expect(await outcomeOf(world)).toEqual(['failed', 5n, 5n, 0n, 1n])
  })

  it('may not take back what it has recorded, nor record more than may leave', async () => {
    const refused: string[] = []
    const world = await paidBy(async (_delivery, _start, record) => {
      await record(progress(4n, 4n))
      for (const wrong of [progress(3n, 4n), progress(4n, 3n), inFlight(progress(4n, 4n), 10n, 1n)])
        await record(wrong).catch((error: Error) => refused.push(error.message))
      return { outcome: 'ended', progress: progress(4n, 4n), reason: 'enough' }
    })
    const takenBack = 'a payment method took back what it had reported as sent'
    expect(refused).toEqual([takenBack, takenBack, TOO_MUCH])
    expect(await outcomeOf(world)).toEqual(['failed', 5n, 5n, 0n, 1n])
  })

  it('T-50 is told that a limit is reached, and nothing is recorded then', async () => {
    const answers: string[] = []
    const world = await paidBy(async (_delivery, start, record) => {
      answers.push(await record(inFlight(start, 4n, 4n), 3n))
      answers.push(await record(inFlight(start, 3n, 3n), 3n))
      return { outcome: 'later', reason: 'limit' }
    })
    expect(answers).toEqual(['over_limit', 'recorded'])
    expect((await onlyPayment(world)).value.delivery).toMatchObject({ inFlightSent: '3' })
    expect((await world.storage.all('rail-account'))[0]?.value.sent).toBe(3n)
  })

  it('T-50 writes its account once for what it records again', async () => {
    const world = await paidBy(async (_delivery, start, record) => {
      for (let renewal = 0; renewal < 3; renewal++) await record(inFlight(start, 4n, 4n))
      return { outcome: 'later', reason: 'busy' }
    })
    expect(await world.storage.all('rail-account')).toMatchObject([{ version: 1, value: { sent: 4n, inFlight: 4n } }])
  })

  it('records nothing once it has answered', async () => {
    let late = async (): Promise<unknown> => undefined
    const world = await paidBy(async (_delivery, start, record) => {
      late = () => record(inFlight(start, 4n, 4n))
      return { outcome: 'later', reason: 'busy' }
    })
    await expect(late()).rejects.toThrow()
    expect((await onlyPayment(world)).value.delivery).toBeUndefined()
  })
})

describe('a rail that works for somebody who has lost the payment', () => {
  it.each([
    ['by its own clock', false],
    ['by a commit, where its own clock stands still', true],
  ])('is told before anything more leaves, %s', async (_, isClockBehind) => {
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
          await record(inFlight(progress(4n, 4n), 4n, 4n)).catch(tell)
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
    await expect.poll(() => sleeps, { interval: 1 }).toEqual([30_000, 30_000, 30_000])
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
    world.method = {
      ...world.method,
      deliver: async () => ({ outcome: 'ended', progress: progress(2n, 2n), reason: 'found out' }),
    }
    await recoverUntilQuiet(world)
    expect(await outcomeOf(world)).toEqual(['failed', 3n, 3n, 0n, 1n])
  })
})
