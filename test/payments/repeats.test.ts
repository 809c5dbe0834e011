import type { HttpRequest, RecordTypes } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { keyed } from '../support/keyed.ts'
import { ALICE, BASE, usd } from '../support/test-wallet.ts'
import { type Call, type Fault, faultAt } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  ask,
  grantTokens,
  moneyWorld,
  type PreparedPayment,
  type Process,
  pay,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
  type Tokens,
  type World,
} from './money-world.ts'

const CRASHES: readonly Fault[] = ['crashes before', 'crashes after']
const FAULTS: readonly Fault[] = ['throws', 'loses the reply', ...CRASHES]
const SILENCE: readonly Fault[] = ['hangs', 'answers nobody', 'conflicts']

/** A payment without a quote: nothing but its key keeps it from being made twice. */
const prepare = (world: World, tokens: Tokens): Promise<PreparedPayment> =>
  preparePayment(world, tokens, { from: 'incoming payment', incoming: {} })

async function paymentsTo(
  world: World,
  { incomingId }: PreparedPayment,
): Promise<readonly RecordTypes['outgoing-payment'][]> {
  const all = (await world.storage.all('outgoing-payment')).map(({ value }) => value)
  return all.filter((payment) => payment.incomingPaymentId === incomingId)
}

/** The payment of a key in a quiet world: made once, and what the key leads to. */
async function expectOnce(world: World, prepared: PreparedPayment, id: string | undefined): Promise<void> {
  const made = (await paymentsTo(world, prepared)).filter(({ state }) => state !== 'refused')
  expect(made.map((payment) => `${BASE}/outgoing-payments/${payment.id}`)).toEqual([id])
  expect(made[0]?.state).toBe('completed')
  const kept = (await world.storage.all('idempotency-key')).map(({ value }) => value.resourceId)
  expect(kept).toContain(made[0]?.id)
}

describe('an order with a quote whose answer was lost', () => {
  it('T-32 is told which payment used the quote when it is given again, before any recovery', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const prepared = await preparePayment(world, tokens)
    const process = world.start()
    faultAt(process.ports, 1, 'crashes after', ({ name }) => name === 'hold')
    expect(await pay(world, process, prepared)).toBeUndefined()
    const [payment] = await world.storage.all('outgoing-payment')
    expect(payment).toMatchObject({ value: { state: 'created' } })
    expect(payment?.isListed).not.toBe(true)
    const outgoingPayment = `${BASE}/outgoing-payments/${payment?.value.id}`
    world.wallet.clock.advance(1000)
    const again = await pay(world, world.start(), prepared)
    expect(again).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_quote', details: { reason: 'the quote is used', outgoingPayment } } },
    })
    const read = () => world.wallet.send('GET', outgoingPayment, { token: tokens.spending })
    expect((await read()).status).toBe(200)
    await recoverUntilQuiet(world)
    world.wallet.clock.advance(1000)
    expect((await read()).body).toMatchObject({ failed: false, sentAmount: { value: '10' } })
    await checkMoney(world)
  })
})

