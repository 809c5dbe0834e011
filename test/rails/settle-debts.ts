import {
  ASSETS,
  type AssetCode,
  ilpAddressOf,
  limitsIn,
  otherOf,
  WALLETS,
  type WalletName,
} from './wallet-process/wallets.ts'
import type { World } from './world.ts'

/** What a wallet owes the other one in an asset, by its own account; below zero, what it is owed. */
export async function debtOf(world: World, wallet: WalletName, assetCode: AssetCode): Promise<bigint> {
  const scale = ASSETS.find((asset) => asset.assetCode === assetCode)?.assetScale
  const id = `ilp:${ilpAddressOf(otherOf(wallet))}/${assetCode}/${scale}`
  const [record] = await world.books[wallet].storage.get([{ kind: 'rail-account', id }])
  const moved = record?.kind === 'rail-account' && 'sent' in record.value ? record.value : undefined
  return (moved?.sent ?? 0n) - (moved?.received ?? 0n) + world.settledOf(wallet, assetCode)
}

/** Has each wallet pay what it owes, outside of the rail, as two wallets with limits do from time to time. */
export async function settleDebts(world: World): Promise<void> {
  if (world.rail.limitUnits === undefined) return
  for (const wallet of WALLETS) {
    for (const assetCode of world.rail.assets) {
      // By the books of the other one: what is in flight is owed once it has arrived.
      const claim = -(await debtOf(world, otherOf(wallet), assetCode))
      if (claim > 0n) world.settle(wallet, assetCode, claim)
    }
  }
}

/** No wallet owes the other one more than it may, nor is it owed more. */
export async function checkLimits(world: World): Promise<readonly string[]> {
  const { limitUnits, assets } = world.rail
  if (limitUnits === undefined) return []
  const found: string[] = []
  for (const wallet of WALLETS) {
    for (const asset of ASSETS.filter(({ assetCode }) => assets.includes(assetCode))) {
      const { assetCode } = asset
      const debt = await debtOf(world, wallet, assetCode)
      const { sending, receiving } = limitsIn(asset, limitUnits)
      if (debt > sending) found.push(`${wallet} owes ${debt} ${assetCode}`)
      if (-debt > receiving) found.push(`${wallet} is owed ${-debt} ${assetCode}`)
    }
  }
  return found
}
