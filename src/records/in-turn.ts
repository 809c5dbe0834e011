import type { InTurn } from '../ports/context.ts'

/** The tasks that run or wait at one key. */
interface Queue {
  /** The last of them. */
  tail?: Promise<unknown>
  count: number
}

/**
 * Runs tasks of one key one after the other, and tasks of different keys in parallel. The storage decides every race by
 * itself; this only saves the writers of one busy record in this process from conflicts.
 */
export function createTurns(): InTurn {
  const queues = new Map<string, Queue>()
  const inTurn = async <T>(key: string, task: () => Promise<T>): Promise<T> => {
    const queue: Queue = queues.get(key) ?? { count: 0 }
    queues.set(key, queue)
    const run = queue.tail === undefined ? task() : queue.tail.then(task, task)
    queue.tail = run
    queue.count++
    try {
      return await run
    } finally {
      if (--queue.count === 0) queues.delete(key)
    }
  }
  return Object.assign(inTurn, { countOf: (key: string) => queues.get(key)?.count ?? 0 })
}
