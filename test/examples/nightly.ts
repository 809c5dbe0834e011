import type { OpenPayments } from 'open-payments-server'
import type { Pool } from 'pg'
import { readBooks } from './read-books.ts'
import { type Received, reconcile } from './reconcile.ts'

/** Answers what somebody has to explain: what was found in two runs. */
export async function reconcileAll(
  openPayments: OpenPayments,
  walletAddresses: readonly string[],
  pool: Pool,
  now: () => number = Date.now,
  readReceived: () => Promise<readonly Received[]> = async () => [], // where you have peers: below
  noted: ReadonlySet<string> = new Set(),
): Promise<readonly string[]> {
  async function* payments() {
    for (const walletAddress of walletAddresses) yield* openPayments.audit(walletAddress)
  }
  const run = async () => reconcile(payments(), await readReceived(), () => readBooks(pool), now(), noted)
  const first = new Set(await run())
  return first.size === 0 ? [] : (await run()).filter((difference) => first.has(difference))
}
