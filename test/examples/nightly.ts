import type { OpenPayments } from 'open-payments-server'
import { type Books, type Received, reconcile } from './reconcile.ts'

/** Answers what somebody has to explain: what was found in two runs. */
export async function reconcileAll(
  openPayments: OpenPayments,
  walletAddresses: readonly string[],
  readBooks: () => Promise<Books>, // of the pool or handle of the ledger: above
  now: () => number = Date.now, // after a restore () => Date.now() + 15 * 60_000: nothing is in flight then
  readReceived: () => Promise<readonly Received[]> = async () => [], // where you have peers: below
  noted: ReadonlySet<string> = new Set(),
): Promise<readonly string[]> {
  async function* payments() {
    for (const walletAddress of walletAddresses) yield* openPayments.audit(walletAddress)
  }
  const run = async () => reconcile(payments(), await readReceived(), readBooks, now(), noted)
  const first = new Set(await run())
  return first.size === 0 ? [] : (await run()).filter((difference) => first.has(difference))
}
