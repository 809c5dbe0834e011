import type { LateAnswers } from '../ports/context.ts'
import type { LedgerResult } from '../ports/ledger.ts'

/**
 * The most unanswered calls of one kind and id that are still waited for: a ledger that is late three times has lost
 * them.
 */
const CALLS_OF_A_KEY = 3

/** For how many kinds and ids of calls. The oldest are forgotten; the ledger is then simply asked again. */
const REMEMBERED = 10_000

/** Remembers, in this process, the ledger calls that were not answered in time: a late answer still counts. */
export function createLateAnswers(): LateAnswers {
  const open = new Map<string, readonly Promise<LedgerResult>[]>()
  const drop = (key: string, call: Promise<LedgerResult>): void => {
    const left = (open.get(key) ?? []).filter((other) => other !== call)
    if (left.length > 0) open.set(key, left)
    else open.delete(key)
  }
  return {
    expect(key, call) {
      const earlier = open.get(key) ?? []
      open.set(key, [...earlier, call].slice(-CALLS_OF_A_KEY))
      const [oldest] = open.keys()
      if (open.size > REMEMBERED && oldest !== undefined) open.delete(oldest)
      // A call that fails will never give an answer.
      call.catch(() => drop(key, call))
      return earlier
    },
    forget: (key) => void open.delete(key),
  }
}
