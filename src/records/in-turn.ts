import type { InTurn } from '../ports/context.ts'

/** The tasks that wait at one key while another one runs: what lets each of them begin, in their order. */
interface Queue {
  readonly first: (() => void)[]
  readonly last: (() => void)[]
}

const COUNTED_DIGITS = 3

/** Where the last end of a turn is noted. Keys end with ids, and these with random hexadecimal digits. */
function placeOf(key: string): number {
  return Number.parseInt(key.slice(-COUNTED_DIGITS), 16) || 0
}

/**
 * Runs tasks of one key one after the other, and tasks of different keys in parallel. The storage decides every race by
 * itself; this only saves the writers of one busy record in this process from conflicts.
 */
export function createTurns(): InTurn {
  const queues = new Map<string, Queue>()
  const lastEnds = new Float64Array(16 ** COUNTED_DIGITS)
  let ends = 0
  const inTurn = async <T>(key: string, task: () => Promise<T>, place: keyof Queue = 'last'): Promise<T> => {
    const known = queues.get(key)
    const queue: Queue = known ?? { first: [], last: [] }
    queues.set(key, queue)
    if (known !== undefined) await new Promise<void>((begin) => known[place].push(begin))
    try {
      return await task()
    } finally {
      lastEnds[placeOf(key)] = ++ends
      const begin = queue.first.shift() ?? queue.last.shift()
      if (begin === undefined) queues.delete(key)
      else begin()
    }
  }
  const countOf = (key: string): number => {
    const queue = queues.get(key)
    return queue === undefined ? 0 : queue.first.length + queue.last.length + 1
  }
  const isQuietSince = (key: string, ended: number): boolean =>
    !queues.has(key) && (lastEnds[placeOf(key)] ?? 0) <= ended
  return Object.assign(inTurn, { countOf, ended: () => ends, isQuietSince })
}
