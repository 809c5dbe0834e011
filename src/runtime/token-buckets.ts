import type { Clock } from '../ports/clock.ts'

/** How large the buckets are, and how many. */
export interface TokenBucketOptions {
  /** The tokens of a full bucket. An empty one fills up evenly in `refillMilliseconds`. */
  readonly capacity: number
  readonly refillMilliseconds: number
  /**
   * The most keys that are remembered. The one unused for longest is forgotten first; its bucket is then full again.
   */
  readonly maximumKeys: number
}

/** Takes one token from the bucket of each key. */
export interface TokenBuckets {
  /** Returns 0 if it took them. If any bucket is empty, takes none and returns the milliseconds until all have one. */
  (...keys: readonly string[]): number
  /** Puts one token back into each bucket that is still remembered. */
  giveBack(...keys: readonly string[]): void
}

/**
 * A token bucket per key.
 *
 * If the clock is set back, nothing flows in for the lost time, and counting goes on from there.
 */
export function tokenBuckets(clock: Clock, options: TokenBucketOptions): TokenBuckets {
  const { capacity, refillMilliseconds, maximumKeys } = options
  // Levels are counted in fractions of a token (`capacity` of them flow in per millisecond), so that they are whole
  // numbers: whoever waits as long as told is never refused because of rounding.
  const token = refillMilliseconds
  const full = capacity * token
  const buckets = new Map<string, { readonly level: number; readonly at: number }>()

  const levelOf = (key: string, now: number): number => {
    const bucket = buckets.get(key) ?? { level: full, at: now }
    return Math.min(full, bucket.level + Math.max(0, now - bucket.at) * capacity)
  }

  const take = (...keys: readonly string[]): number => {
    const now = clock.now()
    const levels = keys.map((key) => ({ key, level: levelOf(key, now) }))
    const lowest = Math.min(...levels.map(({ level }) => level))
    if (lowest < token) {
      // A refusal adds no key and refreshes none: otherwise whoever is refused could push others out.
      for (const { key, level } of levels) if (buckets.has(key)) buckets.set(key, { level, at: now })
      return Math.ceil((token - lowest) / capacity)
    }
    for (const { key, level } of levels) {
      buckets.delete(key)
      buckets.set(key, { level: level - token, at: now })
    }
    // Looked for only if there are too many: to find its first key, a map passes over all that were deleted before it.
    if (buckets.size > maximumKeys) {
      for (const oldest of buckets.keys()) {
        if (buckets.size <= maximumKeys) break
        buckets.delete(oldest)
      }
    }
    return 0
  }
  const giveBack = (...keys: readonly string[]): void => {
    const now = clock.now()
    for (const key of keys) if (buckets.has(key)) buckets.set(key, { level: levelOf(key, now) + token, at: now })
  }
  return Object.assign(take, { giveBack })
}
