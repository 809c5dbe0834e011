import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { keyed } from '../support/keyed.ts'
import { lastSegment } from '../support/last-segment.ts'
import { notedPauses } from '../support/noted-pauses.ts'
import { ALICE, BASE, usd } from '../support/test-wallet.ts'
import { type Call, type Fault, faultAt } from './faulty-ports.ts'
import { changesOf, createdBy, isCommit, isReadOf, scene } from './joint-world.ts'
import { checkMoney } from './money-invariants.ts'
import {
  ask,
  eventsOf,
  grantTokens,
  HOUR,
  LEASE,
  moneyWorld,
  type PreparedPayment,
  type Process,
  pay,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
  type World,
} from './money-world.ts'

const LIMIT = { debitAmount: usd('10') }

/** A payment of the whole limit, whose hold meets a fault each time it is asked for, up to `times`. */
async function payWithHold(fault: Fault, times: number, more: Parameters<typeof pay>[3] = {}) {
  const world = await moneyWorld()
  const prepared = await preparePayment(world, await grantTokens(world, LIMIT))
  const process = world.start()
  let count = 0
  process.ports.plan = ({ name }) => (name === 'hold' && count++ < times ? fault : undefined)
  const answer = await pay(world, process, prepared, more)
  return { world, prepared, process, answer }
}

async function listOutgoing(world: World, prepared: PreparedPayment) {
  const url = `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}`
  const listed = await world.wallet.send('GET', url, { token: prepared.token })
  expect(listed.status).toBe(200)
  return listed.body.result
}

it('OUT-6 the wallet is told who is paid for what with the hold, and who pays with the credit; what was settled is kept', async () => {
  const world = await moneyWorld()
  const prepared = await preparePayment(world, await grantTokens(world))
  const process = world.start()
  expect((await pay(world, process, prepared))?.status).toBe(201)
  const told = process.ports.calls.flatMap(({ name, arguments: [given] }) =>
    name === 'hold' || name === 'credit' ? [[name, Reflect.get(Object(given), 'counterparty')]] : [],
  )
  const incomingPayment = prepared.incomingId
  expect(told).toEqual([
    ['hold', { kind: 'local', account: 'bob', incomingPayment }],
    ['credit', { kind: 'local', account: 'alice', incomingPayment }],
  ])
  const decision = { action: 'settle', amount: 10n, fee: 0n }
  expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed', decision } }])
})

describe('a hold that the wallet refuses', () => {
  it.each(['not_allowed', 'account_closed'] as const)(
    'D15 answers 403 %s and leaves nothing behind',
    async (reason) => {
      const { world, prepared, answer } = await payWithHold({ refuse: reason }, 1)
      expect(answer).toMatchObject({ status: 403, body: { error: { code: reason } } })
      expect(await listOutgoing(world, prepared)).toEqual([])
      expect(await world.storage.all('spending')).toMatchObject([{ value: { debit: { value: 0n } } }])
      expect(await world.storage.all('quote')).toMatchObject([{ value: { state: 'open' } }])
      await recoverUntilQuiet(world)
      await checkMoney(world)
    },
  )

  it('D15 answers 403 insufficient_funds', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const prepared = await preparePayment(world, tokens, { amount: '100001', incoming: {} })
    const answer = await pay(world, world.start(), prepared)
    expect(answer).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_funds', description: 'insufficient funds' } },
    })
    await checkMoney(world)
  })

  it('D15 leaves a payment that nobody can see', async () => {
    const { world, prepared } = await payWithHold({ refuse: 'not_allowed' }, 1)
    const [tombstone] = await world.storage.all('outgoing-payment')
    expect(tombstone).toMatchObject({ value: { state: 'refused' } })
    const url = `${BASE}/outgoing-payments/${tombstone?.value.id}`
    expect((await world.wallet.send('GET', url, { token: prepared.token })).status).toBe(404)
    expect(world.told().some(({ type }) => type.startsWith('outgoing'))).toBe(false)
  })

  it('D15 T-37 leaves nothing of what the client added to it', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world), { amount: '100001', incoming: {} })
    const body = { ...(prepared.body as object), metadata: { note: 'x'.repeat(8000) } }
    expect(await pay(world, world.start(), { ...prepared, body })).toMatchObject({ status: 403 })
    const [tombstone] = await world.storage.all('outgoing-payment')
    expect(tombstone?.value.state).toBe('refused')
    expect(tombstone?.value).not.toHaveProperty('metadata')
  })

  it('D15 leaves quote and budget usable: the same quote pays with a new signature', async () => {
    const { world, prepared, process } = await payWithHold({ refuse: 'not_allowed' }, 1)
    world.wallet.clock.advance(1000)
    expect((await pay(world, process, prepared))?.status).toBe(201)
    await checkMoney(world)
    const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
    expect(states.sort()).toEqual(['completed', 'refused'])
  })

  it('QUO-6 D15 leaves its quote as it was: it expires then, and is known as expired for as long', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const [quote] = await world.storage.all('quote')
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    expect((await pay(world, world.start(), prepared))?.status).toBe(403)
    expect(await world.storage.all('quote')).toEqual([{ ...quote, version: 3 }])
  })

  it('SIG-24 keeps the replay claim: the identical request is refused', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world, LIMIT))
    const process = world.start()
    faultAt(process.ports, 1, { refuse: 'not_allowed' }, ({ name }) => name === 'hold')
    const request = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, prepared.token, prepared.body)
    expect((await ask(process, request))?.status).toBe(403)
    expect(await ask(process, request)).toMatchObject({ status: 401, body: { error: { code: 'invalid_signature' } } })
    expect(await world.storage.all('outgoing-payment')).toHaveLength(1)
    await checkMoney(world)
  })
})

