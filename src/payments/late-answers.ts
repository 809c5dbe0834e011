import type { LateAnswers } from '../ports/context.ts'
import type { LedgerResult } from '../ports/ledger.ts'

/** More calls of one kind and id than this are not waited for: a ledger that lost three answers has lost them. */
const CALLS_OF_A_KEY = 3

/** How many kinds and ids of calls are remembered; the oldest are forgotten, and only asked for once more. */
const REMEMBERED = 10_000

/** Remembers, in this process, the calls of a ledger that were not answered in time. */
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
      // What fails answers nothing, now or later.
      call.catch(() => drop(key, call))
      return earlier
    },
    forget: (key) => void open.delete(key),
  }
}
