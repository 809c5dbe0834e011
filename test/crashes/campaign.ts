import { type Random, randomFor } from '../fuzz/random.ts'
import type { Lane } from './ask.ts'
import { checkLedgerUnderWay } from './check-ledger.ts'
import { checkRecordsUnderWay, interruptedIn } from './check-records.ts'
import type { DatabaseServer } from './database-server.ts'
import { type KillKind, killsIn, strike, type Tally } from './kills.ts'
import { work } from './orders.ts'
import { settle } from './settle.ts'
import type { Place } from './wallet-process/stores.ts'
import type { WalletProgram } from './wallet-program.ts'
import { LEASE_MILLISECONDS, openWorld, type World } from './world.ts'

/** How many things a client does at the same time. */
const LANES_PER_CLIENT = 2

/** What one world goes through. */
export interface Campaign {
  readonly program: WalletProgram
  readonly place: Place
  readonly seed: number
  readonly run: number
  readonly kills: number
  /** How many processes run at once. */
  readonly servers: number
  readonly kinds: readonly KillKind[]
  /** The server of the place, where it may be killed, too. */
  readonly database?: DatabaseServer
  readonly tally: Tally
}

/** Kills processes of a wallet under load, and answers everything that is wrong afterwards. */
export async function killUnderLoad(campaign: Campaign): Promise<readonly string[]> {
  const { program, place, seed, run, kills, servers, kinds, database, tally } = campaign
  const world = await openWorld(program, place, database)
  try {
    const random = randomFor(seed, run * 100)
    const lanes = openLanes(world, seed, run)
    const found: string[] = []
    const startAll = (): void => {
      while (world.servers().length < servers) world.start({ recoverEveryMilliseconds: 25 })
    }
    startAll()
    let isEnough = false
    const load = Promise.all(lanes.map((lane) => work(lane, () => isEnough)))
    const target = killsIn(tally) + kills
    while (killsIn(tally) < target) {
      await strike(world, random.pick(kinds), random, tally)
      tally.interrupted += interruptedIn(await world.books.records('outgoing-payment'))
      world.advance(LEASE_MILLISECONDS)
      startAll()
      found.push(...(await checkLedgerUnderWay(world.books)), ...(await checkRecordsUnderWay(world.books)))
    }
    isEnough = true
    await load
    found.push(...(await settle(world, lanes)))
    await tallyUp(world, tally)
    return [...new Set([...found, ...world.notebook.violations])]
  } finally {
    await world.close()
  }
}

/** The clients of a world at work, each on some things at a time; what they choose depends on seed and run. */
export function openLanes(world: World, seed: number, run: number): readonly Lane[] {
  return world.clients.flatMap((client, index) =>
    Array.from({ length: LANES_PER_CLIENT }, (_, lane): Lane => {
      let names = 0
      const random: Random = randomFor(seed, run * 100 + 1 + index * LANES_PER_CLIENT + lane)
      return { world, client, random, freshName: () => `${client.name}-${lane}-${++names}` }
    }),
  )
}

async function tallyUp({ notebook, books }: World, tally: Tally): Promise<void> {
  const payments = await books.records('outgoing-payment')
  tally.requests += notebook.requests
  tally.unanswered += notebook.unanswered
  tally.orders += notebook.orders.length
  tally.payments += payments.filter(({ value }) => value.state === 'completed').length
  tally.worlds += 1
}
