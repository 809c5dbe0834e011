import type { Clock } from '../ports/clock.ts'

/**
 * Requests that may go to one host at once, and again per 10 seconds. With the cache of 60 seconds that serves 600
 * active clients of one wallet, and is no load worth borrowing this server for.
 */
const REQUESTS = 100
const REFILL_MILLISECONDS = 10_000

/** How many hosts are remembered; the one that was not asked for longest is forgotten first. */
const MAXIMUM_HOSTS = 1000

/** A token bucket per host: whether one more request may go to it. @spec T-5 */
export function budgetHosts(clock: Clock): (host: string) => boolean {
  const buckets = new Map<string, { readonly tokens: number; readonly at: number }>()
  return (host) => {
    const now = clock.now()
    const bucket = buckets.get(host) ?? { tokens: REQUESTS, at: now }
    const refill = (Math.max(0, now - bucket.at) * REQUESTS) / REFILL_MILLISECONDS
    const tokens = Math.min(REQUESTS, bucket.tokens + refill)
    buckets.delete(host)
    buckets.set(host, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now })
    const [first] = buckets.keys()
    if (buckets.size > MAXIMUM_HOSTS && first !== undefined) buckets.delete(first)
    return tokens >= 1
  }
}
