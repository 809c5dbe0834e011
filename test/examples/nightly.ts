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
  const unread = new Map<string, string>() // of these nothing is known; all others are compared
  async function* payments() {
    for (const walletAddress of walletAddresses) {
      try {
        yield* openPayments.audit(walletAddress)
      } catch (cause) {
        unread.set(walletAddress, `${walletAddress}: cannot be read: ${cause instanceof Error ? cause.message : cause}`)
      }
    }
  }
  const run = async () => reconcile(payments(), await readReceived(), readBooks, now(), noted)
  const first = new Set(await run())
  const second = first.size === 0 ? [] : await run()
  return [...unread.values(), ...second.filter((difference) => first.has(difference))]
}
