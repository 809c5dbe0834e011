import type { MoneyEvent, OpenPaymentsEvent, OpenPaymentsOptions } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { lastSegment } from '../support/last-segment.ts'
import { BASE, BOB, usd, usdAmount } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import { type Call, faultAt } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  ask,
  eventsOf,
  grantTokens,
  LEASE,
  moneyWorld,
  pay,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
} from './money-world.ts'
import { type RailProcess, railWorld, transferOf } from './receive-by-rail-world.ts'

const deletesEvent = ({ name, arguments: [changes] }: Call): boolean =>
  name === 'commit' && (changes as { action: string }[])[0]?.action === 'delete'

/** A host that keeps what it is told, and rejects while it is told to. */
function host() {
  const heard: MoneyEvent[] = []
  const sink = {
    heard,
    rejects: (_event: MoneyEvent): boolean => false,
    onEvent: async (event: OpenPaymentsEvent): Promise<void> => {
      if (!('id' in event)) return
      heard.push(event)
      if (sink.rejects(event)) throw new Error('the host is busy')
    },
    typesOf: (payment: string): readonly string[] =>
      heard.flatMap((event) => {
        const subject = 'outgoingPayment' in event ? event.outgoingPayment : event.incomingPayment
        return subject === payment ? [event.type] : []
      }),
  }
  return sink
}

/** A payment whose events the host has rejected, and which are due again. */
async function paidUnheard() {
  const listener = host()
  listener.rejects = () => true
  const world = await moneyWorld({ onEvent: listener.onEvent })
  await pay(world, world.start(), await preparePayment(world, await grantTokens(world)))
  world.wallet.clock.advance(LEASE)
  return { listener, world }
}