describe('one fault at any call of a payment, then a repeat under its key', () => {
  it.each([
    ['before recovery', FAULTS],
    ['after recovery', CRASHES],
    ['before recovery', SILENCE],
  ] as const)('OUT-12 makes one payment, and answers it: repeat %s', async (when, faults) => {
    let runs = 0
    for (const fault of faults) {
      const world = await moneyWorld()
      const tokens = await grantTokens(world)
      for (let index = 1; ; index++) {
        const prepared = await prepare(world, tokens)
        const key = keyed(`key-${index}`)
        const process = world.start()
        const concerns = faults === SILENCE ? ({ port }: Call) => port === 'ledger' : () => true
        const { reached } = faultAt(process.ports, index, fault, concerns)
        const first = await pay(world, process, prepared, key)
        if (when === 'after recovery') await recoverUntilQuiet(world)
        world.wallet.clock.advance(1000)
        const again = await pay(world, world.start(), prepared, key)
        expect(again?.status).toBe(201)
        if (first?.status === 201) expect(again?.body).toEqual(first.body)
        await recoverUntilQuiet(world)
        await expectOnce(world, prepared, again?.body.id)
        if (reached() === undefined) break
        runs++
      }
      await checkMoney(world)
    }
    // Four calls of the ledger; 13 of all ports. A loop that breaks off early meets fewer.
    expect(runs).toBeGreaterThanOrEqual(faults.length * (faults === SILENCE ? 4 : 13))
  })

  it('OUT-12 makes one payment wherever the repeat breaks off in its turn', async () => {
    let runs = 0
    for (const [order, fault] of FAULTS.entries()) {
      const world = await moneyWorld()
      const tokens = await grantTokens(world)
      for (let index = 1; ; index++) {
        const prepared = await prepare(world, tokens)
        const key = keyed(`key-${index}`)
        const first = world.start()
        faultAt(first.ports, 1, CRASHES[order % 2] ?? 'crashes after', ({ name }) => name === 'hold')
        await pay(world, first, prepared, key)
        world.wallet.clock.advance(1000)
        const second = world.start()
        const { reached } = faultAt(second.ports, index, fault)
        const repeat = await pay(world, second, prepared, key)
        if (repeat !== undefined) expect(repeat.status === 201 || repeat.status >= 500).toBe(true)
        world.wallet.clock.advance(1000)
        const third = await pay(world, world.start(), prepared, key)
        await recoverUntilQuiet(world)
        await expectOnce(world, prepared, third?.body.id)
        if (reached() === undefined) break
        runs++
      }
      await checkMoney(world)
    }
    // 15 calls of the repeat that goes on from the hold, with four faults each; less one or two, as above.
    expect(runs).toBeGreaterThanOrEqual(4 * 13)
  })

  it('OUT-12 leaves nothing behind where the hold is refused, and what comes later is a payment of its own', async () => {
    for (const fault of FAULTS) {
      const world = await moneyWorld()
      const tokens = await grantTokens(world)
      for (let index = 1; ; index++) {
        const prepared = await prepare(world, tokens)
        const key = keyed(`key-${index}`)
        await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
        const process = world.start()
        const { reached } = faultAt(process.ports, index, fault)
        const first = await pay(world, process, prepared, key)
        world.wallet.clock.advance(1000)
        const again = await pay(world, world.start(), prepared, key)
        // Either the refusal was heard and undone, or the payment is there and fails.
        expect([201, 403]).toContain(again?.status)
        if (first?.status === 201) expect(again?.body).toEqual(first.body)
        await recoverUntilQuiet(world)
        await world.ledger.setPermissions('alice', { canSend: true, canReceive: true })
        world.wallet.clock.advance(1000)
        const later = await pay(world, world.start(), prepared, key)
        if (again?.status === 403) expect(later).toMatchObject({ status: 201, body: { failed: false } })
        else expect(later?.body).toEqual(again?.body)
        await recoverUntilQuiet(world)
        const states = (await paymentsTo(world, prepared)).map(({ state }) => state).filter((one) => one !== 'refused')
        expect(states).toEqual([again?.status === 403 ? 'completed' : 'failed'])
        if (reached() === undefined) break
      }
      await checkMoney(world)
    }
  })
})

async function request(world: World, { token, body }: PreparedPayment): Promise<HttpRequest> {
  world.wallet.clock.advance(1000)
  return signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, body, keyed('k'))
}

/** Lets a process wait before its first call that is so, until it is woken; that call and all like it may meet a fault. */
function waitBefore(process: Process, concerns: (call: Call) => boolean, fault?: Fault) {
  const { open, opened } = gate()
  let isWaiting = false
  process.ports.plan = async (call) => {
    if (!concerns(call)) return undefined
    if (isWaiting) return fault
    isWaiting = true
    await opened
    return fault
  }
  return { wake: open, isWaiting: () => isWaiting }
}

const isHold = ({ name }: Call): boolean => name === 'hold'
const readsPayment = ({ name, arguments: [keys] }: Call): boolean =>
  name === 'get' && (keys as { kind: string }[])[0]?.kind === 'outgoing-payment'

