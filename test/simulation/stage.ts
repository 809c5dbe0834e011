import type { Change, RecordTypes } from 'open-payments-server'
import { ALICE, BOB } from '../support/test-wallet.ts'
import { checkEnd } from './check-end.ts'
import type { Answer } from './exchange.ts'
import type { Granted } from './grants.ts'
import { newOrder, type Order, place } from './orders.ts'
import type { Fate } from './ports.ts'
import type { Prepared } from './prepare.ts'
import { endRails } from './rail-users.ts'
import { recoverAll } from './run.ts'
import type { Call, KeptBack, Task } from './scheduler.ts'
import { CALM, type Shape } from './shape.ts'
import { createWorld, type SimulatedProcess, type World, type WorldOptions } from './world.ts'

const STEPS = 20_000

/** A world in which a test says what happens when. What it leaves open happens in an order of its own, the same each time. */
export interface Stage {
  readonly world: World
  /** Every call of a port since the start, in order. */
  readonly calls: readonly Call[]
  /** Decides what becomes of a call; whoever sets it sees each call once. */
  plan: ((call: Call) => Fate | undefined) | undefined
  start(): SimulatedProcess
  /** Lets everything happen that is not kept back, until nothing is left. */
  runOut(): Promise<void>
  /** The same until there is a result: `undefined` where it does not come. */
  until<T>(result: Promise<T>): Promise<T | undefined>
  /** The same until so many calls were made. */
  untilCalled(isMeant: (call: Call) => boolean, count?: number): Promise<void>
  /** The same until something is kept back. */
  untilKept(kept: KeptBack): Promise<void>
  /** Keeps calls of a process from taking effect, or from being answered. */
  keepBack(process: SimulatedProcess, what: Task['what'], isKept: (call: Call) => boolean): KeptBack
  /** A payee's incoming payment. */
  incoming(members?: Readonly<Record<string, unknown>>): Promise<string>
  quote(receiver: string, value: number): Promise<string>
  order(asked: Asking): Order
  place(order: Order, via: SimulatedProcess): Promise<Answer | undefined>
  /** Sends the last request of an order once more, byte for byte. */
  replay(order: Order, via: SimulatedProcess): Promise<Answer | undefined>
  /** A prepared grant of Alice's, as its client knows it. */
  grant(index?: number): Granted
  /** The grant of whoever made the incoming payments. */
  receiving(): Granted
  payments(): readonly RecordTypes['outgoing-payment'][]
  expect(isTrue: boolean, text: string): void
  /** Recovers everything, and answers what was found in the end. */
  end(): Promise<readonly string[]>
}

export interface Asking {
  readonly receiver: string
  /** Instead of an amount: a quote. */
  readonly quote?: string
  readonly value?: number
  readonly key?: string
  /** Which of the prepared grants. */
  readonly grant?: number
  /** Whether its signature has a nonce. */
  readonly isUnique?: boolean
}

/** A little longer than a lease. */
export const LEASE = 31_000

/** What an account of the ledger may do. */
export const OPEN = { canSend: true, canReceive: true } as const
export const CLOSED = { canSend: false, canReceive: false } as const

export const usd = (value: number) => ({ value: String(value), assetCode: 'USD', assetScale: 2 })

