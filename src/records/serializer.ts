/**
 * Runs tasks of one key one after the other, tasks of different keys side by side. A store settles every race by
 * itself; this only spares writers of one hot record in one process their conflicts.
 */
export function createSerializer(): <T>(key: string, task: () => Promise<T>) => Promise<T> {
  const tails = new Map<string, Promise<unknown>>()
  return async (key, task) => {
    const before = tails.get(key)
    const run = before === undefined ? task() : before.then(task, task)
    tails.set(key, run)
    try {
      return await run
    } finally {
      if (tails.get(key) === run) tails.delete(key)
    }
  }
}
