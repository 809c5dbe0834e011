import { requireBoolean } from '../../src/errors/check-option.ts'
import type { AuditedPayment } from '../../src/index.ts'
import { requireBooks } from './books.ts'
import { compare } from './compare.ts'
import { inTwoRuns, isJudged } from './in-two-runs.ts'
import { type ReconciliationOptions, requireOptions, SHARED } from './options.ts'
import { requireReceived } from './received.ts'
import { noteUnread, type Unread } from './unread.ts'

/** What `reconcileAll` needs. `walletAddresses`: all that have ever paid. `readBooks` is called for everything. */
export interface ReconcileAllOptions extends ReconciliationOptions {
  /**
   * Whether storage or ledger was just restored, or failed over, and no process is serving: then nothing is in flight, and
   * every difference counts, however young it is. Default: no, and what is younger than 15 minutes is not judged.
   */
  readonly isAfterRestore?: boolean
}

/**
 * Compares every payment, and all that came from other wallets, with the ledger. Resolves with what somebody has to explain,
 * which two runs have found; each line begins with the id of a payment, a hold or a credit. A wallet address that cannot be
 * read is a line, too (`https://wallet.example/alice: cannot be read: …`), and all others are compared. `[]`: they agree.
 *
 * It changes nothing. Rejects with a `ConfigurationError` if an option is not valid, with a `TypeError` if what `readBooks` or
 * `readReceived` answers cannot be compared, and with their errors.
 */
export async function reconcileAll(options: ReconcileAllOptions): Promise<readonly string[]> {
  requireOptions('reconcileAll', options, [...SHARED, 'isAfterRestore'])
  const { openPayments, walletAddresses, readBooks, readReceived, isAfterRestore = false } = options
  requireBoolean('reconcileAll: isAfterRestore', isAfterRestore)
  const { clock = { now: () => Date.now() } } = options
  const noted = new Set(options.noted)
  const unread: Unread = new Map()
  async function* payments(): AsyncGenerator<AuditedPayment> {
    for (const walletAddress of new Set(walletAddresses)) {
      try {
        yield* openPayments.audit(walletAddress)
      } catch (cause) {
        noteUnread(unread, walletAddress, cause)
      }
    }
  }
  const differences = await inTwoRuns(async () => {
    const received = await requireReceived(readReceived)
    const now = clock.now()
    return compare({
      payments: payments(),
      received,
      readBooks: async () => requireBooks(await readBooks(0, [])),
      noted,
      isJudged: (at) => isAfterRestore || isJudged(at, now),
    })
  })
  return [...unread.values(), ...differences]
}