describe('a repeat while the first request is in flight', () => {
  const inFlight = async (concerns = isHold, fault?: Fault) => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const [one, other] = [world.start(), world.start()]
    const waiting = waitBefore(one, concerns, fault)
    const first = ask(one, await request(world, prepared))
    await expect.poll(waiting.isWaiting).toBe(true)
    return { world, prepared, one, other, waiting, first }
  }

  it('OUT-12 resumes the same payment, and both get the same answer', async () => {
    const { world, prepared, one, other, waiting, first } = await inFlight()
    const again = await ask(other, await request(world, prepared))
    expect(again?.status).toBe(201)
    await other.openPayments.drain()
    expect(await paymentsTo(world, prepared)).toMatchObject([{ state: 'completed' }])
    waiting.wake()
    expect((await first)?.body).toEqual(again?.body)
    await one.openPayments.drain()
    const holds = [...one.ports.calls, ...other.ports.calls].filter(isHold).map(({ arguments: [hold] }) => hold)
    expect(holds).toHaveLength(2)
    expect(holds[0]).toEqual(holds[1])
    await checkMoney(world)
  })

  it.each(['incoming-payment', 'spending'])(
    'OUT-12 answers a request that finds its %s taken by its own repeat, as that was answered',
    async (kind) => {
      let looked = 0
      const reads = ({ name, arguments: [keys] }: Call): boolean => {
        if (name !== 'get') return false
        const first = (keys as { kind: string }[])[0]?.kind
        if (first === 'idempotency-key') looked++
        return looked > 0 && first === kind
      }
      const { world, prepared, other, waiting, first } = await inFlight(reads)
      const again = await ask(other, await request(world, prepared))
      expect(again?.status).toBe(201)
      waiting.wake()
      expect(await first).toMatchObject({ status: 201, body: again?.body })
      await recoverUntilQuiet(world)
      expect(await paymentsTo(world, prepared)).toMatchObject([{ state: 'completed' }])
      await checkMoney(world)
    },
  )

  it('OUT-12 D15 hears of a refusal that recovery has heard, where nobody was told that the payment was created', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const first = world.start()
    faultAt(first.ports, 1, 'crashes before', isHold)
    expect(await ask(first, await request(world, prepared))).toBeUndefined()
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    await recoverUntilQuiet(world)
    expect(await paymentsTo(world, prepared)).toMatchObject([{ state: 'refused' }])
    expect(await world.storage.all('idempotency-key')).toEqual([])
    const again = await ask(world.start(), await request(world, prepared))
    expect(again).toMatchObject({ status: 403, body: { error: { code: 'not_allowed' } } })
    await world.ledger.setPermissions('alice', { canSend: true, canReceive: true })
    expect(await ask(world.start(), await request(world, prepared))).toMatchObject({ status: 201 })
    await recoverUntilQuiet(world)
    await checkMoney(world)
  })

  it('OUT-12 SIG-24 uses its signature up where it is answered 409, so that nobody pays with it once the key is free', async () => {
    const { world, prepared, other, waiting, first } = await inFlight()
    world.wallet.clock.advance(1000)
    const body = { ...Object(prepared.body), metadata: { another: true } }
    const conflicting = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, prepared.token, body, keyed('k'))
    expect(await ask(other, conflicting)).toMatchObject({ status: 409 })
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    waiting.wake()
    expect(await first).toMatchObject({ status: 403 })
    await world.ledger.setPermissions('alice', { canSend: true, canReceive: true })
    expect(await ask(other, conflicting)).toMatchObject({ status: 401, body: { error: { code: 'invalid_signature' } } })
    await checkMoney(world)
  })

  it('OUT-12 gets the same refusal; the key and the quote are free, the signatures are not', async () => {
    const { world, prepared, other, waiting, first } = await inFlight()
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    const repeat = await request(world, prepared)
    const again = await ask(other, repeat)
    waiting.wake()
    for (const answer of [await first, again])
      expect(answer).toMatchObject({ status: 403, body: { error: { code: 'not_allowed' } } })
    expect(await world.storage.all('idempotency-key')).toEqual([])
    await checkMoney(world)
    await world.ledger.setPermissions('alice', { canSend: true, canReceive: true })
    expect(await ask(other, repeat)).toMatchObject({ status: 401, body: { error: { code: 'invalid_signature' } } })
    expect((await ask(other, await request(world, prepared)))?.status).toBe(201)
    await other.openPayments.drain()
    await checkMoney(world)
  })

  it('OUT-12 gets the same refusal where the first one is refused while the repeat reads', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    const [one, other] = [world.start(), world.start()]
    const holding = waitBefore(one, isHold)
    const first = ask(one, await request(world, prepared))
    await expect.poll(holding.isWaiting).toBe(true)
    const reading = waitBefore(other, readsPayment)
    const second = ask(other, await request(world, prepared))
    await expect.poll(reading.isWaiting).toBe(true)
    holding.wake()
    expect((await first)?.body.error.code).toBe('not_allowed')
    reading.wake()
    expect(await second).toMatchObject({ status: 403, body: { error: { code: 'not_allowed' } } })
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'refused' } }])
    await checkMoney(world)
  })

  it('OUT-12 and the first request are refused alike where only the repeat hears of it', async () => {
    const { world, prepared, other, waiting, first } = await inFlight(isHold, 'hangs')
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    expect((await ask(other, await request(world, prepared)))?.status).toBe(403)
    waiting.wake()
    expect(await first).toMatchObject({ status: 403, body: { error: { code: 'not_allowed' } } })
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'refused' } }])
    await checkMoney(world)
  })

  it('OUT-12 gets 201 where its hold is refused after the first request was answered 201', async () => {
    const { world, prepared, one, other, waiting, first } = await inFlight(isHold, 'throws')
    const repeating = waitBefore(other, isHold)
    const again = ask(other, await request(world, prepared))
    await expect.poll(repeating.isWaiting).toBe(true)
    waiting.wake()
    expect((await first)?.status).toBe(201)
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    repeating.wake()
    expect(await again).toMatchObject({ status: 201, body: (await first)?.body })
    await Promise.all([one, other].map(({ openPayments }) => openPayments.drain()))
    await recoverUntilQuiet(world)
    expect(await paymentsTo(world, prepared)).toMatchObject([{ state: 'failed' }])
    await checkMoney(world)
    const third = await ask(other, await request(world, prepared))
    expect(third).toMatchObject({ status: 201, body: { failed: false } })
    const url = `${BASE}/outgoing-payments?wallet-address=${ALICE}`
    const listed = await world.wallet.send('GET', url, { token: prepared.token })
    expect(listed.body.result).toMatchObject([{ id: third?.body.id, failed: true, sentAmount: usd('0') }])
  })

  it.each(['held', 'refused', 'held, byte for byte the same'])(
    'OUT-12 meets others of four processes in many orders, all answered alike: %s',
    async (end) => {
      for (let seed = 1; seed <= 10; seed++) {
        const world = await moneyWorld()
        const prepared = await preparePayment(world, await grantTokens(world))
        if (end === 'refused') await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
        const same = end.endsWith('same') ? await request(world, prepared) : undefined
        const answers = await Promise.all(
          [3, 5, 7, 11].map(async (step, order) => {
            const process = world.start()
            let calls = order
            process.ports.plan = async () => {
              for (let left = (seed * step + calls++ * seed) % 5; left > 0; left--) await new Promise(setImmediate)
              return undefined
            }
            const answer = await ask(process, same ?? (await request(world, prepared)))
            await process.openPayments.drain()
            return answer
          }),
        )
        expect(new Set(answers.map((answer) => JSON.stringify([answer?.status, answer?.body]))).size, `${seed}`).toBe(1)
        expect(answers[0]?.status).toBe(end === 'refused' ? 403 : 201)
        await recoverUntilQuiet(world)
        const states = (await paymentsTo(world, prepared)).map(({ state }) => state)
        expect(states.filter((state) => state !== 'refused')).toEqual(end === 'refused' ? [] : ['completed'])
        await checkMoney(world)
      }
    },
  )

  it('OUT-12 is answered while the outcome of the hold stays unknown, and asks for no other one', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    process.ports.plan = ({ name }) => (name === 'hold' ? 'hangs' : undefined)
    const first = await ask(process, await request(world, prepared))
    await process.openPayments.drain()
    const held = process.ports.calls.filter(isHold).length
    const again = await ask(process, await request(world, prepared))
    expect(again).toMatchObject({ status: 201, body: first?.body })
    expect(process.ports.calls.filter(isHold)).toHaveLength(held)
    await recoverUntilQuiet(world)
    await checkMoney(world)
  })
})
