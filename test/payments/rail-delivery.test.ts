import type { DeliveryProgress, DeliveryResult } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { inFlight, progress, quoteAt } from '../support/fake-rail.ts'
import { REMOTE } from '../support/fake-remote-receivers.ts'
import { usd } from '../support/test-wallet.ts'
import { faultAt } from './faulty-ports.ts'
import { HOUR, LEASE, pay } from './money-world.ts'
import {
  checkRailMoney,
  onlyPayment,
  outcomeOf,
  paidBy,
  payRemotely,
  prepareRailPayment,
  type RailWorld,
  railWorld,
  spentBy,
} from './rail-world.ts'

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

  it('leaves no timer behind', async () => {
    const world = await railWorld()
    const { clock } = world.wallet
    const { sleep } = clock
    const signals: AbortSignal[] = []
    clock.sleep = (milliseconds, signal) => {
      if (signal !== undefined) signals.push(signal)
      return sleep(milliseconds, signal)
    }
    await payRemotely(world)
    expect(signals).not.toEqual([])
    expect(signals.filter(({ aborted }) => !aborted)).toEqual([])
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
