import type { OngoingWork } from '../ports/context.ts'

/** So many at once: a backlog must not ask more of a host than it can answer in time. */
const MOST_TOLD_AT_ONCE = 100

/** Keeps what goes on after a call in this process. */
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
