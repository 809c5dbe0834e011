import { answerWithin } from '../deadline/answer-within.ts'
import type { Context } from '../ports/context.ts'

/** How long a call of `recover()` waits for what it has taken up: ledgers that are well have answered by then. */
const WAITED_MILLISECONDS = 1000

/** The most that goes on without it in one process, since all of that asks the ledger: it waits for what is beyond. */
const MOST_LEFT = 256

/**
 * What `recover()` has taken up, and now goes on without it because the ledger does not answer: others must not wait for
 * that. Until it ends, nothing else is taken up for the same account, since the ledger may hang for that one alone.
 */
export interface LedgerWaits {
  /** Whether anything that is left to go on asked the ledger about this account first. */
  has(account: string): boolean
  /** Resolves once the work, which asks about this account first, has ended, or is left to go on. Never rejects. */
  wait(account: string, work: Promise<unknown>): Promise<void>
}

/** Remembers that for one process: each asks the ledger over connections of its own. */
export function createLedgerWaits({ clock, ongoing }: Pick<Context, 'clock' | 'ongoing'>): LedgerWaits {
  const left = new Map<Promise<unknown>, string>()
  return {
    has: (account) => [...left.values()].includes(account),
    async wait(account, work) {
      const ended = ongoing.keep(work)
      if ((await answerWithin(clock, WAITED_MILLISECONDS, () => ended)) !== 'late') return
      if (left.size < MOST_LEFT) {
        left.set(ended, account)
        ended.then(() => left.delete(ended))
      } else await ended
    },
  }
}
