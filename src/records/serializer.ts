import type { Serializer } from '../ports/context.ts'

/**
 * Runs tasks of one key one after the other, tasks of different keys side by side. A store settles every race by
 * itself; this only spares writers of one hot record in one process their conflicts.
 */
export function createSerializer(): Serializer {
  const tails = new Map<string, Promise<unknown>>()
  const serialize = async <T>(key: string, task: () => Promise<T>): Promise<T> => {
    const before = tails.get(key)
    const run = before === undefined ? task() : before.then(task, task)
    tails.set(key, run)
    try {
      return await run
    } finally {
      if (tails.get(key) === run) tails.delete(key)
    }
  }
  return Object.assign(serialize, { isBusy: (key: string) => tails.has(key) })
}
