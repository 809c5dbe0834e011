import type { MoneyEvent, StoredRecord } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/records/change.ts'
import { gate } from '../support/gate.ts'
import { keyed } from '../support/keyed.ts'
import { randomNumbers } from '../support/random-numbers.ts'
import { BASE, usd, usdAmount } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import { type Call, type Fault, type FaultyPorts, faultAt } from './faulty-ports.ts'
import { changesOf, isCommit, isReadOf } from './joint-world.ts'
import { checkMoney } from './money-invariants.ts'
import {
  ask,
  eventsOf,
  grantTokens,
  LEASE,
  moneyWorld,
  orderCutOff,
  type PreparedPayment,
  type Process,
  pay,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
  type World,
} from './money-world.ts'

/** Payments whose process ended at a call of the ledger. */
async function interrupted(step: string, count: number): Promise<World> {
  const world = await moneyWorld()
  const tokens = await grantTokens(world)
  for (let index = 0; index < count; index++) {
    const process = world.start()
    faultAt(process.ports, 1, index % 2 === 0 ? 'crashes before' : 'crashes after', ({ name }) => name === step)
    await pay(world, process, await preparePayment(world, tokens))
  }
  world.wallet.clock.advance(LEASE)
  return world
}

/** Lets every call wait for a random number of turns, so that processes interleave. */
function shuffle(ports: FaultyPorts, random: () => number): void {
  ports.plan = async () => {
    await turns(Math.floor(random() * 4))
    return undefined
  }
}

describe('two processes that recover at once', () => {
  it.each(['hold', 'credit', 'settle'])('move payments that broke off at %s to one end', async (step) => {
    const world = await interrupted(step, 6)
    const processes = [world.start(), world.start()]
    for (const [index, { ports }] of processes.entries()) shuffle(ports, randomNumbers(index))
    const [one = 0, other = 0] = await Promise.all(processes.map(({ openPayments }) => openPayments.recover()))
    expect(one + other).toBeGreaterThanOrEqual(6)
    await recoverUntilQuiet(world)
    await checkMoney(world)
    const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
    expect(states).toEqual(Array.from({ length: 6 }, () => 'completed'))
  })

  it('claim each payment once', async () => {
    const world = await interrupted('credit', 4)
    const processes = [world.start(), world.start()]
    await Promise.all(processes.map(({ openPayments }) => openPayments.recover()))
    const credits = processes.flatMap(({ ports }) => ports.calls.filter(({ name }) => name === 'credit'))
    expect(credits).toHaveLength(4)
  })

  it('go on with the others where the claim of one is not answered', async () => {
    const world = await interrupted('credit', 3)
    const process = world.start()
    const [first] = await world.storage.due('outgoing-payment', world.wallet.clock.now(), 1)
    const isAboutFirst = (call: Call): boolean =>
      isCommit(call) && changesOf(call).some((change) => idOf(change) === first?.value.id)
    process.ports.plan = (call) => (isAboutFirst(call) ? 'throws' : undefined)
    expect(await process.openPayments.recover()).toBeGreaterThanOrEqual(2)
    const states = (await world.storage.all('outgoing-payment')).map(({ value }) => value.state)
    expect(states.sort()).toEqual(['completed', 'completed', 'sending'])
    await recoverUntilQuiet(world)
    await checkMoney(world)
  })

  it('take one up at once whose claim is answered when it is made again, alone', async () => {
    const world = await interrupted('credit', 3)
    const process = world.start()
    faultAt(process.ports, 1, 'throws', isCommit)
    expect(await process.openPayments.recover()).toBeGreaterThanOrEqual(3)
    expect((await world.storage.all('outgoing-payment')).map(({ value }) => value.state)).toEqual([
      'completed',
      'completed',
      'completed',
    ])
    await checkMoney(world)
  })
})

/** Lets a process sleep before one of its calls until it is woken. */
function sleepBefore(process: Process, concerns: (call: Call) => boolean) {
  const { open, opened } = gate()
  let isAsleep = false
  process.ports.plan = (call) => {
    if (!concerns(call)) return undefined
    isAsleep = true
    return opened
  }
  return { wake: open, isAsleep: () => isAsleep }
}

/** Reads of the incoming payment once the money is held. */
function readsReceiverOfHeld({ ports }: Process): (call: Call) => boolean {
  return (call) => ports.calls.some(({ name }) => name === 'hold') && isReadOf('incoming-payment', call)
}

