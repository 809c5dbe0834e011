import type { Clock } from '../ports/clock.ts'

/** What a load brought: `isGood` decides how long it is held. */
export interface Loaded<T> {
  readonly isGood: boolean
  readonly value: T
}

interface Held<T> extends Loaded<T> {
  /** When its load began: what the other side changed since then is not in it. */
  readonly loadedAt: number
  /** When a load of it last began, successful or not. */
  readonly triedAt: number
  /** Whether an answer of it was ever good. */
  readonly isKnown: boolean
}

/** How long a good answer is held. @spec KEY-12 */
const GOOD_MILLISECONDS = 60_000

/** How long a bad answer is held, and the least time between two loads that an unsatisfying answer causes. @spec T-4 @spec KEY-12 */
const RETRY_MILLISECONDS = 10_000

/** How many answers are held; the one unused for longest makes room. */
const MAXIMUM_ENTRIES = 1000

/**
 * Holds what `load` answers, by key, for 60 seconds, or 10 where it is not good. Concurrent calls for one key share
 * one load. `isEnough` may find a held good answer wanting; then it is loaded again if the last load is 10 seconds ago.
 * A load that fails meanwhile does not displace a good answer. `load` is told whether the key was good before.
 * @spec KEY-12 @spec T-4 @spec T-5
 */
export function cacheDocuments<T>(clock: Clock, load: (key: string, isKnown: boolean) => Promise<Loaded<T>>) {
  const held = new Map<string, Held<T>>()
  const loads = new Map<string, Promise<T>>()

  async function loadAndHold(key: string): Promise<T> {
    const startedAt = clock.now()
    const loaded = await load(key, held.get(key)?.isKnown === true)
    const before = held.get(key)
    const isKnown = loaded.isGood || before?.isKnown === true
    const isBeforeGood = before?.isGood === true && clock.now() - before.loadedAt < GOOD_MILLISECONDS
    const kept = loaded.isGood || !isBeforeGood ? { ...loaded, loadedAt: startedAt } : before
    held.delete(key)
    held.set(key, { ...kept, triedAt: startedAt, isKnown })
    const [oldest] = held.keys()
    if (held.size > MAXIMUM_ENTRIES && oldest !== undefined) held.delete(oldest)
    return kept.value
  }

  return async (key: string, isEnough: (value: T) => boolean = () => true): Promise<T> => {
    const found = held.get(key)
    if (found !== undefined) {
      const now = clock.now()
      const isCurrent = now - found.loadedAt < (found.isGood ? GOOD_MILLISECONDS : RETRY_MILLISECONDS)
      if (isCurrent && (isEnough(found.value) || now - found.triedAt < RETRY_MILLISECONDS)) {
        held.delete(key)
        held.set(key, found)
        return found.value
      }
    }
    const running = loads.get(key) ?? loadAndHold(key).finally(() => loads.delete(key))
    loads.set(key, running)
    return running
  }
}
