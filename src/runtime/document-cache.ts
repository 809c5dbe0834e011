import type { Clock } from '../ports/clock.ts'
import { recentlyUsed } from '../protocol/recently-used.ts'

/** The result of a load. `isGood` decides how long it is held. */
export interface Loaded<T> {
  readonly isGood: boolean
  readonly value: T
  /** Set if the other side was not asked at all: the result says nothing about it, and is not held. */
  readonly isUnasked?: boolean
}

/**
 * The standing of the document that is loaded. `stranger`: it was never good; `known`: it was good before, or the
 * caller says that it is known; `proven`: the last load was good, but is so old that what is held is no longer used.
 */
export type Standing = 'stranger' | 'known' | 'proven'

interface Held<T> extends Loaded<T> {
  /** Whether the last load was good. A failed one ends this, although the good answer before it is still held. */
  readonly isProven: boolean
  /** When its load began: later changes on the other side are not in it. */
  readonly loadedAt: number
  /** When the last load of it began, successful or not. */
  readonly triedAt: number
}

/** How long a good answer is held. @spec KEY-12 */
const GOOD_MILLISECONDS = 60_000

/**
 * How long a bad answer is held, and the least time between two loads because an answer was not enough.
 * @spec T-4 @spec KEY-12
 */
const RETRY_MILLISECONDS = 10_000

/** What a caller wants of a document. */
export interface Ask<T> {
  /** Whether a held good answer will do. Default: any does. */
  readonly isEnough?: (value: T) => boolean
  /**
   * Whether the key counts as known whatever is held; then `refuse` is not asked. Default: whether it was good before.
   */
  readonly isKnown?: boolean
  /**
   * Asked before loading an unknown key. Returns an answer to give instead, which is not held, or `undefined` to load.
   */
  readonly refuse?: () => { readonly value: T } | undefined
}

/**
 * Holds the results of `load` by key (a URL): for 60 seconds, or 10 if the result is not good. Concurrent calls for one
 * key share one load, those of strangers and those of known ones each. If `isEnough` rejects a held good answer, it is
 * loaded again, but not within 10 seconds of the last load. A failed load does not displace a good answer that is still
 * current, and a result with `isUnasked` is not held. `load` is told the standing of the key.
 * @spec KEY-12 @spec T-4 @spec T-5
 */
export function cacheDocuments<T>(clock: Clock, load: (key: string, standing: Standing) => Promise<Loaded<T>>) {
  // Two maps, so that names which lead nowhere push out nothing that is known.
  const known = recentlyUsed<Held<T>>()
  const strangers = recentlyUsed<Held<T>>()
  /** By key and standing: a stranger's load may fail for want of budget, which says nothing about a known key. */
  const loads = new Map<string, Promise<T>>()

  // A time in the future means that the clock was set back since: it does not count.
  function isWithin(from: number, milliseconds: number): boolean {
    const since = clock.now() - from
    return since >= 0 && since < milliseconds
  }

  async function loadAndHold(key: string, standing: Standing): Promise<T> {
    const startedAt = clock.now()
    const loaded = await load(key, standing)
    const before = known.get(key)
    // While a stranger's load was running, the key has become known by another: only a good answer in place of a bad one counts.
    if (standing === 'stranger' && before !== undefined && (before.isGood || !loaded.isGood)) return before.value
    const isBeforeGood = before?.isGood === true && isWithin(before.loadedAt, GOOD_MILLISECONDS)
    const kept = loaded.isGood || !isBeforeGood ? { ...loaded, loadedAt: startedAt } : before
    if (loaded.isUnasked === true) return kept.value
    strangers.delete(key)
    const held = loaded.isGood || standing !== 'stranger' ? known : strangers
    held.set(key, { ...kept, isProven: loaded.isGood, triedAt: startedAt })
    return kept.value
  }

  return async (
    key: string,
    { isEnough = () => true, isKnown = known.get(key) !== undefined, refuse }: Ask<T> = {},
  ): Promise<T> => {
    // A load that failed as a stranger's may have failed for want of budget: that says nothing about a known key.
    const found = known.get(key) ?? (isKnown ? undefined : strangers.get(key))
    const isCurrent =
      found !== undefined && isWithin(found.loadedAt, found.isGood ? GOOD_MILLISECONDS : RETRY_MILLISECONDS)
    if (isCurrent && (isEnough(found.value) || isWithin(found.triedAt, RETRY_MILLISECONDS))) return found.value
    const name = `${isKnown} ${key}`
    const running = loads.get(name)
    if (running !== undefined) return running
    const refusal = isKnown ? undefined : refuse?.()
    if (refusal !== undefined) return refusal.value
    const ofKnown = found?.isProven === true && !isCurrent ? 'proven' : 'known'
    const started = loadAndHold(key, isKnown ? ofKnown : 'stranger').finally(() => loads.delete(name))
    loads.set(name, started)
    return started
  }
}
