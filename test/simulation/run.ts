import type { SigningKey } from 'open-payments-server/testing'
import { checkEnd } from './check-end.ts'
import { pause } from './exchange.ts'
import { askWallet, type Granted } from './grants.ts'
import { type Knowledge, newKnowledge } from './knowledge.ts'
import { isLeftToHost, isOver } from './payment-facts.ts'
import { type Prepared, prepareRecords } from './prepare.ts'
import { endRails } from './rail-users.ts'
import { randomFrom } from './random.ts'
import { drawShape } from './shape.ts'
import { actUntil, askOnceMore } from './users.ts'
import { type CreateOpenPayments, createWorld, type SimulatedProcess, type World } from './world.ts'

/** What a run came to. */
export interface Report {
  readonly seed: number
  readonly violations: readonly string[]
  readonly counts: ReadonlyMap<string, number>
  readonly steps: number
  readonly trace: readonly string[]
  readonly hash: string
}

/** Plays runs, each from its seed alone. */
export interface Simulation {
  run(seed: number, options?: { readonly isTraced?: boolean }): Promise<Report>
}

/** More steps than any run needs: what takes more turns in a circle. */
const MOST_STEPS = 60_000

export function createSimulation(createOpenPayments: CreateOpenPayments, keys: readonly SigningKey[]): Simulation {
  const prepared = new Map<number, Promise<Prepared>>()
  /** Grants are given once and not in each run: that would be most of its time. */
  const prepare = (accessTokenSeconds: number): Promise<Prepared> => {
    const given = prepared.get(accessTokenSeconds) ?? prepareRecords(createOpenPayments, keys, accessTokenSeconds)
    prepared.set(accessTokenSeconds, given)
    return given
  }
  return {
    async run(seed, { isTraced = false } = {}) {
      const shape = drawShape(randomFrom(seed))
      const { records, heard, spending, receiving, incomings } = await prepare(
        shape.settings.lifetimes?.accessTokenSeconds ?? 600,
      )
      const world = createWorld({ seed, shape, createOpenPayments, keys, isTraced, records, heard })
      const steps = await play(world, newKnowledge({ spending: drawSome(world, spending), receiving, incomings }))
      const { violations, counts, trace } = world
      return { seed, violations, counts, steps, trace: trace.lines(), hash: trace.hash() }
    },
  }
}

/** Few, so that payments compete for a budget. */
function drawSome({ random }: World, spending: readonly Granted[]): Granted[] {
  return Array.from({ length: random.between(1, 3) }, () => random.pick(spending))
}

async function play(world: World, known: Knowledge): Promise<number> {
  const { shape, violate } = world
  let steps = 0
  let isOpen = true
  /** Lets things happen, with crashes and clock steps in between, until nothing is left to happen. */
  const runOut = async (): Promise<void> => {
    while (world.violations.length === 0 && (await world.scheduler.step())) {
      if (++steps > MOST_STEPS) return violate('the run does not come to an end')
      if (world.isFaulty) disturb(world)
    }
  }
  for (let count = 0; count < shape.processes; count++) world.start()
  world.isFaulty = true
  world.far.isKind = false
  let actions = 0
  const users = Array.from({ length: shape.users }, () => actUntil(world, known, () => actions++ >= shape.actions))
  if (shape.recoverEvery > 0) for (const process of world.processes) tend(world, process, () => isOpen)
  // What is sent to other servers goes on when those are done who ordered it.
  const afterwards = shape.rail === undefined ? 0 : world.random.pick([0, 3_000, 20_000])
  const waited = Promise.all(users).then(() => pause(world, afterwards))
  const ended = waited.then(() => {
    isOpen = false
    world.isFaulty = false
    world.far.isKind = true
  })
  await runOut()
  if (world.violations.length > 0) return steps
  const isDone = await Promise.race([ended.then(() => true), new Promise((resolve) => setImmediate(resolve, false))])
  if (isDone !== true) violate('somebody waits for an answer that never comes')
  await recoverAll(world, runOut)
  await endRails(world, known, runOut)
  await recoverAll(world, runOut)
  if (world.violations.length > 0) return steps
  await checkEnd(world, known.orders)
  // Whoever asks once more is told the same, now that nothing goes wrong.
  askOnceMore(world, known)
  await runOut()
  await checkEnd(world, known.orders)
  for (const { value } of world.storage.all('outgoing-payment')) world.met(`a payment ends ${value.state}`)
  return steps
}

/** A crash, or clocks that are set anew, between two steps. */
function disturb(world: World): void {
  const { random, shape, processes } = world
  if (random.chance(shape.clockStep)) world.setClocks(random.pick([-30_000, -1_000, 5_000, 31_000, 120_000, 1_200_000]))
  const alive = processes.filter(({ isAlive }) => isAlive)
  if (alive.length > 0 && random.chance(shape.clockStep)) setClock(world, random.pick(alive))
  if (alive.length === 0 || processes.length > 12 || !random.chance(shape.crash)) return
  world.crash(random.pick(alive))
  pause(world, random.pick([0, 50, 5_000, 40_000])).then(() => tend(world, world.start(), () => world.isFaulty))
}

/** The clock of one process alone is set. */
function setClock({ random, met, trace }: World, process: SimulatedProcess): void {
  const step = random.pick([-600_000, -31_000, -1_000, 1_000, 31_000, 600_000, 4_000_000])
  trace.add(() => `the clock of p${process.id} is set by ${step} ms`)
  met('the clock of one process is set')
  process.skew += step
}

/** What a process does by itself: it recovers when it starts and now and then, and sweeps. */
async function tend(world: World, process: SimulatedProcess, isOpen: () => boolean): Promise<void> {
  const { recover, sweep } = process.openPayments
  const every = world.shape.recoverEvery
  while (process.isAlive) {
    await recover().catch(() => world.met('recover fails'))
    if (world.random.chance(0.3)) await sweep().catch(() => world.met('sweep fails'))
    if (every === 0 || !isOpen()) return
    await pause(world, every)
  }
}

/** With all faults gone: recovers until nothing is due, however late that would be. */
export async function recoverAll(world: World, runOut: () => Promise<void>): Promise<void> {
  const { storage, scheduler } = world
  if (!world.processes.some(({ isAlive }) => isAlive)) world.start()
  // What waits for the host, and refusals of transfers, are due for ever.
  const dueAt = (): readonly number[] =>
    [
      ...storage.all('outgoing-payment').filter(({ value }) => !isLeftToHost(value)),
      ...storage.all('receipt').filter(({ value }) => value.state === 'reserved'),
      ...storage.all('event'),
    ].flatMap((record) => record.dueAt ?? [])
  for (let round = 0; round < 40 && world.violations.length === 0; round++) {
    const due = dueAt()
    if (due.length === 0) return
    const behind = Math.max(0, ...world.processes.map(({ skew }) => Math.abs(skew)))
    scheduler.pass(Math.max(0, Math.max(...due) - world.now()) + behind)
    askWallet(world, (wallet) => wallet.recover())
    if (world.random.chance(0.5)) askWallet(world, (wallet) => wallet.recover())
    await runOut()
  }
  const open = storage.all('outgoing-payment').filter(({ value }) => !isOver(value) && !isLeftToHost(value))
  if (world.violations.length === 0)
    world.violate(`8: recover() never came to an end: ${open.length} payments, ${dueAt().length} due`)
}
