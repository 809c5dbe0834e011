import { count } from '../crashes/count.ts'
import type { Traffic } from './bad-network.ts'
import { isTaken } from './check-rail.ts'
import { costOf, isUndecided } from './check-wallet.ts'
import type { KillKind } from './kills.ts'
import { leftOf, type RailPayment, sumOf, type WalletState } from './read-wallet.ts'
import { ASSETS, type OfEach, WALLETS } from './wallet-process/wallets.ts'
import type { World } from './world.ts'

/** What was done and what came of it, over all worlds. */
export interface Tally {
  worlds: number
  readonly kills: Map<KillKind, number>
  readonly carried: Readonly<Record<Traffic, Map<string, number>>>
  /** Packets that offered money, and how they fared. */
  readonly packets: Map<string, number>
  /** How payments ended; `in part`: failed after some of it had arrived. */
  readonly payments: Map<string, number>
  /** What hosts have decided where the rail did not know. */
  readonly decisions: Map<string, number>
  /** What clients were refused, and asked for again. */
  readonly refusals: Map<string, number>
  readonly told: Map<string, number>
  /** What payers lost and payees gained, by asset and account. */
  readonly moved: Map<string, bigint>
}

/** An empty one. */
export function openTally(): Tally {
  return {
    worlds: 0,
    kills: new Map(),
    carried: { packets: new Map(), requests: new Map() },
    packets: new Map(),
    payments: new Map(),
    decisions: new Map(),
    refusals: new Map(),
    told: new Map(),
    moved: new Map(),
  }
}

/** Adds what one world has come to. */
export function tallyWorld(tally: Tally, world: World, wallets: OfEach<WalletState>): void {
  tally.worlds += 1
  addAll(tally.carried.packets, world.network.carried.packets)
  addAll(tally.carried.requests, world.network.carried.requests)
  addAll(tally.told, world.told)
  for (const { sent, delivered, fulfilled } of world.network.log.packets.values()) {
    count(tally.packets, 'all')
    if (sent > 1) count(tally.packets, 'sent again')
    if (delivered > 1) count(tally.packets, 'arrived again')
    if (fulfilled > 0) count(tally.packets, 'fulfilled')
    if (fulfilled > 1) count(tally.packets, 'fulfilled again')
  }
  for (const wallet of WALLETS) tallyWallet(tally, wallets[wallet])
}

function tallyWallet(tally: Tally, { payments, receipts }: WalletState): void {
  for (const payment of payments) count(tally.payments, endOf(payment))
  for (const { assetCode } of ASSETS) {
    const paid = payments.filter(({ debitAmount }) => debitAmount.assetCode === assetCode).map(costOf)
    const left = payments.filter(({ rail }) => rail.sendAmount.assetCode === assetCode).map(leftOf)
    const taken = receipts.filter((receipt) => isTaken(receipt) && receipt.amount.assetCode === assetCode)
    const [credited, dropped] = (['credited', 'dropped'] as const).map((ended) =>
      sumOf(
        taken.filter(({ state }) => state === ended),
        ({ amount }) => amount.value,
      ),
    )
    const [lost, fees] = [sumOf(paid, ({ debit }) => debit), sumOf(paid, ({ fee }) => fee)]
    const sums: Readonly<Record<string, bigint | undefined>> = {
      'payers lost': lost,
      'went to fees': fees,
      'payees gained': credited,
      'stayed with the wallets, for the exchange': lost - fees - (credited ?? 0n),
      'left over the rail': sumOf(left, ({ sent }) => sent),
      'came above what was asked': sumOf(taken, ({ excess = 0n }) => excess),
      'came for closed accounts': dropped,
    }
    for (const [what, value = 0n] of Object.entries(sums)) {
      const name = `${assetCode} ${what}`
      tally.moved.set(name, (tally.moved.get(name) ?? 0n) + value)
    }
  }
}

function endOf(payment: RailPayment): string {
  if (isUndecided(payment)) return 'undecided'
  if (payment.state !== 'failed' || leftOf(payment).sent === 0n) return payment.state
  return 'failed in part'
}

function addAll(counts: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [what, times] of more) count(counts, what, times)
}

/** Prints what was done and what came of it, for the log of a run. */
export function printTally(tally: Tally): void {
  const shown = ([name, times]: readonly [unknown, unknown]): string => `${name} ${times}`
  const line = (title: string, counts: ReadonlyMap<unknown, unknown>): string =>
    `${title}: ${[...counts].map(shown).join(', ')}`
  const lines = [
    `${tally.worlds} worlds, ${sumOf([...tally.kills.values()], BigInt)} kills`,
    line('kills', tally.kills),
    line('payments', tally.payments),
    line('packets', tally.packets),
    line('befell packets', tally.carried.packets),
    line('befell requests', tally.carried.requests),
    line('money', tally.moved),
    line('decided by hosts', tally.decisions),
    line('told', tally.told),
    line('refused at first', tally.refusals),
  ]
  console.log(lines.join('\n'))
}
