import type {
  Cryptography,
  FoundReceiver,
  JsonWebKey,
  KeySetResult,
  MoneyEvent,
  OpenPayments,
  OpenPaymentsOptions,
  RailServer,
  ServiceEvent,
  StoredRecord,
  WalletAddress,
} from 'open-payments-server'
import { type DoubleEntryLedger, memoryLedger } from 'open-payments-server/ledger/memory'
import type { SigningKey } from 'open-payments-server/testing'
import { NO_PAGE } from '../support/no-page.ts'
import { ALICE, AUTH, BASE, BOB, CAROL, CLIENT } from '../support/test-wallet.ts'
import { createFarSide, type FarSide } from './far-side.ts'
import { type Host, simulatedHost } from './host.ts'
import { type Fate, isWriting, simulatedPorts } from './ports.ts'
import { type Random, randomFrom } from './random.ts'
import { type Call, createScheduler, type Scheduler } from './scheduler.ts'
import type { Shape } from './shape.ts'
import { SECRET } from './signature-claims.ts'
import { simulatedCryptography } from './simulated-cryptography.ts'
import { type SimulatedStorage, simulatedStorage } from './simulated-storage.ts'
import { createTrace, type Trace } from './trace.ts'
import { type CommitWatch, watchCommits } from './watch-commits.ts'
import { type WatchedLedger, watchLedger } from './watch-ledger.ts'
import type { RailWatch } from './watch-rails.ts'

/** What puts a server together: the library's own function, or that of a copy of it. */
export type CreateOpenPayments = (options: OpenPaymentsOptions) => OpenPayments

/** One server process on the storage and the ledger that all share. */
export interface SimulatedProcess {
  readonly id: number
  /** How far its clock is off, in milliseconds. */
  skew: number
  isAlive: boolean
  readonly openPayments: OpenPayments
  /** What its rail is given, where it has one. */
  readonly rail?: RailServer
  /** Told when it crashes: whoever waits for an answer gets none. */
  readonly bereaved: Set<() => void>
}

/** A client: a key, and how grant requests name it. */
export interface SimulatedClient {
  readonly id: string
  readonly key: SigningKey
}

export interface World {
  readonly random: Random
  readonly shape: Shape
  readonly scheduler: Scheduler
  readonly trace: Trace
  readonly storage: SimulatedStorage
  readonly ledger: DoubleEntryLedger
  readonly commits: CommitWatch
  readonly host: Host
  readonly directory: Map<string, WalletAddress>
  readonly clients: readonly SimulatedClient[]
  readonly cryptography: Cryptography
  readonly processes: readonly SimulatedProcess[]
  /** What was found: a run ends with the first. */
  readonly violations: readonly string[]
  /** How often what happened. */
  readonly counts: ReadonlyMap<string, number>
  /** Whether faults are drawn; what a plan says happens all the same. */
  isFaulty: boolean
  /** What a test has in mind for a call, before anything is drawn. */
  plan: ((call: Call) => Fate | undefined) | undefined
  /** The right time, in milliseconds. */
  now(): number
  /** Sets all clocks, by so many milliseconds. */
  setClocks(milliseconds: number): void
  start(): SimulatedProcess
  /** Ends a process between two steps of its. */
  crash(process: SimulatedProcess): void
  /** The ledger as processes call it. */
  readonly watchedLedger: WatchedLedger
  keySetOf(url: string): KeySetResult
  /** What another server says of an incoming payment of its. */
  readFar(url: string): FoundReceiver
  /** The other end of the rail. */
  readonly far: FarSide
  readonly railWatch: RailWatch
  hearsOf(event: MoneyEvent): () => void
  onServiceEvent(process: SimulatedProcess, event: ServiceEvent): void
  met(what: string): void
  violate(text: string): void
}

/** A client of the wallet's own, a second one, and one whose keys are on another server. */
export const CLIENTS: readonly [string, string, string] = [CLIENT, `${BASE}/other`, 'https://shop.example/pay']

/** What other servers do instead of answering. */
const TROUBLE = ['unreachable', 'unreachable', 'refused', 'invalid', 'unknown'] as const

/** The first minute is for what is prepared. */
const STARTS_AT = Date.parse('2026-03-01T12:01:00Z')

export interface WorldOptions {
  readonly seed: number
  readonly shape: Shape
  readonly createOpenPayments: CreateOpenPayments
  readonly keys: readonly SigningKey[]
  readonly isTraced: boolean
  /** What is stored from the start. */
  readonly records?: readonly StoredRecord[]
  /** What the host has heard of that. */
  readonly heard?: readonly MoneyEvent[]
  readonly startsAt?: number
  /** Another ledger than the right one. */
  readonly alterLedger?: (ledger: DoubleEntryLedger) => DoubleEntryLedger
}