/** Sets a stage with the grants that were prepared; `shape` says where it is not calm. */
export function setStage(
  prepared: Prepared,
  options: Pick<WorldOptions, 'createOpenPayments' | 'keys' | 'isTraced' | 'alterLedger'>,
  shape: Partial<Shape> = {},
): Stage {
  const world = createWorld({
    seed: 1,
    shape: { ...CALM, ...shape },
    records: prepared.records,
    heard: prepared.heard,
    ...options,
  })
  const calls: Call[] = []
  const orders: Order[] = []
  world.plan = (call) => {
    calls.push(call)
    return stage.plan?.(call)
  }
  const runOut = async (isEnough: () => boolean = () => false): Promise<void> => {
    for (let step = 0; !isEnough() && (await world.scheduler.step()); step++)
      if (step > STEPS) return world.violate('the scenario does not come to an end')
  }
  const until = async <T>(result: Promise<T>): Promise<T | undefined> => {
    let settled: { readonly value: T } | undefined
    result.then((value) => {
      settled = { value }
    })
    await runOut(() => settled !== undefined)
    return settled?.value
  }
  const alices = (index: number): Granted => prepared.spending[index] as Granted
  const create = async (kind: 'incoming-payment' | 'quote', granted: Granted, json: object): Promise<string> => {
    const { client, token } = granted
    const order = newOrder(world, orders.length, kind, { client, token: token.value, json })
    orders.push(order)
    const answer = await until(place(world, order))
    if (answer?.status !== 201) throw new Error(`a scenario could not make its ${kind}: ${answer?.text}`)
    await runOut()
    return answer.body.id
  }
  const stage: Stage = {
    world,
    calls,
    plan: undefined,
    start: () => world.start(),
    runOut: () => runOut(),
    until,
    untilCalled: (isMeant, count = 1) => runOut(() => calls.filter(isMeant).length >= count),
    untilKept: (kept) => runOut(() => kept.count() > 0),
    keepBack: (process, what, isKept) =>
      world.scheduler.keepBack((task) => task.what === what && task.call?.process === process.id && isKept(task.call)),
    incoming: (members = { incomingAmount: usd(100) }) =>
      create('incoming-payment', stage.receiving(), { walletAddress: BOB, ...members }),
    quote: (receiver, value) =>
      create('quote', alices(0), { walletAddress: ALICE, receiver, method: 'ilp', debitAmount: usd(value) }),
    order({ receiver, quote, value = 40, key, grant = 0, isUnique = false }) {
      const { client, token } = alices(grant)
      const from = quote === undefined ? { incomingPayment: receiver, debitAmount: usd(value) } : { quoteId: quote }
      const json = { walletAddress: ALICE, ...from, metadata: { order: orders.length } }
      const order = newOrder(world, orders.length, 'outgoing-payment', {
        client,
        token: token.value,
        json,
        isUnique,
        ...(key !== undefined && { key }),
      })
      orders.push(order)
      return order
    },
    place: (order, via) => place(world, order, undefined, via),
    replay: (order, via) => place(world, order, order.exchanges.at(-1), via),
    grant: (index = 0) => alices(index),
    receiving: () => prepared.receiving[0] as Granted,
    payments: () => world.storage.all('outgoing-payment').map(({ value }) => value),
    expect: (isTrue, text) => {
      if (!isTrue) world.violate(text)
    },
    async end() {
      await runOut()
      if (world.violations.length === 0) await recoverAll(world, () => runOut())
      if (world.violations.length === 0) await endRails(world, { packets: [] }, () => runOut())
      if (world.violations.length === 0) await recoverAll(world, () => runOut())
      if (world.violations.length === 0) await checkEnd(world, orders)
      return world.violations
    },
  }
  return stage
}

/** A fate for the first call that is chosen, and none for any other. */
export function once(isChosen: (call: Call) => boolean, fate: Fate): (call: Call) => Fate | undefined {
  let isDone = false
  return (call) => {
    if (isDone || !isChosen(call)) return undefined
    isDone = true
    return fate
  }
}

/** Calls that are chosen, but for the first one of each process. */
export const repeated =
  ({ calls }: Stage, isChosen: (call: Call) => boolean) =>
  (call: Call): boolean =>
    isChosen(call) && calls.filter((other) => other.process === call.process && isChosen(other)).length > 1

/** Calls of one name. */
export const named =
  (name: string) =>
  (call: Call): boolean =>
    call.name === name

/** Commits that write a payment in a state. */
export const commitsState =
  (state: RecordTypes['outgoing-payment']['state']) =>
  ({ name, arguments: [changes] }: Call): boolean =>
    name === 'commit' &&
    (changes as readonly Change[]).some(
      (change) => change.kind === 'outgoing-payment' && 'value' in change && change.value.state === state,
    )

/** Commits that change a record of one kind. */
export const commitsKind =
  (wanted: string) =>
  ({ name, arguments: [changes] }: Call): boolean =>
    name === 'commit' && (changes as readonly Change[]).some(({ kind }) => kind === wanted)

/** Reads of one kind of record. */
export const readsKind =
  (kind: string) =>
  ({ name, arguments: [keys] }: Call): boolean =>
    name === 'get' && JSON.stringify(keys).includes(`"kind":"${kind}"`)
