import type { InTurn } from '../ports/context.ts'
import { latestValues } from '../protocol/latest-values.ts'

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
  const last = lastEnds()
  let endedTurns = 0
  const inTurn = async <T>(key: string, task: () => Promise<T>, place: keyof Queue = 'last'): Promise<T> => {
    const known = queues.get(key)
    const queue: Queue = known ?? { first: [], last: [] }
    queues.set(key, queue)
    if (known !== undefined) await new Promise<void>((begin) => known[place].push(begin))
    try {
      return await task()
    } finally {
      last.note(key, ++endedTurns)
      const begin = queue.first.shift() ?? queue.last.shift()
      if (begin === undefined) queues.delete(key)
      else begin()
    }
  }
  const countOf = (key: string): number => {
    const queue = queues.get(key)
    return queue === undefined ? 0 : queue.first.length + queue.last.length + 1
  }
  const isQuietSince = (key: string, ended: number): boolean => !queues.has(key) && last.of(key) <= ended
  return Object.assign(inTurn, { countOf, endedTurns: () => endedTurns, isQuietSince })
}

/** Of how many keys it is known when their last turn ended. */
const KNOWN_ENDS = 4096

/**
 * When the last turn of a key ended: exactly, or no earlier than it did. Not by a table of hashes: an order that reads once more
 * than others, because of another's turn, falls out of step with those with whom it shares statements.
 */
function lastEnds() {
  let forgotten = 0
  const ends = latestValues<number>(KNOWN_ENDS, (dropped) => {
    for (const end of dropped) forgotten = Math.max(forgotten, end)
  })
  return { of: (key: string): number => ends.get(key) ?? forgotten, note: ends.set }
}
