import type { Clock } from '../ports/clock.ts'

/** What a load brought: `isGood` decides how long it is held. */
export interface Loaded<T> {
  readonly isGood: boolean
  readonly value: T
  /** That it is not good says nothing about the other side, which was not asked: it is not held. */
  readonly isUnasked?: boolean
}

/**
 * Whom a load is for. `stranger`: who was never good; `known`: who was good before, or is known by the word of the one who
 * asks; `proven`: who was good the last time, a while ago, so that nothing that is held will do any more.
 */
export type Standing = 'stranger' | 'known' | 'proven'

interface Held<T> extends Loaded<T> {
  readonly host: string
  /** Whether the last load was good: one that failed since ends it, though the good answer is held on. */
  readonly isProven: boolean
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

/** If there is no room, a host that has more than these makes room for its own. @spec T-5 */
const SHARE_OF_HOST = 100

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
 * Holds what `load` answers, by key, which is a URL, for 60 seconds, or 10 if it is not good. Concurrent calls for one key share
 * one load. `isEnough` may find a held good answer wanting; then it is loaded again if the last load is 10 seconds ago.
 * A load that fails meanwhile does not displace a good answer, and one that did not ask is not held. `load` is told whom it is for.
 * @spec KEY-12 @spec T-4 @spec T-5
 */
export function cacheDocuments<T>(clock: Clock, load: (key: string, standing: Standing) => Promise<Loaded<T>>) {
  // Apart, so that names which lead nowhere push nothing out that is known.
  const known = new Map<string, Held<T>>()
  const strangers = new Map<string, Held<T>>()
  const loads = new Map<string, Promise<T>>()

  function hold(key: string, entry: Held<T>, isKnown: boolean): void {
    known.delete(key)
    strangers.delete(key)
    const held = isKnown ? known : strangers
    held.set(key, entry)
    if (held.size <= MAXIMUM_ENTRIES) return
    const ofHost = [...held].filter(([, { host }]) => host === entry.host)
    const [oldest] = ofHost.length > SHARE_OF_HOST ? ofHost.map(([name]) => name) : held.keys()
    if (oldest !== undefined) held.delete(oldest)
  }

  // What seems to come from the future was loaded before the clock stepped back.
  function isWithin(from: number, milliseconds: number): boolean {
    const since = clock.now() - from
    return since >= 0 && since < milliseconds
  }

  async function loadAndHold(key: string, standing: Standing): Promise<T> {
    const startedAt = clock.now()
    const loaded = await load(key, standing)
    const before = known.get(key)
    const isBeforeGood = before?.isGood === true && isWithin(before.loadedAt, GOOD_MILLISECONDS)
    const kept = loaded.isGood || !isBeforeGood ? { ...loaded, loadedAt: startedAt } : before
    if (loaded.isUnasked === true) return kept.value
    const { host } = new URL(key)
    hold(key, { ...kept, host, isProven: loaded.isGood, triedAt: startedAt }, loaded.isGood || standing !== 'stranger')
    return kept.value
  }

  return async (key: string, { isEnough = () => true, isKnown = known.has(key), refuse }: Ask<T> = {}): Promise<T> => {
    const asStranger = strangers.get(key)
    // What failed for a stranger, who has a budget, says nothing to one who is known.
    const found = known.get(key) ?? (isKnown && asStranger?.isGood === false ? undefined : asStranger)
    const isCurrent =
      found !== undefined && isWithin(found.loadedAt, found.isGood ? GOOD_MILLISECONDS : RETRY_MILLISECONDS)
    if (isCurrent && (isEnough(found.value) || isWithin(found.triedAt, RETRY_MILLISECONDS))) {
      hold(key, found, known.has(key))
      return found.value
    }
    const running = loads.get(key)
    if (running !== undefined) return running
    const refusal = isKnown ? undefined : refuse?.()
    if (refusal !== undefined) return refusal.value
    const ofKnown = found?.isProven === true && !isCurrent ? 'proven' : 'known'
    const started = loadAndHold(key, isKnown ? ofKnown : 'stranger').finally(() => loads.delete(key))
    loads.set(key, started)
    return started
  }
}
