// Taken at start-up: if a wallet's tests replaced it and then restored it, a batch might never be handed on.
const soon = globalThis.setImmediate

/** So many share enough: more in one batch would only block the event loop for longer. The rest is the next batch. */
const MOST_IN_BATCH = 128

/**
 * Collects what it is given in one turn of the event loop, and hands it on as one batch, in order, in the next turn or a
 * few turns later.
 *
 * Requests of one batch go on in step: each takes the same step before any takes the next. So for all but the first, the
 * code of a step is already in the processor's caches; a request that ran alone from beginning to end would find little
 * of its code there. Under load that saves a quarter of the cost of a signed read; without load it costs a turn.
 *
 * Several wait on as long as each turn brings more, for `mostTurns` at most: so those that have got out of step meet
 * again, and what they share, a transaction or a statement, costs each of them less. One alone waits for nobody.
 */
export function gatherBatch<T>(handOn: (all: readonly T[]) => void, mostTurns = 8): (one: T) => void {
  const waiting: T[] = []
  const begin = (turn: number, before: number): void => {
    if (turn < mostTurns && waiting.length > before && waiting.length < MOST_IN_BATCH) {
      soon(begin, turn + 1, waiting.length)
      return
    }
    const all = waiting.splice(0, MOST_IN_BATCH)
    if (waiting.length > 0) soon(begin, mostTurns, 0)
    handOn(all)
  }
  return (one) => {
    // A macrotask, not a microtask: requests arrive in callbacks of their own, and those of one turn should share.
    if (waiting.length === 0) soon(begin, 1, 1)
    waiting.push(one)
  }
}

/** One piece of work. `apply` does it, and returns a function that passes the result to the caller. */
export interface Work {
  apply(): () => void
  reject(error: unknown): void
}

/** Hands on as `gatherBatch` does, and gives whoever asked for a piece of work a promise of its result. */
export function gatherWork(handOn: (all: readonly Work[]) => void): <T>(work: () => T) => Promise<T> {
  const gather = gatherBatch(handOn)
  return (work) =>
    new Promise((resolve, reject) => {
      const apply = (): (() => void) => {
        const result = work()
        return () => resolve(result)
      }
      gather({ apply, reject })
    })
}

/**
 * Makes promises that resolve in the next turn of the event loop, in one batch with all others that were requested in
 * this one. They do not wait on: a connection that sends requests without end would bring more in each turn.
 */
export function createBatches(): () => Promise<void> {
  const wait = gatherBatch<() => void>((all) => {
    for (const goOn of all) goOn()
  }, 1)
  return () => new Promise(wait)
}
