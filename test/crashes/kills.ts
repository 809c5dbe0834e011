import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../fuzz/random.ts'
import { count } from './count.ts'
import type { DatabaseStrike } from './database-strikes.ts'
import { CALLS, type CallName, type Fuse, NOTED, type Noted } from './wallet-process/watched-calls.ts'
import type { WalletServer } from './wallet-server.ts'
import { LEASE_MILLISECONDS, type World } from './world.ts'

/** How processes are killed. */
export type KillKind =
  /** One, some milliseconds after it was sent an order. */
  | 'at a moment'
  /** All at once, as when the machine loses power. */
  | 'all at once'
  /** One, at a call of its own. */
  | 'at a call'
  /** All at once, and then the first that starts again, at a call of its recovery. */
  | 'in recovery'
  /** None of them: their database is struck. */
  | DatabaseStrike

/** What was killed, and what was under way. */
export interface Tally {
  readonly kills: Map<KillKind, number>
  /** In how many of the killed processes something was under way; `a write`: anything that moves a payment on. */
  readonly underWay: Map<Noted | 'a write', number>
  /** Payments that had begun and not ended, summed over all kills. */
  interrupted: number
  payments: number
  orders: number
  requests: number
  unanswered: number
  worlds: number
}

/** An empty one. */
export function openTally(): Tally {
  return {
    kills: new Map(),
    underWay: new Map(),
    interrupted: 0,
    payments: 0,
    orders: 0,
    requests: 0,
    unanswered: 0,
    worlds: 0,
  }
}

/** How many processes a tally has seen killed. */
export function killsIn({ kills }: Tally): number {
  return [...kills.values()].reduce((total, count) => total + count, 0)
}

/** Prints what was killed and what was found under way, for the log of a long run. */
export function printTally(store: string, tally: Tally): void {
  const { kills, underWay, interrupted, ...rest } = tally
  const all = killsIn(tally)
  const shareOf = ([name, times]: readonly [string, number]): string => `${name} ${times}`
  console.log(`${store}: ${all} kills: ${[...kills].map(shareOf).join(', ')}`)
  console.log(`under way when killed: ${[...underWay].map(shareOf).join(', ')}`)
  console.log(`payments found on their way afterwards: ${interrupted}; ${JSON.stringify(rest)}`)
}

/** Notes a death and what it interrupted. */
export function noteDeath(tally: Tally, kind: KillKind, server: WalletServer): void {
  count(tally.kills, kind)
  const underWay = server.underWay()
  const found = NOTED.filter((name) => underWay[name] > 0)
  for (const name of found) count(tally.underWay, name)
  if (found.some((name) => WRITES.includes(name))) count(tally.underWay, 'a write')
}

/** What moves a payment on, or is about to. */
const WRITES: readonly Noted[] = ['commit', 'hold', 'settle', 'release', 'credit', 'transaction', 'order']

/** What befalls the processes of a wallet; the first more often than the last. */
export const PROCESS_KILLS: readonly KillKind[] = [
  'at a moment',
  'at a moment',
  'at a moment',
  'at a call',
  'at a call',
  'at a call',
  'all at once',
  'in recovery',
]

/** Calls that are made for payments alone, or between which one stands; the first more often than the rest. */
const STRUCK: readonly (readonly CallName[])[] = [
  ['commit'],
  ['commit'],
  ['hold'],
  ['credit'],
  ['settle'],
  ['release'],
  ['event'],
  ['statement'],
  CALLS,
]

function drawFuse(random: Random): Fuse {
  const calls = random.pick(STRUCK)
  const most = calls.length > 1 || calls.includes('statement') ? 60 : 6
  return { calls, nth: 1 + random.below(most), when: random.oneIn(2) ? 'before' : 'after' }
}

/** The longest that is waited for a process to come to the call where it ends; then it is killed where it is. */
const LONGEST_FUSE_MILLISECONDS = 300

/** Kills something under load; resolves when it is gone, and a database when it is back. */
export async function strike(world: World, kind: KillKind, random: Random, tally: Tally): Promise<void> {
  if (kind === 'at a call') return killAtCall(world, random, tally)
  let ordered = await world.nextOrder()
  for (let orders = random.below(4); orders > 0; orders--) ordered = await world.nextOrder()
  await pause(random.below(20))
  switch (kind) {
    case 'at a moment':
      return killAll([ordered], kind, tally)
    case 'all at once':
      return killAll(world.servers(), kind, tally)
    case 'in recovery':
      await killAll(world.servers(), 'all at once', tally)
      return killInRecovery(world, random, tally)
    case 'connections cut':
    case 'backend killed':
    case 'database killed':
      if (world.database === undefined) throw new Error('a file has no connections')
      noteDeath(tally, kind, ordered)
      return world.database.strike(kind, random)
  }
}

async function killAll(servers: readonly WalletServer[], kind: KillKind, tally: Tally): Promise<void> {
  await Promise.all(servers.map((server) => server.kill()))
  for (const server of servers) noteDeath(tally, kind, server)
}

async function killAtCall(world: World, random: Random, tally: Tally): Promise<void> {
  const server = random.pick(world.servers())
  await server.arm(drawFuse(random))
  await Promise.race([server.ended, pause(LONGEST_FUSE_MILLISECONDS)])
  const isLate = server.isRunning()
  await server.kill()
  noteDeath(tally, isLate ? 'at a moment' : 'at a call', server)
}

async function killInRecovery(world: World, random: Random, tally: Tally): Promise<void> {
  const fuse = { ...drawFuse(random), nth: 1 + random.below(12) }
  world.advance(LEASE_MILLISECONDS)
  const recovering = world.start({ recoverEveryMilliseconds: 20, fuse })
  await Promise.race([recovering.ended, pause(LONGEST_FUSE_MILLISECONDS)])
  const isLate = recovering.isRunning()
  await recovering.kill()
  noteDeath(tally, isLate ? 'at a moment' : 'in recovery', recovering)
}