export function createWorld(options: WorldOptions): World {
  const {
    seed,
    shape,
    createOpenPayments,
    keys,
    isTraced,
    records = [],
    heard = [],
    alterLedger = (one: DoubleEntryLedger) => one,
  } = options
  const random = randomFrom(seed)
  const trace = createTrace(isTraced)
  const scheduler = createScheduler(random, trace)
  const violations: string[] = []
  const counts = new Map<string, number>()
  const processes: SimulatedProcess[] = []
  const cryptography = simulatedCryptography(random, keys)
  const balance = shape.openingBalance
  const ledger = alterLedger(
    memoryLedger({
      accounts: [
        { account: 'alice', assetCode: 'USD', assetScale: 2, balance },
        { account: 'bob', assetCode: 'USD', assetScale: 2, balance },
        { account: 'carol', assetCode: 'EUR', assetScale: 4, balance },
      ],
    }),
  )
  let offset = options.startsAt ?? STARTS_AT

  const violate = (text: string): void => {
    trace.add(() => `VIOLATION ${text}`)
    violations.push(text)
  }
  const met = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)
  const storage = simulatedStorage((writes) => {
    trace.add(() => `  commits ${writes.map(({ after, before }) => describe(before, after)).join(', ')}`)
    commits.onCommit(writes)
  })
  const now = (): number => Math.floor(offset + scheduler.elapsed())
  const far = createFarSide({ random, rail: shape.rail, storage, now, met, violate })
  const excess = shape.settings.policies?.excessReceipt ?? 'cap'
  const commits = watchCommits({ storage: () => storage, excess, far, now, met, violate })
  storage.load(records)
  for (const record of records) commits.learn(record)
  const host = simulatedHost({ violate, met })
  for (const event of heard) host.hear(event)
  const opening = new Map([
    ['USD', 2n * balance],
    ['EUR', balance],
  ])
  const watched = watchLedger({ ledger, storage, commits, totals: () => opening, violate, met })

  const start = (): SimulatedProcess => {
    const id = processes.length + 1
    const skew = shape.skew === 0 ? 0 : random.between(-shape.skew, shape.skew)
    const process = { id, skew, isAlive: true, bereaved: new Set<() => void>() } as SimulatedProcess
    const openPayments = createOpenPayments({
      authServer: AUTH,
      resourceServer: BASE,
      secrets: [SECRET],
      consent: NO_PAGE,
      cryptography,
      settings: shape.settings,
      ...simulatedPorts(world, process),
    })
    const started = Object.assign(process, { openPayments })
    processes.push(started)
    trace.add(() => `p${id} starts, its clock off by ${skew} ms`)
    return started
  }

  const crash = (process: SimulatedProcess): void => {
    trace.add(() => `p${process.id} crashes`)
    met('a crash')
    process.isAlive = false
    for (const task of scheduler.take(({ call }) => call?.process === process.id)) {
      const { call, what } = task
      if (call === undefined) continue
      if (call.port !== 'clock')
        met(`a crash ${what === 'effect' ? 'before the effect' : 'before the reply'} of ${call.port}.${call.name}`)
      // What is under way in the network may still arrive: nobody hears of it.
      const isUnderWay = what === 'effect' && isWriting(call) && random.chance(0.5)
      if (isUnderWay) scheduler.add({ ...task, readyAt: task.readyAt + random.pick([0, 100, 40_000]) })
    }
    for (const lose of process.bereaved) lose()
  }

  const world: World = {
    random,
    shape,
    scheduler,
    trace,
    storage,
    ledger,
    commits,
    host,
    directory: directoryOf(keys),
    clients: CLIENTS.map((id, index) => ({ id, key: keys[index] as SigningKey })),
    cryptography,
    processes,
    violations,
    counts,
    isFaulty: false,
    plan: undefined,
    far,
    railWatch: commits.rails,
    now,
    setClocks: (milliseconds) => {
      trace.add(() => `all clocks are set by ${milliseconds} ms`)
      met(milliseconds > 0 ? 'clocks are set forwards' : 'clocks are set backwards')
      offset += milliseconds
    },
    start,
    crash,
    watchedLedger: watched,
    keySetOf: (url) => {
      const index = CLIENTS.indexOf(url)
      const jwk: JsonWebKey | undefined = keys[index]?.jwk
      const isReached = !(world.isFaulty && random.chance(shape.others.fails))
      return jwk !== undefined && isReached ? { ok: true, keys: [jwk] } : { ok: false, reason: 'unreachable' }
    },
    readFar: (url) => {
      const isTroubled = world.isFaulty && random.chance((shape.rail?.oddness ?? 0) / 4)
      return isTroubled ? { ok: false, reason: random.pick(TROUBLE) } : far.read(url)
    },
    hearsOf: (event) => () => {
      commits.rails.onEvent(event)
      host.hear(event)
    },
    onServiceEvent: (process, event) => {
      commits.rails.onEvent(event)
      host.note(process.id, event)
    },
    met,
    violate,
  }
  return world
}

function directoryOf(keys: readonly SigningKey[]): Map<string, WalletAddress> {
  const usd = { assetCode: 'USD', assetScale: 2 } as const
  const keysOf = (index: number): { readonly keys?: readonly JsonWebKey[] } => {
    const jwk = keys[index]?.jwk
    return jwk === undefined ? {} : { keys: [jwk] }
  }
  return new Map<string, WalletAddress>([
    [ALICE, { account: 'alice', ...usd, publicName: 'Alice' }],
    [BOB, { account: 'bob', ...usd }],
    [CAROL, { account: 'carol', assetCode: 'EUR', assetScale: 4 }],
    [CLIENTS[0], { account: 'bob', ...usd, ...keysOf(0) }],
    [CLIENTS[1], { account: 'bob', ...usd, ...keysOf(1) }],
  ])
}

/** A written record in a word or two. */
function describe(
  before: { readonly kind: string; readonly value: { readonly id: string } } | undefined,
  after: { readonly kind: string; readonly value: { readonly id: string }; readonly version: number } | undefined,
): string {
  const record = after ?? before
  const state = after !== undefined && 'state' in after.value ? ` ${after.value.state}` : ''
  return `${record?.kind} ${record?.value.id.slice(0, 8)}${state} ${after === undefined ? 'deleted' : `v${after.version}`}`
}
