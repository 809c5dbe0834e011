import { setTimeout as pause } from 'node:timers/promises'
import { CALLS, type CallName, type Fuse } from '../crashes/wallet-process/watched-calls.ts'
import type { Random } from '../fuzz/random.ts'
import { LEASE_SECONDS, otherOf, WALLETS, type WalletName } from './wallet-process/wallets.ts'
import type { WalletServer } from './wallet-server.ts'
import type { World } from './world.ts'

/** How processes are killed. */
export const KILLS = [
  'at a moment',
  'as a packet arrives',
  'as a packet is out',
  'both at once',
  'at a call',
  'in recovery',
] as const

/** One of them. */
export type KillKind = (typeof KILLS)[number]

/** Calls beside and around which money is on its way; the first more often than the rest. */
const STRUCK: readonly (readonly CallName[])[] = [['commit'], ['commit'], ['credit'], ['settle'], ['hold'], CALLS]

function drawFuse(random: Random): Fuse {
  const calls = random.pick(STRUCK)
  return { calls, nth: 1 + random.below(calls.length > 1 ? 60 : 10), when: random.oneIn(2) ? 'before' : 'after' }
}

/** The longest that is waited for something to come about; then a process is killed where it is. */
const LONGEST_MILLISECONDS = 500

/** Kills one process or both under load, and starts them again on the same files; resolves with how it came about. */
export async function strike(world: World, random: Random): Promise<KillKind> {
  const kind = random.pick(KILLS)
  const wallet = random.pick(WALLETS)
  switch (kind) {
    case 'at a moment':
      await pause(random.below(100))
      await restart(world, [wallet], random)
      return kind
    case 'as a packet arrives':
    case 'as a packet is out': {
      const packet = await Promise.race([world.network.nextPacket(), pause(LONGEST_MILLISECONDS)])
      const receiver = packet?.to ?? wallet
      await pause(random.below(12))
      await restart(world, [kind === 'as a packet arrives' ? receiver : otherOf(receiver)], random)
      return packet === undefined ? 'at a moment' : kind
    }
    case 'both at once':
      await pause(random.below(100))
      await restart(world, WALLETS, random)
      return kind
    case 'at a call':
      await world.server(wallet)?.arm(drawFuse(random))
      return (await hasDied(world, wallet, random)) ? kind : 'at a moment'
    case 'in recovery':
      await world.server(wallet)?.kill()
      world.start(wallet, drawFuse(random))
      return (await hasDied(world, wallet, random)) ? kind : 'at a moment'
  }
}

/** Waits for a process to come to the call where it ends, kills it there or where it is, and starts it again. */
async function hasDied(world: World, wallet: WalletName, random: Random): Promise<boolean> {
  const server = world.server(wallet)
  await Promise.race([server?.ended, pause(LONGEST_MILLISECONDS)])
  const isDead = server?.isRunning() !== true
  await restart(world, [wallet], random)
  return isDead
}

async function restart(world: World, wallets: readonly WalletName[], random: Random): Promise<void> {
  // Connections to a process that is gone break, or are refused.
  const { network } = world
  const isRefused = random.oneIn(2)
  if (isRefused) await Promise.all(wallets.map((wallet) => network.accept(wallet, false)))
  await Promise.all(wallets.map((wallet) => world.server(wallet)?.kill()))
  // For a while nobody is there at times.
  if (random.oneIn(4)) await pause(random.below(600))
  await Promise.all(wallets.map((wallet) => listening(world.start(wallet))))
  await Promise.all(wallets.map((wallet) => network.accept(wallet, true)))
  // Leases lapse at once, also those of the living, and packets that are out get late.
  if (random.oneIn(2)) world.advance(LEASE_SECONDS * 1000 + 100)
}

async function listening(server: WalletServer): Promise<void> {
  await server.port
}
