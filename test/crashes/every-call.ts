import type { Random } from '../fuzz/random.ts'
import { gate } from '../support/gate.ts'
import type { Lane } from './ask.ts'
import { openLanes } from './campaign.ts'
import { checkLedgerUnderWay } from './check-ledger.ts'
import { checkRecordsUnderWay, interruptedIn } from './check-records.ts'
import type { Deed } from './deeds.ts'
import { noteDeath, type Tally } from './kills.ts'
import { settle } from './settle.ts'
import type { Place } from './wallet-process/stores.ts'
import type { Fuse } from './wallet-process/watched-calls.ts'
import type { WalletProgram } from './wallet-program.ts'
import type { WalletServer } from './wallet-server.ts'
import { LEASE_MILLISECONDS, openWorld, type World } from './world.ts'

/** Draws nothing: the process that has run the longest is asked, by repeats with the same bytes or with new ones. */
function choose(isResigned: boolean): Random {
  return {
    below: () => 0,
    oneIn: (times) => times === 2 && isResigned,
    pick(list) {
      for (const first of list) return first
      throw new Error('there is nothing to pick from')
    },
    stretch: () => ({ from: 0, to: 0 }),
  }
}

/** A wallet with one process at work, and another that waits for it to end. */
export interface Relay {
  readonly world: World
  readonly lane: Lane
  readonly tally: Tally
  readonly found: string[]
}

/** Runs some steps of a relay on an empty database, and answers everything that is wrong afterwards. */
export async function runRelay(
  program: WalletProgram,
  place: Place,
  tally: Tally,
  steps: (relay: Relay) => Promise<void>,
): Promise<readonly string[]> {
  const world = await openWorld(program, place)
  try {
    const lanes = openLanes(world, 1, 0)
    const [lane] = lanes
    if (lane === undefined) throw new Error('there is no client')
    const found: string[] = []
    world.start()
    const relay = { world, lane, tally, found }
    try {
      await steps(relay)
      found.push(...(await settle(world, lanes)))
    } catch (error) {
      // A client that gave up, say.
      found.push(String(error))
    }
    tally.worlds += 1
    return [...new Set([...found, ...world.notebook.violations])]
  } finally {
    await world.close()
  }
}

/** Where a process ends, and where the one ends that recovers after it. */
export interface Ends {
  readonly fuse: Fuse
  readonly recoveryFuse?: Fuse
  /** Whether the client asks again before anybody has recovered, or only afterwards. */
  readonly isClientFirst: boolean
}

/** What came of a deed at which a process was to end. */
export type Ended = 'survived' | 'died' | 'died again'

/** Has a process end at a call of a deed; another one takes over. Once that one has recovered, nothing may be left to do. */
export async function endDuring(relay: Relay, deed: Deed, ends: Ends): Promise<Ended> {
  const { world, found } = relay
  const [server = world.start()] = world.servers()
  // The one that listens first is asked first.
  await server.port
  const successor = world.start()
  await successor.port
  const { open, opened } = gate()
  const lane: Lane = { ...relay.lane, random: choose(ends.isClientFirst) }
  const act = await deed(lane)
  await server.recover()
  await server.arm(ends.fuse)
  const answered = act(ends.isClientFirst ? lane : { ...lane, world: sendOnce(world, opened) })
  await Promise.race([answered, server.ended])
  if (server.isRunning() && (await server.recover())) {
    await Promise.all([server.arm(), successor.kill()])
    return 'survived'
  }
  noteDeath(relay.tally, 'at a call', server)
  relay.tally.interrupted += interruptedIn(await world.books.records('outgoing-payment'))
  if (ends.isClientFirst) await answered
  world.advance(LEASE_MILLISECONDS)
  if (ends.recoveryFuse) await successor.arm(ends.recoveryFuse)
  const isDeadAgain = !(await successor.recover())
  if (isDeadAgain) await takeOverAgain(relay, successor)
  else await successor.arm()
  open()
  await answered
  for (const last of world.servers()) await last.recover()
  const left = interruptedIn(await world.books.records('outgoing-payment'))
  if (left > 0) found.push(`${left} payments are left after ${JSON.stringify(ends)}`)
  found.push(...(await checkLedgerUnderWay(world.books)), ...(await checkRecordsUnderWay(world.books)))
  return isDeadAgain ? 'died again' : 'died'
}

async function takeOverAgain({ world, tally }: Relay, dead: WalletServer): Promise<void> {
  noteDeath(tally, 'in recovery', dead)
  world.advance(LEASE_MILLISECONDS)
  await world.start().recover()
}

/** After the first request everything waits until the gate is open. */
function sendOnce(world: World, passed: Promise<void>): World {
  let isSent = false
  return {
    ...world,
    send: async (request, random) => {
      if (isSent) await passed
      isSent = true
      return world.send(request, random)
    },
  }
}
