import type { InMemoryRequest } from 'open-payments-server/testing'
import { expect } from 'vitest'
import { type FuzzWorld, fuzzWorld, type Outcome, type Plan } from './fuzz-world.ts'
import { faultsOf } from './oracle.ts'
import { type Random, randomFor, SEED } from './random.ts'
import { SUBJECTS, type Subject } from './subjects.ts'

/** What a campaign draws for one run. */
export interface Draw {
  readonly random: Random
  readonly world: FuzzWorld
  /** A right request of some operation. */
  plan(): Promise<Plan>
}

const RUNS_PER_WORLD = 250
const TRIES = 1_000

/** Draws until there is a request: what cannot be signed (a covered field without a value) or sent is drawn again. */
export async function drawUntil(draw: () => Promise<InMemoryRequest | undefined>): Promise<InMemoryRequest> {
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      const request = await draw()
      if (request !== undefined) return request
    } catch (error) {
      if (!(error instanceof Error) || !/cannot be signed|Invalid URL/.test(error.message)) throw error
    }
  }
  throw new Error(`${TRIES} draws gave no request`)
}

const held = new WeakMap<FuzzWorld, Map<Subject, Plan>>()

/** A right request of an operation by choice, made when it is asked for and then kept. */
export function readPlan(
  world: FuzzWorld,
  random: Random,
): { readonly plan: () => Promise<Plan>; readonly isSingleUse: boolean; readonly forget: () => void } {
  const plans = held.get(world) ?? new Map<Subject, Plan>()
  held.set(world, plans)
  // What has a body has more to get wrong.
  const first = random.pick(SUBJECTS)
  const subject = first.hasJson === true || random.oneIn(2) ? first : random.pick(SUBJECTS)
  return {
    isSingleUse: subject.isSingleUse === true,
    forget: () => plans.delete(subject),
    async plan() {
      const known = plans.get(subject) ?? (await subject.plan(world))
      plans.set(subject, known)
      return known
    },
  }
}

/** What was answered how often: `operation status`. */
export type Tally = Map<string, number>

/** Sends what `draw` makes, run after run, and judges every answer. The seed and the request tell a failure. */
export async function campaign(
  runs: number,
  salt: number,
  draw: (draw: Draw) => Promise<InMemoryRequest>,
  send?: (world: FuzzWorld, request: InMemoryRequest) => Promise<Outcome>,
): Promise<Tally> {
  const tally: Tally = new Map()
  const seed = SEED * 31 + salt
  let world = await fuzzWorld(seed, 0)
  let age = 0
  const renew = async (run: number): Promise<void> => {
    await checkWorld(world, seed)
    world = await fuzzWorld(seed, run)
    age = 0
  }
  for (let run = 0; run < runs; run++) {
    if (++age > RUNS_PER_WORLD || (await isPoor(world))) await renew(run)
    const random = randomFor(seed, run)
    const { plan, isSingleUse, forget } = readPlan(world, random)
    let request: InMemoryRequest
    try {
      request = await draw({ random, world, plan })
    } catch (error) {
      // An earlier request may have ended what a right one needs; in a new world nothing has.
      if (age <= 1) throw error
      await renew(run)
      run--
      continue
    }
    const outcome = await judged(world, request, seed, run, send)
    if (isSingleUse && outcome.changes.length > 0) forget()
    const [event] = outcome.events.filter(({ type }) => type === 'request')
    const operation = event?.type === 'request' ? event.operation : undefined
    const row = `${operation ?? 'no endpoint'} ${outcome.response.status}`
    tally.set(row, (tally.get(row) ?? 0) + 1)
  }
  await checkWorld(world, seed)
  return tally
}

/** Whether too little money is left for right requests to be paid. */
async function isPoor({ wallet }: FuzzWorld): Promise<boolean> {
  const balance = await wallet.ledger.balance('alice')
  return balance === undefined || balance.available < 10n
}

/** Sends a request and judges the answer; throws what is wrong with it. */
export async function judged(
  world: FuzzWorld,
  request: InMemoryRequest,
  seed: number,
  run: number,
  send = (to: FuzzWorld, what: InMemoryRequest): Promise<Outcome> => to.play(what),
): Promise<Outcome> {
  const told = (fault: string): Error =>
    new Error(`FUZZ_SEED=${SEED} (seed ${seed}, run ${run}): ${fault}\n${show(request)}`)
  let outcome: Outcome
  try {
    outcome = await send(world, request)
  } catch (error) {
    throw told(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  const faults = faultsOf(outcome, world.authServer, request.body)
  if (faults.length > 0) throw told(`${faults.join('; ')}\n${JSON.stringify(outcome.response)}`)
  return outcome
}

/** Shows a request as it would go over the wire. */
function show({ method, target, headers, body }: InMemoryRequest): string {
  const lines = Object.entries(headers).flatMap(([name, values]) => values.map((value) => `${name}: ${value}`))
  return [`${JSON.stringify(`${method} ${target}`)}`, ...lines, '', JSON.stringify(new TextDecoder().decode(body))]
    .map((line) => (line.length > 3_000 ? `${line.slice(0, 3_000)}… (${line.length})` : line))
    .join('\n')
}

/** What was left undone can be done, and no money has come or gone. */
async function checkWorld({ wallet }: FuzzWorld, seed: number): Promise<void> {
  await wallet.openPayments.recover()
  await wallet.openPayments.sweep()
  const totals = await wallet.ledger.totals()
  expect([seed, totals.map(({ assetCode, value }) => [assetCode, value])]).toEqual([
    seed,
    [
      ['USD', 100_000n],
      ['EUR', 0n],
    ],
  ])
  expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
}