describe('a worker whose lease lapsed', () => {
  it.each(['hold', 'credit', 'settle', 'commit'] as const)('wakes up late in %s and changes nothing', async (step) => {
    for (let index = 1; index <= (step === 'commit' ? 5 : 1); index++) {
      const world = await moneyWorld()
      const prepared = await preparePayment(world, await grantTokens(world))
      const late = world.start()
      let count = 0
      const sleep = sleepBefore(late, ({ name }) => name === step && ++count === index)
      const paid = pay(world, late, prepared)
      await expect.poll(sleep.isAsleep).toBe(true)
      world.wallet.clock.advance(LEASE)
      const before = await lastState(world)
      await world.wallet.openPayments.recover()
      // Before the first commit there is nothing to recover yet.
      expect(await lastState(world)).toBe(before === undefined ? undefined : 'completed')
      sleep.wake()
      // A commit that slept past its deadline is answered "not known": the payment is there all the same.
      expect(step === 'commit' ? [201, 503] : [201]).toContain((await paid)?.status)
      await late.openPayments.drain()
      await recoverUntilQuiet(world)
      await checkMoney(world)
      expect(await lastState(world)).toBe('completed')
    }
  })

  it('credits nothing once another process has given the payment up', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const prepared = await preparePayment(world, tokens)
    const late = world.start()
    const sleep = sleepBefore(late, (call) => isCommit(call) && changesOf(call).some(({ kind }) => kind === 'receipt'))
    const paid = pay(world, late, prepared)
    await expect.poll(sleep.isAsleep).toBe(true)
    world.wallet.clock.advance(LEASE)
    await world.wallet.send('POST', `${prepared.incomingUrl}/complete`, { token: tokens.receiving })
    await recoverUntilQuiet(world)
    expect(await lastState(world)).toBe('failed')
    sleep.wake()
    expect((await paid)?.status).toBe(201)
    expect(late.ports.calls.map(({ name }) => name)).not.toContain('credit')
    await recoverUntilQuiet(world)
    await checkMoney(world, { completedByCall: [prepared.incomingId] })
  })

  it.each([
    ['given the payment up', true, 'failed'],
    ['paid', false, 'completed'],
  ])(
    'asks for no credit where another process has %s before it could reserve room',
    async (_what, isGivenUp, state) => {
      const world = await moneyWorld()
      const tokens = await grantTokens(world)
      const prepared = await preparePayment(world, tokens)
      await orderCutOff(world, prepared, 'k')
      const late = world.start()
      const isRead = readsReceiverOfHeld(late)
      const sleep = sleepBefore(late, isRead)
      const { plan } = late.ports
      let reads = 0
      // The first read spares the delivery one of its own, and fails: so the delivery reads, and sleeps.
      late.ports.plan = (call) => (isRead(call) && reads++ === 0 ? 'throws' : plan(call))
      const paid = pay(world, late, prepared, keyed('k'))
      await expect.poll(sleep.isAsleep).toBe(true)
      expect(await lastState(world)).toBe('sending')
      world.wallet.clock.advance(LEASE)
      if (isGivenUp) await world.wallet.send('POST', `${prepared.incomingUrl}/complete`, { token: tokens.receiving })
      await recoverUntilQuiet(world)
      expect(await lastState(world)).toBe(state)
      sleep.wake()
      expect((await paid)?.status).toBe(201)
      expect(late.ports.calls.map(({ name }) => name)).not.toContain('credit')
      await recoverUntilQuiet(world)
      await checkMoney(world, { completedByCall: isGivenUp ? [prepared.incomingId] : [] })
    },
  )

  it('gets the refusal of a credit that another process got', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    await world.ledger.setPermissions('bob', { canSend: false, canReceive: false })
    const late = world.start()
    const sleep = sleepBefore(late, ({ name }) => name === 'credit')
    const paid = pay(world, late, prepared)
    await expect.poll(sleep.isAsleep).toBe(true)
    world.wallet.clock.advance(LEASE)
    await world.wallet.openPayments.recover()
    expect(await lastState(world)).toBe('failed')
    await world.ledger.setPermissions('bob', { canSend: true, canReceive: true })
    sleep.wake()
    await paid
    await recoverUntilQuiet(world)
    await checkMoney(world)
    expect(await world.ledger.balance('bob')).toMatchObject({ total: 0n })
  })

  /** Wakes a process up once another one has moved its payment to this end. */
  async function wakeAtEnd(world: World, { isAsleep, wake }: ReturnType<typeof sleepBefore>, state: string) {
    await expect.poll(isAsleep).toBe(true)
    world.wallet.clock.advance(LEASE)
    await recoverUntilQuiet(world)
    expect(await lastState(world)).toBe(state)
    wake()
  }

  it('tells of no payment that it stalls where another process has moved that on', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const late = world.start()
    const tries = (): number => late.ports.calls.filter(({ name }) => name === 'credit').length
    const sleep = sleepBefore(late, (call) => tries() === 3 && writesPayment(call))
    const { plan } = late.ports
    late.ports.plan = (call) => (call.name === 'credit' ? 'throws' : plan(call))
    const paid = pay(world, late, prepared)
    await wakeAtEnd(world, sleep, 'completed')
    expect((await paid)?.status).toBe(201)
    expect(eventsOf(world, 'payment_stalled')).toEqual([])
    await checkMoney(world)
  })

  it('stops at once where another process has the payment, and is not done with it either', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const [late, other] = [world.start(), world.start()]
    const isCredit = ({ name }: Call): boolean => name === 'credit'
    const [sleep, otherSleep] = [sleepBefore(late, isCredit), sleepBefore(other, isCredit)]
    const paid = pay(world, late, prepared)
    await expect.poll(sleep.isAsleep).toBe(true)
    world.wallet.clock.advance(LEASE)
    const recovered = other.openPayments.recover()
    await expect.poll(otherSleep.isAsleep).toBe(true)
    const calls = late.ports.calls.length
    sleep.wake()
    expect((await paid)?.status).toBe(201)
    expect(late.ports.calls.slice(calls).filter(writesPayment)).toHaveLength(1)
    expect(eventsOf(world, 'fault').map(({ message }) => message)).toEqual(['the ledger did not answer in time'])
    otherSleep.wake()
    await recovered
    expect(await lastState(world)).toBe('completed')
    await checkMoney(world)
  })

  it('INC-6 counts no credit again where its payment was put back by hand to what it has read', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const late = world.start()
    const sleep = sleepBefore(late, ({ name }) => name === 'credit')
    const paid = pay(world, late, prepared)
    await expect.poll(sleep.isAsleep).toBe(true)
    const [read] = await world.storage.all('outgoing-payment')
    world.wallet.clock.advance(LEASE)
    await world.wallet.openPayments.recover()
    await putBack(world, read)
    sleep.wake()
    expect((await paid)?.status).toBe(201)
    expect(eventsOf(world, 'fault').at(-1)?.cause).toEqual(
      new Error('the payment is older than its receipt, which has ended'),
    )
    const [incoming] = await world.storage.all('incoming-payment')
    expect(incoming?.value).toMatchObject({ state: 'completed', received: { value: 10n } })
  })

  it('stops where another process has written the end that it wants to write', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    await world.ledger.setPermissions('bob', { canSend: false, canReceive: false })
    const late = world.start()
    const isReleased = (): boolean => late.ports.calls.some(({ name }) => name === 'release')
    let ends = 0
    const sleep = sleepBefore(late, (call) => isReleased() && writesPayment(call) && ++ends > 0)
    const paid = pay(world, late, prepared)
    await wakeAtEnd(world, sleep, 'failed')
    expect((await paid)?.status).toBe(201)
    expect(ends).toBe(1)
    expect(eventsOf(world, 'fault')).toEqual([])
    await checkMoney(world)
  })
})