describe('a hold that is not answered in time', () => {
  it('is answered 201 and visible, and goes on once the ledger says yes', async () => {
    const { world, prepared, answer } = await payWithHold('answers nobody', 1)
    expect(answer).toMatchObject({ status: 201, body: { failed: false, sentAmount: usd('0') } })
    expect(await listOutgoing(world, prepared)).toMatchObject([{ id: answer?.body.id, sentAmount: usd('10') }])
    await checkMoney(world)
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
  })

  it('is visible before its outcome is known', async () => {
    const { world, prepared, answer } = await payWithHold('hangs', 100)
    expect(answer?.status).toBe(201)
    expect(await listOutgoing(world, prepared)).toMatchObject([{ id: answer?.body.id, failed: false }])
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'created' } }])
    expect(world.wallet.events).toContainEqual(
      expect.objectContaining({ type: 'payment_stalled', state: 'created', attempts: 1 }),
    )
    await recoverUntilQuiet(world)
    await checkMoney(world)
  })

  it('is never released before it was asked for again', async () => {
    const { world, process } = await payWithHold('answers nobody', 100)
    expect(process.ports.calls.filter(({ port }) => port === 'ledger').map(({ name }) => name)).not.toContain('release')
    await recoverUntilQuiet(world)
    await checkMoney(world)
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
  })

  it.each([
    ['without a key', {}],
    ['under a key', keyed('k')],
  ])('ends failed and listed, its budget given back, once the ledger says no: %s', async (_, more) => {
    const { world, prepared, answer } = await payWithHold('hangs', 100, more)
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    await recoverUntilQuiet(world)
    expect(await listOutgoing(world, prepared)).toMatchObject([
      { id: answer?.body.id, failed: true, sentAmount: usd('0') },
    ])
    expect(await world.storage.all('spending')).toMatchObject([{ value: { debit: { value: 0n } } }])
    await checkMoney(world)
    const outgoingPayment = lastSegment(answer?.body.id ?? '')
    expect(world.told().filter((event) => 'outgoingPayment' in event)).toMatchObject([
      { type: 'outgoing_payment.created', outgoingPayment },
      { type: 'outgoing_payment.failed', outgoingPayment },
    ])
  })

  it('QUO-7 keeps its quote from backing another payment after it failed', async () => {
    const { world, prepared, process } = await payWithHold('hangs', 100)
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    await recoverUntilQuiet(world)
    await world.ledger.setPermissions('alice', { canSend: true, canReceive: true })
    const [quote] = await world.storage.all('quote')
    expect(quote?.value.state).toBe('used')
    process.ports.plan = () => undefined
    expect(quote?.value.expiresAt).toBeGreaterThan(world.wallet.clock.now())
    expect((await pay(world, process, prepared))?.body.error.code).toBe('invalid_quote')
  })

  it('pauses twice as long after each recovery without an answer', async () => {
    const { world, process } = await payWithHold('hangs', 1000)
    const pauses: number[] = []
    for (let round = 0; round < 10; round++) {
      const [record] = await world.storage.all('outgoing-payment')
      const pause = (record?.dueAt ?? 0) - world.wallet.clock.now()
      pauses.push(pause / 1000)
      world.wallet.clock.advance(pause)
      await process.openPayments.recover()
      await process.openPayments.drain()
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
  })
})

