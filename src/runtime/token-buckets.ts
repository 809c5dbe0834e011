import type { Clock } from '../ports/clock.ts'

/** How large the buckets are, and how many. */
export interface TokenBucketOptions {
  /** What a full bucket holds, and what flows into an empty one, evenly, in `refillMilliseconds`. */
  readonly capacity: number
  readonly refillMilliseconds: number
  /** How many keys are remembered. The one that was not asked for longest is forgotten first, and is full again. */
  readonly maximumKeys: number
}

/** Takes one token from the bucket of each key. */
export interface TokenBuckets {
  /** 0; if one of them has none, none at all is taken, and it is how many milliseconds it is until all have one. */
  (...keys: readonly string[]): number
  /** Puts back what was taken from each, if it is still remembered. */
  giveBack(...keys: readonly string[]): void
}

/**
 * A token bucket per key.
 *
 * If the clock steps back nothing flows in, and the time is counted from there on.
 */
export function tokenBuckets(clock: Clock, options: TokenBucketOptions): TokenBuckets {
  const { capacity, refillMilliseconds, maximumKeys } = options
  // Levels are counted in parts of a token, `capacity` per millisecond, so that they are whole numbers: who waits as
  // long as was said is never refused for a rounding.
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
      // A refusal remembers nobody anew and refreshes nobody: else whoever is refused could push others out.
      for (const { key, level } of levels) if (buckets.has(key)) buckets.set(key, { level, at: now })
      return Math.ceil((token - lowest) / capacity)
    }
    for (const { key, level } of levels) {
      buckets.delete(key)
      buckets.set(key, { level: level - token, at: now })
    }
    for (const oldest of buckets.keys()) {
      if (buckets.size <= maximumKeys) break
      buckets.delete(oldest)
    }
    return 0
  }
  const giveBack = (...keys: readonly string[]): void => {
    const now = clock.now()
    for (const key of keys)
      if (buckets.has(key)) buckets.set(key, { level: Math.min(full, levelOf(key, now) + token), at: now })
  }
  return Object.assign(take, { giveBack })
}
