import type {
  Change,
  Clock,
  FoundReceiver,
  Ledger,
  MoneyEvent,
  OpenPaymentsOptions,
  RailServer,
  Storage,
} from 'open-payments-server'
import { PRICING } from '../properties/model/prices.ts'
import { closeForAWhile } from './accounts.ts'
import type { Call } from './scheduler.ts'
import type { FaultRates, RailShape } from './shape.ts'
import { type MakeCall, simulatedRail } from './simulated-rail.ts'
import type { SimulatedProcess, World } from './world.ts'

/** What becomes of a call. */
export type Fate = 'answered' | keyof FaultRates

/** Calls that change something: their effect may come at another moment than their answer. */
export function isWriting({ name }: Call): boolean {
  return ['commit', 'hold', 'settle', 'release', 'credit', 'send'].includes(name)
}

const NOWHERE: readonly Fate[] = []

/** What can happen to a call, beside that it is slow. A storage answers in the end, or says that it does not know. */
function fatesOf(call: Call): readonly Fate[] {
  switch (call.port) {
    case 'storage':
      return call.name === 'commit' ? ['fails', 'losesReply', 'isOvertaken'] : ['fails']
    case 'ledger':
      return call.name === 'account'
        ? ['fails', 'isLost']
        : ['fails', 'losesReply', 'isOvertaken', 'isLost', 'isUnanswered', 'isRepeated']
    case 'onEvent':
      return ['fails', 'losesReply', 'isLost', 'isUnanswered']
    case 'rail':
      return call.name === 'send'
        ? ['fails', 'losesReply', 'isOvertaken', 'isLost', 'isUnanswered', 'isRepeated']
        : ['fails', 'isLost']
    // It never rejects.
    case 'remoteReceivers':
      return ['isLost']
    case 'pricing':
      return ['fails', 'isLost']
    case 'walletAddresses':
      return ['fails']
    case 'keyResolver':
    case 'clock':
      return NOWHERE
  }
}

function drawFate(world: World, call: Call): Fate {
  const planned = world.plan?.(call)
  if (planned !== undefined) return planned
  const rates = ratesOf(world, call)
  if (rates === undefined) return 'answered'
  // A request reads many times: where each read failed as often as a commit, none would come to its end.
  const share = isWriting(call) || call.port === 'onEvent' ? 1 : 0.1
  const drawn = fatesOf(call).find((fate) => fate !== 'answered' && world.random.chance(rates[fate] * share))
  return drawn ?? 'answered'
}

function ratesOf({ shape, isFaulty }: World, { port }: Call): FaultRates | undefined {
  if (!isFaulty) return undefined
  if (port === 'rail' || port === 'remoteReceivers') return shape.rail?.faults
  return port === 'storage' ? shape.storage : port === 'ledger' ? shape.ledger : shape.others
}

/** How long a message takes; a slow one longer than every deadline. */
function drawDelay(world: World, call: Call): number {
  const { random, shape } = world
  const usual = shape.latency === 0 ? 0 : random.between(0, shape.latency)
  const rate = ratesOf(world, call)?.isSlow ?? 0
  return random.chance(rate) ? usual + random.between(1_000, shape.slowest) : usual
}

/** What a ledger takes at least for an answer; perhaps for those about one account only. */
function pauseOf({ shape, storage }: World, call: Call): number {
  const [given] = call.arguments
  if (call.port !== 'ledger' || !isWriting(call) || typeof given !== 'object' || given === null) return 0
  if (shape.slowAccount === undefined) return shape.ledgerPause
  const { id } = given as { readonly id: string }
  const account = 'account' in given ? given.account : storage.find('outgoing-payment', id)?.value.account
  return account === shape.slowAccount ? shape.ledgerPause : 0
}

/** Much later than everything that waits: what the network has kept. */
function drawLateness({ random, shape }: World): number {
  return random.chance(0.5) ? random.between(0, 2_000) : random.between(0, Math.max(5_000, shape.slowest))
}

/** Makes a call of a port: its effect and its reply are tasks, which happen when the scheduler says. */
export function callPort<T>(
  world: World,
  process: SimulatedProcess,
  call: Call,
  effect: () => T | Promise<T>,
): Promise<T> {
  const { scheduler, trace } = world
  const name = `p${process.id} ${call.port}.${call.name}`
  const fate = drawFate(world, call)
  world.met(`${call.port}.${call.name} ${fate}`)
  if (fate !== 'answered' && world.isFaulty && world.random.chance(0.3)) trouble(world, call)
  return new Promise((resolve, reject) => {
    const reply = (how: string, hear: () => void): void => {
      if (!process.isAlive) return
      const pause = pauseOf(world, call)
      const readyAt = scheduler.elapsed() + pause + drawDelay(world, call)
      scheduler.add({ what: 'reply', call, title: () => `${name} ${how}`, readyAt, run: hear })
    }
    const takeEffect = (delay: number, then: (answer: T) => void): void => {
      const run = async (): Promise<void> => {
        const answer = await effect()
        if (call.name === 'commit' && answer !== 'committed') world.met('a commit meets a conflict')
        trace.add(() => `  ${show(call.arguments)} -> ${show(answer)}`)
        then(answer)
      }
      const title = (): string => `${name} takes effect${fate === 'answered' ? '' : ` (${fate})`}`
      scheduler.add({ what: 'effect', call, title, readyAt: scheduler.elapsed() + delay, run })
    }
    const fail = (): void => reply('fails', () => reject(new Error(`simulated: ${call.name} ${fate}`)))
    const answer = (answered: T): void => reply('is answered', () => resolve(answered))
    const nobody = (): void => undefined
    switch (fate) {
      case 'fails':
        return fail()
      case 'losesReply':
        return takeEffect(drawDelay(world, call), fail)
      case 'isOvertaken':
        fail()
        return takeEffect(drawLateness(world), nobody)
      case 'isLost':
        return undefined
      case 'isUnanswered':
        return takeEffect(drawDelay(world, call), nobody)
      case 'isRepeated':
        takeEffect(drawLateness(world), nobody)
        return takeEffect(drawDelay(world, call), answer)
      default:
        return takeEffect(drawDelay(world, call), answer)
    }
  })
}

