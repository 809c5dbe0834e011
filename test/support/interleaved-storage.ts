import type { Storage } from 'open-payments-server'
import { randomNumbers } from './random-numbers.ts'

/** A storage whose operations take a random number of turns, so that requests at the same time meet in many orders. */
export function interleavedStorage(inner: Storage, seed: number): Storage {
  const random = randomNumbers(seed)
  const turns = async (): Promise<void> => {
    for (let left = Math.floor(random() * 4); left > 0; left--) await new Promise((resolve) => setImmediate(resolve))
  }
  const late = async <T>(operation: () => Promise<T>): Promise<T> => {
    await turns()
    const result = await operation()
    await turns()
    return result
  }
  return {
    get: (keys) => late(() => inner.get(keys)),
    list: (query) => late(() => inner.list(query)),
    due: (...query) => late(() => inner.due(...query)),
    commit: (changes) => late(() => inner.commit(changes)),
  }
}
