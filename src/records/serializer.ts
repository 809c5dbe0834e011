import type { Companion, Serializer } from '../ports/context.ts'

/** How many tasks are done in one turn at most, including the one whose turn it is: no turn serves everybody who waits. */
const MOST_COMPANIONS = 16

/** What runs or waits at one key. */
interface Queue {
  /** The last of the tasks. */
  tail?: Promise<unknown>
  /** Those whose turn has not begun. */
  readonly line: Companion[]
  count: number
}

/**
 * Runs tasks of one key one after the other, tasks of different keys in parallel. A store settles every race by itself; this
 * only spares the writers of one hot record in one process their conflicts.
 */
export function createSerializer(): Serializer {
  const queues = new Map<string, Queue>()
  const queueAt = (key: string): Queue => {
    const queue = queues.get(key) ?? { line: [], count: 0 }
    queues.set(key, queue)
    return queue
  }
  const serialize = async <T>(key: string, task: () => Promise<T>): Promise<T> => {
    const queue = queueAt(key)
    const run = queue.tail === undefined ? task() : queue.tail.then(task, task)
    queue.tail = run
    queue.count++
    try {
      return await run
    } finally {
      if (--queue.count === 0) queues.delete(key)
    }
  }
  const inCompany: Serializer['inCompany'] = async (key, own, task) => {
    const { line } = queueAt(key)
    line.push(own)
    return serialize(key, () => task(line.includes(own) ? line.splice(0, MOST_COMPANIONS) : []))
  }
  return Object.assign(serialize, { inCompany, countOf: (key: string) => queues.get(key)?.count ?? 0 })
}
