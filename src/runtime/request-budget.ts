import type { Clock } from '../ports/clock.ts'
import { networkOf } from './public-address.ts'
import { tokenBuckets } from './token-buckets.ts'

/** Which requests may go out now. Each that is admitted counts. @spec T-5 */
export interface RequestBudget {
  /** One more to this host, with its port. */
  admitsHost(host: string): boolean
  /** And then to whichever of these addresses, which are public: its name means them. */
  admitsAddresses(addresses: readonly string[]): boolean
}

/** For requests that nobody can cause at will. */
export const UNLIMITED: RequestBudget = { admitsHost: () => true, admitsAddresses: () => true }

const REFILL_MILLISECONDS = 10_000
const HOSTS = 1000

/** A name may mean 16 of them: who would push out what was spent has to make this server connect 600 times elsewhere. */
const ADDRESSES = 10_000

/**
 * For requests on strangers' words: 100 to one host, at once and again per 10 seconds, and as many to one address, whatever
 * it is called: names cost nothing. That is no load worth borrowing this server for.
 * @spec T-5
 */
export function strangersBudget(clock: Clock): RequestBudget {
  const bucket = { capacity: 100, refillMilliseconds: REFILL_MILLISECONDS }
  const takeFromHost = tokenBuckets(clock, { ...bucket, maximumKeys: HOSTS })
  const takeFromNetworks = tokenBuckets(clock, { ...bucket, maximumKeys: ADDRESSES })
  return {
    admitsHost: (host) => takeFromHost(host) === 0,
    admitsAddresses: (addresses) => takeFromNetworks(...new Set(addresses.map(networkOf))) === 0,
  }
}

/**
 * For hosts that have answered as what they were taken for: 2000 to each, as a large wallet's payments need. Others at its
 * address, which it may share with half the internet, take nothing from that.
 * @spec T-5
 */
export function knownBudget(clock: Clock): RequestBudget {
  const take = tokenBuckets(clock, { capacity: 2000, refillMilliseconds: REFILL_MILLISECONDS, maximumKeys: HOSTS })
  return { ...UNLIMITED, admitsHost: (host) => take(host) === 0 }
}