const writesPayment = (call: Call): boolean =>
  isCommit(call) && changesOf(call).some(({ kind }) => kind === 'outgoing-payment')

/** Puts a payment back, and its version with it. */
async function putBack({ storage }: World, read: StoredRecord<'outgoing-payment'> | undefined): Promise<void> {
  const [current] = await storage.all('outgoing-payment')
  if (read === undefined || current === undefined) throw new Error('there is no payment')
  const { kind, version } = current
  await storage.commit([{ action: 'delete', kind, id: current.value.id, version }])
  await storage.commit([{ ...read, action: 'insert' }])
  for (let at = 1; at < read.version; at++) await storage.commit([{ ...read, action: 'replace', version: at }])
}

async function lastState(world: World): Promise<string | undefined> {
  return (await world.storage.all('outgoing-payment'))[0]?.value.state
}

describe('payments that race', () => {
  it('T-27 back one payment with one quote, however many requests name it', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const processes = [world.start(), world.start(), world.start()]
    for (const [index, { ports }] of processes.entries()) shuffle(ports, randomNumbers(index + 10))
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const process = processes[index % 3] as Process
        world.wallet.clock.advance(1000)
        const request = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, prepared.token, prepared.body)
        return (await ask(process, request))?.status
      }),
    )
    expect(answers.filter((status) => status === 201)).toHaveLength(1)
    expect(new Set(answers)).toEqual(new Set([201, 400]))
    await Promise.all(processes.map(({ openPayments }) => openPayments.drain()))
    await checkMoney(world)
  })

  it('T-28 never spend more than the limit of their grant', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world, { debitAmount: usd('100') })
    const processes = [world.start(), world.start(), world.start()]
    for (const [index, { ports }] of processes.entries()) shuffle(ports, randomNumbers(index + 20))
    const prepared: PreparedPayment[] = []
    while (prepared.length < 15) prepared.push(await preparePayment(world, tokens))
    const answers = await Promise.all(
      prepared.map(async (one, index) => (await pay(world, processes[index % 3] as Process, one))?.status),
    )
    expect(answers.filter((status) => status === 201)).toHaveLength(10)
    expect(answers.filter((status) => status === 403)).toHaveLength(5)
    await checkMoney(world)
  })

  it('T-30 never overfill an incoming payment, and complete it once', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const first = await preparePayment(world, tokens, { incoming: { incomingAmount: usd('35') } })
    const prepared = [first]
    while (prepared.length < 6) prepared.push(await preparePayment(world, tokens, { receiver: first.incomingUrl }))
    const processes = [world.start(), world.start(), world.start()]
    for (const [index, { ports }] of processes.entries()) shuffle(ports, randomNumbers(index + 30))
    const answers = await Promise.all(
      prepared.map(async (one, index) => pay(world, processes[index % 3] as Process, one)),
    )
    expect(answers.map((answer) => answer?.status)).toContain(201)
    await recoverUntilQuiet(world)
    await checkMoney(world)
    expect(await world.ledger.balance('bob')).toMatchObject({ total: 30n })
    const { incomingPayments } = world.wallet.openPayments
    const rest = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        incomingPayments.received(first.incomingId, usdAmount(2n), `transfer ${index}`),
      ),
    )
    expect(rest.filter((one) => one.ok).reduce((sum, one) => sum + (one.ok ? one.accepted : 0n), 0n)).toBe(5n)
    const told = world.told().filter(({ type }: MoneyEvent) => type === 'incoming_payment.completed')
    expect(told).toHaveLength(1)
  })
})