describe('a hold that outlasts the lease of its order, and is refused meanwhile', () => {
  it.each([
    ['OUT-5 without a key is answered 201, and that it has failed', {}, 'failed', 201, { failed: true }],
    ['OUT-12 under a key is answered 403', keyed('k'), 'refused', 403, { error: { code: 'not_allowed' } }],
  ])('%s', async (_, more, state, status, body) => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world, LIMIT))
    const process = world.start()
    const { open, opened } = gate()
    const isHold = ({ name }: Call): boolean => name === 'hold'
    // Neither the ledger answers, nor the storage what the order looks up then.
    process.ports.plan = () => (process.ports.calls.some(isHold) ? opened : undefined)
    const answer = pay(world, process, prepared, more)
    await expect.poll(() => process.ports.calls.some(isHold)).toBe(true)
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    world.wallet.clock.advance(LEASE)
    await world.wallet.openPayments.recover()
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state } }])
    open()
    expect(await answer).toMatchObject({ status, body })
    await checkMoney(world)
  })
})

describe('a hold that is refused in time, but written down only when another worker has done so', () => {
  it.each([
    ['OUT-9 LIM-2 gives the budget back once, and its host hears of it once', {}, 201, { failed: true }, 1],
    ['OUT-12 LIM-2 is answered so under a key', keyed('k'), 403, { error: { code: 'not_allowed' } }, 0],
  ])('%s', async (_, more, status, body, times) => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world, LIMIT))
    const process = world.start()
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    let recovered: Promise<number> | undefined
    process.ports.plan = async ({ name }) => {
      const isRefused = name !== 'hold' && process.ports.calls.some((call) => call.name === 'hold')
      if (!isRefused || recovered !== undefined) return undefined
      world.wallet.clock.advance(LEASE)
      recovered = world.wallet.openPayments.recover()
      await recovered
      return undefined
    }
    expect(await pay(world, process, prepared, more)).toMatchObject({ status, body })
    expect(await recovered).toBe(1)
    expect(await world.storage.all('spending')).toMatchObject([{ value: { debit: { value: 0n } } }])
    expect(world.told().filter(({ type }) => type === 'outgoing_payment.failed')).toHaveLength(times)
    await checkMoney(world)
  })
})

describe('room that is reserved together with the word that the money is held', () => {
  /** An order that waits at a call until another one of the same receiver has ended, in the process that gets both. */
  const orderBeside = async (
    at: 'hold' | 'credit',
    more: Parameters<typeof pay>[3],
    then: (call: Call) => Fault | undefined,
    fault?: Fault,
  ) => {
    const { world, process, order } = await scene()
    const [request, other] = [await order('10', more), await order('20')]
    process.ports.plan = async ({ name }) => {
      if (name !== at) return undefined
      process.ports.plan = () => undefined
      await ask(process, other)
      await expect.poll(() => eventsOf(world, 'outgoing_payment.completed').length).toBe(1)
      process.ports.plan = then
      return fault
    }
    const answer = await ask(process, request)
    await process.openPayments.drain()
    expect(answer?.status).toBe(201)
    expect(await world.storage.all('outgoing-payment')).toMatchObject([
      { isListed: true, value: { state: 'completed' } },
      { isListed: true, value: { state: 'completed' } },
    ])
    await checkMoney(world)
  }

  it.each([
    ['without a key', {}],
    ['under a key', keyed('k')],
  ])('is left to the delivery where the incoming payment cannot be read: %s', async (_, more) => {
    let reads = 0
    await orderBeside('hold', more, (call) =>
      isReadOf('incoming-payment', call) && reads++ === 0 ? 'throws' : undefined,
    )
    expect(reads).toBeGreaterThan(1)
  })

  it.each([
    ['INC-8 is taken', 'hold', undefined, ['read', 'commit', 'commit']],
    ['INC-6 is used', 'credit', undefined, ['read', 'commit']],
    ['INC-6 is used by a second try', 'credit', 'throws', ['read', 'commit']],
  ] as const)(
    '%s beside the payers of this process who came before its %s, without a conflict',
    async (_, at, fault, calls) => {
      const made: string[] = []
      await orderBeside(
        at,
        {},
        (call) => {
          if (isReadOf('incoming-payment', call)) made.push('read')
          if (isCommit(call) && changesOf(call).some(({ kind }) => kind === 'receipt')) made.push('commit')
          return undefined
        },
        fault,
      )
      expect(made).toEqual(calls)
    },
  )
})

