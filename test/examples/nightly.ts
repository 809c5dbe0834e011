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
  const run = async () => {
    const unread: string[] = []
    async function* payments() {
      for (const walletAddress of walletAddresses) {
        try {
          yield* openPayments.audit(walletAddress)
        } catch {
          unread.push(`${walletAddress}: cannot be read`) // a fault has said why; the others are compared all the same
        }
      }
    }
    const found = await reconcile(payments(), await readReceived(), readBooks, now(), noted)
    return [...unread, ...found]
  }
  const first = new Set(await run())
  return first.size === 0 ? [] : (await run()).filter((difference) => first.has(difference))
}
