import { setTimeout as pause } from 'node:timers/promises'
import { count } from '../crashes/count.ts'
import type { WalletProgram } from '../crashes/wallet-program.ts'
import { randomFor } from '../fuzz/random.ts'
import { lastSegment } from '../support/last-segment.ts'
import type { Climate } from './bad-network.ts'
import { checkRail } from './check-rail.ts'
import { checkWallet, isUndecided } from './check-wallet.ts'
import { decideByTruth } from './host-decisions.ts'
import { strike } from './kills.ts'
import { type Fate, type Lane, work } from './orders.ts'
import { readWallets, type WalletState } from './read-wallet.ts'
import { bringToRest } from './rest.ts'
import { checkLimits, settleDebts } from './settle-debts.ts'
import { type Tally, tallyWorld } from './tally.ts'
import type { ProcessOptions, RailTerms } from './wallet-process/main.ts'
import { type OfEach, WALLETS } from './wallet-process/wallets.ts'
import { openWorld, type World } from './world.ts'

/** How many things the clients of each wallet do at the same time. */
const LANES = 6

/** What one world goes through. */
export interface Campaign {
  readonly program: WalletProgram<ProcessOptions>
  readonly seed: number
  readonly run: number
  readonly rail: RailTerms
  readonly climate: Climate
  /** How many payments are ordered, and how many times something is killed meanwhile, about. */
  readonly payments: number
  readonly kills: number
  readonly tally: Tally
}

/** Has two wallets pay each other over a bad network while they are killed, and answers everything that is wrong afterwards. */
export async function payOverBadNetwork(campaign: Campaign): Promise<readonly string[]> {
  const { program, seed, run, rail, climate, tally } = campaign
  const random = randomFor(seed, run * 100)
  const world = await openWorld(program, { rail, climate, random, keepsGoing: true })
  try {
    for (const wallet of WALLETS) world.start(wallet)
    const orders = new Map<string, Fate>()
    const found = [...(await killUnderLoad(world, campaign, orders))]
    found.push(...(await bringToRest(world)), ...world.violations)
    const wallets = await readWallets(world)
    found.push(...checkWorld(world, wallets, orders))
    if (WALLETS.some((wallet) => wallets[wallet].payments.some(isUndecided))) {
      found.push(...(await decideByTruth(world, wallets, tally)))
      found.push(...(await bringToRest(world)), ...checkWorld(world, await readWallets(world), orders))
    }
    tallyWorld(tally, world, await readWallets(world))
    return [...new Set(found)]
  } finally {
    await world.close()
  }
}

/** Has clients order payments while processes are killed; answers what was wrong in between. */
async function killUnderLoad(world: World, campaign: Campaign, orders: Map<string, Fate>): Promise<readonly string[]> {
  const { payments, kills, tally, seed, run } = campaign
  const random = randomFor(seed, run * 100 + 99)
  const found: string[] = []
  let isOver = false
  const isEnough = (): boolean => isOver || orders.size >= payments
  const load = Promise.all(openLanes(world, orders, campaign).map((lane) => work(lane, isEnough)))
  const over = (): void => {
    isOver = true
  }
  load.then(over, over)
  for (let killed = 0; !isEnough(); killed++) {
    // Spread over the orders, not over the time: so a slow machine kills as often.
    const isTime = (): boolean => killed < kills && orders.size * kills >= killed * payments
    while (!isTime() && !isEnough()) await pause(10)
    if (isEnough()) break
    count(tally.kills, await strike(world, random))
    found.push(...(await checkLimits(world)))
    await settleDebts(world)
  }
  await load
  return found
}

function openLanes(world: World, orders: Map<string, Fate>, { seed, run, tally }: Campaign): readonly Lane[] {
  return WALLETS.flatMap((from, side) =>
    Array.from({ length: LANES }, (_, lane): Lane => {
      let names = 0
      const random = randomFor(seed, run * 100 + 1 + side * LANES + lane)
      return { world, from, random, orders, refusals: tally.refusals, freshName: () => `${from}-${lane}-${++names}` }
    }),
  )
}

/** What is wrong with two wallets at rest, and between them. */
export function checkWorld(
  world: World,
  wallets: OfEach<WalletState>,
  orders: ReadonlyMap<string, Fate>,
): readonly string[] {
  const packets = [...world.network.log.packets.values()].map((packet) => ({
    ...packet,
    incomingPayment: world.addresses.get(packet.destination) ?? '',
  }))
  return [
    ...WALLETS.flatMap((wallet) => checkWallet(wallets[wallet])),
    ...checkRail(wallets, packets, world.rail.isIdempotent),
    ...checkOrders(wallets, orders, world.rail.isIdempotent),
  ]
}

/**
 * Every payment that a client was told of is there, and is what must have become of it, but where its host had to decide.
 * Where the answer was garbled that says how much arrived, and nobody can be asked again, a payment may fail whose receiver
 * has all that it asked for.
 */
function checkOrders(
  wallets: OfEach<WalletState>,
  orders: ReadonlyMap<string, Fate>,
  isSafe: boolean,
): readonly string[] {
  const payments = WALLETS.flatMap((wallet) => wallets[wallet].payments)
  const byId = new Map(payments.map((payment) => [payment.id, payment]))
  const incoming = WALLETS.flatMap((wallet) => wallets[wallet].incoming)
  const completed = new Set(incoming.filter(({ state }) => state === 'completed').map(({ id }) => id))
  return [...orders].flatMap(([url, fate]) => {
    const payment = byId.get(lastSegment(url))
    if (payment === undefined) return [`the payment ${url} is not there`]
    const isLeftToHost = payment.delivery?.isLeftToHost !== undefined
    const isPaid = payment.state === 'completed' || (!isSafe && completed.has(lastSegment(payment.receiver)))
    if (fate === 'open' || isPaid || isLeftToHost) return []
    return [`${url} ended as ${payment.state}: ${payment.delivery?.reason ?? payment.decision?.action}`]
  })
}