describe('a simulation of processes that fail, crash, sleep and start again', () => {
  const FAULTS: readonly Fault[] = ['throws', 'loses the reply', 'crashes before', 'crashes after']
  const SILENCE: readonly Fault[] = ['hangs', 'answers nobody', 'conflicts']

  it.each(Array.from({ length: 15 }, (_, seed) => seed + 1))('ends with every invariant, seed %i', async (seed) => {
    const random = randomNumbers(seed)
    const choose = <T>(choices: readonly T[]): T | undefined => choices[Math.floor(random() * choices.length)]
    const world = await moneyWorld()
    const tokens = await grantTokens(world, { debitAmount: usd('80') })
    const shared = await preparePayment(world, tokens, { incoming: { incomingAmount: usd('25') } })
    const prepared = [shared]
    while (prepared.length < 9) {
      const options = prepared.length % 3 === 0 ? { receiver: shared.incomingUrl } : {}
      prepared.push(await preparePayment(world, tokens, options))
    }
    const newProcess = (): Process => {
      const process = world.start()
      process.ports.plan = async ({ port }) => {
        await turns(Math.floor(random() * 4))
        // Now and then a call takes longer than any lease: whoever waits for it wakes up late.
        if (random() < 0.03) {
          world.wallet.clock.advance(LEASE)
          await turns(60)
        }
        if (random() < 0.03) return choose(FAULTS)
        return port === 'ledger' && random() < 0.1 ? choose(SILENCE) : undefined
      }
      return process
    }
    const live = async (lane: number): Promise<void> => {
      let process = newProcess()
      for (const one of prepared.filter((_one, index) => index % 3 === lane)) {
        const answer = await pay(world, process, one)
        if (answer !== undefined) expect([201, 400, 403, 500, 503]).toContain(answer.status)
        else process = newProcess()
        const recovered = process.openPayments.recover().catch(() => undefined)
        await Promise.race([recovered, process.ports.crashed.then(() => (process = newProcess()))])
      }
    }
    await Promise.all([live(0), live(1), live(2)])
    await recoverUntilQuiet(world)
    await checkMoney(world)
  })
})
