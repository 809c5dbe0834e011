import type { Storage } from 'open-payments-server'
import { randomNumbers } from './random-numbers.ts'
import { turns } from './turns.ts'

/** A storage whose operations take a random number of turns, so that requests at the same time meet in many orders. */
export function interleavedStorage(inner: Storage, seed: number): Storage {
  const random = randomNumbers(seed)
  const wait = (): Promise<void> => turns(Math.floor(random() * 4))
  const late = async <T>(operation: () => Promise<T>): Promise<T> => {
    await wait()
    const result = await operation()
    await wait()
    return result
  }
  return {
    get: (keys) => late(() => inner.get(keys)),
    list: (query) => late(() => inner.list(query)),
    due: (...query) => late(() => inner.due(...query)),
    commit: (changes) => late(() => inner.commit(changes)),
  }
}
