import type { Ledger } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { notedPauses } from '../support/noted-pauses.ts'
import { BASE, usd } from '../support/test-wallet.ts'
import { turn } from '../support/turns.ts'
import { type Call, type Fault, faultAt } from './faulty-ports.ts'
import { HOUR, inAnHour, LEASE } from './money-world.ts'
import {
  checkReceived,
  incomingOf,
  isCredit,
  PEER,
  type RailProcess,
  type RailWorld,
  railWorld,
  recoverReceiptsUntilQuiet,
  tell,
  transferOf,
} from './receive-by-rail-world.ts'

describe('INC-5 a transfer whose process meets a fault at any call', () => {
  it.each<Fault>([
    'throws',
    'loses the reply',
    'hangs',
    'answers nobody',
    'crashes before',
    'crashes after',
    'conflicts',
    { refuse: 'account_closed' },
    { refuse: 'not_allowed' },
    { answer: undefined },
  ])('%j is taken once or not at all, and credited where it was taken', async (fault) => {
    const isOfLedger = fault === 'conflicts' || typeof fault === 'object'
    // Storage is the host's, and calls of it have no deadline: one that never answers is a process that has crashed.
    const concerns = ({ port, name }: Call): boolean =>
      isOfLedger ? name === 'credit' : port === 'ledger' || !['hangs', 'answers nobody'].includes(fault)
    const world = await railWorld()
    for (let index = 1; ; index++) {
      const id = await world.incoming({ incomingAmount: usd('20') })
      const process = world.startRail()
      const { reached } = faultAt(process.ports, index, fault, concerns)
      const transfer = transferOf(index, id, 20n)
      await tell(world, process, transfer)
      await checkReceived(world, { isQuiet: false })
      // The peer asks again, at another process, in time or too late.
      const again = { ...transfer, isRefused: index % 2 === 0 }
      const settled = await world.receive(world.rail, again)
      expect(['received', 'refused']).toContain(settled)
      await world.wallet.openPayments.drain()
      await recoverReceiptsUntilQuiet(world)
      await checkReceived(world)
      expect(await world.receive(world.startRail().rail, transfer)).toBe(settled)
      if (reached() === undefined) break
      expect(index).toBeLessThan(50)
    }
    expect(world.claimed.size).toBeGreaterThan(0)
  })

  it('is credited by the recovery of another process, at whatever call that crashes too', async () => {
    const world = await railWorld()
    for (let index = 1; ; index++) {
      const first = world.startRail()
      faultAt(first.ports, 1, index % 2 === 0 ? 'crashes before' : 'crashes after', isCredit)
      await tell(world, first, transferOf(index, await world.incoming({ incomingAmount: usd('5') }), 5n))
      world.wallet.clock.advance(LEASE)
      const second = world.startRail()
      const { reached } = faultAt(second.ports, index, 'crashes after')
      await Promise.race([second.openPayments.recover(), second.ports.crashed])
      await recoverReceiptsUntilQuiet(world)
      await checkReceived(world)
      if (reached() === undefined) break
      expect(index).toBeLessThan(50)
    }
  })
})

