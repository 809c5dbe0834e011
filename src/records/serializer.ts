import type { Companion, Serializer } from '../ports/context.ts'

/** How many tasks are done in one turn at most, including the one whose turn it is: no turn serves everybody who waits. */
const MOST_COMPANIONS = 16

/**
 * Runs tasks of one key one after the other, tasks of different keys in parallel. A store settles every race by itself; this
 * only spares the writers of one hot record in one process their conflicts.
 */
export function createSerializer(): Serializer {
  const tails = new Map<string, Promise<unknown>>()
  const lines = new Map<string, Companion[]>()
  const counts = new Map<string, number>()
  const countOf = (key: string): number => counts.get(key) ?? 0
  const serialize = async <T>(key: string, task: () => Promise<T>): Promise<T> => {
    const before = tails.get(key)
    const run = before === undefined ? task() : before.then(task, task)
    tails.set(key, run)
    counts.set(key, countOf(key) + 1)
    try {
      return await run
    } finally {
      counts.set(key, countOf(key) - 1)
      if (countOf(key) === 0) for (const byKey of [tails, lines, counts]) byKey.delete(key)
    }
  }
  const inCompany: Serializer['inCompany'] = async (key, own, task) => {
    const line = lines.get(key) ?? []
    lines.set(key, line)
    line.push(own)
    return serialize(key, () => task(line.includes(own) ? line.splice(0, MOST_COMPANIONS) : []))
  }
  return Object.assign(serialize, { inCompany, countOf })
}
