import { type Fuse, WRITES } from '../crashes/wallet-process/watched-calls.ts'
import type { WalletProgram } from '../crashes/wallet-program.ts'
import { randomFor } from '../fuzz/random.ts'
import { checkWorld } from './campaign.ts'
import { type Fate, type Lane, order, quote, receive } from './orders.ts'
import { readWallets } from './read-wallet.ts'
import { bringToRest } from './rest.ts'
import type { ProcessOptions } from './wallet-process/main.ts'
import { amountOf, WALLETS, type WalletName } from './wallet-process/wallets.ts'
import { CALM } from './weather.ts'
import { openWorld } from './world.ts'

/** Who is killed at each of its writes, before it or after it; the one in the south is paid. */
const SWEEPS: readonly { readonly wallet: WalletName; readonly when: Fuse['when'] }[] = [
  { wallet: 'south', when: 'after' },
  { wallet: 'south', when: 'before' },
  { wallet: 'north', when: 'before' },
  { wallet: 'north', when: 'after' },
]

/** What was wrong. */
export interface Found {
  /** After a payment during which nobody was killed. */
  readonly unharmed: readonly string[]
  /** After the first of the others that left anything wrong, and where a process was to end in that one. */
  readonly killed: readonly string[]
}

/**
 * Has one wallet pay the other, and kills one of them at its first write, in the next payment at its second, and so on
 * until it survives a payment. Every payment is one packet, nothing befalls the network, and nobody recovers but when told
 * to: so where a process ends does not depend on chance.
 */
export async function payAtEveryWrite(program: WalletProgram<ProcessOptions>): Promise<Found> {
  const rail = { assets: ['USD'], maxPacketUnits: 10, isIdempotent: true } as const
  const random = randomFor(1, 1)
  const world = await openWorld(program, { rail, climate: CALM, random, keepsGoing: false })
  const orders = new Map<string, Fate>()
  let names = 0
  const lane: Lane = { world, from: 'north', random, orders, refusals: new Map(), freshName: () => `key-${++names}` }

  const recoverAll = async (): Promise<void> => {
    for (const wallet of WALLETS) await world.server(wallet)?.recover()
  }
  /** Makes a payment during which a process may end; answers whether it has, and what is wrong afterwards. */
  const pay = async (wallet: WalletName, fuse?: Fuse): Promise<{ hasDied: boolean; found: readonly string[] }> => {
    const incoming = await receive(lane, 'alice', { incomingAmount: amountOf('alice', 500) })
    const quoteId = incoming && (await quote(lane, 'alice', incoming))
    const server = world.server(wallet)
    if (quoteId === undefined || server === undefined) throw new Error('there is nothing to pay, or nobody')
    await recoverAll()
    await server.arm(fuse)
    const ordered = order(lane, 'alice', { quoteId }, 'paid')
    await Promise.race([ordered.then(recoverAll), server.ended])
    const hasDied = !server.isRunning()
    if (hasDied) world.start(wallet)
    else await server.arm()
    await ordered
    const stuck = await bringToRest(world)
    return { hasDied, found: [...stuck, ...world.violations, ...checkWorld(world, await readWallets(world), orders)] }
  }

  try {
    for (const wallet of WALLETS) world.start(wallet)
    const { found: unharmed } = await pay('north')
    for (const { wallet, when } of SWEEPS) {
      for (let nth = 1; ; nth++) {
        const { hasDied, found } = await pay(wallet, { calls: WRITES, nth, when })
        if (found.length > 0) return { unharmed, killed: [`${when} write ${nth} in the ${wallet}`, ...found] }
        if (!hasDied && nth === 1) throw new Error(`the wallet in the ${wallet} writes nothing`)
        if (!hasDied) break
      }
    }
    return { unharmed, killed: [] }
  } finally {
    await world.close()
  }
}