it('INC-8 room is reserved together with that word only once: for a faster payer, no order waits', async () => {
  const { world, order } = await scene()
  const pauses: string[] = []
  const [process, faster] = [world.start({ clock: notedPauses(world.wallet.clock, pauses) }), world.start()]
  const reserves = (call: Call): boolean => changesOf(call).some(({ kind }) => kind === 'receipt')
  const isHeld = (call: Call): boolean => changesOf(call).some(({ kind }) => kind === 'outgoing-payment')
  const request = await order('20')
  process.ports.plan = async (call) => {
    if (!isCommit(call) || !reserves(call)) return undefined
    process.ports.plan = () => undefined
    await ask(faster, request)
    await faster.openPayments.drain()
    return undefined
  }
  expect((await ask(process, await order('10')))?.status).toBe(201)
  const commits = process.ports.calls.filter((call) => isCommit(call) && createdBy(call) === 0 && isHeld(call))
  expect(commits.slice(0, 2).map(reserves)).toEqual([true, false])
  expect(pauses).toEqual([])
  await process.openPayments.drain()
  await checkMoney(world)
})

describe('the repeat of an order under its key, in another process', () => {
  const isHold = ({ name }: Call): boolean => name === 'hold'

  /** A prepared payment, and the same order of it under one key for any process, a second later each time. */
  const repeatedOrder = async (amount = '10') => {
    const world = await moneyWorld()
    const from = 'incoming payment'
    const prepared = await preparePayment(world, await grantTokens(world), { from, incoming: {}, amount })
    const order = async (process: Process) => {
      world.wallet.clock.advance(1000)
      return pay(world, process, prepared, keyed('k'))
    }
    return { world, order, one: world.start(), other: world.start() }
  }

  it.each([
    ['not_allowed', '10', { canSend: false, canReceive: true }],
    ['account_closed', '10', { canSend: false, canReceive: false }],
    ['insufficient_funds', '100001', { canSend: true, canReceive: true }],
  ])('OUT-12 is refused with %s where the hold was before it could read the payment', async (code, amount, alice) => {
    const { world, order, one, other } = await repeatedOrder(amount)
    one.ports.plan = (call) => (isHold(call) ? 'crashes before' : undefined)
    expect(await order(one)).toBeUndefined()
    await world.ledger.setPermissions('alice', alice)
    const recover = (): Promise<number> => {
      world.wallet.clock.advance(LEASE)
      return world.wallet.openPayments.recover()
    }
    let recovered: Promise<number> | undefined
    other.ports.plan = async ({ name, arguments: [keys] }) => {
      if (name !== 'get' || !JSON.stringify(keys).includes('"outgoing-payment"')) return undefined
      recovered ??= recover()
      await recovered
      return undefined
    }
    expect(await order(other)).toMatchObject({ status: 403, body: { error: { code } } })
    expect(await recovered).toBe(1)
    expect(other.ports.calls.filter(isHold)).toEqual([])
    await checkMoney(world)
  })

  it('OUT-12 is answered while the outcome of the hold stays unknown, and asks for no other hold', async () => {
    const { order, one, other } = await repeatedOrder()
    one.ports.plan = (call) => (isHold(call) ? 'throws' : undefined)
    const first = await order(one)
    expect(await order(other)).toMatchObject({ status: 201, body: first?.body })
    expect(other.ports.calls.filter(isHold)).toEqual([])
  })

  it('OUT-12 makes nothing that is told of twice where neither hears of the hold', async () => {
    const { world, order, one, other } = await repeatedOrder()
    let second: Awaited<ReturnType<typeof order>>
    one.ports.plan = async (call) => {
      if (!isHold(call)) return undefined
      second ??= await order(other)
      return 'throws'
    }
    other.ports.plan = (call) => (isHold(call) ? 'throws' : undefined)
    const first = await order(one)
    expect([first, second]).toMatchObject([{ status: 201 }, { status: 201, body: first?.body }])
    await recoverUntilQuiet(world)
    expect(world.told().filter(({ type }) => type === 'outgoing_payment.created')).toHaveLength(1)
    await checkMoney(world)
  })

  it('OUT-12 is answered though an earlier order, whose 24 hours with the key are over, is refused at last', async () => {
    const { world, order, one, other } = await repeatedOrder()
    one.ports.plan = (call) => (isHold(call) ? 'crashes before' : undefined)
    expect(await order(one)).toBeUndefined()
    world.wallet.clock.advance(24 * HOUR)
    const second = await order(other)
    expect(second?.status).toBe(201)
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    await recoverUntilQuiet(world)
    expect((await world.storage.all('outgoing-payment')).map(({ value }) => value.state)).toEqual([
      'refused',
      'completed',
    ])
    await world.ledger.setPermissions('alice', { canSend: true, canReceive: true })
    expect(await order(other)).toMatchObject({ status: 201, body: second?.body })
    await checkMoney(world)
  })
})