describe('events about money', () => {
  it('tell each end of a payment once, in order, with the amounts of that moment', async () => {
    const listener = host()
    const world = await moneyWorld({ onEvent: listener.onEvent })
    const prepared = await preparePayment(world, await grantTokens(world))
    const answer = await pay(world, world.start(), prepared)
    const outgoing = lastSegment(answer?.body.id ?? '')
    expect(listener.heard.filter((event) => 'outgoingPayment' in event)).toMatchObject([
      { type: 'outgoing_payment.created', id: `${outgoing}:1`, outgoingPayment: outgoing, sentAmount: usd('0') },
      { type: 'outgoing_payment.completed', id: `${outgoing}:2`, debitAmount: usd('10'), sentAmount: usd('10') },
    ])
    const incoming = prepared.incomingId
    expect(listener.heard.filter((event) => 'incomingPayment' in event)).toMatchObject([
      { type: 'incoming_payment.created', id: `${incoming}:1`, incomingPayment: incoming, receivedAmount: usd('0') },
      { type: 'incoming_payment.completed', id: `${incoming}:2`, walletAddress: BOB, receivedAmount: usd('10') },
    ])
    expect(await world.storage.all('event')).toEqual([])
  })

  it('tell of a payment that failed', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    await world.ledger.setPermissions('bob', { canSend: false, canReceive: false })
    const answer = await pay(world, world.start(), prepared)
    await checkMoney(world)
    expect(world.told().at(-1)).toMatchObject({
      type: 'outgoing_payment.failed',
      outgoingPayment: lastSegment(answer?.body.id ?? ''),
      sentAmount: usd('0'),
      reason: 'account_closed',
    })
  })

  it('that the host rejects are faults that it is told of', async () => {
    const listener = host()
    listener.rejects = () => true
    const faults: OpenPaymentsEvent[] = []
    const world = await moneyWorld({
      onEvent: async (event) => {
        if (event.type === 'fault') faults.push(event)
        await listener.onEvent(event)
      },
    })
    await pay(world, world.start(), await preparePayment(world, await grantTokens(world)))
    expect(faults.map((fault) => 'message' in fault && fault.message)).toContain('a money event was not delivered')
  })

  it('are told again by recover() until the host does not reject, in order and with the same id', async () => {
    const listener = host()
    listener.rejects = () => true
    const world = await moneyWorld({ onEvent: listener.onEvent })
    const answer = await pay(world, world.start(), await preparePayment(world, await grantTokens(world)))
    const outgoing = lastSegment(answer?.body.id ?? '')
    expect(new Set(listener.typesOf(outgoing))).toEqual(new Set(['outgoing_payment.created']))
    listener.rejects = ({ type }) => type === 'outgoing_payment.completed'
    world.wallet.clock.advance(LEASE)
    await world.wallet.openPayments.recover()
    expect(listener.typesOf(outgoing).slice(-2)).toEqual(['outgoing_payment.created', 'outgoing_payment.completed'])
    listener.rejects = () => false
    await recoverUntilQuiet(world)
    expect(listener.typesOf(outgoing).slice(-2)).toEqual(['outgoing_payment.completed', 'outgoing_payment.completed'])
    expect(
      new Set(listener.heard.flatMap(({ type, id }) => (type === 'outgoing_payment.completed' ? [id] : []))),
    ).toEqual(new Set([`${outgoing}:2`]))
    expect(await world.storage.all('event')).toEqual([])
  })

  it('are told again as they were, whatever the host wrote into them before it rejected them', async () => {
    const first = new Map<string, MoneyEvent>()
    const again: MoneyEvent[] = []
    const world = await moneyWorld({
      onEvent: async (event) => {
        if (!('id' in event)) return
        if (first.has(event.id)) return void again.push(structuredClone(event))
        first.set(event.id, structuredClone(event))
        // What a database with columns for times and numbers may need.
        if ('debitAmount' in event) Object.assign(event.debitAmount, { value: BigInt(event.debitAmount.value) })
        Object.assign(event, { id: `own-${event.id}`, at: new Date(event.at) })
        throw new Error('the host is busy')
      },
    })
    await pay(world, world.start(), await preparePayment(world, await grantTokens(world)))
    await recoverUntilQuiet(world)
    expect(first.size).toBe(4)
    expect(again).toEqual(expect.arrayContaining([...first.values()]))
    expect(await world.storage.all('event')).toEqual([])
  })

  it('are told again when the process ends before the acknowledgement is written', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    faultAt(process.ports, 1, 'crashes before', deletesEvent)
    await pay(world, process, prepared)
    expect(world.told().map(({ type }) => type)).toContain('outgoing_payment.created')
    await recoverUntilQuiet(world)
    expect(world.told().filter(({ type }) => type === 'outgoing_payment.created')).toHaveLength(2)
    await checkMoney(world)
  })

  it('that the host got and the storage could not delete are told again, and the storage is what is reported', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    faultAt(process.ports, 1, 'throws', deletesEvent)
    await pay(world, process, prepared)
    expect(eventsOf(world, 'fault').map(({ message }) => message)).toEqual(['a delivered money event was not deleted'])
    const later = world.wallet.clock.now() + LEASE
    const [first] = await world.storage.all('event')
    expect(first).toMatchObject({ value: { event: { type: 'outgoing_payment.created' } }, version: 2, dueAt: later })
    world.wallet.clock.advance(LEASE)
    await recoverUntilQuiet(world)
    expect(world.told().filter(({ type }) => type === 'outgoing_payment.created')).toHaveLength(2)
    expect(await world.storage.all('event')).toEqual([])
  })

  it('that another process has deleted hold up none after them', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    faultAt(process.ports, 1, { answer: { conflicts: [0] } }, deletesEvent)
    await pay(world, process, prepared)
    const types = world.told().flatMap(({ type }) => (type.startsWith('outgoing_payment.') ? [type] : []))
    expect(types.at(-1)).toBe('outgoing_payment.completed')
    expect((await world.storage.all('event')).map(({ version }) => version)).toEqual([])
  })

  it('are not recorded where nobody listens', async () => {
    const world = await moneyWorld({ onEvent: undefined } as unknown as OpenPaymentsOptions)
    const answer = await pay(world, world.start(), await preparePayment(world, await grantTokens(world)))
    expect(answer?.status).toBe(201)
    expect(await world.storage.all('event')).toEqual([])
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
  })

  it('do not hold up the answer to the client', async () => {
    const never = new Promise<void>(() => undefined)
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const process = world.start({
      onEvent: (event) => (event.type === 'outgoing_payment.created' ? never : undefined),
    })
    const request = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, prepared.token, prepared.body)
    expect(await ask(process, request)).toMatchObject({ status: 201 })
  })

  it('do not hold up the money', async () => {
    const never = new Promise<void>(() => undefined)
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const onEvent = (event: OpenPaymentsEvent) => (event.type === 'outgoing_payment.created' ? never : undefined)
    const process = world.start({ onEvent })
    void pay(world, process, prepared)
    await expect.poll(async () => (await world.ledger.balance('bob'))?.total).toBe(10n)
    await recoverUntilQuiet(world)
    await checkMoney(world)
  })

  it('that a host rejects wait for a lease, so that a host that calls recover() until little is left comes to an end', async () => {
    const { listener, world } = await paidUnheard()
    listener.heard.length = 0
    expect(await world.wallet.openPayments.recover()).toBe(0)
    const count = listener.heard.length
    expect(count).toBeGreaterThan(0)
    expect(await world.wallet.openPayments.recover()).toBe(0)
    expect(listener.heard).toHaveLength(count)
    world.wallet.clock.advance(LEASE)
    listener.rejects = () => false
    await world.wallet.openPayments.recover()
    expect(await world.storage.all('event')).toEqual([])
  })

  it('of which a host takes the first and rejects the next count as taken up', async () => {
    const { listener, world } = await paidUnheard()
    listener.rejects = ({ type }) => type !== 'outgoing_payment.created'
    expect(await world.wallet.openPayments.recover()).toBeGreaterThan(0)
  })

  it('that a host has just rejected are not told again as the payment goes on', async () => {
    const listener = host()
    listener.rejects = () => true
    const world = await moneyWorld({ onEvent: listener.onEvent })
    await pay(world, world.start(), await preparePayment(world, await grantTokens(world), { from: 'incoming payment' }))
    expect(listener.heard.map(({ type }) => type).sort()).toEqual([
      'incoming_payment.created',
      'outgoing_payment.created',
    ])
    await world.wallet.openPayments.recover()
    expect(listener.heard).toHaveLength(2)
  })

  it('that follow one put off for longer are put off with it, and do not stay due', async () => {
    const listener = host()
    listener.rejects = () => true
    const world = await moneyWorld({ onEvent: listener.onEvent })
    const { clock, openPayments } = world.wallet
    const process = world.start()
    process.ports.plan = ({ name }) => (name === 'settle' ? 'throws' : undefined)
    await pay(world, process, await preparePayment(world, await grantTokens(world)))
    // Its `created` has been rejected for long, and waits for long, when the payment completes.
    clock.advance(10 * LEASE)
    await process.openPayments.recover()
    await process.openPayments.drain()
    for (let round = 0; round < 4; round++) {
      clock.advance(LEASE)
      await openPayments.recover()
      await openPayments.drain()
      const due = (await world.storage.all('event')).filter(({ dueAt = 0 }) => dueAt <= clock.now())
      expect(due).toEqual([])
    }
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
  })

  it('that a host goes on to reject are told ever more seldom, each at least every five minutes', async () => {
    const listener = host()
    listener.rejects = () => true
    const world = await moneyWorld({ onEvent: listener.onEvent })
    const { clock, openPayments } = world.wallet
    await pay(world, world.start(), await preparePayment(world, await grantTokens(world)))
    const pauses: number[] = []
    for (let told = 0; told < 8; told++) {
      const due = (await world.storage.all('event')).map(({ dueAt = 0 }) => dueAt)
      pauses.push((Math.max(...due) - clock.now()) / LEASE)
      clock.advance(Math.max(...due) - clock.now())
      await openPayments.recover()
    }
    expect(pauses).toEqual([1, 1, 2, 4, 8, 10, 10, 10])
  })

  it.each([
    ['a rail brings', ({ rail }: RailProcess, id: string) => rail.receive(transferOf(1, id, 5n))],
    [
      'the wallet reports',
      ({ openPayments }: RailProcess, id: string) =>
        openPayments.incomingPayments.received(id, usdAmount(5n), 'transfer'),
    ],
  ])('that another process is telling are not told once more by money that %s', async (_who, bring) => {
    const world = await railWorld()
    const isTold = gate()
    const [slow, quick] = [host(), host()]
    const onEvent = (event: OpenPaymentsEvent) => slow.onEvent(event).then(() => isTold.opened)
    const [one, other] = [world.startRail({ onEvent }), world.startRail({ onEvent: quick.onEvent })]
    const json = { walletAddress: BOB, incomingAmount: usd('10') }
    const created = await ask(
      one,
      await signedBy(world, 'POST', `${BASE}/incoming-payments`, world.tokens.receiving, json),
    )
    await turns(30)
    expect(slow.heard).toMatchObject([{ type: 'incoming_payment.created' }])
    await bring(other, lastSegment(created?.body.id ?? ''))
    await other.openPayments.drain()
    expect(quick.heard).toEqual([])
    isTold.open()
    await one.openPayments.drain()
    expect(await world.storage.all('event')).toEqual([])
  })

  it('fill a batch of recover() by their number, two of one payment counted twice', async () => {
    const listener = host()
    listener.rejects = () => true
    const world = await moneyWorld({ onEvent: listener.onEvent })
    const tokens = await grantTokens(world)
    for (let index = 0; index < 51; index++) {
      const { openPayments } = world.start()
      const { incomingUrl } = await preparePayment(world, tokens, { from: 'incoming payment' })
      await openPayments.incomingPayments.received(lastSegment(incomingUrl), usdAmount(10n), `transfer ${index}`)
    }
    expect(await world.storage.all('event')).toHaveLength(102)
    world.wallet.clock.advance(LEASE)
    listener.rejects = () => false
    expect(await world.wallet.openPayments.recover()).toBeGreaterThanOrEqual(100)
  })
})
