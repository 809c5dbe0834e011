import { answerWithin } from '../deadline/answer-within.ts'
import type { Context } from '../ports/context.ts'

/** How long a call of `recover()` waits for what it has taken up: ledgers that are well have answered by then. */
const WAITED_MILLISECONDS = 1000

/** The most that goes on without `recover()` in one process, since all of it asks the ledger: it waits for any more. */
const MOST_LEFT = 256

/**
 * What `recover()` has taken up, and now goes on without it because the ledger does not answer: others must not wait for
 * that. Until it ends, nothing else is taken up for the same account, since the ledger may hang for that one alone.
 */
export interface LedgerWaits {
  /** Whether anything goes on for one of these accounts. */
  hasAny(accounts: readonly string[]): boolean
  /**
   * Resolves once the work has ended, or takes so long that it is left to go on. Never rejects. `asked` returns the account
   * that the work has asked the ledger about last: not another one of the same payment, which may be somebody else's.
   */
  wait(asked: () => string, work: Promise<unknown>): Promise<void>
}

/** Remembers that for one process: each asks the ledger over connections of its own. */
export function createLedgerWaits({ clock, ongoing }: Pick<Context, 'clock' | 'ongoing'>): LedgerWaits {
  const left = new Map<Promise<unknown>, () => string>()
  return {
    hasAny: (accounts) => [...left.values()].some((asked) => accounts.includes(asked())),
    async wait(asked, work) {
      const ended = ongoing.keep(work)
      if ((await answerWithin(clock, WAITED_MILLISECONDS, () => ended)) !== 'late') return
      if (left.size < MOST_LEFT) {
        left.set(ended, asked)
        ended.then(() => left.delete(ended))
      } else await ended
    },
  }
}