/** The account behind a call that went wrong is closed, so that the next try meets a refusal. */
function trouble(world: World, { name, arguments: [given] }: Call): void {
  if ((name === 'hold' || name === 'credit') && typeof given === 'object' && given !== null && 'account' in given)
    closeForAWhile(world, String(given.account), name === 'credit')
}

/** A value as a line of the trace shows it. */
export function show(value: unknown): string {
  const text = JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? `${member}` : member)) ?? 'nothing'
  return text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text
}

/** The clock of a process: timers go with simulated time, and what it tells may be set forwards and backwards. */
export function simulatedClock(world: World, process: SimulatedProcess): Clock {
  const { scheduler } = world
  return {
    now: () => world.now() + process.skew,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const call: Call = { process: process.id, port: 'clock', name: 'sleep', arguments: [milliseconds] }
        const title = (): string => `p${process.id} wakes after ${milliseconds} ms`
        const timer = {
          what: 'reply',
          call,
          title,
          readyAt: scheduler.elapsed() + milliseconds,
          run: () => resolve(),
        } as const
        scheduler.add(timer)
        signal?.addEventListener('abort', () => {
          scheduler.take((task) => task === timer)
          resolve()
        })
      }),
  }
}

type Ports = Pick<
  OpenPaymentsOptions,
  | 'storage'
  | 'ledger'
  | 'walletAddresses'
  | 'pricing'
  | 'keyResolver'
  | 'clock'
  | 'onEvent'
  | 'paymentMethods'
  | 'remoteReceivers'
>

/** The kinds whose records a commit locks for more than one action. */
function lockedTwice(changes: readonly Change[]): readonly string[] {
  const actions = new Set(changes.flatMap(({ action, kind }) => (action === 'insert' ? [] : `${kind} ${action}`)))
  const kinds = [...actions].map((name) => name.split(' ')[0] ?? '')
  return kinds.filter((kind, index) => kinds.indexOf(kind) !== index)
}

/** The ports of one process. */
export function simulatedPorts(world: World, process: SimulatedProcess): Ports {
  const make: MakeCall = (port, name, given, effect) =>
    callPort(world, process, { process: process.id, port, name, arguments: given }, effect)
  const { storage, directory } = world
  const stored: Storage = {
    get: (keys) => make('storage', 'get', [keys], () => storage.get(keys)),
    list: (query) => make('storage', 'list', [query], () => storage.list(query)),
    due: (kind, now, limit) => make('storage', 'due', [kind, now, limit], () => storage.due(kind, now, limit)),
    commit: (changes) => {
      // On PostgreSQL, those of two such commits could each wait for the other (docs/adr/0018).
      for (const kind of lockedTwice(changes)) world.violate(`locks: a commit takes two actions on records of ${kind}`)
      return make('storage', 'commit', [changes], () => storage.commit(changes))
    },
  }
  const watched = world.watchedLedger
  const ledger: Ledger = {
    account: (account) => make('ledger', 'account', [account], () => watched.account(account)),
    hold: (hold) => make('ledger', 'hold', [hold], watched.begin('hold', hold, process)),
    settle: (settlement) => make('ledger', 'settle', [settlement], watched.begin('settle', settlement, process)),
    release: (release) => make('ledger', 'release', [release], watched.begin('release', release, process)),
    credit: (credit) => make('ledger', 'credit', [credit], watched.begin('credit', credit, process)),
  }
  return {
    storage: stored,
    ledger,
    clock: simulatedClock(world, process),
    walletAddresses: { find: (url) => make('walletAddresses', 'find', [url], () => directory.get(url)) },
    pricing: { price: (asked) => make('pricing', 'price', [asked], () => PRICING.price(asked)) },
    keyResolver: {
      keySet: (url) => make('keyResolver', 'keySet', [url], () => world.keySetOf(url)),
      publicName: (url) => make('keyResolver', 'publicName', [url], () => undefined),
    },
    ...(world.shape.rail && railPorts(world.shape.rail)),
    onEvent: (event) => ('id' in event ? tellMoney(event) : world.onServiceEvent(process, event)),
  }

  function railPorts(rail: RailShape): Pick<Ports, 'paymentMethods' | 'remoteReceivers'> {
    const connect = (server: RailServer): void => void Object.assign(process, { rail: server })
    const find = async (url: string): Promise<FoundReceiver> => {
      const found = await make('remoteReceivers', 'find', [url], () => world.readFar(url))
      world.railWatch.reads(process, url, found)
      return found
    }
    return { paymentMethods: [simulatedRail(world, process, rail, make, connect)], remoteReceivers: { find } }
  }

  function tellMoney(event: MoneyEvent): Promise<void> {
    return make('onEvent', event.type, [event], world.hearsOf(event))
  }
}