describe('a ledger', () => {
  it('that never answers holds up neither the rail nor other payments', async () => {
    const world = await railWorld()
    const process = world.startRail()
    process.ports.plan = ({ name }) => (name === 'credit' ? 'hangs' : undefined)
    const [one, other] = [await world.incoming({ incomingAmount: usd('50') }), await world.incoming()]
    for (let number = 1; number <= 50; number++)
      expect(await world.receive(process.rail, transferOf(number, number % 2 === 0 ? one : other, 1n))).toBe('received')
    await process.openPayments.drain()
    expect(await incomingOf(world, one)).toMatchObject({ reserved: { value: 25n }, received: { value: 0n } })
    await checkReceived(world, { isQuiet: false })
    await recoverReceiptsUntilQuiet(world)
    expect(await incomingOf(world, one)).toMatchObject({ reserved: { value: 0n }, received: { value: 25n } })
    await checkReceived(world)
  })

  it('that counts down what it is asked to credit, and fails, is asked for the same again', async () => {
    const world = await railWorld()
    const process = world.startRail()
    const asked: bigint[] = []
    process.ports.plan = (call) => {
      if (!isCredit(call)) return undefined
      const { amount } = call.arguments[0] as Parameters<Ledger['credit']>[0]
      asked.push(amount.value)
      if (asked.length > 1) return undefined
      Object.assign(amount, { value: 0n })
      return 'throws'
    }
    expect(await tell(world, process, transferOf(1, await world.incoming(), 5n))).toBe('received')
    expect(asked).toEqual([5n, 5n])
    await checkReceived(world)
  })

  it('that cannot be asked about the payee leaves the transfer to its sender', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const process = world.startRail()
    process.ports.plan = ({ name }) => (name === 'account' ? 'hangs' : undefined)
    await expect(process.rail.receive(transferOf(1, id, 5n))).rejects.toThrow('the ledger did not answer in time')
    expect(await world.storage.all('receipt')).toEqual([])
    expect(await world.receive(world.rail, transferOf(1, id, 5n))).toBe('received')
    await world.wallet.openPayments.drain()
    await checkReceived(world)
  })

  it('that never answers holds up no repeat of what was taken', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    await world.receive(world.rail, transferOf(1, id, 5n))
    const process = world.startRail()
    process.ports.plan = ({ port }) => (port === 'ledger' ? 'hangs' : undefined)
    expect(await world.receive(process.rail, transferOf(1, id, 5n))).toBe('received')
    expect(await world.receive(process.rail, transferOf(2, id, 5n, { isRefused: true }))).toBe('refused')
    expect(process.ports.calls.filter(({ port }) => port === 'ledger')).toEqual([])
    await world.wallet.openPayments.drain()
    await checkReceived(world)
  })

  it('that answers after every deadline credits too, and is not asked once more', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const { open, opened } = gate()
    let credits = 0
    const process = world.startRail({
      ledger: {
        ...world.ledger,
        credit: async (credit) => {
          const isFirst = ++credits === 1
          if (!isFirst) {
            open()
            return new Promise(() => undefined)
          }
          setImmediate(() => world.wallet.clock.advance(3000))
          await opened
          return world.ledger.credit(credit)
        },
      },
    })
    await world.receive(process.rail, transferOf(1, id, 5n))
    await process.openPayments.drain()
    expect(credits).toBe(2)
    await checkReceived(world)
  })

  it('that refuses leaves the money with the wallet, which is told once', async () => {
    const world = await railWorld()
    const id = await world.incoming({ incomingAmount: usd('5') })
    const process = world.startRail()
    process.ports.plan = ({ name }) => (name === 'credit' ? { refuse: 'account_closed' } : undefined)
    expect(await world.receive(process.rail, transferOf(1, id, 5n))).toBe('received')
    await process.openPayments.drain()
    const told = world.wallet.events.filter(({ type }) => type === 'credit_refused')
    expect(told).toEqual([
      {
        type: 'credit_refused',
        id: `receipt-${transferOf(1, id, 5n).id}:1`,
        at: expect.any(Number),
        incomingPayment: id,
        receipt: transferOf(1, id, 5n).id,
        amount: usd('5'),
        reason: 'account_closed',
      },
    ])
    expect(await incomingOf(world, id)).toMatchObject({
      state: 'pending',
      reserved: { value: 0n },
      received: { value: 0n },
    })
    expect(await world.rail.balance(PEER)).toEqual({ sent: 0n, received: 5n })
    // The peer has been told yes, and is told so again; the room is free.
    expect(await world.receive(world.rail, transferOf(1, id, 5n))).toBe('received')
    expect(await world.receive(world.rail, transferOf(2, id, 5n))).toBe('received')
    await world.wallet.openPayments.drain()
    expect(await incomingOf(world, id)).toMatchObject({ state: 'completed' })
    expect(world.wallet.events.filter(({ type }) => type === 'credit_refused')).toHaveLength(1)
    await checkReceived(world)
  })

  it('that fails is asked three times by one worker, a moment apart', async () => {
    const world = await railWorld()
    const asked: number[] = []
    const credit = async (): Promise<never> => {
      asked.push(world.wallet.clock.now())
      throw new Error('the ledger starts anew')
    }
    const process = world.startRail({ ledger: { ...world.ledger, credit } })
    await tell(world, process, transferOf(1, await world.incoming(), 5n))
    const pauses = asked.slice(1).map((at, index) => at - (asked[index] ?? 0))
    expect(pauses).toHaveLength(2)
    for (const pause of pauses) expect(pause >= 80 && pause <= 160).toBe(true)
    await recoverReceiptsUntilQuiet(world)
    await checkReceived(world)
  })

  it('that fails is asked again only when the pause is over', async () => {
    const world = await railWorld()
    const order: string[] = []
    const credit = async (): Promise<never> => {
      order.push('credit')
      throw new Error('the ledger starts anew')
    }
    const process = world.startRail({
      ledger: { ...world.ledger, credit },
      clock: notedPauses(world.wallet.clock, order),
    })
    await tell(world, process, transferOf(1, await world.incoming(), 5n))
    expect(order).toEqual(['credit', 'pause', 'over', 'credit', 'pause', 'over', 'credit'])
  })

  it('is asked by one process for a whole lease, also about what was taken under a shorter one', async () => {
    const world = await railWorld()
    const first = world.startRail()
    faultAt(first.ports, 1, 'crashes before', isCredit)
    const takenAt = world.wallet.clock.now()
    await tell(world, first, transferOf(1, await world.incoming(), 5n))
    // The wallet has started its processes anew since then.
    const settings = { limits: { leaseSeconds: (2 * LEASE) / 1000 } }
    const [second, third] = [world.startRail({ settings }), world.startRail({ settings })]
    second.ports.plan = (call) => (isCredit(call) ? 'hangs' : undefined)
    const recoverAt = (process: RailProcess, milliseconds: number): Promise<number> => {
      world.wallet.clock.advance(takenAt + milliseconds - world.wallet.clock.now())
      return process.openPayments.recover()
    }
    expect(await recoverAt(second, LEASE)).toBe(1)
    expect(await recoverAt(third, 3 * LEASE - 1)).toBe(0)
    expect(await recoverAt(third, 3 * LEASE)).toBe(1)
    expect(third.ports.calls.filter(isCredit)).toHaveLength(1)
    await recoverReceiptsUntilQuiet(world)
    await checkReceived(world)
  })

  it('that is away is asked less and less often, an hour apart at most', async () => {
    const world = await railWorld()
    const process = world.startRail()
    process.ports.plan = ({ name }) => (name === 'credit' ? 'throws' : undefined)
    await tell(world, process, transferOf(1, await world.incoming(), 5n))
    const pauses: number[] = []
    for (let round = 0; round < 12; round++) {
      const [receipt] = await world.storage.due('receipt', Number.MAX_SAFE_INTEGER, 1)
      const pause = (receipt?.dueAt ?? 0) - world.wallet.clock.now()
      pauses.push(Math.round(pause / LEASE))
      expect(await process.openPayments.recover()).toBe(0)
      world.wallet.clock.advance(pause)
      expect(await process.openPayments.recover()).toBe(1)
    }
    expect(pauses).toEqual([1, 1, 2, 4, 8, 16, 32, 64, 120, 120, 120, 120])
    await recoverReceiptsUntilQuiet(world)
    await checkReceived(world)
  })
})

