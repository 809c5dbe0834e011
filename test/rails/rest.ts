import type { RecordKind } from 'open-payments-server'
import { settleDebts } from './settle-debts.ts'
import { WALLETS, type WalletName } from './wallet-process/wallets.ts'
import type { World } from './world.ts'

/** What `recover()` moves on. */
const MOVED: readonly RecordKind[] = ['outgoing-payment', 'receipt', 'event']

const MOST_ROUNDS = 40

/**
 * Makes the network good, and lets both wallets recover until nothing is due any more, however late, but what waits for a
 * word of its host. Answers what is stuck.
 */
export async function bringToRest(world: World): Promise<readonly string[]> {
  world.network.makeGood()
  for (const wallet of WALLETS) if (world.server(wallet) === undefined) world.start(wallet)
  await Promise.all(WALLETS.map((wallet) => world.server(wallet)?.port))
  for (let round = 0; round < MOST_ROUNDS; round++) {
    await settleDebts(world)
    await Promise.all(WALLETS.map((wallet) => world.server(wallet)?.recover()))
    // What the last packets of one have brought to the other is still being credited: no clock moves in the midst of that.
    await Promise.all(WALLETS.map((wallet) => world.server(wallet)?.drain()))
    const due = (await Promise.all(WALLETS.map((wallet) => dueIn(world, wallet)))).flat()
    if (due.length === 0) return []
    world.advance(Math.max(0, Math.max(...due.map(({ dueAt }) => dueAt)) - world.now()) + 1)
  }
  const stuck = (await Promise.all(WALLETS.map((wallet) => dueIn(world, wallet)))).flat()
  return stuck.map(({ what }) => `${what} never came to an end`)
}

async function dueIn(
  { books }: World,
  wallet: WalletName,
): Promise<readonly { readonly what: string; readonly dueAt: number }[]> {
  const { storage } = books[wallet]
  const due = await Promise.all(MOVED.map((kind) => storage.due(kind, Number.MAX_SAFE_INTEGER, 1000)))
  return due.flat().flatMap(({ kind, value, dueAt = 0 }) => {
    const isLeftToHost = 'delivery' in value && value.delivery?.isLeftToHost !== undefined
    // That a transfer was refused is kept for a while, and then deleted.
    const isRefusal = kind === 'receipt' && 'state' in value && value.state === 'dropped'
    return isLeftToHost || isRefusal ? [] : [{ what: `${kind} ${value.id} in the ${wallet}`, dueAt }]
  })
}
