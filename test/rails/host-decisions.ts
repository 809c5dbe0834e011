import { count } from '../crashes/count.ts'
import { lastSegment } from '../support/last-segment.ts'
import { isTaken } from './check-rail.ts'
import { isUndecided } from './check-wallet.ts'
import { leftOf, sumOf, type WalletState } from './read-wallet.ts'
import type { Tally } from './tally.ts'
import { type OfEach, otherOf, WALLETS } from './wallet-process/wallets.ts'
import type { World } from './world.ts'

/**
 * Decides what waits for a word of the host as two hosts would who compare their books: where all that was in flight has
 * arrived, or nothing of it, its wallet is told so. What has arrived in part stays as it is.
 */
export async function decideByTruth(
  world: World,
  wallets: OfEach<WalletState>,
  tally: Tally,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const from of WALLETS) {
    const receipts = wallets[otherOf(from)].receipts.filter(isTaken)
    for (const payment of wallets[from].payments.filter(isUndecided)) {
      const id = lastSegment(payment.receiver)
      const others = wallets[from].payments.filter(({ receiver }) => receiver === payment.receiver)
      const arrived = sumOf(
        receipts.filter(({ incomingPaymentId }) => incomingPaymentId === id),
        ({ railAmount = 0n }) => railAmount,
      )
      const known = sumOf(others, (other) => leftOf(other).sent)
      const unknown = leftOf(payment).inFlight
      const isAll = arrived - known === unknown
      if (others.length > 1 || (!isAll && arrived !== known)) {
        count(tally.decisions, 'not to be decided from the totals')
        continue
      }
      count(tally.decisions, isAll ? 'had arrived' : 'had not arrived')
      const answer = await world.server(from)?.decide(payment.id, isAll)
      if (Reflect.get(Object(answer), 'fault') !== undefined) found.push(`${payment.id}: ${JSON.stringify(answer)}`)
    }
  }
  return found
}