describe('INC-5 INC-7 a receipt that was reserved in time', () => {
  /** A transfer whose credit no process has made yet. */
  async function reserved(world: RailWorld, id: string): Promise<void> {
    const process = world.startRail()
    faultAt(process.ports, 1, 'crashes before', isCredit)
    await tell(world, process, transferOf(1, id, 5n))
    expect(await incomingOf(world, id)).toMatchObject({ state: 'processing', reserved: { value: 5n } })
  }

  it('is credited after the expiry, which waits for it', async () => {
    const world = await railWorld()
    const id = await world.incoming({ expiresAt: inAnHour(world) })
    await reserved(world, id)
    world.wallet.clock.advance(HOUR + 1)
    await world.wallet.openPayments.sweep()
    expect(await incomingOf(world, id)).toMatchObject({ state: 'processing', reserved: { value: 5n } })
    expect(await world.receive(world.rail, transferOf(2, id, 5n))).toBe('not_payable')
    await recoverReceiptsUntilQuiet(world)
    world.wallet.clock.advance(LEASE)
    await world.wallet.openPayments.sweep()
    expect(await incomingOf(world, id)).toMatchObject({ state: 'expired', received: { value: 5n } })
    await checkReceived(world)
  })

  it('is credited after its client has completed the payment, which is told once', async () => {
    const world = await railWorld()
    const id = await world.incoming({ incomingAmount: usd('5') })
    await reserved(world, id)
    const url = `${BASE}/incoming-payments/${id}/complete`
    expect(await world.wallet.send('POST', url, { token: world.tokens.receiving })).toMatchObject({ status: 200 })
    await world.wallet.openPayments.drain()
    await recoverReceiptsUntilQuiet(world)
    expect(await incomingOf(world, id)).toMatchObject({ state: 'completed', received: { value: 5n } })
    expect(world.told().filter(({ type }) => type === 'incoming_payment.completed')).toHaveLength(1)
    await checkReceived(world)
  })

  it('is credited where a rail of the wallet has filled the payment in between', async () => {
    const world = await railWorld({ settings: { policies: { excessReceipt: 'accept' } } })
    const id = await world.incoming({ incomingAmount: usd('5') })
    await reserved(world, id)
    const { incomingPayments } = world.wallet.openPayments
    const amount = { value: 5n, assetCode: 'USD', assetScale: 2 }
    expect(await incomingPayments.received(id, amount, 'wire')).toMatchObject({ ok: true, accepted: 5n })
    await recoverReceiptsUntilQuiet(world)
    expect(await incomingOf(world, id)).toMatchObject({ state: 'completed', received: { value: 10n } })
    expect(world.told().filter(({ type }) => type === 'incoming_payment.completed')).toHaveLength(1)
    await checkReceived(world)
  })
})

describe('drain()', () => {
  it('waits for credits that are under way', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const { open, opened } = gate()
    const process = world.startRail({
      ledger: { ...world.ledger, credit: async (given) => opened.then(() => world.ledger.credit(given)) },
    })
    await world.receive(process.rail, transferOf(1, id, 5n))
    let isDrained = false
    const drained = process.openPayments.drain().then(() => {
      isDrained = true
    })
    await turn()
    expect([isDrained, (await incomingOf(world, id))?.reserved.value]).toEqual([false, 5n])
    open()
    await drained
    expect((await incomingOf(world, id))?.received.value).toBe(5n)
    await checkReceived(world)
  })
})
