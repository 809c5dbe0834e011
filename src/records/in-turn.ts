import type { InTurn } from '../ports/context.ts'

/** The tasks that wait at one key while another one runs: what lets each of them begin, in their order. */
interface Queue {
  readonly first: (() => void)[]
  readonly last: (() => void)[]
}

/**
 * Runs tasks of one key one after the other, and tasks of different keys in parallel. The storage decides every race by
 * itself; this only saves the writers of one busy record in this process from conflicts.
 */
export function createTurns(): InTurn {
  const queues = new Map<string, Queue>()
  const inTurn = async <T>(key: string, task: () => Promise<T>, place: keyof Queue = 'last'): Promise<T> => {
    const known = queues.get(key)
    const queue: Queue = known ?? { first: [], last: [] }
    queues.set(key, queue)
    if (known !== undefined) await new Promise<void>((begin) => known[place].push(begin))
    try {
      return await task()
    } finally {
      const begin = queue.first.shift() ?? queue.last.shift()
      if (begin === undefined) queues.delete(key)
      else begin()
    }
  }
  const countOf = (key: string): number => {
    const queue = queues.get(key)
    return queue === undefined ? 0 : queue.first.length + queue.last.length + 1
  }
  return Object.assign(inTurn, { countOf })
}
