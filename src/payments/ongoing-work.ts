import type { OngoingWork } from '../ports/context.ts'

/** A limit, because a backlog must not ask more of the host than it can answer in time. What is not told stays due. */
const MOST_TOLD_AT_ONCE = 100

/** Keeps track of work that goes on in this process after the call that started it. */
export function createOngoingWork(): OngoingWork {
  const running = new Set<Promise<unknown>>()
  let telling = 0
  const keep: OngoingWork['keep'] = (work) => {
    const kept: Promise<unknown> = work.catch(() => undefined).finally(() => running.delete(kept))
    running.add(kept)
    return kept
  }
  return {
    keep,
    tellLater(tell) {
      if (telling >= MOST_TOLD_AT_ONCE) return
      telling++
      keep(tell().finally(() => telling--))
    },
    async drain() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
