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
}

/** How long a good answer is held. @spec KEY-12 */
const GOOD_MILLISECONDS = 60_000

/** How long a bad answer is held, and the least time between two loads that an unsatisfying answer causes. @spec T-4 @spec KEY-12 */
const RETRY_MILLISECONDS = 10_000

/** How many answers are held of what was good once, and how many of what never was; the one unused for longest makes room. */
const MAXIMUM_ENTRIES = 1000

/** What one who asks for a document wants of it. */
export interface Ask<T> {
  /** Whether a held good answer will do. Default: any does. */
  readonly isEnough?: (value: T) => boolean
  /** Whether the key is known, whatever is held: it is loaded whoever asks. Default: whether it was good before. */
  readonly isKnown?: boolean
  /** Asked before a load of what is not known: an answer in its place, which is not held, or `undefined` to load. */
  readonly refuse?: () => { readonly value: T } | undefined
}

/**
 * Holds what `load` answers, by key, for 60 seconds, or 10 where it is not good. Concurrent calls for one key share
 * one load. `isEnough` may find a held good answer wanting; then it is loaded again if the last load is 10 seconds ago.
 * A load that fails meanwhile does not displace a good answer. `load` is told whether the key is known: good before,
 * or by the word of the one who asks.
 * @spec KEY-12 @spec T-4 @spec T-5
 */
export function cacheDocuments<T>(clock: Clock, load: (key: string, isKnown: boolean) => Promise<Loaded<T>>) {
  // Apart, so that names which lead nowhere push nothing out that is known.
  const known = new Map<string, Held<T>>()
  const strangers = new Map<string, Held<T>>()
  const loads = new Map<string, Promise<T>>()

  function hold(key: string, entry: Held<T>, isKnown: boolean): void {
    known.delete(key)
    strangers.delete(key)
    const held = isKnown ? known : strangers
    held.set(key, entry)
    const [oldest] = held.keys()
    if (held.size > MAXIMUM_ENTRIES && oldest !== undefined) held.delete(oldest)
  }

  async function loadAndHold(key: string, isKnown: boolean): Promise<T> {
    const startedAt = clock.now()
    const loaded = await load(key, isKnown)
    const before = known.get(key)
    const isBeforeGood = before?.isGood === true && clock.now() - before.loadedAt < GOOD_MILLISECONDS
    const kept = loaded.isGood || !isBeforeGood ? { ...loaded, loadedAt: startedAt } : before
    hold(key, { ...kept, triedAt: startedAt }, loaded.isGood || isKnown)
    return kept.value
  }

  return async (key: string, { isEnough = () => true, isKnown = known.has(key), refuse }: Ask<T> = {}): Promise<T> => {
    const asStranger = strangers.get(key)
    // What failed for a stranger, who has a budget, says nothing to one who is known.
    const found = known.get(key) ?? (isKnown && asStranger?.isGood === false ? undefined : asStranger)
    if (found !== undefined) {
      const now = clock.now()
      // What seems to come from the future was loaded before the clock stepped back.
      const isWithin = (from: number, milliseconds: number): boolean => now >= from && now - from < milliseconds
      const isCurrent = isWithin(found.loadedAt, found.isGood ? GOOD_MILLISECONDS : RETRY_MILLISECONDS)
      if (isCurrent && (isEnough(found.value) || isWithin(found.triedAt, RETRY_MILLISECONDS))) {
        hold(key, found, known.has(key))
        return found.value
      }
    }
    const running = loads.get(key)
    if (running !== undefined) return running
    const refusal = isKnown ? undefined : refuse?.()
    if (refusal !== undefined) return refusal.value
    const started = loadAndHold(key, isKnown).finally(() => loads.delete(key))
    loads.set(key, started)
    return started
  }
}
